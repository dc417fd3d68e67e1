package dev.onefold.aws;

import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.event.Invocation;
import dev.onefold.core.event.Decoder;
import dev.onefold.core.pipeline.Pipeline;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.TransactGetItem;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;

/// Runs the code that every request of a function needs once, before Lambda takes the snapshot of its process:
/// a restored copy finds its classes loaded. Requests go to a socket of this process, which answers each of
/// them with an item. So none leaves the process, no name is looked up, and no credential is used; client and
/// socket are closed when it ends. It draws no random number of ours, and what it has read is forgotten.
public final class Priming {
    /// What Lambda calls the start of a process of which it takes a snapshot.
    private static final String SNAPSHOT = "snap-start";

    private static final byte[] LOOPBACK = {127, 0, 0, 1};
    private static final String HEAD_END = "\r\n\r\n";
    private static final String LENGTH = "content-length: ";
    private static final String BODY = "{\"Item\":{\"k\":{\"B\":\"AA==\"},\"n\":{\"N\":\"1\"},\"s\":{\"S\":\"\"}}}";
    private static final byte[] ANSWER =
            ("HTTP/1.1 200 OK\r\nContent-Type: application/x-amz-json-1.0\r\nContent-Length: " + BODY.length()
                            + HEAD_END + BODY)
                    .getBytes(StandardCharsets.US_ASCII);

    private static final int HEAD_BYTES_MAX = 16_384;

    private Priming() {}

    /// Runs it in a process of which Lambda takes a snapshot, and in no other.
    ///
    /// @param initialization how Lambda begins the process; empty if it does not say
    public static void ofFunction(Pipeline pipeline, String initialization) {
        if (initialization.equals(SNAPSHOT)) {
            run(pipeline);
        }
    }

    /// Runs it. What fails costs time alone: the first real request says what is wrong.
    ///
    /// @return how many requests were answered
    static int run(Pipeline pipeline) {
        try (Answering answering = new Answering()) {
            decode(pipeline);
            try (DynamoDbAsyncClient client = Connection.tablesOfNobody(answering.address())) {
                Map<String, AttributeValue> key = Map.of("k", AttributeValue.fromS("none"));
                Connection.THREADS.await(
                        client.getItem(request -> request.tableName("none").key(key)));
                TransactGetItem read = TransactGetItem.builder()
                        .get(get -> get.tableName("none").key(key))
                        .build();
                Connection.THREADS.await(client.transactGetItems(request -> request.transactItems(read)));
                TransactWriteItem write = TransactWriteItem.builder()
                        .put(put -> put.tableName("none").item(key))
                        .build();
                Connection.THREADS.await(client.transactWriteItems(
                        request -> request.clientRequestToken("none").transactItems(write)));
            }
            return answering.answered.get();
        } catch (IOException | RuntimeException unprimed) { // Whatever it is, the function itself must begin.
            return 0;
        }
    }

    /// An event of Kinesis with a record that is no event.
    private static void decode(Pipeline pipeline) {
        String data = Base64.getEncoder().encodeToString("{}".getBytes(StandardCharsets.UTF_8));
        String event = "{\"Records\":[{\"kinesis\":{\"partitionKey\":\"\",\"sequenceNumber\":\"1\",\"data\":\"" + data
                + "\",\"approximateArrivalTimestamp\":1.5},\"eventSource\":\"aws:kinesis\",\"eventID\":\"shard:1\","
                + "\"eventSourceARN\":\"arn:aws:kinesis:eu-central-1:000000000000:stream/none\"}]}";
        if (Invocation.read(event.getBytes(StandardCharsets.UTF_8)) instanceof Invocation.Batch(var arrivals, var _)) {
            Decoder decoder = new Decoder(pipeline);
            for (Arrival arrival : arrivals) {
                byte[] record = arrival.data();
                var _ = decoder.decode(Arrays.copyOf(record, record.length + Decoder.PADDING), 0, record.length);
            }
        }
    }

    /// A socket of this process that answers each request alike.
    private static final class Answering implements AutoCloseable {
        private final ServerSocket server = new ServerSocket(0, 8, InetAddress.getByAddress(LOOPBACK));
        private final AtomicInteger answered = new AtomicInteger();

        Answering() throws IOException {
            Connection.THREADS.execute(this::accept);
        }

        URI address() {
            return URI.create("http://127.0.0.1:" + server.getLocalPort());
        }

        private void accept() {
            while (!server.isClosed()) {
                try (Socket socket = server.accept()) {
                    while (read(socket.getInputStream())) {
                        answer(socket.getOutputStream());
                    }
                } catch (IOException closed) {
                    return;
                }
            }
        }

        /// Reads a request; false if there is none any more.
        private static boolean read(InputStream in) throws IOException {
            StringBuilder head = new StringBuilder();
            while (head.length() < HEAD_BYTES_MAX && head.indexOf(HEAD_END, head.length() - HEAD_END.length()) < 0) {
                int next = in.read();
                if (next < 0) {
                    return false;
                }
                head.append((char) next);
            }
            String lower = head.toString().toLowerCase(Locale.ROOT);
            int from = lower.indexOf(LENGTH) + LENGTH.length();
            in.skipNBytes(Long.parseLong(lower.substring(from, lower.indexOf('\r', from))));
            return true;
        }

        private void answer(OutputStream out) throws IOException {
            out.write(ANSWER);
            out.flush();
            answered.incrementAndGet();
        }

        @Override
        public void close() throws IOException {
            server.close();
        }
    }
}
