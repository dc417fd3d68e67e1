package dev.onefold.aws.batch;

import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.item.Definition;
import dev.onefold.aws.letter.Letter;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.store.WakeItem;
import dev.onefold.core.event.Malformed;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Batching.Forget;
import java.util.List;
import java.util.Map;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// Collects the record of a dead letter: through the same claim as a message that arrives for the first time, so it is
/// in one batch, however often it is redriven and whatever else brings it. The letter is its caller's.
public final class Redrive {
    /// The fate of the record.
    public sealed interface Result {
        /// It is recorded now.
        record Collected() implements Result {}

        /// It was recorded before.
        record Known() implements Result {}

        /// Its id is recorded with another content.
        ///
        /// @param loser the letter of this record
        record Conflicting(Letter loser) implements Result {}

        /// It cannot be read.
        record Rejected(Malformed malformed) implements Result {}
    }

    private final Store store;
    private final BatchDefinition definition;

    public Redrive(Store store, BatchDefinition definition) {
        this.store = store;
        this.definition = definition;
    }

    /// Collects a record; durable when it returns, unless it is rejected or conflicting.
    ///
    /// @throws IllegalStateException if the tables are busy, and nothing is known of the record
    public Result redrive(Arrival letter) {
        Definition.requireRules(definition.pipeline());
        // How long a person took is no part of a batch's wait.
        Arrival arrival = new Arrival(letter.shard(), letter.sequence(), letter.subSequence(), letter.data());
        return switch (new Message.Reader(definition.pipeline()).read(arrival)) {
            case Message.Bad(var bad) -> new Result.Rejected(new Malformed(bad.reason(), bad.message()));
            case Message.Silent _ -> new Result.Known();
            case Message.Good good -> collect(good, letter);
        };
    }

    private Result collect(Message.Good message, Arrival letter) {
        Forget forget = ((Batching) definition.pipeline().fold()).forget();
        Map<String, AttributeValue> claim = store.get(store.tables().rows(), Claim.key(message.idHash()));
        if (Claim.isRecorded(store.get(store.tables().rows(), Claim.key(message.seenHash())))) {
            return new Result.Known(); // It came again after its letter was made, when its id was free.
        }
        boolean isClaimed = !claim.isEmpty()
                && !Claim.of(claim).isForgotten(forget, store.clock().millis());
        if (isClaimed && !Begun.is(claim) && !message.isSame(Claim.of(claim).content())) {
            return conflict(message, letter);
        }
        // Also of a record that is known the message is marked: it may come again when the id is forgotten.
        return switch (Collect.ofLetters(store, definition)
                .collect(List.of(message.arrival()))
                .fates()
                .getFirst()) {
            case RECORDED -> {
                WakeItem.put(store);
                yield isClaimed ? new Result.Known() : new Result.Collected();
            }
            case CONFLICTING -> conflict(message, letter); // Another message has claimed the id meanwhile.
            case REJECTED, AGAIN ->
                throw new IllegalStateException("The record could not be collected: the tables are throttled, or others"
                        + " change the same items all the time. Its letter is as it was; try again.");
        };
    }

    private Result conflict(Message.Good message, Arrival letter) {
        Letter lost = new Message.Good(message.idHash(), message.content(), message.line(), message.isMember(), letter)
                .conflict(((Batching) definition.pipeline().fold()).forget());
        return new Result.Conflicting(lost);
    }
}
