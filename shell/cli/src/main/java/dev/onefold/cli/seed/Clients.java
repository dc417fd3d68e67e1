package dev.onefold.cli.seed;

import dev.onefold.aws.Connection;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.s3.S3AsyncClient;

/// Clients of AWS, made when they are asked for. One thread.
final class Clients implements AutoCloseable {
    private final Supplier<Connection.Place> place;
    private @Nullable DynamoDbAsyncClient tables;
    private @Nullable S3AsyncClient objects;

    Clients(Supplier<Connection.Place> place) {
        this.place = place;
    }

    DynamoDbAsyncClient tables() {
        if (tables == null) {
            tables = Connection.tables(place.get());
        }
        return tables;
    }

    S3AsyncClient objects() {
        if (objects == null) {
            objects = Connection.objects(place.get().at(null));
        }
        return objects;
    }

    @Override
    public void close() {
        if (tables != null) {
            tables.close();
        }
        if (objects != null) {
            objects.close();
        }
    }
}
