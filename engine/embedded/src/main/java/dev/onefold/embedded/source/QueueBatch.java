package dev.onefold.embedded.source;

import dev.onefold.core.bytes.Utf8;
import dev.onefold.core.event.Decoder;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Pipeline;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/// Messages of a queue, in any order. A queue may give a message again, so an event is identified by its own
/// identity, or by the id of its message.
///
/// @param queue name of the queue as a source
public record QueueBatch(String queue, List<Message> messages) {
    /// Between the queue's name and a message's id in the place of a dead letter.
    private static final char ID_BEHIND = '#';

    /// How long a queue can keep a message.
    private static final Duration RETENTION_MAX = Duration.ofDays(14);

    public QueueBatch {
        Objects.requireNonNull(queue, "The name of the queue is null");
        Utf8.encode("The name of the queue", queue);
        messages = List.copyOf(messages);
        if (queue.isEmpty()) {
            throw new IllegalArgumentException("The name of the queue is empty");
        }
    }

    /// A message.
    ///
    /// @param id the same whenever the queue gives it again, and of no other message; 1 to 1,000 bytes of UTF-8
    /// @param sentMs when the queue took it, epoch milliseconds; the same whenever it is given again
    /// @param body may hold line ends
    public record Message(String id, long sentMs, byte[] body) {
        private static final int ID_BYTES_MAX = 1_000;

        public Message {
            Objects.requireNonNull(id, "The message has no id");
            Objects.requireNonNull(body, () -> "Message " + id + " has no body");
            int bytes = Utf8.encode("The id of a message", id).length;
            if (bytes == 0 || bytes > ID_BYTES_MAX) {
                throw new IllegalArgumentException(
                        "The id of a message has " + bytes + " bytes; it has 1 to " + ID_BYTES_MAX);
            }
        }
    }

    /// Why a pipeline cannot read a queue; empty if it can.
    public static Optional<String> problem(Pipeline pipeline) {
        String problem;
        if (pipeline.input().identity() instanceof Identity.ByPlace) {
            problem = "counts records by their place, and a queue gives a message again at another place. Write"
                    + " 'id: message' under input, or name the field that is the id.";
        } else if (Decoder.wantsHeader(pipeline)) {
            problem = "reads CSV with a header line, and messages have none. List the columns in the pipeline file.";
        } else {
            problem = pipeline.recordsKnownFor()
                    .filter(time -> time.compareTo(RETENTION_MAX) <= 0)
                    .map(time -> time.isZero()
                            ? "forgets ids after delivery, and a queue may give a message again after that. Write"
                                    + " 'forget: never', or a time that is longer than the queue keeps messages."
                            : "forgets ids after a time in which a queue may give a message again: a queue keeps"
                                    + " messages for up to 14 days. Write 'forget: 15d' or longer.")
                    .orElse(null);
        }
        return Optional.ofNullable(problem)
                .map(why -> "Pipeline " + pipeline.name() + " cannot read a queue: it " + why);
    }

    /// The place of a message that is a dead letter: the same whenever it comes again.
    public static String place(String queue, String id) {
        return queue + ID_BEHIND + id;
    }

    /// The queue's name in such a place; empty if this is not one.
    public static String queueOf(String place) {
        return place.substring(0, Math.max(place.lastIndexOf(ID_BEHIND), 0));
    }

    /// The message's id in a place.
    public static String idOf(String place) {
        return place.substring(place.lastIndexOf(ID_BEHIND) + 1);
    }
}
