package dev.onefold.local.server;

import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;

/// An answer of the object server.
record ObjectAnswer(int status, Map<String, String> headers, String type, byte[] body) {
    private static final String XML = "application/xml";

    static ObjectAnswer done(int status) {
        return new ObjectAnswer(status, Map.of(), XML, new byte[0]);
    }

    static ObjectAnswer xml(byte[] document) {
        return new ObjectAnswer(200, Map.of(), XML, document);
    }

    static ObjectAnswer refused(int status, String code, String message) {
        return new ObjectAnswer(
                status,
                Map.of(),
                XML,
                Xml.document("Error", "", xml -> xml.add("Code", code).add("Message", message)));
    }

    ObjectAnswer with(String header, String value) {
        Map<String, String> more = new TreeMap<>(headers);
        more.put(header, value);
        return new ObjectAnswer(status, more, type, body);
    }

    void send(HttpExchange exchange) throws IOException {
        headers.forEach((name, value) -> exchange.getResponseHeaders().set(name, value));
        exchange.getResponseHeaders().set("Content-Type", type);
        if (exchange.getRequestMethod().equals("HEAD")) {
            exchange.getResponseHeaders().set("Content-Length", Integer.toString(body.length));
            exchange.sendResponseHeaders(status, -1);
            return;
        }
        exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
        if (body.length > 0) {
            exchange.getResponseBody().write(body);
        }
    }
}
