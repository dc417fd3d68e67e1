package dev.onefold.cli.trial;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/// CloudFormation and S3 behind their wire, as far as a trial asks before its stack is made: whether there is a stack,
/// which buckets there are, and a new bucket. What it says is from the services' documentation.
final class HttpAccount implements AutoCloseable {
    private final HttpServer server;
    private final boolean hasStack;
    private final Runnable whenMade;

    /// What was asked for, other than a look.
    final List<String> changes = new CopyOnWriteArrayList<>();

    /// @param hasStack whether there is the stack that an earlier trial, `risk-trial`, has made
    /// @param whenMade runs when a bucket is made
    HttpAccount(boolean hasStack, Runnable whenMade) throws IOException {
        this.hasStack = hasStack;
        this.whenMade = whenMade;
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::answer);
        server.start();
    }

    URI endpoint() {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            switch (exchange.getRequestMethod()) {
                case "POST" -> describe(exchange, body);
                case "GET" ->
                    send(exchange, 200, "<ListAllMyBucketsResult><Buckets></Buckets></ListAllMyBucketsResult>");
                case "PUT" -> {
                    changes.add("PUT " + exchange.getRequestURI().getPath());
                    whenMade.run();
                    exchange.sendResponseHeaders(200, -1);
                }
                default -> {
                    changes.add(exchange.getRequestMethod());
                    exchange.sendResponseHeaders(500, -1);
                }
            }
        }
    }

    private void describe(HttpExchange exchange, String body) throws IOException {
        if (!body.contains("Action=DescribeStacks")) {
            changes.add(body);
            exchange.sendResponseHeaders(500, -1);
        } else if (hasStack) {
            send(exchange, 200, """
                    <DescribeStacksResponse><DescribeStacksResult><Stacks><member>
                    <StackName>risk-trial</StackName><StackId>arn:risk-trial</StackId>
                    <CreationTime>2026-11-21T06:00:00Z</CreationTime><StackStatus>CREATE_COMPLETE</StackStatus>
                    <Parameters><member><ParameterKey>CodeBucket</ParameterKey>
                    <ParameterValue>onefold-trial-risk-trial-0123456789ab</ParameterValue></member></Parameters>
                    <Tags><member><Key>onefold-trial</Key><Value>risk-trial</Value></member></Tags>
                    </member></Stacks></DescribeStacksResult></DescribeStacksResponse>
                    """);
        } else {
            send(
                    exchange,
                    400,
                    "<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code>"
                            + "<Message>Stack with id risk-trial does not exist</Message></Error></ErrorResponse>");
        }
    }

    private static void send(HttpExchange exchange, int status, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, bytes.length);
        exchange.getResponseBody().write(bytes);
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
