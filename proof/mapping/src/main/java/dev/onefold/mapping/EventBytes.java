package dev.onefold.mapping;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;

/// The event of one invocation: its records between what opens and what closes it.
final class EventBytes {
    /// Longest event that Lambda takes.
    static final int MAX = 6 * 1024 * 1024;

    private static final byte[] OPEN = "{\"Records\":[".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] CLOSE = "]}".getBytes(StandardCharsets.US_ASCII);

    private EventBytes() {}

    /// Bytes of an event without records.
    static int empty() {
        return OPEN.length + CLOSE.length;
    }

    /// Bytes that a record adds to an event, with the comma.
    static int with(int recordBytes) {
        return recordBytes + 1;
    }

    static byte[] of(List<byte[]> records) {
        int length = empty();
        for (byte[] record : records) {
            length += with(record.length);
        }
        ByteBuffer event = ByteBuffer.allocate(records.isEmpty() ? length : length - 1);
        event.put(OPEN);
        for (int i = 0; i < records.size(); i++) {
            if (i > 0) {
                event.put((byte) ',');
            }
            event.put(records.get(i));
        }
        return event.put(CLOSE).array();
    }
}
