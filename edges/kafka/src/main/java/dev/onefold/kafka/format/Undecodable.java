package dev.onefold.kafka.format;

/// Bytes that are no value of their schema, or a schema that is none. The message says which.
public final class Undecodable extends Exception {
    Undecodable(String message) {
        super(message);
    }
}
