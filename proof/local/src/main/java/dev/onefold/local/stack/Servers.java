package dev.onefold.local.stack;

import dev.onefold.local.gate.Service;
import dev.onefold.local.server.DynamoDbServer;
import dev.onefold.local.server.FunctionServer;
import dev.onefold.local.server.KinesisServer;
import dev.onefold.local.server.ObjectServer;
import dev.onefold.local.server.QueueServer;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/// The servers that one deployment needs.
public final class Servers implements AutoCloseable {
    final DynamoDbServer tables;
    final KinesisServer streams;
    final QueueServer queues;
    final ObjectServer objects;
    final FunctionServer functions;

    private Servers(KinesisServer streams) throws IOException {
        this.streams = streams;
        tables = DynamoDbServer.open();
        queues = QueueServer.open();
        objects = ObjectServer.open();
        functions = FunctionServer.open();
    }

    /// Opens them all, empty.
    ///
    /// @param node folder of what runs on Node, filled at first use
    public static Servers open(Path node) throws IOException {
        KinesisServer streams = KinesisServer.open(node); // First: it is what may be missing.
        try {
            return new Servers(streams);
        } catch (IOException | RuntimeException e) {
            streams.close();
            throw e;
        }
    }

    /// Where they are.
    public Map<Service, URI> places() {
        return Map.of(
                Service.DYNAMODB, tables.uri(),
                Service.STREAMS, tables.uri(),
                Service.KINESIS, streams.uri(),
                Service.SQS, queues.uri(),
                Service.S3, objects.uri(),
                Service.LAMBDA, functions.uri());
    }

    /// Where one is.
    public URI place(Service service) {
        return Optional.ofNullable(places().get(service)).orElseThrow();
    }

    @Override
    public void close() {
        streams.close();
        queues.close();
        objects.close();
        functions.close();
        tables.close();
    }
}
