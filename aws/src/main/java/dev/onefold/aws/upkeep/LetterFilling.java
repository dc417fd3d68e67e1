package dev.onefold.aws.upkeep;

import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.item.Definition;
import dev.onefold.aws.item.Items;
import dev.onefold.aws.item.RowItem;
import dev.onefold.aws.letter.Letter;
import dev.onefold.aws.letter.LetterTable;
import dev.onefold.aws.letter.UnreadableLetter;
import dev.onefold.aws.state.Definitions;
import dev.onefold.aws.state.Fate;
import dev.onefold.aws.state.LostRow;
import dev.onefold.aws.state.RefusedRows;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Futures;
import dev.onefold.aws.store.Store;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.RowSummary;
import dev.onefold.core.event.Malformed;
import dev.onefold.core.event.Reason;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.state.Row;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// Decides the dead letters again when another pipeline serves: the one before refused their records, so no row
/// holds them, and the new one may accept them. A letter of the old pipeline is written on condition that a gate
/// is open for it, as a row is, so each is there once all gates were moved. The row is the mark: a letter that was
/// accepted and not removed in time is a duplicate when the next step comes to it. Some are decided at a time, in
/// any order: versions, ids and contributions decide, as when all records come again.
///
///     item = k 00 "letters", n the view whose pipeline decides, i the last letter that was decided, d 1 when all are
final class LetterFilling {
    private static final int AT_A_TIME = 32;
    private static final long BYTES_AT_A_TIME = 16L << 20;
    private static final int FIRST_VIEW = 1;
    private static final long ALL = -1;
    private static final long NOT_BEGUN = -2;

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
        return filling.last().thenCompose(last -> {
            if (last == ALL) {
                return CompletableFuture.completedFuture(true);
            }
            return filling.settleRows(last)
                    .thenCompose(settled -> settled
                            ? filling.from(last == NOT_BEGUN ? 0 : last)
                            : CompletableFuture.completedFuture(false));
        });
    }

    /// Makes letters of the rows that the served view refuses, for as long as there is time.
    ///
    /// @return whether there are none any more
    static CompletableFuture<Boolean> settleRows(Store store, Definition definition, BooleanSupplier goesOn) {
        LetterFilling filling = new LetterFilling(store, definition, goesOn);
        return new RefusedRows(store, definition)
                .isAny()
                .thenCompose(any -> any
                        ? filling.last().thenCompose(filling::settleRows)
                        : CompletableFuture.completedFuture(true));
    }

    private CompletableFuture<Boolean> settleRows(long last) {
        return (last == NOT_BEGUN ? fence() : CompletableFuture.<Void>completedFuture(null))
                .thenCompose(_ -> new RefusedRows(store, definition).settleAll(goesOn));
    }

    private static Map<String, AttributeValue> key() {
        return RowItem.other("letters");
    }

    /// The last letter that was decided under the served pipeline, or [#ALL], or [#NOT_BEGUN].
    private CompletableFuture<Long> last() {
        return store.retried(() -> store.client()
                        .getItem(request -> request.tableName(store.tables().rows())
                                .key(key())
                                .consistentRead(true)))
                .thenApply(response -> {
                    boolean isBegun =
                            !response.item().isEmpty() && Items.number(response.item(), "n") == definition.served();
                    if (!isBegun) {
                        return NOT_BEGUN;
                    }
                    return Items.number(response.item(), "d") == 1 ? ALL : Items.number(response.item(), "i");
                });
    }

    /// A letter of the old pipeline may still be on its way when its gate is free again and has been moved, as a row
    /// may; see [dev.onefold.aws.state.Filling].
    private CompletableFuture<Void> fence() {
        return new Definitions(store)
                .moveGates(definition)
                .thenCompose(_ -> store.pause().apply(Store.IN_FLIGHT_MAX))
                .thenCompose(_ -> note(0, 0));
    }

    private CompletableFuture<Boolean> from(long last) {
        if (!goesOn.getAsBoolean()) {
            return CompletableFuture.completedFuture(false);
        }
        return table.list(last, AT_A_TIME).thenCompose(letters -> {
            if (letters.isEmpty()) {
                return note(last, 1).thenApply(_ -> true);
            }
            List<DeadLetter> some = together(letters);
            long next = some.getLast().id();
            return decide(some).thenCompose(_ -> note(next, 0)).thenCompose(_ -> from(next));
        });
    }

    /// The first letters, whose records fit into memory together.
    private static List<DeadLetter> together(List<DeadLetter> letters) {
        List<DeadLetter> some = new ArrayList<>();
        long bytes = 0;
        for (DeadLetter letter : letters) {
            bytes += letter.bytes();
            if (!some.isEmpty() && bytes > BYTES_AT_A_TIME) {
                break;
            }
            some.add(letter);
        }
        return some;
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
        return CompletableFuture.allOf(letters.stream().map(this::decide).toArray(CompletableFuture[]::new));
    }

    /// A letter whose record cannot be read stays, and says so: those behind it do not wait.
    private CompletableFuture<Void> decide(DeadLetter letter) {
        CompletableFuture<Void> decided = letter.content() == DeadLetter.Content.RECORD
                ? decideRecord(letter)
                : letter.reason() == Reason.CONFLICT || letter.reason() == Reason.REFUSED
                        ? decideRow(letter)
                        : CompletableFuture.completedFuture(null);
        return decided.exceptionallyCompose(failure -> Futures.cause(failure) instanceof UnreadableLetter unreadable
                ? table.undecided(letter.id(), String.valueOf(unreadable.getMessage()))
                : CompletableFuture.failedFuture(failure));
    }

    /// The loser of a conflict stays a letter, whichever record wins now, as when a person redrives it.
    private CompletableFuture<Void> decideRecord(DeadLetter letter) {
        return table.arrival(letter.id()).thenCompose(arrival -> {
            if (arrival == null) {
                return CompletableFuture.completedFuture(null);
            }
            return StateAndMap.redrive(store, arrival).thenCompose(fate -> settleUnlessLoser(letter, arrival, fate));
        });
    }

    /// A record that has lost a conflict may lose again to one that is decided later, and would not be kept anew then.
    private CompletableFuture<Void> settleUnlessLoser(DeadLetter letter, Arrival arrival, Fate fate) {
        return table.isConflict(letter.id()).thenCompose(isLoser -> {
            if (!isLoser) {
                return settle(letter, arrival, fate);
            }
            Optional<Letter> lost = fate instanceof Fate.Conflicting(var loser) ? loser : Optional.empty();
            boolean isSaid = letter.reason() == Reason.CONFLICT;
            if (lost.isEmpty() || isSaid && letter.content() == DeadLetter.Content.RECORD) {
                return CompletableFuture.completedFuture(null);
            }
            return isSaid ? keepAs(letter, lost.get()) : lost(letter, lost.get());
        });
    }

    private CompletableFuture<Void> settle(DeadLetter letter, Arrival arrival, Fate fate) {
        return switch (fate) {
            case Fate.Rejected(var malformed) ->
                table.rejectedAgain(letter.id(), malformed, arrival.data()).<Void>thenApply(_ -> null);
            case Fate.Conflicting(var loser) ->
                loser.map(lost -> lost(letter, lost)).orElseGet(() -> remove(letter));
            case Fate.Accepted _, Fate.Duplicate _, Fate.Stale _ -> remove(letter);
        };
    }

    /// A row that lost a conflict, or that the view of before refused: what is kept of it decides again. The loser of a
    /// conflict stays a letter, too, unless another letter is kept of it.
    private CompletableFuture<Void> decideRow(DeadLetter letter) {
        return table.view(letter.id())
                .thenCompose(view -> view == 0 || view == definition.served()
                        ? CompletableFuture.completedFuture(Optional.<Pipeline>empty())
                        : new Definitions(store).past(view))
                .thenCompose(pipeline -> pipeline.isEmpty()
                        ? CompletableFuture.completedFuture(null)
                        : table.arrival(letter.id())
                                .thenCompose(read -> read == null
                                        ? CompletableFuture.completedFuture(null)
                                        : decideRow(letter, read, pipeline.get())));
    }

    private CompletableFuture<Void> decideRow(DeadLetter letter, Arrival read, Pipeline pipeline) {
        Optional<Row> row = RowSummary.read(read.data(), pipeline, letter.place());
        return row.map(lost -> StateAndMap.redrive(store, read, new LostRow(lost, pipeline)))
                .map(redriven -> redriven.thenCompose(fate -> settleUnlessLoser(letter, read, fate)))
                .orElseGet(() -> CompletableFuture.completedFuture(null));
    }

    private CompletableFuture<Void> keepAs(DeadLetter letter, Letter lost) {
        return table.keepAs(letter.id(), lost.identity())
                .thenCompose(kept -> kept == letter.id() ? CompletableFuture.completedFuture(null) : remove(letter));
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
