package dev.onefold.aws;

import dev.onefold.aws.item.Definition;
import dev.onefold.aws.item.Items;
import dev.onefold.aws.item.KeyItem;
import dev.onefold.aws.item.OutputTable;
import dev.onefold.aws.read.TableTotals;
import dev.onefold.aws.state.Functions;
import dev.onefold.aws.state.StoredKey;
import dev.onefold.aws.store.Queries;
import dev.onefold.aws.store.SettledReads;
import dev.onefold.aws.store.SettledReads.Item;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.store.UserFunction;
import dev.onefold.core.Verification;
import dev.onefold.core.bytes.Hash;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.keyed.Feeds;
import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Measure;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.pipeline.Type;
import dev.onefold.core.process.KeyDifference;
import dev.onefold.core.process.KeyState;
import dev.onefold.core.process.RowType;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.TableAnswer;
import dev.onefold.core.query.TableQuery;
import dev.onefold.core.shape.Value;
import dev.onefold.core.state.Key;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.QueryRequest;

/// Reads what a user's function has made of keys: states, rows of tables, and whether both are what the kept
/// events come to.
final class Keys {
    /// Minimums, maximums and distinct counts of one table: a step changes 90 rows, and each of them moves two
    /// values.
    private static final int VALUES_MAX = 2;

    private static final int ATTEMPTS_MAX = 12;

    private final Store store;
    private final Definition definition;
    private final Pipeline pipeline;
    private final Processing processing;
    private final List<OutputTable> tables;

    Keys(Store store, Definition definition) {
        this.store = store;
        this.definition = definition;
        pipeline = definition.servedView().pipeline();
        if (!(pipeline.fold() instanceof Processing found)) {
            throw new IllegalArgumentException("Pipeline " + pipeline.name() + " has no process section");
        }
        processing = found;
        tables = OutputTable.of(pipeline, processing);
    }

    /// @throws IllegalArgumentException if the pipeline has a function
    static void requireNone(Pipeline pipeline, String why) {
        if (pipeline.fold() instanceof Processing) {
            throw new IllegalArgumentException("Pipeline " + pipeline.name() + " has a function, and " + why);
        }
    }

    /// @throws IllegalArgumentException if the function of a pipeline is a command
    static void requireJava(Pipeline pipeline) {
        if (pipeline.fold() instanceof Processing processing
                && processing.program() instanceof Processing.Program.Command) {
            throw new IllegalArgumentException("Pipeline " + pipeline.name()
                    + " cannot be on AWS: its function is a command (" + processing.programName()
                    + "), and the Lambda functions run Java alone. Write the function in Java ('class' and 'jar'), or"
                    + " run the pipeline embedded.");
        }
    }

    /// @throws IllegalArgumentException if a pipeline with a function cannot be on AWS, saying why
    static void requirePossible(Pipeline pipeline, Processing processing) {
        if (processing.code() == null) {
            throw new IllegalArgumentException("Pipeline " + pipeline.name()
                    + " cannot be on AWS without its function: its types are not known. Name the jar that has it.");
        }
        OutputTable.of(pipeline, processing);
        Map<String, Long> values = processing.feeds().stream()
                .collect(Collectors.groupingBy(
                        Processing.Feed::table,
                        Collectors.summingLong(feed -> feed.rollup().measures().stream()
                                .filter(Keys::isOfValues)
                                .count())));
        values.forEach((table, count) -> {
            if (count > VALUES_MAX) {
                throw new IllegalArgumentException("Pipeline " + pipeline.name()
                        + " cannot be on AWS: the roll-ups of table " + table + " have " + count
                        + " minimums, maximums and distinct counts; at most " + VALUES_MAX
                        + " fit into a transaction with the 90 rows that one event may write.");
            }
        });
    }

    private static boolean isOfValues(Measure measure) {
        return switch (measure) {
            case Measure.Count _ -> false;
            case Measure.Distinct _ -> true;
            case Measure.Numeric numeric -> !numeric.fold().isSummed();
        };
    }

    Optional<KeyState> state(List<String> key) {
        byte[] bytes = Key.bytes(pipeline, key);
        return atOnce(
                bytes, (head, stored) -> head == null ? Optional.empty() : Optional.of(state(bytes, head, stored)));
    }

    /// Of a key of which something that is kept is not there: what it will be when it is written next.
    private KeyState state(byte[] key, KeyItem head, StoredKey stored) {
        try {
            return head.head().state(pipeline, key, stored);
        } catch (StoredKey.Broken broken) {
            return head.head().forGood(stored.left()).state(pipeline, key, stored);
        }
    }

    private <T> T atOnce(byte[] key, BiFunction<@Nullable KeyItem, StoredKey, T> reading) {
        return StoredKey.atOnce(store, tables, key, reading);
    }

    /// One cut of the rows of one key. Rows that a step has just written may not be visible yet, and then
    /// nobody knows that they are there; so a key that was written a moment ago is looked at when that is over.
    TableAnswer tables(TableQuery query) {
        List<String> key = query.key()
                .orElseThrow(() -> new IllegalArgumentException("On AWS the rows of one key are one cut, and those of"
                        + " all keys are not: name a key, or scan "
                        + query.tables().stream().map(store.tables()::output).collect(Collectors.joining(", "))));
        List<OutputTable> asked = query.tables().stream().map(this::asked).toList();
        if (asked.stream().anyMatch(OutputTable::isShared)) {
            return ofShared(asked, key, query.limit());
        }
        byte[] bytes = Key.bytes(pipeline, key);
        return atOnce(bytes, (head, stored) -> {
            if (head != null) {
                settle(head);
            }
            List<TableAnswer.Table> answers = new ArrayList<>();
            List<List<Tuple>> found = asked.stream()
                    .map(table -> rowKeys(
                            table,
                            key.get(keyNames().indexOf(table.key().getFirst().name())),
                            row -> owner(table, row).equals(key),
                            query.limit()))
                    .toList();
            List<Item> wanted = new ArrayList<>();
            for (int i = 0; i < asked.size(); i++) {
                String name = store.tables().output(asked.get(i).name());
                OutputTable table = asked.get(i);
                found.get(i).forEach(row -> wanted.add(new Item(name, table.keyOf(row))));
            }
            List<Map<String, AttributeValue>> items = stored.together(wanted);
            int from = 0;
            for (int i = 0; i < asked.size(); i++) {
                int to = from + found.get(i).size();
                List<Value.Fields> rows = items.subList(from, to).stream()
                        .filter(item -> !item.isEmpty())
                        .map(item -> Value.read(OutputTable.content(item)))
                        .toList();
                answers.add(new TableAnswer.Table(asked.get(i).name(), columns(asked.get(i), rows), rows));
                from = to;
            }
            return new TableAnswer(
                    answers, new Answer.Cut(List.of(), store.clock().instant()));
        });
    }

    /// The rows of a table as JSON, of no cut.
    List<String> scan(String table) {
        List<String> rows = new ArrayList<>();
        Queries.scan(
                store,
                store.tables().output(asked(table).name()),
                page -> page.forEach(
                        item -> rows.add(Value.read(OutputTable.content(item)).toJson())));
        return rows;
    }

    private OutputTable asked(String name) {
        return tables.get(processing
                .table(name)
                .orElseThrow(() -> new IllegalArgumentException(
                        "There is no table " + name + "; there is " + processing.tableNames())));
    }

    /// The rows of a shared table whose keys begin with these parts.
    private TableAnswer ofShared(List<OutputTable> asked, List<String> given, long limit) {
        OutputTable table = asked.getFirst();
        if (asked.size() > 1) {
            throw new IllegalArgumentException("Table "
                    + asked.stream()
                            .filter(OutputTable::isShared)
                            .findFirst()
                            .orElseThrow()
                            .name()
                    + " has keys of its own, and is read alone, by one part of its key or by all");
        }
        List<String> key = RowType.keyTexts(processing, tables.indexOf(table), given);
        boolean isWhole = key.size() == table.key().size();
        Map<ByteBuffer, String> steps = new HashMap<>();
        for (int attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
            Optional<List<Map<String, AttributeValue>>> items =
                    isWhole ? sharedRow(table, key) : sharedRows(table, key, steps);
            if (items.isPresent()) {
                List<Value.Fields> rows = items.get().stream()
                        .limit(limit)
                        .map(item -> Value.read(OutputTable.content(item)))
                        .toList();
                return new TableAnswer(
                        List.of(new TableAnswer.Table(table.name(), columns(table, rows), rows)),
                        new Answer.Cut(List.of(), store.clock().instant()));
            }
            store.backOff(attempt);
        }
        throw new IllegalStateException(
                "Rows of table " + table.name() + " were written each time that they were read, " + ATTEMPTS_MAX
                        + " times. Ask again, or read single rows from "
                        + store.tables().output(table.name()) + ".");
    }

    /// The row of a key, which no query finds while a step writes it; empty if a step does so now.
    private Optional<List<Map<String, AttributeValue>>> sharedRow(OutputTable table, List<String> key) {
        Item row = new Item(store.tables().output(table.name()), table.keyOf(Tuple.of(key)));
        return SettledReads.inOrder(store, List.of(row))
                .map(items -> items.stream().filter(item -> !item.isEmpty()).toList());
    }

    /// Rows whose keys begin so, as of one step of each key that owns some of them; empty if they may not be. A
    /// step's rows become visible one by one. So the owners' heads must be old enough when the rows are looked
    /// for, and the same afterwards.
    ///
    /// @param steps of the owners that were met so far, as they were read last
    private Optional<List<Map<String, AttributeValue>>> sharedRows(
            OutputTable table, List<String> key, Map<ByteBuffer, String> steps) {
        StoredKey.heads(store, steps.keySet().stream().map(Items::copy).toList())
                .forEach(head -> {
                    settle(head);
                    steps.put(ByteBuffer.wrap(head.key()), head.step());
                });
        SortedMap<Tuple, Map<String, AttributeValue>> found =
                partition(table, key.getFirst(), row -> beginsWith(row, key), item -> item);
        boolean isAnyNew = false;
        for (Map<String, AttributeValue> item : found.values()) {
            isAnyNew |= steps.putIfAbsent(ByteBuffer.wrap(OutputTable.owner(item)), "") == null;
        }
        return !isAnyNew && isStill(steps) ? Optional.of(List.copyOf(found.values())) : Optional.empty();
    }

    private boolean isStill(Map<ByteBuffer, String> steps) {
        List<Map<String, AttributeValue>> keys = steps.keySet().stream()
                .map(key -> KeyItem.keyOf(Items.copy(key)))
                .toList();
        return SettledReads.of(store, store.tables().rows(), keys)
                .filter(heads -> heads.stream()
                        .map(KeyItem::of)
                        .allMatch(head -> head.step().equals(steps.get(ByteBuffer.wrap(head.key())))))
                .isPresent();
    }

    private static boolean beginsWith(Tuple row, List<String> key) {
        return row.parts().subList(0, key.size()).equals(key);
    }

    private void settle(KeyItem head) {
        Duration age = Duration.between(
                Instant.ofEpochMilli(head.atMs()), store.clock().instant());
        Duration left = Store.IN_FLIGHT_MAX.minus(age);
        if (left.isPositive()) {
            store.threads().pause(left.compareTo(Store.IN_FLIGHT_MAX) > 0 ? Store.IN_FLIGHT_MAX : left);
        }
    }

    private List<String> columns(OutputTable table, List<Value.Fields> rows) {
        Processing.Code code = processing.code();
        Type.Fields type = code == null ? null : code.tables().get(table.name());
        Set<String> columns = new LinkedHashSet<>();
        if (type != null) {
            type.components().forEach(component -> columns.add(component.name()));
        }
        rows.forEach(row -> columns.addAll(row.components().keySet()));
        return List.copyOf(columns);
    }

    /// The keys of rows of a partition, in the order of their bytes.
    private List<Tuple> rowKeys(OutputTable table, String first, Predicate<Tuple> isWanted, long limit) {
        return partition(table, first, isWanted, _ -> true).keySet().stream()
                .limit(limit)
                .toList();
    }

    /// @param kept of each row's item
    private <T> SortedMap<Tuple, T> partition(
            OutputTable table, String first, Predicate<Tuple> isWanted, Function<Map<String, AttributeValue>, T> kept) {
        String partition = table.key().getFirst().name();
        SortedMap<Tuple, T> found = new TreeMap<>();
        QueryRequest request = QueryRequest.builder()
                .tableName(store.tables().output(table.name()))
                .consistentRead(true)
                .keyConditionExpression("#p = :p")
                .expressionAttributeNames(Map.of("#p", partition))
                .expressionAttributeValues(Map.of(":p", table.value(0, first)))
                .build();
        Queries.pages(store, request, page -> {
            for (Map<String, AttributeValue> item : page.items()) {
                Tuple row = table.rowKey(item);
                if (isWanted.test(row)) {
                    found.put(row, kept.apply(item));
                }
            }
            return true;
        });
        return found;
    }

    private List<String> keyNames() {
        return pipeline.input().identity() instanceof Identity.Versioned versioned
                ? versioned.key().stream().map(FieldPath::toString).toList()
                : List.of();
    }

    /// The key that owns the row of an item.
    private List<String> owner(OutputTable table, Map<String, AttributeValue> item) {
        return table.isShared() ? table.ownerOf(item) : owner(table, table.rowKey(item));
    }

    /// The key whose row this is.
    private List<String> owner(OutputTable table, Tuple row) {
        List<String> order = processing.tables().get(tables.indexOf(table)).key();
        List<String> texts = row.parts();
        return keyNames().stream().map(name -> texts.get(order.indexOf(name))).toList();
    }

    /// Folds again what is kept of each key, or of about one in so many, and compares. The attributes of each
    /// row, which other programs read, are compared with the row that the function wrote.
    Verification verify(int oneIn) {
        if (store.function().isEmpty()) {
            throw new IllegalArgumentException("To verify pipeline " + pipeline.name()
                    + " its function is called, and this process was given none: name the pipeline file, beside which"
                    + " the jar is.");
        }
        UserFunction function = Functions.of(store, pipeline);
        List<KeyDifference> differences = new ArrayList<>();
        tables.forEach(table -> Queries.scan(
                store,
                store.tables().output(table.name()),
                page -> page.stream()
                        .filter(item -> isIn(Key.bytes(pipeline, owner(table, item)), oneIn))
                        .flatMap(item -> table.edited(owner(table, item), item).stream())
                        .forEach(differences::add)));
        AtomicLong audited = new AtomicLong();
        Queries.scan(store, store.tables().rows(), page -> {
            List<byte[]> some = page.stream()
                    .filter(KeyItem::isHead)
                    .map(item -> KeyItem.of(item).key())
                    .filter(key -> isIn(key, oneIn))
                    .toList();
            store.threads()
                    .all(some, key -> StoredKey.audit(store, tables, function, key))
                    .forEach(differences::addAll);
            audited.addAndGet(some.size());
        });
        long keys = audited.get();
        String truth = "the kept events of " + keys + " keys";
        if (processing.feeds().isEmpty()) {
            return new Verification(truth, 0, List.of(), keys, differences);
        }
        Verification totals = TableTotals.compare(store, definition, tables, new Feeds(processing), oneIn);
        return new Verification(
                totals.truth() + " and " + truth, totals.groups(), totals.differences(), keys, differences);
    }

    private static boolean isIn(byte[] key, int oneIn) {
        return oneIn == 1
                || Long.remainderUnsigned(Hash.of(Arrays.copyOf(key, key.length + Hash.PADDING), 0, key.length), oneIn)
                        == 0;
    }
}
