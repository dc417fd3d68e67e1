package dev.onefold.core.batch;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The result of one attempt to deliver a batch, as far as its receiver reports it.
public sealed interface Outcome {
    /// The batch is in. It may have been in before: the receiver has found the same content.
    record Done() implements Outcome {}

    /// Nothing has happened, and a later attempt may succeed.
    ///
    /// @param after how long the receiver asks to wait; `null` if it does not say
    record NotNow(String reason, @Nullable Duration after) implements Outcome {}

    /// Nobody knows whether the batch is in: no answer came, or one that leaves it open.
    record Unknown(String reason) implements Outcome {}

    /// The receiver refuses this content for ever, and nothing has happened.
    record Refused(String reason) implements Outcome {}

    /// All records are in but these, which may be tried again.
    ///
    /// @param records their places in the batch, from 0, ascending, at least one
    record Partial(List<Failed> records) implements Outcome {
        public Partial {
            records = List.copyOf(records);
        }
    }

    /// The receiver has another content under this batch's id. Something is wrong that no further attempt mends.
    record Conflict(String reason) implements Outcome {}

    /// A record that a receiver reports as failed.
    ///
    /// @param record its place in the batch, from 0
    record Failed(int record, String reason) {}
}
