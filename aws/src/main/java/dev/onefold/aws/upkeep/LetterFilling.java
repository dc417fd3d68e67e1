package dev.onefold.aws.upkeep;

import dev.onefold.aws.Store;
import dev.onefold.aws.item.Definition;
import dev.onefold.aws.item.Items;
import dev.onefold.aws.item.Row;
import dev.onefold.aws.letter.Letter;
import dev.onefold.aws.letter.LetterTable;
import dev.onefold.aws.state.Definitions;
import dev.onefold.aws.state.Fate;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.event.Malformed;
import dev.onefold.core.event.Reason;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// Decides the dead letters again when another pipeline serves: the one before refused their records, so no row holds
/// them, and the new one may accept them. A letter of the old pipeline is written on condition that a gate is open for
/// it, as a row is, so each is there once all gates were moved. The row is the mark: a letter that was accepted and
/// not removed in time is a duplicate when the next step comes to it.
///
///     item = k 00 "letters", n the view whose pipeline decides, i the last letter that was decided, d 1 when all are
final class LetterFilling {
    private static final int PAGE = 100;
    private static final int FIRST_VIEW = 1;

    private final Store store;
    private final Definition definition;
    private final BooleanSupplier goesOn;
    private final LetterTable table;

    private LetterFilling(Store store, Definition definition, BooleanSupplier goesOn) {
        this.store = store;
        this.definition = definition;
        this.goesOn = goesOn;
        table = new LetterTable(store);
    }

    /// Goes on for as long as there is time.
    ///
    /// @return whether all letters are decided under the served pipeline
    static CompletableFuture<Boolean> fill(Store store, Definition definition, BooleanSupplier goesOn) {
        if (definition.served() == FIRST_VIEW) {
            return CompletableFuture.completedFuture(true);
        }
        LetterFilling filling = new LetterFilling(store, definition, goesOn);
        return filling.last()
                .thenCompose(last -> last < 0
                        ? CompletableFuture.completedFuture(true)
                        : new Definitions(store).moveGates(definition).thenCompose(_ -> filling.from(last)));
    }

    private static Map<String, AttributeValue> key() {
        return Row.other("letters");
    }

    /// The last letter that was decided under the served pipeline; negative if all are.
    private CompletableFuture<Long> last() {
        return store.retried(() -> store.client()
                        .getItem(request -> request.tableName(store.tables().rows())
                                .key(key())
                                .consistentRead(true)))
                .thenApply(response -> {
                    boolean isBegun =
                            !response.item().isEmpty() && Items.number(response.item(), "n") == definition.served();
                    if (!isBegun) {
                        return 0L;
                    }
                    return Items.number(response.item(), "d") == 1 ? -1L : Items.number(response.item(), "i");
                });
    }

    private CompletableFuture<Boolean> from(long last) {
        if (!goesOn.getAsBoolean()) {
            return CompletableFuture.completedFuture(false);
        }
        return table.list(last, PAGE).thenCompose(letters -> {
            if (letters.isEmpty()) {
                return note(last, 1).thenApply(_ -> true);
            }
            long next = letters.getLast().id();
            return decide(letters).thenCompose(_ -> note(next, 0)).thenCompose(_ -> from(next));
        });
    }

    private CompletableFuture<Void> note(long last, int done) {
        TreeMap<String, AttributeValue> item = new TreeMap<>(key());
        item.put("n", Items.number(definition.served()));
        item.put("i", Items.number(last));
        item.put("d", Items.number(done));
        return store.retried(() -> store.client()
                        .putItem(request ->
                                request.tableName(store.tables().rows()).item(item)))
                .thenApply(_ -> null);
    }

    private CompletableFuture<Void> decide(List<DeadLetter> letters) {
        CompletableFuture<Void> decided = CompletableFuture.completedFuture(null);
        for (DeadLetter letter : letters) {
            decided = decided.thenCompose(_ -> decide(letter));
        }
        return decided;
    }

    /// The loser of a conflict stays a letter, whichever record wins now, as when a person redrives it. A letter
    /// that holds no record stays, too.
    private CompletableFuture<Void> decide(DeadLetter letter) {
        if (letter.content() != DeadLetter.Content.RECORD) {
            return CompletableFuture.completedFuture(null);
        }
        return table.arrival(letter.id()).thenCompose(arrival -> {
            if (arrival == null) {
                return CompletableFuture.completedFuture(null);
            }
            return StateAndMap.redrive(store, arrival).thenCompose(fate -> {
                if (letter.reason() == Reason.CONFLICT) {
                    return CompletableFuture.completedFuture(null);
                }
                return switch (fate) {
                    case Fate.Rejected(var malformed) ->
                        table.rejectedAgain(letter.id(), malformed, arrival.data())
                                .<Void>thenApply(_ -> null);
                    case Fate.Conflicting(var loser) ->
                        loser.map(lost -> lost(letter, lost)).orElseGet(() -> remove(letter));
                    case Fate.Accepted _, Fate.Duplicate _, Fate.Stale _ -> remove(letter);
                };
            });
        });
    }

    /// A record that loses now stays as this letter, unless another letter is kept of it.
    private CompletableFuture<Void> lost(DeadLetter letter, Letter lost) {
        Malformed why = new Malformed(lost.reason(), lost.message());
        return table.keepAs(letter.id(), lost.identity())
                .thenCompose(kept -> kept == letter.id()
                        ? table.rejectedAgain(letter.id(), why, lost.arrival().data())
                                .<Void>thenApply(_ -> null)
                        : remove(letter));
    }

    private CompletableFuture<Void> remove(DeadLetter letter) {
        return table.remove(letter.id()).thenApply(_ -> null);
    }
}
