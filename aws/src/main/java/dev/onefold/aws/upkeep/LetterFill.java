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
import dev.onefold.aws.state.RefusedRows;
import dev.onefold.aws.state.RefusedRows.LostRow;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Store;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.event.Malformed;
import dev.onefold.core.event.Reason;
import dev.onefold.core.letter.RowSummary;
import dev.onefold.core.pipeline.Pipeline;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// Decides the dead letters again when another pipeline serves: the one before refused their records, so no row
/// holds them, and the new one may accept them. A letter of the old pipeline is written on condition that a
/// gate is open for it, as a row is, so each is there once all gates were moved. The row is the mark: a letter
/// that was accepted and not removed in time is a duplicate when the next step comes to it. Some are decided at
/// a time, in any order: versions, ids and contributions decide, as when all records come again.
///
/// item = k 00 "letters", n the view whose pipeline decides, i the last letter that was decided, d 1 when all
/// are
final class LetterFill {
    private static final int AT_A_TIME = 32;
    private static final long BYTES_AT_A_TIME = 16L << 20;
    private static final int FIRST_VIEW = 1;
    private static final long ALL = -1;
    private static final long NOT_BEGUN = -2;

    private final Store store;
    private final Definition definition;
    private final BooleanSupplier goesOn;
    private final LetterTable table;

    private LetterFill(Store store, Definition definition, BooleanSupplier goesOn) {
        this.store = store;
        this.definition = definition;
        this.goesOn = goesOn;
        table = new LetterTable(store);
    }

    /// Goes on for as long as there is time.
    ///
    /// @return whether all letters are decided under the served pipeline
    static boolean fill(Store store, Definition definition, BooleanSupplier goesOn) {
        if (definition.served() == FIRST_VIEW) {
            return true;
        }
        LetterFill filling = new LetterFill(store, definition, goesOn);
        long last = filling.last();
        return last == ALL || filling.settleRows(last) && filling.from(last == NOT_BEGUN ? 0 : last);
    }

    /// Makes letters of the rows that the served view refuses, for as long as there is time.
    ///
    /// @return whether there are none any more
    static boolean settleRows(Store store, Definition definition, BooleanSupplier goesOn) {
        LetterFill filling = new LetterFill(store, definition, goesOn);
        return !new RefusedRows(store, definition).isAny() || filling.settleRows(filling.last());
    }

    private boolean settleRows(long last) {
        if (last == NOT_BEGUN) {
            fence();
        }
        return new RefusedRows(store, definition).settleAll(goesOn);
    }

    private static Map<String, AttributeValue> key() {
        return RowItem.other("letters");
    }

    /// The last letter that was decided under the served pipeline, or [#ALL], or [#NOT_BEGUN].
    private long last() {
        Map<String, AttributeValue> item = store.get(store.tables().rows(), key());
        if (item.isEmpty() || Items.number(item, "n") != definition.served()) {
            return NOT_BEGUN;
        }
        return Items.number(item, "d") == 1 ? ALL : Items.number(item, "i");
    }

    /// A letter of the old pipeline may still be on its way when its gate is free again and has been moved, as
    /// a row may; see [dev.onefold.aws.state.RowFill].
    private void fence() {
        new Definitions(store).moveGates(definition);
        store.threads().pause(Store.IN_FLIGHT_MAX);
        note(0, 0);
    }

    private boolean from(long first) {
        long last = first;
        while (goesOn.getAsBoolean()) {
            List<DeadLetter> letters = table.list(last, AT_A_TIME);
            if (letters.isEmpty()) {
                note(last, 1);
                return true;
            }
            List<DeadLetter> some = together(letters);
            store.threads().each(some, this::decide);
            last = some.getLast().id();
            note(last, 0);
        }
        return false;
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

    private void note(long last, int done) {
        TreeMap<String, AttributeValue> item = new TreeMap<>(key());
        item.put("n", Items.number(definition.served()));
        item.put("i", Items.number(last));
        item.put("d", Items.number(done));
        store.retried(() -> store.client()
                .putItem(request -> request.tableName(store.tables().rows()).item(item)));
    }

    /// A letter whose record cannot be read stays, and says so: those behind it do not wait.
    private void decide(DeadLetter letter) {
        try {
            if (letter.content() == DeadLetter.Content.RECORD) {
                decideRecord(letter);
            } else if (letter.reason() == Reason.CONFLICT || letter.reason() == Reason.REFUSED) {
                decideRow(letter);
            }
        } catch (UnreadableLetter unreadable) {
            table.undecided(letter.id(), String.valueOf(unreadable.getMessage()));
        }
    }

    /// The loser of a conflict stays a letter, whichever record wins now, as when a person redrives it.
    private void decideRecord(DeadLetter letter) {
        Arrival arrival = table.arrival(letter.id());
        if (arrival != null) {
            settle(letter, arrival, StateAndMap.redrive(store, arrival));
        }
    }

    /// A row that lost a conflict, or that the view of before refused: what is kept of it decides again. The
    /// loser of a conflict stays a letter, too, unless another letter is kept of it.
    private void decideRow(DeadLetter letter) {
        int view = table.view(letter.id());
        if (view == 0 || view == definition.served()) {
            return;
        }
        Optional<Pipeline> pipeline = new Definitions(store).past(view);
        Arrival read = pipeline.isEmpty() ? null : table.arrival(letter.id());
        if (read != null) {
            RowSummary.read(read.data(), pipeline.get(), letter.place())
                    .ifPresent(row ->
                            settle(letter, read, StateAndMap.redrive(store, read, new LostRow(row, pipeline.get()))));
        }
    }

    /// A record that has lost a conflict stays a letter unless another one is kept of it: it may lose again to
    /// one that is decided later, and would not be kept again then.
    private void settle(DeadLetter letter, Arrival arrival, Fate fate) {
        Optional<Letter> lost = fate instanceof Fate.Conflicting(var loser) ? loser : Optional.empty();
        if (table.isConflict(letter.id())) {
            boolean isSaid = letter.reason() == Reason.CONFLICT;
            if (lost.isPresent() && !(isSaid && letter.content() == DeadLetter.Content.RECORD)) {
                keepLost(letter, lost.get(), !isSaid);
            }
        } else if (fate instanceof Fate.Rejected(var malformed)) {
            table.rejectedAgain(letter.id(), malformed, arrival.data());
        } else if (lost.isPresent()) {
            keepLost(letter, lost.get(), true);
        } else {
            table.remove(letter.id());
        }
    }

    /// A record that loses now stays as this letter, unless another letter is kept of it.
    ///
    /// @param says whether the letter is to say why
    private void keepLost(DeadLetter letter, Letter lost, boolean says) {
        if (table.keepAs(letter.id(), lost.identity()) != letter.id()) {
            table.remove(letter.id());
        } else if (says) {
            Malformed why = new Malformed(lost.reason(), lost.message());
            table.rejectedAgain(letter.id(), why, lost.arrival().data());
        }
    }
}
