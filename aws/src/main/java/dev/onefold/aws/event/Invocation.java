package dev.onefold.aws.event;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/// The content of one invocation of a function.
public sealed interface Invocation {
    /// Longest event that is parsed. Lambda delivers at most 6 MB; its documentation gives two figures for that, and
    /// this is the larger one, so that nothing is refused here that arrives.
    int EVENT_BYTES_MAX = 6_291_556;

    /// Records of one shard of a stream, in its order. An aggregated record is there as what it holds.
    ///
    /// @param streamArn of the stream; empty if there is no record
    record Batch(List<Arrival> arrivals, Optional<String> streamArn) implements Invocation {
        public Batch {
            arrivals = List.copyOf(arrivals);
        }
    }

    /// Messages of a queue.
    record Messages(List<Message> messages) implements Invocation {
        public Messages {
            messages = List.copyOf(messages);
        }
    }

    /// Only time has passed: what a schedule sends, an object without records.
    record Tick() implements Invocation {}

    /// Decodes the JSON of one invocation.
    ///
    /// @throws UnreadableEvent naming the record
    static Invocation read(byte[] event) {
        return InvocationReader.read(event);
    }

    /// A message of a queue.
    ///
    /// @param id name of the message in a [BatchResponse]; the queue gives it, and each delivery of the message
    ///     has it
    /// @param queue name of the queue; empty if the event does not say it
    /// @param sentMs time at which the queue took it, epoch ms; [Arrival#NOT_KNOWN] if the event does not say it
    record Message(String id, String body, String queue, long sentMs) {
        /// The message as a record: what the queue calls it is its place.
        public Arrival arrival() {
            return new Arrival(queue, id, 0, body.getBytes(StandardCharsets.UTF_8), sentMs);
        }
    }

    /// An invocation that is not what the service documents. That is a broken invariant and no bad input of a
    /// user's: what users send lies undecoded inside. The message says which record.
    final class UnreadableEvent extends RuntimeException {
        UnreadableEvent(String message) {
            super(message);
        }

        UnreadableEvent(String message, Throwable cause) {
            super(message, cause);
        }
    }
}
