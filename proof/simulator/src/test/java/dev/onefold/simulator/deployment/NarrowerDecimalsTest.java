package dev.onefold.simulator.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.item.Definition;
import dev.onefold.aws.state.Claims;
import dev.onefold.aws.state.Definitions;
import dev.onefold.aws.state.Fate;
import dev.onefold.aws.state.RowFill;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.upkeep.Restored;
import dev.onefold.aws.upkeep.Upkeep;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.event.Reason;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Query;
import dev.onefold.fakes.aws.Faults;
import dev.onefold.fakes.aws.SimulatedClient;
import dev.onefold.fakes.aws.SimulatedDynamoDb;
import dev.onefold.fakes.aws.VirtualTime;
import dev.onefold.fakes.aws.table.Tables;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// A row whose value does not fit a narrower decimal leaves the totals and becomes one letter, whatever stops
/// or doubles the steps; a wider decimal takes it back. The number in a test's name is the hazard's.
class NarrowerDecimalsTest {
    private static final Pipeline WIDE = trades(4);
    private static final Pipeline NARROW = trades(2);
    private static final Pipeline MIDDLE = trades(3);

    private Deployment deployment = Deployment.calm();
    private int sequence;

    private static Pipeline trades(int scale) {
        return PipelineBuilder.named("trades")
                .key("id")
                .version("v")
                .rollup(r -> r.levels("desk")
                        .sum("value", "value", 14 + scale, scale)
                        .max("most", "value", 14 + scale, scale)
                        .count("trades"))
                .build();
    }

    private Arrival trade(String id, int version, String value) {
        String record = "{\"id\":\"%s\",\"v\":%d,\"desk\":\"FX\",\"value\":%s}".formatted(id, version, value);
        return new Arrival("s/shard", Integer.toString(++sequence), 0, record.getBytes(StandardCharsets.UTF_8));
    }

    private List<Fate> process(Arrival... batch) {
        return StateAndMap.process(deployment.function(), List.of(batch));
    }

    private Upkeep.Outcome upkeep(Pipeline wanted, boolean hasTime) {
        return Upkeep.step(deployment.function(), wanted, 0, () -> hasTime, _ -> {});
    }

    /// Until it serves, and all is done.
    private void deploy(Pipeline wanted) {
        for (int step = 0; step < 20; step++) {
            if (upkeep(wanted, true) instanceof Upkeep.Outcome.Idle) {
                return;
            }
        }
        throw new AssertionError("Upkeep is not done");
    }

    private Definition definition() {
        return new Definitions(deployment.function()).load();
    }

    private static String total(AwsEngine engine) {
        engine.reduce();
        return engine.query(Query.all("main")).lines().getFirst().values().toString();
    }

    private static List<String> letters(AwsEngine engine) {
        return engine.deadLetters().list(0, 100).stream()
                .map(letter -> letter.reason() + " " + letter.content() + " " + letter.place())
                .toList();
    }

    @Test
    void what_a_narrower_decimal_refuses_leaves_the_totals_and_is_a_letter_until_a_wider_one_takes_it_back() {
        AwsEngine engine = deployment.engine(WIDE, 2, 2);
        process(trade("a", 2, "1.2345"), trade("b", 1, "1.5"));
        deploy(NARROW);
        assertThat(total(engine)).isEqualTo("[1.50, 1.50, 1]");
        assertThat(engine.get(List.of("a"))).isEmpty();
        assertThat(engine.deadLetters().list(0, 9)).singleElement().satisfies(letter -> {
            assertThat(letter.reason()).isEqualTo(Reason.REFUSED);
            assertThat(letter.content()).isEqualTo(DeadLetter.Content.SUMMARY);
            assertThat(letter.place().source()).isEqualTo("s/shard:1");
            assertThat(letter.message()).startsWith("Field value is '1.2345', which does not fit decimal(16,2)");
            assertThat(engine.deadLetters().record(letter.id())).asString().contains("\"value\":1.2345");
        });
        assertThat(engine.verify().isEqual()).isTrue();
        assertThat(engine.rebuild().isEqual()).isTrue();
        deploy(NARROW);
        process(trade("a", 1, "10")); // As a fresh fold would.
        assertThat(total(engine)).isEqualTo("[11.50, 10.00, 2]");
        deploy(MIDDLE);
        assertThat(total(engine)).isEqualTo("[11.500, 10.000, 2]");
        assertThat(letters(engine)).hasSize(1);
        deploy(WIDE);
        assertThat(total(engine)).isEqualTo("[2.7345, 1.5000, 2]");
        assertThat(letters(engine)).isEmpty();
        assertThat(engine.verify().isEqual()).isTrue();
        deploy(NARROW); // The second time is another letter.
        assertThat(total(engine)).isEqualTo("[1.50, 1.50, 1]");
        assertThat(letters(engine)).hasSize(1);
    }

    /// The loser is accepted before the row of the winner is taken back, and loses again then.
    @Test
    void the_loser_of_a_conflict_stays_a_letter_although_a_narrower_decimal_has_refused_it_meanwhile() {
        AwsEngine engine = deployment.engine(WIDE, 2, 2);
        process(trade("a", 1, "2.2345"));
        process(trade("a", 1, "1.1111"));
        long loser = engine.deadLetters().list(0, 9).getFirst().id();
        deploy(NARROW);
        assertThat(engine.deadLetters().redrive(loser, null)).isEqualTo(DeadLetters.Redriven.REJECTED);
        assertThat(letters(engine)).hasSize(2);
        deploy(WIDE);
        assertThat(total(engine)).isEqualTo("[2.2345, 2.2345, 1]");
        assertThat(engine.deadLetters().list(0, 9)).singleElement().satisfies(letter -> {
            assertThat(letter.id()).isEqualTo(loser);
            assertThat(engine.deadLetters().record(loser)).asString().contains("1.1111");
        });
        assertThat(engine.deadLetters().redrive(loser, null)).isEqualTo(DeadLetters.Redriven.CONFLICTING);
        assertThat(letters(engine)).containsExactly("CONFLICT RECORD " + place(engine, loser));
    }

    private static String place(AwsEngine engine, long id) {
        return engine.deadLetters().list(id - 1, 1).getFirst().place().toString();
    }

    @Test
    void hazard_57_a_record_that_comes_while_a_narrower_view_is_filled_is_judged_by_both_views() {
        AwsEngine engine = deployment.engine(WIDE, 3, 4);
        process(trade("a", 1, "1"), trade("b", 1, "10.123"), trade("c", 1, "100.123"));
        assertThat(upkeep(NARROW, false)).isInstanceOf(Upkeep.Outcome.Working.class);
        process(trade("a", 2, "2.123"), trade("b", 2, "20"), trade("d", 1, "1000.123"));
        assertThat(total(engine)).isEqualTo("[1122.3690, 1000.1230, 4]");
        assertThat(upkeep(NARROW, true)).isInstanceOf(Upkeep.Outcome.Serving.class);
        assertThat(total(engine)).isEqualTo("[20.00, 20.00, 1]");
        assertThat(letters(engine)).as("decided when the view serves").isEmpty();
        deploy(NARROW);
        assertThat(letters(engine))
                .as("a, c and d")
                .hasSize(3)
                .allSatisfy(letter -> assertThat(letter).startsWith("REFUSED SUMMARY"));
        assertThat(engine.verify().isEqual()).isTrue();
        deploy(WIDE);
        assertThat(total(engine)).isEqualTo("[1122.3690, 1000.1230, 4]");
        assertThat(letters(engine)).isEmpty();
    }

    @Test
    void a_narrower_view_that_never_serves_leaves_no_letter() {
        AwsEngine engine = deployment.engine(WIDE, 2, 2);
        process(trade("a", 1, "1.234"));
        assertThat(upkeep(NARROW, false)).isInstanceOf(Upkeep.Outcome.Working.class);
        Definition both = definition();
        RowFill.fill(deployment.function(), both, both.last(), () -> true);
        process(trade("b", 1, "10.123"));
        deploy(WIDE);
        assertThat(total(engine)).isEqualTo("[11.3570, 10.1230, 2]");
        assertThat(letters(engine)).isEmpty();
        deploy(MIDDLE); // Another narrower one begins with what the rows hold.
        assertThat(total(engine)).isEqualTo("[11.357, 10.123, 2]");
        assertThat(letters(engine)).isEmpty();
        assertThat(engine.verify().isEqual()).isTrue();
    }

    @Test
    void hazard_19_a_record_that_comes_before_the_letter_of_its_row_is_kept_makes_it_and_is_the_first_of_its_key() {
        AwsEngine engine = deployment.engine(WIDE, 2, 2);
        process(trade("a", 5, "1.234"), trade("b", 5, "10.123"));
        assertThat(upkeep(NARROW, true)).isInstanceOf(Upkeep.Outcome.Serving.class);
        assertThat(engine.get(List.of("a"))).isEmpty();
        assertThat(process(trade("a", 2, "2"), trade("a", 1, "1"))).contains(new Fate.Accepted(), new Fate.Stale());
        assertThat(letters(engine)).hasSize(1);
        assertThat(total(engine)).isEqualTo("[2.00, 2.00, 1]");
        assertThat(engine.rebuild().isEqual()).isTrue(); // The row of b is on its way to the next view as it is.
        assertThat(letters(engine)).hasSize(1);
        deploy(NARROW);
        assertThat(letters(engine)).hasSize(2);
        deploy(WIDE);
        assertThat(total(engine)).isEqualTo("[11.3570, 10.1230, 2]");
        assertThat(letters(engine)).isEmpty();
    }

    @Test
    void another_pipeline_waits_until_the_rows_that_the_one_before_refuses_are_letters() {
        AwsEngine engine = deployment.engine(WIDE, 2, 2);
        process(trade("a", 1, "1.234"), trade("b", 1, "10"));
        assertThat(upkeep(NARROW, true)).isInstanceOf(Upkeep.Outcome.Serving.class);
        deploy(WIDE);
        assertThat(total(engine)).isEqualTo("[11.2340, 10.0000, 2]");
        assertThat(letters(engine)).isEmpty();
        assertThat(engine.verify().isEqual()).isTrue();
    }

    /// 5, 7: twins of Upkeep and of State, killed anywhere, with answers lost and requests that arrive late.
    @Test
    @Tag("campaign")
    void wherever_twins_are_killed_each_refused_row_is_one_letter_and_none_of_it_is_in_the_totals() {
        for (int seed = 0; seed < 60; seed++) {
            VirtualTime time = new VirtualTime(Instant.parse("2030-01-01T00:00:00Z"));
            deployment = new Deployment(time, new SimulatedDynamoDb(time, seed), new SplittableRandom(seed));
            SplittableRandom random = new SplittableRandom(seed);
            AwsEngine engine = deployment.engine(WIDE, 2, 2);
            process(IntStream.range(0, 12)
                    .mapToObj(i -> trade("k" + i, 5, i % 2 == 0 ? "1" : "1.234"))
                    .toArray(Arrival[]::new));
            deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
            for (int tick = 0; tick < 10; tick++) {
                for (int twin = 0; twin < 2; twin++) {
                    SimulatedClient sandbox = deployment.dynamo.client("sandbox");
                    Store store = deployment.store(sandbox);
                    List<Arrival> batch = List.of(trade("k" + tick, 4, "7"));
                    var _ = random.nextInt(3) > 0
                            ? deployment.start(
                                    () -> Upkeep.step(store, NARROW, 0, () -> random.nextInt(9) > 0, _ -> {}))
                            : deployment.start(() -> StateAndMap.process(store, batch));
                    deployment.time.runFor(Duration.ofMillis(random.nextInt(400)));
                    if (random.nextInt(3) == 0) {
                        deployment.time.schedule(Duration.ofMillis(random.nextInt(9_000)), sandbox::kill);
                    }
                }
                deployment.time.runFor(Duration.ofMillis(random.nextInt(9_000)));
            }
            deployment.time.runFor(Duration.ofMinutes(30));
            deploy(NARROW);
            assertThat(letters(engine)).as("seed " + seed).hasSize(6).doesNotHaveDuplicates();
            process(IntStream.range(0, 12).mapToObj(i -> trade("k" + i, 5, "2")).toArray(Arrival[]::new));
            assertThat(total(engine)).as("seed " + seed).isEqualTo("[24.00, 2.00, 12]");
            assertThat(engine.verify().isEqual()).isTrue();
            deploy(WIDE); // Of two contents the greater one stays.
            assertThat(total(engine)).as("seed " + seed).isEqualTo("[24.0000, 2.0000, 12]");
            assertThat(engine.verify().isEqual()).isTrue();
        }
    }

    @Test
    void rows_that_were_restored_to_before_their_letters_were_kept_count_once_with_a_wider_decimal() {
        AwsEngine engine = deployment.engine(WIDE, 2, 2);
        process(trade("a", 1, "1.234"), trade("b", 1, "10"), trade("c", 1, "100.123"));
        assertThat(upkeep(NARROW, true)).isInstanceOf(Upkeep.Outcome.Serving.class);
        Tables.Backup rows = deployment.dynamo.backup(deployment.tables.rows());
        deploy(NARROW);
        assertThat(letters(engine)).hasSize(2);
        deployment.dynamo.restore(rows, Duration.ofMinutes(5));
        deployment.time.runFor(Duration.ofMinutes(5));
        Restored.begin(deployment.function());
        assertThat(process(trade("c", 1, "2"))).containsExactly(new Fate.Accepted());
        assertThat(letters(engine)).as("the letter of c is there already").hasSize(2);
        engine.rebuild();
        deploy(NARROW);
        assertThat(total(engine)).isEqualTo("[12.00, 10.00, 2]");
        assertThat(engine.verify().isEqual()).isTrue();
        deploy(WIDE);
        assertThat(total(engine)).isEqualTo("[111.3570, 100.1230, 3]");
        assertThat(letters(engine)).hasSize(1).allMatch(letter -> letter.startsWith("CONFLICT"));
        assertThat(engine.verify().isEqual()).isTrue();
    }

    /// 57: a row of the view before is on its way when the narrower one begins to serve.
    @Test
    void a_row_that_is_on_its_way_when_the_narrower_view_serves_is_no_letter_of_its_older_version() {
        for (int seed = 0; seed < 12; seed++) {
            VirtualTime time = new VirtualTime(Instant.parse("2030-01-01T00:00:00Z"));
            deployment = new Deployment(time, new SimulatedDynamoDb(time, seed), new SplittableRandom(seed));
            AwsEngine engine = deployment.engine(WIDE, 2, 2);
            process(trade("a", 1, "1.234"));
            deployment.dynamo.inject(Faults.none().with(TradeFixtures.slow()));
            Definitions definitions = new Definitions(deployment.function());
            Definition both = definitions.load().withView(NARROW, 1, "somebody");
            definitions.replace(both);
            RowFill.fill(deployment.function(), both, both.last(), () -> true);
            engine.reduce();
            CompletableFuture<List<Fate>> late =
                    deployment.start(() -> StateAndMap.process(deployment.function(), List.of(trade("a", 2, "2"))));
            deployment.time.runFor(Duration.ofMillis(50 + seed));
            definitions.keepServed(both);
            Definition next = both.servingOnly(both.last());
            definitions.replace(next);
            new Claims(deployment.function()).join(next);
            CompletableFuture<List<Fate>> another =
                    deployment.start(() -> StateAndMap.process(deployment.function(), List.of(trade("a", 3, "3"))));
            upkeep(NARROW, true);
            deployment.of(late);
            deployment.of(another);
            deploy(NARROW);
            assertThat(total(engine)).as("seed " + seed).isEqualTo("[3.00, 3.00, 1]");
            assertThat(letters(engine)).as("seed " + seed).hasSizeLessThanOrEqualTo(1);
            deploy(WIDE);
            assertThat(total(engine)).as("seed " + seed).isEqualTo("[3.0000, 3.0000, 1]");
            assertThat(letters(engine)).as("seed " + seed).isEmpty();
        }
    }

    /// 57: who was stopped before an accepted edit's letter was removed may edit it again, with another key.
    @Test
    void rows_of_several_edits_of_one_record_are_a_letter_each() {
        AwsEngine engine = deployment.engine(WIDE, 1, 2);
        Arrival first = trade("k0", 1, "1.234");
        for (int i = 0; i < 20; i++) {
            StateAndMap.redrive(deployment.function(), at(first, trade("k" + i, 1, "1.234")));
        }
        engine.rebuild(); // Writes many rows with one delta.
        deploy(NARROW);
        assertThat(letters(engine)).hasSize(20);
        deploy(WIDE);
        assertThat(total(engine)).isEqualTo("[24.6800, 1.2340, 20]");
    }

    private static Arrival at(Arrival place, Arrival record) {
        return new Arrival(place.shard(), place.sequence(), place.subSequence(), record.data());
    }

    @Test
    void hazard_57_a_batch_makes_many_letters_of_refused_rows_at_a_time() {
        AwsEngine engine = deployment.engine(WIDE, 1, 64);
        process(IntStream.range(0, 200)
                .mapToObj(i -> trade("k" + i, 1, "1.234"))
                .toArray(Arrival[]::new));
        assertThat(upkeep(NARROW, true)).isInstanceOf(Upkeep.Outcome.Serving.class);
        deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
        CompletableFuture<List<Fate>> processed = deployment.start(() -> StateAndMap.process(
                deployment.function(),
                IntStream.range(0, 200).mapToObj(i -> trade("k" + i, 2, "2")).toList()));
        deployment.time.runFor(Duration.ofSeconds(3)); // One after the other they take 11 s.
        assertThat(processed).isDone();
        assertThat(letters(engine)).hasSize(100); // Of the 200 that there are.
        assertThat(total(engine)).isEqualTo("[400.00, 2.00, 200]");
    }
}
