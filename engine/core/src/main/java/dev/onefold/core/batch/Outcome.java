package dev.onefold.core.batch;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The result of one attempt to deliver a batch, as far as its receiver reports it.
public sealed interface Outcome {
    /// The receiver has the batch. It may have had it before, with the same content.
    record Done() implements Outcome {}

    /// Nothing has happened, and a later attempt may succeed.
    ///
    /// @param after delay that the receiver asks for; `null` if it asks for none
    record NotNow(String reason, @Nullable Duration after) implements Outcome {}

    /// Nobody knows whether the receiver has the batch: no answer came, or one that does not tell.
    record Unknown(String reason) implements Outcome {}

    /// The receiver refuses this content for ever, and nothing has happened.
    record Refused(String reason) implements Outcome {}

    /// The receiver has all records but these, which may be tried again.
    ///
    /// @param records their places in the batch, from 0, ascending, at least one
    record Partial(List<Failed> records) implements Outcome {
        public Partial {
            records = List.copyOf(records);
        }
    }

    /// The receiver has another content under this batch's id. No further attempt can repair this.
    record Conflict(String reason) implements Outcome {}

    /// A record that a receiver reports as failed.
    ///
    /// @param record its place in the batch, from 0
    record Failed(int record, String reason) {}
}
