package dev.onefold.aws.function;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.LocalDynamoDb;
import dev.onefold.aws.comparison.Comparing;
import dev.onefold.aws.comparison.Comparison;
import dev.onefold.aws.comparison.Tally;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.letter.LetterTable;
import dev.onefold.aws.resync.DeployedPassing;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Store;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Query;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// A deployment that counts the shops of a table, and the function that compares it.
final class ComparedShops {
    static final Pipeline PIPELINE = PipelineBuilder.named("shops")
            .key("id")
            .version("v")
            .delete("gone = true")
            .rollup(r -> r.levels("shop").count("saves"))
            .build();
    static final LocalDynamoDb DYNAMO = new LocalDynamoDb();
    static final byte[] WAKE = "{}".getBytes(StandardCharsets.UTF_8);

    private final ByteArrayOutputStream log = new ByteArrayOutputStream();
    Store store;
    String table;

    /// What ends a process in the middle.
    static final class Killed extends Error {
        private static final long serialVersionUID = 1L;
    }

    static long plenty() {
        return 800_000;
    }

    /// The time is over behind the first look.
    static LongSupplier untilTheFirstLook() {
        AtomicInteger asked = new AtomicInteger();
        return () -> asked.incrementAndGet() < 3 ? 800_000 : 300_000;
    }

    /// The process is killed when it has written what it has begun to repair.
    LongSupplier untilSomethingIsRepaired() {
        return () -> {
            if (hasLogged("RowDifferences")) {
                throw new Killed();
            }
            return 800_000;
        };
    }

    /// A table with a, b, c and e, and rows of a pipeline that have a, an older b, no c, and d beside them. A dead
    /// letter of e waits.
    void drift(String name) {
        begin(name);
        live(row("a", 1, "Ulm"), row("b", 1, "Ulm"), row("d", 4, "Bonn"), row("e", 1, "Bonn"));
        live("{\"id\":\"e\",\"v\":2,\"shop\":{\"name\":\"Trier\"}}");
        put("a", 1, "Ulm");
        put("b", 2, "Bonn");
        put("c", 1, "Ulm");
        put("e", 2, "Trier");
    }

    void begin(String name) {
        store = DYNAMO.store("compared-" + name); // All classes share one server.
        table = "Of-" + name;
        DYNAMO.sourceTable(table);
        AwsEngine.open(store, PIPELINE, 2, 4);
        new LetterTable(store).useBucket();
    }

    /// Deletes the table and makes an empty one of its name.
    void replaceTable() {
        dropTable();
        makeTable();
    }

    void makeTable() {
        DYNAMO.sourceTable(table);
    }

    void dropTable() {
        DYNAMO.client.deleteTable(request -> request.tableName(table)).join();
    }

    static String row(String id, int version, String shop) {
        return "{\"id\":\"%s\",\"v\":%d,\"shop\":\"%s\"}".formatted(id, version, shop);
    }

    void live(String... records) {
        for (String record : records) {
            StateAndMap.process(
                    store, List.of(new Arrival("stream", "1", 0, record.getBytes(StandardCharsets.UTF_8), 1)));
        }
    }

    void put(String id, int version, String shop) {
        DYNAMO.client
                .putItem(request -> request.tableName(table)
                        .item(Map.of(
                                "id", AttributeValue.fromS(id),
                                "v", AttributeValue.fromN(Integer.toString(version)),
                                "shop", AttributeValue.fromS(shop))))
                .join();
    }

    /// Rows that the table does not have.
    void ghosts(String prefix, int count) {
        for (int i = 0; i < count; i++) {
            live(row(prefix + i, 1, "Ulm"));
        }
    }

    Store later(Duration time) {
        return new Store(
                        store.client(),
                        store.tables(),
                        store.threads(),
                        store.random(),
                        () -> Instant.now().plus(time))
                .with(store.bucket());
    }

    CompareFunction function(Store at, boolean repairs) {
        return function(at, repairs, Duration.ofHours(24));
    }

    CompareFunction function(Store at, boolean repairs, Duration every) {
        return function(at, repairs, every, new PrintStream(log, true, StandardCharsets.UTF_8));
    }

    CompareFunction function(Store at, boolean repairs, Duration every, PrintStream out) {
        return new CompareFunction(
                at,
                new Comparing.Settings(table, repairs, every, 10_000, Duration.ofMillis(1)),
                new DeployedPassing.Input(
                        null,
                        () -> {
                            throw new AssertionError("No stream is read here");
                        },
                        () -> DYNAMO.changes,
                        Optional.empty()),
                new Metrics(out, "stack"));
    }

    void wake(boolean repairs) {
        function(store, repairs).handle(WAKE, ComparedShops::plenty);
    }

    /// A wake-up that comes later.
    void wake(Duration time, boolean repairs) {
        function(later(time), repairs).handle(WAKE, ComparedShops::plenty);
    }

    boolean hasLogged(String text) {
        return log.toString(StandardCharsets.UTF_8).contains(text);
    }

    String logged() {
        String text = log.toString(StandardCharsets.UTF_8);
        log.reset();
        return text;
    }

    Comparison comparison() {
        return Comparison.find(store).orElseThrow();
    }

    Tally last() {
        Comparison.Result last = comparison().last();
        assertThat(last).isNotNull();
        return last.tally();
    }

    List<String> totals() {
        AwsEngine engine = AwsEngine.deployed(store);
        engine.reduce();
        return engine.query(Query.all("main")).lines().stream()
                .map(line -> String.join("/", line.group()) + "=" + line.values())
                .toList();
    }
}
