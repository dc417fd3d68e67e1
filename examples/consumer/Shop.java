import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executors;

/// A small shop: `POST /orders` books the order of the body, `GET /orders` shows the book. It knows the customers in
/// its file, and fails as an order's item says. An order that comes twice is booked twice.
///
///     java Shop.java PORT BOOK CUSTOMERS
final class Shop {
    private final Path book;
    private final Path customers;
    private final Set<String> wereTold = new HashSet<>();

    private Shop(Path book, Path customers) {
        this.book = book;
        this.customers = customers;
    }

    public static void main(String[] arguments) throws IOException {
        int port = Integer.parseInt(arguments[0]);
        Shop shop = new Shop(Path.of(arguments[1]), Path.of(arguments[2]));
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
        server.createContext("/orders", shop::answer);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.start();
        System.out.println("The shop is open.");
    }

    private synchronized void answer(HttpExchange exchange) throws IOException {
        String order = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        if (exchange.getRequestMethod().equals("GET")) {
            say(exchange, 200, Files.readString(book));
        } else if (!isKnown(order)) {
            say(exchange, 400, "This customer is unknown.\n");
        } else if (order.contains("busy") && wereTold.add(order)) {
            exchange.getResponseHeaders().set("Retry-After", "1");
            say(exchange, 503, "The shop is busy.\n");
        } else if (order.contains("hang up before") && wereTold.add(order)) {
            exchange.close();
        } else {
            Files.writeString(book, order, StandardOpenOption.APPEND);
            if (order.contains("and hang up")) {
                exchange.close(); // The order is booked, but nobody is told.
            } else {
                say(exchange, 201, "Booked.\n");
            }
        }
    }

    private boolean isKnown(String order) throws IOException {
        List<String> known = Files.readAllLines(customers);
        return known.stream().anyMatch(customer -> order.contains("\"" + customer + "\""));
    }

    private static void say(HttpExchange exchange, int status, String text) throws IOException {
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }
}
