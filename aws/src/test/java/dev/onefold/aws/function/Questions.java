package dev.onefold.aws.function;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/// Asks a function as CloudFormation does in the middle of an update.
final class Questions {
    private Questions() {}

    /// @param function takes the event
    /// @param fields of the request, in JSON, without the place of the answer
    /// @return the answer, in JSON
    static String ask(Consumer<byte[]> function, String fields) throws IOException {
        CompletableFuture<String> answer = new CompletableFuture<>();
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 10);
        server.createContext("/", exchange -> {
            answer.complete(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        server.start();
        try {
            String url = "http://127.0.0.1:" + server.getAddress().getPort() + "/";
            function.accept(("{\"ResponseURL\":\"" + url + "\"," + fields + "}").getBytes(StandardCharsets.UTF_8));
            return answer.join();
        } finally {
            server.stop(0);
        }
    }
}
