package dev.onefold.mapping;

import dev.onefold.mapping.source.StreamRecord;

/// A record that was read, until it is done.
final class Delivery {
    final StreamRecord record;
    boolean done;

    Delivery(StreamRecord record) {
        this.record = record;
    }

    int bytes() {
        return record.json().length;
    }
}
