package dev.onefold.embedded.source;

import dev.onefold.core.bytes.Utf8;
import java.util.List;
import java.util.Objects;

/// Messages of a queue, in any order. A queue may give a message again, so an event is known by its own identity, or by
/// the id of its message.
///
/// @param queue name of the queue as a source
public record QueueBatch(String queue, List<Message> messages) {
    /// Between the queue's name and a message's id in the place of a dead letter.
    private static final char ID_BEHIND = '#';

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

    /// Where a message that is a dead letter is: the same whenever it comes again.
    public static String place(String queue, String id) {
        return queue + ID_BEHIND + id;
    }

    /// The queue's name in such a place; empty if this is none.
    static String queueOf(String place) {
        return place.substring(0, Math.max(place.lastIndexOf(ID_BEHIND), 0));
    }

    /// The message's id in a place.
    public static String idOf(String place) {
        return place.substring(place.lastIndexOf(ID_BEHIND) + 1);
    }
}
