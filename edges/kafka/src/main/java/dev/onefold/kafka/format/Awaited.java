package dev.onefold.kafka.format;

/// A record cannot be decoded yet, because nobody has told its schema.
public final class Awaited extends Exception {
    private final String schema;
    private final String open;

    /// @param open why it is not known; empty once it is
    Awaited(String schema, String open) {
        super(open, null, false, false); // Of a state, not of a place in the code.
        this.schema = schema;
        this.open = open;
    }

    String schema() {
        return schema;
    }

    /// Whether the schema is still not known.
    public boolean isOpen() {
        return !open.isEmpty();
    }

    /// Why the record waits.
    public String why() {
        return "because " + open + ". It is tried again";
    }
}
