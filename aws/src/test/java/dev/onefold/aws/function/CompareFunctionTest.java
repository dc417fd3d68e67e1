package dev.onefold.aws.function;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.LocalDynamoDb;
import dev.onefold.aws.comparison.Comparing;
import dev.onefold.aws.comparison.Comparison;
import dev.onefold.aws.comparison.Tally;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.letter.LetterTable;
import dev.onefold.aws.resync.DeployedPassing;
import dev.onefold.aws.resync.ResyncTurn;
import dev.onefold.aws.resync.SeedLease;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Store;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Query;
import dev.onefold.tables.compare.Finding.Kind;
import dev.onefold.tables.compare.Finding.Outcome;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

class CompareFunctionTest {
    private static final Pipeline PIPELINE = PipelineBuilder.named("shops")
            .key("id")
            .version("v")
            .delete("gone = true")
            .rollup(r -> r.levels("shop").count("saves"))
            .build();
    private static final LocalDynamoDb DYNAMO = new LocalDynamoDb();
    private static final byte[] WAKE = "{}".getBytes(StandardCharsets.UTF_8);

    private final ByteArrayOutputStream log = new ByteArrayOutputStream();
    private Store store;
    private String table;

    private static long plenty() {
        return 800_000;
    }

    /// Rows of a pipeline whose table lacks d, has another b, and has c beside them; e waits as a dead letter.
    private void drift(String name) {
        begin(name);
        live(row("a", 1, "Ulm"), row("b", 1, "Ulm"), row("d", 4, "Bonn"), row("e", 1, "Bonn"));
        live("{\"id\":\"e\",\"v\":2,\"shop\":{\"name\":\"Trier\"}}");
        put("a", 1, "Ulm");
        put("b", 2, "Bonn");
        put("c", 1, "Ulm");
        put("e", 2, "Trier");
    }

    private void begin(String name) {
        store = DYNAMO.store("compared-" + name); // All classes share one server.
        table = "Of-" + name;
        DYNAMO.sourceTable(table);
        AwsEngine.open(store, PIPELINE, 2, 4);
        new LetterTable(store).useBucket();
    }

    private static String row(String id, int version, String shop) {
        return "{\"id\":\"%s\",\"v\":%d,\"shop\":\"%s\"}".formatted(id, version, shop);
    }

    private void live(String... records) {
        for (String record : records) {
            StateAndMap.process(
                    store, List.of(new Arrival("stream", "1", 0, record.getBytes(StandardCharsets.UTF_8), 1)));
        }
    }

    private void put(String id, int version, String shop) {
        DYNAMO.client
                .putItem(request -> request.tableName(table)
                        .item(Map.of(
                                "id", AttributeValue.fromS(id),
                                "v", AttributeValue.fromN(Integer.toString(version)),
                                "shop", AttributeValue.fromS(shop))))
                .join();
    }

    private Store later(Duration time) {
        return new Store(
                        store.client(),
                        store.tables(),
                        store.threads(),
                        store.random(),
                        () -> Instant.now().plus(time))
                .with(store.bucket());
    }

    private CompareFunction function(Store at, boolean repairs) {
        return function(at, repairs, Duration.ofHours(24));
    }

    private CompareFunction function(Store at, boolean repairs, Duration every) {
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
                new Metrics(new PrintStream(log, true, StandardCharsets.UTF_8), "stack"));
    }

    private void wake(boolean repairs) {
        function(store, repairs).handle(WAKE, CompareFunctionTest::plenty);
    }

    private String logged() {
        String text = log.toString(StandardCharsets.UTF_8);
        log.reset();
        return text;
    }

    private Comparison comparison() {
        return Comparison.find(store).orElseThrow();
    }

    private Tally last() {
        Comparison.Result last = comparison().last();
        assertThat(last).isNotNull();
        return last.tally();
    }

    private List<String> totals() {
        AwsEngine engine = AwsEngine.deployed(store);
        engine.reduce();
        return engine.query(Query.all("main")).lines().stream()
                .map(line -> String.join("/", line.group()) + "=" + line.values())
                .toList();
    }

    @Test
    void what_differs_is_counted_logged_without_a_key_and_kept_for_a_person() {
        drift("compared");
        wake(false);
        assertThat(logged())
                .contains("\"RowDifferences\":3")
                .contains("ERROR Comparison of ", " with dynamodb:Of-compared: 4 rows, read 2 times;")
                .contains("3 had drifted, 3 still differ; missing: 1 reported; different: 1 reported, 1 explained;")
                .contains("ghost: 1 reported", "'onefold aws verify --against dynamodb:Of-compared' names them")
                .doesNotContain("Trier", "Ulm", "Bonn");
        assertThat(last().left()).isEqualTo(3);
        assertThat(last().count(Kind.DIFFERENT, Outcome.EXPLAINED)).isOne();
        wake(false);
        assertThat(logged()).isEmpty(); // Another one is not due.
        function(later(Duration.ofHours(24)), false).handle(WAKE, CompareFunctionTest::plenty);
        assertThat(logged()).contains("3 still differ");
    }

    @Test
    void what_differs_is_repaired_and_was_counted_before() {
        drift("repaired");
        wake(true);
        assertThat(logged())
                .contains("\"RowDifferences\":3", "\"RowDifferences\":0")
                .contains("WARN Comparison of ", "3 had drifted, 0 still differ", "ghost: 1 repaired");
        assertThat(totals()).containsExactly("=[4]", "Bonn=[2]", "Ulm=[2]");
        assertThat(Comparison.begin(store)).isTrue();
        wake(true);
        assertThat(logged()).contains("INFO Comparison of ", "0 had drifted").contains("explained");
        assertThat(ResyncTurn.take(store)).isPresent(); // The function has given its turn back.
    }

    @Test
    void one_invocation_compares_at_a_time() {
        drift("alone");
        AtomicInteger inside = new AtomicInteger();
        function(store, false).handle(WAKE, () -> {
            if (inside.incrementAndGet() == 2) { // Meanwhile another wake-up comes.
                function(store, false).handle(WAKE, () -> 800_000);
            }
            return 800_000;
        });
        assertThat(logged())
                .contains("INFO Nothing is compared now: Another invocation compares")
                .containsOnlyOnce("3 still differ");
        ResyncTurn other = ResyncTurn.take(store).orElseThrow();
        wake(true); // A function with other settings begins at once.
        assertThat(logged()).contains("Nothing is compared now: Another re-sync repairs");
        other.release();
        SeedLease seeding = SeedLease.begin(store, 1);
        wake(true);
        assertThat(logged()).contains("Nothing is compared now: A seeding is under way");
        seeding.close();
        wake(true);
        assertThat(logged()).contains("0 still differ");
    }

    /// After the first look the time is nearly over.
    @Test
    void the_second_look_is_taken_by_the_next_invocation_if_the_time_is_over() {
        drift("parts");
        AtomicInteger asked = new AtomicInteger();
        function(store, true).handle(WAKE, () -> asked.incrementAndGet() < 3 ? 800_000 : 300_000);
        assertThat(logged()).contains("goes on with the next wake-up. Parts that are left: 1");
        assertThat(comparison().isUnderWay()).isTrue();
        assertThat(Comparison.begin(store)).isFalse();
        assertThat(totals()).contains("Ulm=[2]", "Bonn=[2]").hasSize(3);
        function(later(Duration.ofMinutes(5)), true).handle(WAKE, CompareFunctionTest::plenty);
        assertThat(logged()).contains("4 rows, read 2 times; 3 had drifted, 0 still differ");
        assertThat(last().readings()).isEqualTo(2);
    }

    @Test
    void a_reading_that_does_not_fit_into_an_invocation_is_said_at_each_wake_up() {
        drift("large");
        AtomicInteger asked = new AtomicInteger();
        assertThatThrownBy(() -> function(store, false).handle(WAKE, () -> asked.incrementAndGet() < 3 ? 800_000 : 0))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("has not ended within the 13 minutes of an invocation");
        assertThat(logged()).contains("ERROR The rows were not compared with dynamodb:Of-large: One reading");
        assertThatThrownBy(() -> wake(false)).hasMessageContaining("has not ended within the 13 minutes");
        assertThatThrownBy(() -> function(later(Duration.ofHours(1)), false).handle(WAKE, CompareFunctionTest::plenty))
                .hasMessageContaining("has not ended within");
        function(later(Duration.ofHours(25)), false).handle(WAKE, CompareFunctionTest::plenty);
        assertThat(logged()).contains("3 still differ");
        assertThat(comparison().failure()).isEmpty();
    }

    @Test
    void a_source_that_cannot_be_read_fails_each_wake_up_until_a_comparison_has_come_to_its_end() {
        begin("failing");
        String there = table;
        table = "Of-nobody";
        assertThatThrownBy(() -> wake(false)).hasMessageContaining("There is no table Of-nobody");
        assertThatThrownBy(() -> wake(false)).hasMessageContaining("There is no table Of-nobody");
        assertThat(logged()).contains("Tried again from ");
        assertThat(comparison().failure()).contains("There is no table");
        assertThatThrownBy(() -> function(later(Duration.ofHours(49)), false).handle(WAKE, CompareFunctionTest::plenty))
                .hasMessageContaining("There is no table");
        table = there;
        wake(false);
        assertThat(logged()).contains("INFO Comparison of ", ": 0 rows, read 1 time; 0 had drifted");
    }

    @Test
    void an_invocation_that_is_killed_leaves_its_place_after_two_minutes_and_three_of_them_are_a_failure() {
        drift("killed");
        for (int i = 0; i < 3; i++) {
            Store at = later(Duration.ofMinutes(3L * i));
            AtomicInteger asked = new AtomicInteger();
            assertThatThrownBy(() -> function(at, false).handle(WAKE, () -> {
                        if (asked.incrementAndGet() > 2) {
                            throw new ThreadDeathOfProcess();
                        }
                        return 800_000;
                    }))
                    .isInstanceOf(ThreadDeathOfProcess.class);
            logged();
            function(at, false).handle(WAKE, CompareFunctionTest::plenty);
            assertThat(logged()).contains("Another invocation compares");
        }
        assertThatThrownBy(
                        () -> function(later(Duration.ofMinutes(9)), false).handle(WAKE, CompareFunctionTest::plenty))
                .hasMessageContaining("3 invocations in a row were ended in the middle");
        function(later(Duration.ofHours(25)), false).handle(WAKE, CompareFunctionTest::plenty);
        assertThat(logged()).contains("3 still differ");
    }

    private static final class ThreadDeathOfProcess extends Error {
        private static final long serialVersionUID = 1L;
    }

    @Test
    void a_comparison_that_always_has_to_wait_is_overdue() {
        drift("overdue");
        wake(false);
        logged();
        Store late = later(Duration.ofHours(49));
        SeedLease seeding = SeedLease.begin(late, 1);
        assertThatThrownBy(() -> function(late, false).handle(WAKE, CompareFunctionTest::plenty))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("No comparison has come to its end since ")
                .hasMessageContaining("one is wanted every 24 hours");
        seeding.close();
        function(late, false).handle(WAKE, CompareFunctionTest::plenty);
        assertThat(logged()).contains("3 still differ");
    }

    @Test
    @Tag("campaign")
    void too_many_rows_are_never_removed() {
        begin("guarded");
        for (int i = 0; i < 110; i++) {
            live(row("r" + i, 1, "Ulm"));
        }
        put("r0", 1, "Ulm");
        wake(true);
        assertThat(logged())
                .contains("\"RowDifferences\":109", "ERROR Comparison of ", "ghost: 109 held back", "109 still differ");
        assertThat(last().heldBack()).isEqualTo(109);
        assertThat(totals()).containsExactly("=[110]", "Ulm=[110]");
    }

    @Test
    void a_deployment_that_has_taken_no_record_is_left_alone() {
        store = DYNAMO.store("unborn");
        table = "Of-unborn";
        wake(false);
        assertThat(logged()).contains("State has taken no record yet");
        assertThat(Comparison.find(store)).isEmpty();
    }

    @Test
    void a_shorter_interval_holds_from_the_next_wake_up_on() {
        drift("shorter");
        function(store, false, Duration.ofDays(30)).handle(WAKE, CompareFunctionTest::plenty);
        logged();
        function(later(Duration.ofHours(25)), false).handle(WAKE, CompareFunctionTest::plenty);
        assertThat(logged()).contains("Comparison of ");
    }

    @Test
    void rows_are_not_compared_with_a_table_whose_stream_the_deployment_does_not_read() {
        drift("foreign");
        byte[] event = ("{\"input\":\"arn:aws:dynamodb:eu-central-1:123456789012:table/Another/stream/"
                        + "2026-01-01T00:00:00.000\"}")
                .getBytes(StandardCharsets.UTF_8);
        assertThatThrownBy(() -> function(store, true).handle(event, CompareFunctionTest::plenty))
                .hasMessageContaining("Another/2026-01-01T00:00:00.000, which is not one of table Of-foreign");
        assertThatThrownBy(() -> wake(true)).as("until one is complete").hasMessageContaining("not one of table");
    }
}
