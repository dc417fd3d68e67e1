package dev.onefold.local.mapping;

import dev.onefold.local.mapping.source.StreamRecord;

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
