package dev.onefold.aws.stream;

import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.bytes.Utf8;
import dev.onefold.core.event.Decoder;
import dev.onefold.core.event.Event;
import dev.onefold.core.pipeline.Pipeline;
import java.util.Arrays;

/// The partition keys of a pipeline's records: equal keys of events have equal ones, so that one shard has all versions
/// of a key, in the order they were put. Not thread-safe.
public final class PartitionKeys {
    static final int CHARACTERS_MAX = 256;

    private final Decoder decoder;

    public PartitionKeys(Pipeline pipeline) {
        decoder = new Decoder(pipeline);
    }

    /// The event's key if it can be a partition key, else a hash of it; for what is no event, which State makes a dead
    /// letter of, a hash of the record.
    public String of(byte[] record) {
        byte[] padded = Arrays.copyOf(record, record.length + Decoder.PADDING);
        if (decoder.decode(padded, 0, record.length) != null || decoder.event().silence != null) {
            return Sha256.hex(record);
        }
        Event event = decoder.event();
        byte[] key = Arrays.copyOfRange(event.data, event.keyFrom, event.keyTo);
        // Keys of several fields are tuples, with control characters between their parts.
        return Utf8.decode(key)
                .filter(text -> text.chars().noneMatch(Character::isISOControl))
                .filter(text -> !text.isEmpty() && text.length() <= CHARACTERS_MAX)
                .orElseGet(() -> Sha256.hex(key));
    }
}
