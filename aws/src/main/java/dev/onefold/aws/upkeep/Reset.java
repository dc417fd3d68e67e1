package dev.onefold.aws.upkeep;

import dev.onefold.aws.item.Definition;
import dev.onefold.aws.item.Header;
import dev.onefold.aws.item.Incarnation;
import dev.onefold.aws.item.Items;
import dev.onefold.aws.item.OutputTable;
import dev.onefold.aws.item.RowItem;
import dev.onefold.aws.item.TotalsKey;
import dev.onefold.aws.letter.LetterTable;
import dev.onefold.aws.resync.SeedLease;
import dev.onefold.aws.state.Claims;
import dev.onefold.aws.state.Definitions;
import dev.onefold.aws.store.Store;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.Predicate;
import java.util.stream.Stream;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.Delete;
import software.amazon.awssdk.services.dynamodb.model.Put;
import software.amazon.awssdk.services.dynamodb.model.ScanRequest;
import software.amazon.awssdk.services.dynamodb.model.ScanResponse;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;

/// Empties the tables of a deployment, while its functions may be at work. A function that has read its records before,
/// and writes after, would make totals without rows; so a reset is an [Incarnation] of its own, and it is closed:
///
/// 1. A new incarnation begins, as [Restored] begins one: definition, headers, gates. From then on nothing that was
///    begun before is written. Its definition names no tables, so every other process refuses to begin anything. The
///    transaction that writes the definition notes that a reset closed it. So `restored`, which makes totals of the
///    rows that there are, refuses from then on, and not before: nothing is deleted before.
/// 2. All items are deleted, in transactions that check a gate as those of State do. The objects of letters cannot be
///    deleted so, but no letter that is kept afterwards has one of the same name.
/// 3. The definition and the gates move once more. What this reset has sent and was not answered deletes nothing from
///    then on. Only then the definition names its tables again, with a view under a number that none has had.
///
/// Stopped anywhere, the deployment stays closed, or has all of its rows, until the reset is run again. Ids of letters
/// and numbers of seedings go on: people write them down.
///
/// A reset closes the incarnation that it has found, also one that another reset has closed, which then deletes nothing
/// more. One that is late finds another incarnation there, which somebody may be at work in, and leaves it.
///
///     item = k 00 "reset", i the incarnation that the last reset has closed
public final class Reset {
    private static final int SEGMENTS = 8;
    private static final int DELETES_MAX = 99; // Of the hundred, one is the gate.
    private static final long BYTES_MAX = 3_000_000; // A transaction has 4 MB, of which we count names and values only.

    private final Store store;
    private final Definitions definitions;
    private final LetterTable letters;
    private final LongConsumer told;
    private final AtomicLong deleted = new AtomicLong();

    private Reset(Store store, LongConsumer told) {
        this.store = store;
        this.told = told;
        definitions = new Definitions(store);
        letters = new LetterTable(store);
    }

    /// A table that is emptied.
    ///
    /// @param key names of the attributes of its key
    /// @param items about how many it holds, as DynamoDB counts them every six hours
    public record Table(String name, List<String> key, long items) {
        public Table {
            key = List.copyOf(key);
        }
    }

    /// Another one has come to its end, or begun, meanwhile.
    public static final class Overtaken extends IllegalStateException {
        private static final long serialVersionUID = 1L;

        Overtaken() {
            super("Another 'onefold aws reset' or 'onefold aws restored' was run meanwhile, and this one changes"
                    + " nothing more. Wait until the other one is done");
        }
    }

    static Map<String, AttributeValue> key() {
        return RowItem.other("reset");
    }

    /// Whether a reset is under way, or was stopped, so that a part of the items may be gone.
    public static boolean isUnderWay(Store store) {
        return new Definitions(store)
                .findAnyhow()
                .filter(definition -> isUnderWay(store, definition))
                .isPresent();
    }

    /// Whether a reset has closed this definition.
    static boolean isUnderWay(Store store, Definition definition) {
        if (!isClosed(definition)) {
            return false;
        }
        Map<String, AttributeValue> note = store.get(store.tables().rows(), key());
        return note.containsKey(Incarnation.ID)
                && Items.text(note, Incarnation.ID)
                        .equals(definition.incarnation().id());
    }

    /// The pipeline that a deployment serves; empty if nothing is deployed.
    public static Optional<Pipeline> pipeline(Store store) {
        return new Definitions(store)
                .findAnyhow()
                .map(definition -> definition.servedView().pipeline());
    }

    /// The tables of a deployment that would be emptied; empty if nothing is deployed.
    public static List<Table> look(Store store) {
        Optional<Definition> definition = new Definitions(store).findAnyhow();
        return definition.isEmpty() ? List.of() : tables(store, definition.get());
    }

    private static List<Table> tables(Store store, Definition definition) {
        Store.Tables names = store.tables();
        List<Table> tables = new ArrayList<>();
        tables.add(table(store, names.deltas(), List.of("l", "i")));
        tables.add(table(store, names.totals(), List.of(TotalsKey.PARTITION, TotalsKey.GROUP)));
        tables.add(table(store, names.letters(), List.of("p", "i")));
        Pipeline pipeline = definition.servedView().pipeline();
        if (pipeline.fold() instanceof Processing processing) {
            for (OutputTable output : OutputTable.of(pipeline, processing)) {
                List<String> key =
                        output.key().stream().map(OutputTable.Key::name).toList();
                tables.add(table(store, names.output(output.name()), key));
            }
        }
        tables.add(table(store, names.rows(), List.of("k")));
        return tables;
    }

    private static Table table(Store store, String name, List<String> key) {
        Long items = store.retried(() -> store.client().describeTable(request -> request.tableName(name)))
                .table()
                .itemCount();
        return new Table(name, key, items == null ? 0 : items);
    }

    /// Empties the tables.
    ///
    /// @param whenClosed is done when the deployment is closed, before anything is deleted. It is given a check
    ///     for right before each change: it fails if somebody else has gone on with the deployment meanwhile
    /// @param told how many items were deleted so far
    /// @return how many items were deleted
    /// @throws Overtaken if somebody else does it at the same time
    /// @throws IllegalStateException if nothing is deployed, or a seeding runs
    public static long run(Store store, Consumer<Runnable> whenClosed, LongConsumer told) {
        return new Reset(store, told).run(whenClosed);
    }

    private long run(Consumer<Runnable> whenClosed) {
        Definition found = definition();
        if (SeedLease.isRunning(store, Long.MAX_VALUE)) {
            throw new IllegalStateException("A seeding of this deployment runs, or has ended within the last "
                    + SeedLease.HELD.toMinutes() + " minutes without saying so. Stop it, or wait. Nothing was deleted");
        }
        Definition closed = Restored.close(store, found, this::replace);
        whenClosed.accept(() -> requireClosed(closed));
        for (Table table : tables(store, closed)) {
            empty(closed, table);
        }
        new Claims(store).join(opened(closed));
        return deleted.get();
    }

    private Definition definition() {
        return definitions
                .findAnyhow()
                .orElseThrow(() -> new IllegalStateException("Table "
                        + store.tables().rows() + " holds no definition: nothing was deployed there, or no record has"
                        + " come yet"));
    }

    /// Whether a definition names no tables.
    private static boolean isClosed(Definition definition) {
        return definition.incarnation().tables().stream().allMatch(String::isEmpty);
    }

    /// Puts a closed definition in the place of the one before, if that is still there, with the note that says whose
    /// it is.
    private void replace(Definition closed, String incarnation) {
        Map<String, AttributeValue> note = new TreeMap<>(key());
        note.put(Incarnation.ID, AttributeValue.fromS(closed.incarnation().id()));
        List<TransactWriteItem> both = List.of(
                definitions.replacing(closed, incarnation),
                TransactWriteItem.builder()
                        .put(Put.builder()
                                .tableName(store.tables().rows())
                                .item(note)
                                .build())
                        .build());
        boolean _ = store.transactIf(both);
    }

    /// Deletes the items of a table until none is found: items that were written before the gates had moved
    /// become visible while the table is read.
    private void empty(Definition closed, Table table) {
        long before;
        do {
            before = deleted.get();
            store.threads().each(SEGMENTS, segment -> emptySegment(closed, table, segment));
        } while (deleted.get() > before);
    }

    private void emptySegment(Definition closed, Table table, int segment) {
        Map<String, AttributeValue> start = Map.of();
        do {
            ScanRequest request = ScanRequest.builder()
                    .tableName(table.name())
                    .consistentRead(true)
                    .segment(segment)
                    .totalSegments(SEGMENTS)
                    .exclusiveStartKey(start.isEmpty() ? null : start)
                    .build();
            ScanResponse page = store.retried(() -> store.client().scan(request));
            List<Map<String, AttributeValue>> doomed =
                    page.items().stream().filter(isDoomed(table)).toList();
            if (table.name().equals(store.tables().letters()) && !doomed.isEmpty()) {
                requireClosed(closed);
                letters.removeRecords(doomed);
            }
            parts(doomed).forEach(part -> delete(closed, table, part));
            start = page.lastEvaluatedKey();
        } while (!start.isEmpty());
    }

    private Predicate<Map<String, AttributeValue>> isDoomed(Table table) {
        if (table.name().equals(store.tables().rows())) {
            return item -> Items.bytes(item, "k")[0] != 0;
        }
        if (table.name().equals(store.tables().totals())) {
            return item -> !Items.text(item, TotalsKey.PARTITION).equals(Header.PARTITION);
        }
        return table.name().equals(store.tables().letters()) ? LetterTable::isOfRecord : _ -> true;
    }

    private static List<List<Map<String, AttributeValue>>> parts(List<Map<String, AttributeValue>> items) {
        List<List<Map<String, AttributeValue>>> parts = new ArrayList<>();
        List<Map<String, AttributeValue>> part = new ArrayList<>();
        long bytes = 0;
        for (Map<String, AttributeValue> item : items) {
            long more = bytes(item);
            if (part.size() == DELETES_MAX || !part.isEmpty() && bytes + more > BYTES_MAX) {
                parts.add(part);
                part = new ArrayList<>();
                bytes = 0;
            }
            part.add(item);
            bytes += more;
        }
        if (!part.isEmpty()) {
            parts.add(part);
        }
        return parts;
    }

    /// About how large an item is.
    private static long bytes(Map<String, AttributeValue> item) {
        return item.entrySet().stream()
                .mapToLong(each -> each.getKey().length() + bytes(each.getValue()))
                .sum();
    }

    private static long bytes(AttributeValue value) {
        return switch (value.type()) {
            case S -> 3L * value.s().length();
            case N -> value.n().length();
            case B -> value.b().asByteArrayUnsafe().length;
            case L -> value.l().stream().mapToLong(each -> bytes(each) + 1).sum();
            case M -> bytes(value.m());
            case SS -> value.ss().stream().mapToLong(each -> 3L * each.length()).sum();
            case NS -> value.ns().stream().mapToLong(String::length).sum();
            case BS ->
                value.bs().stream()
                        .mapToLong(each -> each.asByteArrayUnsafe().length)
                        .sum();
            case BOOL, NUL, UNKNOWN_TO_SDK_VERSION -> 1;
        };
    }

    /// Deletes some items while the deployment is closed.
    private void delete(Definition closed, Table table, List<Map<String, AttributeValue>> items) {
        Stream<TransactWriteItem> deletes = items.stream()
                .map(item -> TransactWriteItem.builder()
                        .delete(Delete.builder()
                                .tableName(table.name())
                                .key(keyOf(table, item))
                                .build())
                        .build());
        List<TransactWriteItem> all =
                Stream.concat(Stream.of(definitions.check(closed)), deletes).toList();
        if (!store.transactIf(all)) {
            throw new Overtaken();
        }
        told.accept(deleted.addAndGet(items.size()));
    }

    private static Map<String, AttributeValue> keyOf(Table table, Map<String, AttributeValue> item) {
        Map<String, AttributeValue> key = new TreeMap<>();
        table.key().forEach(name -> key.put(name, Items.require(item, name)));
        return key;
    }

    private void requireClosed(Definition closed) {
        if (!definition().equals(closed)) {
            throw new Overtaken();
        }
    }

    /// Opens the deployment again. The gates move while it is still closed, so that a delete which was sent under the
    /// definition before, and comes late, is refused by all of them before the first row can come.
    private Definition opened(Definition closed) {
        Definition last = closed.servingOnly(closed.served());
        definitions.put(last, closed.incarnation().id());
        requireClosed(last);
        definitions.moveGates(last);
        store.threads().pause(Store.IN_FLIGHT_MAX);
        Definition both = new Claims(store).withView(last, closed.servedView().pipeline(), 1, "");
        return Restored.open(store, last, both.view(both.last()));
    }
}
