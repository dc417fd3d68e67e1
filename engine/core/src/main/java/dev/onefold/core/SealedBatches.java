package dev.onefold.core;

import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Delivery;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The batches of a pipeline: the open one, the sealed ones, and the progress of each delivery. Any thread
/// may call.
public interface SealedBatches {
    /// The status of all batches.
    Summary summary();

    /// Batches in the order of their numbers.
    ///
    /// @param from the first number
    /// @param max how many at most, 1 or more
    /// @param isOpenOnly whether delivered ones are left out
    List<Line> list(BatchNumber from, int max, boolean isOpenOnly);

    /// A batch or a part of one; empty if there is none of this number, or if it was delivered so long ago
    /// that nothing else is known of it.
    Optional<Line> find(BatchNumber number);

    /// Lets a batch that waits for a person be delivered again, or one that waits for its next try be tried
    /// now.
    ///
    /// @throws IllegalArgumentException if it waits neither for a person nor for a later time
    Line release(BatchNumber number);

    /// Ends a batch that waits for a person without another attempt.
    ///
    /// @throws IllegalArgumentException if it does not wait for a person
    Line settle(BatchNumber number, Delivery.How how);

    /// Gives the records of a batch that is not delivered yet, each with its line end, some at a time.
    ///
    /// @throws IllegalArgumentException if there is none of this number whose content is kept
    void export(BatchNumber number, Consumer<byte[]> sink);

    /// Seals the open batch now; returns whether there was one.
    boolean seal();

    /// The status of all batches.
    ///
    /// @param openRecords number of records that are in no sealed batch yet
    /// @param openSince arrival of the first of these records; `null` if there is none
    /// @param sealed batches so far
    /// @param done batches that are delivered or discarded
    /// @param undelivered batches that are sealed and not done; of a divided one, its parts that are not done
    /// @param delivering number of undelivered ones that are being delivered
    /// @param inDoubt batches whose delivery has begun, and nobody knows whether it has ended
    /// @param aside batches that wait for a person
    /// @param undeliveredSince when the oldest batch was sealed that is not delivered; `null` if there is none
    /// @param heldUpBy the first batch that holds up all that are left, because it waits for a person, and so
    ///     do the
    ///     others that hold up any; `null` if some go on
    /// @param bytes disk space that the open batch and undelivered ones take, in bytes
    /// @param decided the batches that people have ended
    /// @param intakeWaitsSince when intake began to wait for the receiver; `null` if it does not wait
    record Summary(
            long openRecords,
            @Nullable Instant openSince,
            long sealed,
            long done,
            long undelivered,
            int delivering,
            int inDoubt,
            int aside,
            @Nullable Instant undeliveredSince,
            @Nullable BatchNumber heldUpBy,
            long bytes,
            Decided decided,
            @Nullable Instant intakeWaitsSince) {
        /// Batches, and parts of batches, that wait for an attempt.
        public long waiting() {
            return undelivered - delivering - inDoubt - aside;
        }

        /// Whether nothing is left to do, apart from decisions of people.
        public boolean isQuiet() {
            return openRecords == 0 && (heldUpBy != null || undelivered == inDoubt + (long) aside);
        }
    }

    /// Batches, and parts of batches, that a person has ended.
    ///
    /// @param delivered number of those of which the person said that the receiver has them
    /// @param discarded number of those that are never delivered
    /// @param discardedRecords number of records in the discarded ones
    record Decided(long delivered, long discarded, long discardedRecords) {}

    /// The status of a batch.
    ///
    /// @param id as its receiver sees it
    /// @param bytes of its records with their line ends
    /// @param state a word: waiting, delivering, done, discarded, in doubt, put aside, divided
    /// @param attempts number of attempts since the last decision of a person
    /// @param reason why it is not done, or that a person has ended it, and when; empty if there is none
    /// @param next earliest time of the next attempt; `null` if there is none
    record Line(
            BatchNumber number,
            String id,
            int records,
            long bytes,
            Instant sealed,
            String state,
            int attempts,
            String reason,
            @Nullable Instant next) {}
}
