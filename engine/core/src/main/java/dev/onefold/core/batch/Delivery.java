package dev.onefold.core.batch;

import java.time.Instant;
import java.util.List;

/// How far the delivery of a sealed batch, or of a part of one, is. [dev.onefold.core.seal.DeliveryRules] alone decides
/// how an attempt
/// or a person changes it.
public sealed interface Delivery {
    /// The attempts so far.
    Tries tries();

    /// It is to be tried, at this time or later.
    ///
    /// @param reason why the last attempt failed; empty if there was none
    record Waiting(Tries tries, long notBeforeMs, String reason) implements Delivery {}

    /// An attempt was begun whose effect cannot be repeated: nothing but its owner ends it.
    ///
    /// @param owner the process or invocation that has begun
    record Started(Tries tries, String owner, long atMs) implements Delivery {}

    /// Nothing is left to do.
    record Done(Tries tries, long atMs, How how) implements Delivery {
        /// Whether a person has ended it. Such a delivery is kept and shown for ever.
        public boolean isDecided() {
            return how != How.DELIVERED;
        }

        @Override
        public String reason() {
            return switch (how) {
                case DELIVERED -> "";
                case SAID -> "A person said at " + Instant.ofEpochMilli(atMs) + " that the receiver has it";
                case DISCARDED -> "A person discarded it at " + Instant.ofEpochMilli(atMs);
            };
        }
    }

    /// It was begun, and nobody knows whether it ended. A person decides.
    ///
    /// @param owner of the attempt
    /// @param startedMs when the attempt was begun
    record InDoubt(Tries tries, String owner, long startedMs, String reason) implements Delivery {}

    /// It waits for a person.
    ///
    /// @param isConflict whether the receiver has another content under this id, which nobody should overlook
    record Aside(Tries tries, long atMs, String reason, boolean isConflict) implements Delivery {}

    /// Its records are delivered in parts, each a delivery of its own.
    record Divided(Tries tries, List<Part> parts) implements Delivery {
        public Divided {
            parts = List.copyOf(parts);
        }
    }

    /// A part of a batch.
    ///
    /// @param delivery with which it begins
    record Part(BatchNumber number, Members members, Delivery delivery) {}

    /// How a delivery came to its end.
    enum How {
        /// The receiver has it.
        DELIVERED,
        /// A person says that the receiver has it.
        SAID,
        /// A person says that nobody needs it.
        DISCARDED
    }

    /// The attempts at a delivery.
    ///
    /// @param count number of attempts
    /// @param firstMs time of the first attempt; 0 if there was none
    /// @param generation 1 at first; one more whenever a person releases a delivery that awaits a person, or has
    ///     one that is done made again
    /// @param isPerhapsIn whether an attempt may have had its effect; a person who releases the delivery states
    ///     that none had
    record Tries(int count, long firstMs, int generation, boolean isPerhapsIn) {
        /// No attempt so far.
        public static final Tries NONE = new Tries(0, 0, 1, false);

        public Tries plus(long nowMs) {
            return new Tries(count + 1, count == 0 ? nowMs : firstMs, generation, isPerhapsIn);
        }

        public Tries perhapsIn() {
            return new Tries(count, firstMs, generation, true);
        }

        public Tries again() {
            return new Tries(0, 0, generation + 1, false);
        }
    }

    /// The state in a word for people.
    default String word() {
        return switch (this) {
            case Waiting _ -> "waiting";
            case Started _ -> "delivering";
            case Done done -> done.how == How.DISCARDED ? "discarded" : "done";
            case InDoubt _ -> "in doubt";
            case Aside _ -> "put aside";
            case Divided _ -> "divided";
        };
    }

    /// Why it is not done, or that a person has ended it; empty if there is no reason.
    default String reason() {
        return "";
    }

    /// Whether nothing is left to do about it.
    default boolean isEnded() {
        return this instanceof Done;
    }

    /// Whether a person is to decide.
    default boolean awaitsPerson() {
        return this instanceof InDoubt || this instanceof Aside;
    }
}
