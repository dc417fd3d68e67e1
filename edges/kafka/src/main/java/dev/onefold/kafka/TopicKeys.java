package dev.onefold.kafka;

import dev.onefold.core.TotalsTable.Unavailable;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.utils.Bytes;
import org.jspecify.annotations.Nullable;

/// Reads what a topic of totals has: the keys of its groups, the last marker, and the owner. Values are passed
/// over. Not thread-safe.
final class TopicKeys implements AutoCloseable {
    /// What keys may take of the memory; values, too.
    static final int HEAP_PART = 8;
    /// Bytes of an entry in memory, beside its own.
    static final int ENTRY_BYTES = 100;

    private final TopicReading reading;
    private final String topic;
    private final Set<Bytes> keys = new HashSet<>();
    private @Nullable CutMarker last;
    private @Nullable CutMarker owner;
    private long bytes;

    /// @param from first offset of each partition
    /// @param consumer is closed with this
    TopicKeys(TopicLook look, Map<Integer, Long> from, Consumer<byte[], byte[]> consumer) {
        topic = look.topic();
        reading = new TopicReading(look, from, consumer);
    }

    /// Reads on to these ends.
    void read(Map<Integer, Long> until) {
        reading.read(until, record -> {
            note(record);
            return true;
        });
    }

    private void note(ConsumerRecord<byte[], byte[]> record) {
        if (record.key() == null || record.headers().lastHeader(CutMarker.GENERATION_HEADER) == null) {
            throw new Unavailable(
                    "The topic " + topic + " has a record that Onefold did not write, at offset "
                            + record.offset() + " of partition " + record.partition()
                            + ". Publish to a topic of its own",
                    null);
        }
        Optional<CutMarker> marker = record.value() == null ? Optional.empty() : CutMarker.read(record.value());
        switch (new String(record.key(), StandardCharsets.UTF_8)) {
            case CutMarker.KEY -> last = later(last, marker);
            case CutMarker.OWNER_KEY -> owner = later(owner, marker);
            default -> noteGroup(Bytes.wrap(record.key()), record.value());
        }
    }

    private static @Nullable CutMarker later(@Nullable CutMarker known, Optional<CutMarker> read) {
        return known == null || read.isPresent() && read.get().isBehind(known) ? read.orElse(known) : known;
    }

    private void noteGroup(Bytes key, byte @Nullable [] value) {
        int size = key.get().length + ENTRY_BYTES;
        if (value == null) {
            bytes -= keys.remove(key) ? size : 0;
        } else {
            bytes += keys.add(key) ? size : 0;
        }
        if (bytes > Runtime.getRuntime().maxMemory() / HEAP_PART) {
            throw new Unavailable(
                    "The topic " + topic + " has more than " + keys.size()
                            + " groups, whose keys take more than an eighth of the memory. Give the process more memory"
                            + " (-Xmx), or publish to a new topic",
                    null);
        }
    }

    /// Whether a key is of a roll-up.
    static boolean isOf(Bytes key, byte[] rollup) {
        byte[] all = key.get();
        int length = rollup.length;
        return all.length >= length
                && Arrays.equals(all, 0, length, rollup, 0, length)
                && (all.length == length || all[length] == '/');
    }

    /// The keys of groups that are there.
    Set<Bytes> keys() {
        return keys;
    }

    /// The marker of the last cut; `null` if there is none.
    @Nullable
    CutMarker last() {
        return last;
    }

    /// Who said last that the topic is its own; `null` if nobody has.
    @Nullable
    CutMarker owner() {
        return owner;
    }

    @Override
    public void close() {
        reading.close();
    }
}
