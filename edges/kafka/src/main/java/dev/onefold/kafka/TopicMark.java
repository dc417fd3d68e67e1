package dev.onefold.kafka;

import dev.onefold.core.bytes.Sha256;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;

/// How a position in a partition recognizes its topic: a name is no identity, for a topic that was deleted and
/// recreated has it, too, as has one of another cluster. It is kept with the position, in the same atomic step.
///
///     CLUSTER TOPIC-ID OFFSET HASH NEXT EPOCH      two are "-" where they are not known
///
/// @param cluster id of the cluster
/// @param topic id of the topic
/// @param last the last record that was folded
/// @param place as the client named it last
record TopicMark(String cluster, String topic, Optional<Last> last, Optional<Place> place) {
    private static final int HASH_LENGTH = 32;
    private static final String NONE = "-";
    private static final int WORDS = 6;

    /// @param hash of its offset, time, key and value
    record Last(long offset, String hash) {}

    /// A position with the epoch that the client gave it. It may stand behind a control record of a later
    /// leader than that of the last record.
    ///
    /// @param epoch of the leader that wrote what is in front of it
    record Place(long next, int epoch) {}

    /// Of a partition of which nothing was read.
    static TopicMark fresh(TopicLook.Found topic) {
        return new TopicMark(topic.cluster(), topic.id(), Optional.empty(), Optional.empty());
    }

    /// The mark behind more records of this topic.
    TopicMark behind(List<ConsumerRecord<byte[], byte[]>> records, OffsetAndMetadata next) {
        return new TopicMark(
                cluster,
                topic,
                records.isEmpty()
                        ? last
                        : Optional.of(new Last(records.getLast().offset(), hash(records.getLast()))),
                next.leaderEpoch().map(epoch -> new Place(next.offset(), epoch)));
    }

    /// The epoch with which a client notices at this position that the log was cut and rewritten; empty if
    /// it is not known for this position.
    Optional<Integer> epochAt(long next) {
        return place.filter(known -> known.next == next).map(Place::epoch);
    }

    /// Hash of a record; the same whenever it is read.
    static String hash(ConsumerRecord<byte[], byte[]> record) {
        MessageDigest digest = Sha256.digest();
        ByteBuffer head = ByteBuffer.allocate(2 * Long.BYTES + Integer.BYTES);
        head.putLong(record.offset()).putLong(record.timestamp());
        digest.update(
                head.putInt(record.key() == null ? -1 : record.key().length).array());
        if (record.key() != null) {
            digest.update(record.key());
        }
        if (record.value() != null) {
            digest.update(record.value());
        }
        return HexFormat.of().formatHex(digest.digest()).substring(0, HASH_LENGTH);
    }

    /// As it is kept.
    String text() {
        return String.join(
                " ",
                cluster,
                topic,
                last.map(record -> record.offset + " " + record.hash).orElse(NONE + " " + NONE),
                place.map(known -> known.next + " " + known.epoch).orElse(NONE + " " + NONE));
    }

    /// Reads a mark; empty if the text is none, as of a position that another reader has made.
    static Optional<TopicMark> read(String text) {
        String[] words = text.split(" ", -1);
        if (words.length != WORDS) {
            return Optional.empty();
        }
        return Optional.of(new TopicMark(
                words[0],
                words[1],
                isNone(words[2]) ? Optional.empty() : Optional.of(new Last(Long.parseLong(words[2]), words[3])),
                isNone(words[4])
                        ? Optional.empty()
                        : Optional.of(new Place(Long.parseLong(words[4]), Integer.parseInt(words[5])))));
    }

    private static boolean isNone(String word) {
        return word.equals(NONE);
    }
}
