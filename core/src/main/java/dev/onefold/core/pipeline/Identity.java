package dev.onefold.core.pipeline;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The identity of an event: the fields or the place by which a record is known to be the same event again.
public sealed interface Identity {
    /// The highest version of a key counts; a version replaces its predecessor.
    /// A `null` version type is an integer of up to 64 digits; else the version is a time. A `null` version is the
    /// place of the change in its table's log, which is for [Input.Format.Changes] alone.
    record Versioned(
            List<FieldPath> key,
            @Nullable FieldPath version,
            @Nullable TimeType versionTime) implements Identity {
        public Versioned {
            key = List.copyOf(key);
        }
    }

    /// Append-only: each id counts once. A record whose time is more than the horizon before its arrival is too old.
    record ById(List<FieldPath> id, @Nullable Duration horizon) implements Identity {
        public ById {
            id = List.copyOf(id);
        }
    }

    /// Append-only: each message of a queue, or each record of a stream or log, counts once, by the id that
    /// its source gives it: the queue's message id; stream, shard, sequence number and sub-sequence number;
    /// log, partition and offset.
    record ByMessage() implements Identity {
        /// The word for it in a pipeline file.
        public static final String WORD = "message";

        /// Requires that a pipeline does not identify records by ids of their source: this source gives none.
        ///
        /// @param source the source to be folded, as the subject of a sentence
        /// @throws IllegalArgumentException if it does
        public static void requireNone(Pipeline pipeline, String source) {
            problem(pipeline, source).ifPresent(problem -> {
                throw new IllegalArgumentException(problem);
            });
        }

        /// Why a source that gives its records no ids cannot be folded; empty if it can.
        public static Optional<String> problem(Pipeline pipeline, String source) {
            return pipeline.input().identity() instanceof ByMessage
                    ? Optional.of("Pipeline " + pipeline.name() + " knows records by their messages (id: message), and "
                            + source + " has no message. Leave 'id' out: then each line counts by its place. Or name"
                            + " the field that is the id.")
                    : Optional.empty();
        }
    }

    /// Append-only: each record counts once by the place where it was first read.
    record ByPlace() implements Identity {}
}
