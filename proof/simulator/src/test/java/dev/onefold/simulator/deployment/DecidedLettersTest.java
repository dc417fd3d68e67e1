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
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// Dead letters that the next pipeline decides again: none is forgotten, none holds up the others, and who wins
/// is what it would be if all records came again. The number in a test's name is the hazard's.
class DecidedLettersTest {
    private static final Pipeline TRADES = trades().build();
    private static final Pipeline TRADES_WITH_TIME = trades().time("ts").build();
    private static final Pipeline BY_DESK =
            byDesk().rollup(r -> r.levels("desk", "region").count("trades")).build();
    private static final Pipeline BY_REGION =
            byDesk().rollup(r -> r.levels("region").count("trades")).build();

    private Deployment deployment = Deployment.calm();
    private int sequence;

    private static PipelineBuilder byDesk() {
        return PipelineBuilder.named("trades").key("id").version("v");
    }

    private static PipelineBuilder trades() {
        return byDesk().rollup(
                        r -> r.levels("desk").sum("value", "value", 20, 2).count("trades"));
    }

    private Arrival trade(String id, int value) {
        return arrival("{\"id\":\"%s\",\"v\":1,\"desk\":\"FX\",\"value\":%d}".formatted(id, value));
    }

    private Arrival arrival(String record) {
        return new Arrival("s/shard", Integer.toString(++sequence), 0, record.getBytes(StandardCharsets.UTF_8));
    }

    private void process(Arrival... batch) {
        StateAndMap.process(deployment.function(), List.of(batch));
    }

    private Upkeep.Outcome upkeep(Pipeline wanted) {
        return Upkeep.step(deployment.function(), wanted, 0, () -> true, _ -> {});
    }

    private static String answer(AwsEngine engine, String... group) {
        engine.reduce();
        return engine.query(new Query("main", List.of(group), 0, null)).lines().stream()
                .map(line -> line.group() + "=" + line.values())
                .findFirst()
                .orElse("nothing");
    }

    private void lose(long letter) {
        Store somebody = deployment.function();
        Map<String, AttributeValue> key = Map.of(
                "p", AttributeValue.fromS("letter/" + letter),
                "i",
                        AttributeValue.fromB(SdkBytes.fromByteArray(
                                ByteBuffer.allocate(8).putLong(letter).array())));
        var item = deployment
                .of(somebody.client()
                        .getItem(get ->
                                get.tableName(deployment.tables.letters()).key(key)))
                .item();
        deployment.of(somebody.bucket()
                .client()
                .get()
                .deleteObject(object ->
                        object.bucket(item.get("b").s()).key(item.get("o").s())));
    }

    @Test
    void hazard_24_a_letter_whose_record_is_gone_stays_and_says_so_and_those_behind_it_are_decided() {
        AwsEngine engine = deployment.engine(TRADES_WITH_TIME, 2, 2);
        process(trade("a", 1), trade("b", 10));
        lose(1);
        assertThat(upkeep(TRADES)).isInstanceOf(Upkeep.Outcome.Serving.class);
        assertThat(upkeep(TRADES)).isInstanceOf(Upkeep.Outcome.Idle.class);
        assertThat(answer(engine, "FX")).isEqualTo("[FX]=[10.00, 1]");
        assertThat(engine.deadLetters().list(0, 10)).singleElement().satisfies(letter -> {
            assertThat(letter.id()).isEqualTo(1);
            assertThat(letter.message()).contains("It was not decided", "is not there any more");
        });
    }

    /// 57: a gate is free again, and moved, while a letter that was written under the old definition is on its
    /// way.
    @Test
    void a_letter_that_is_on_its_way_when_the_gates_move_is_decided_by_the_next_pipeline() {
        for (int seed = 5; seed < 17; seed++) {
            VirtualTime time = new VirtualTime(Instant.parse("2030-01-01T00:00:00Z"));
            deployment = new Deployment(time, new SimulatedDynamoDb(time, seed), new SplittableRandom(seed));
            AwsEngine engine = deployment.engine(TRADES_WITH_TIME, 2, 2);
            deployment.dynamo.inject(Faults.none().with(TradeFixtures.slow()));
            Definitions definitions = new Definitions(deployment.function());
            Definition both = definitions.load().withView(TRADES, 1, "somebody");
            definitions.replace(both);
            RowFill.fill(deployment.function(), both, both.last(), () -> true);
            CompletableFuture<List<Fate>> late =
                    deployment.start(() -> StateAndMap.process(deployment.function(), List.of(trade("a", 1))));
            deployment.time.runFor(Duration.ofMillis(50 + seed));
            Definition next = both.servingOnly(both.last());
            definitions.replace(next);
            new Claims(deployment.function()).join(next);
            upkeep(TRADES);
            deployment.of(late);
            upkeep(TRADES);
            assertThat(answer(engine, "FX")).as("seed " + seed).isEqualTo("[FX]=[1.00, 1]");
            assertThat(engine.deadLetters().list(0, 10)).as("seed " + seed).isEmpty();
        }
    }

    /// 12, 16: of a row that lost, only what the old pipeline read of it is left.
    @Test
    void who_loses_a_conflict_under_the_next_pipeline_is_decided_again_also_of_a_row_that_lost() {
        AwsEngine engine = deployment.engine(BY_DESK, 2, 2);
        Arrival[] contents = {moved("a", "A", "Z"), moved("a", "B", "Y")};
        process(contents[0]);
        process(contents[1]);
        assertThat(answer(engine, "B")).isEqualTo("[B]=[1]");
        assertThat(engine.deadLetters().list(0, 10))
                .extracting(DeadLetter::content)
                .containsExactly(DeadLetter.Content.SUMMARY);
        assertThat(upkeep(BY_REGION)).isInstanceOf(Upkeep.Outcome.Serving.class);
        upkeep(BY_REGION);
        for (int again = 0; again < 2; again++) {
            assertThat(answer(engine, "Z")).isEqualTo("[Z]=[1]");
            assertThat(answer(engine, "Y")).isEqualTo("nothing");
            assertThat(engine.verify().isEqual()).isTrue();
            assertThat(engine.deadLetters().list(0, 10))
                    .hasSize(2)
                    .extracting(DeadLetter::reason)
                    .containsOnly(Reason.CONFLICT);
            process(contents[1 - again]);
            process(contents[again]);
        }
    }

    @Test
    void hazard_12_a_row_that_lost_and_loses_again_stays_one_letter_also_when_its_record_comes_again() {
        AwsEngine engine = deployment.engine(BY_DESK, 2, 2);
        Arrival loser = moved("a", "A", "Y");
        process(loser);
        process(moved("a", "B", "Z"));
        assertThat(upkeep(BY_REGION)).isInstanceOf(Upkeep.Outcome.Serving.class);
        upkeep(BY_REGION);
        process(loser);
        assertThat(answer(engine, "Z")).isEqualTo("[Z]=[1]");
        assertThat(engine.deadLetters().list(0, 10)).extracting(DeadLetter::id).containsExactly(1L);
    }

    @Test
    void hazard_5_and_12_wherever_a_step_that_decides_rows_that_lost_is_killed_the_same_wins() {
        for (int millis = 1; millis < 250; millis += 11) {
            deployment = Deployment.calm();
            AwsEngine engine = deployment.engine(BY_DESK, 2, 2);
            process(moved("a", "A", "Z"));
            process(moved("a", "B", "Y"));
            process(moved("b", "A", "Y"));
            process(moved("b", "B", "Z"));
            deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
            for (Pipeline wanted : List.of(BY_REGION, BY_REGION, BY_REGION)) {
                SimulatedClient sandbox = deployment.dynamo.client("sandbox");
                var _ = deployment.start(() -> Upkeep.step(deployment.store(sandbox), wanted, 0, () -> true, _ -> {}));
                deployment.time.runFor(Duration.ofMillis(6_000 + millis));
                sandbox.kill();
            }
            for (int tick = 0; tick < 5; tick++) {
                upkeep(BY_REGION);
            }
            assertThat(answer(engine, "Z")).as("killed after " + millis + " ms").isEqualTo("[Z]=[2]");
            assertThat(engine.deadLetters().list(0, 10)).hasSize(3);
            assertThat(engine.verify().isEqual()).isTrue();
        }
    }

    private Arrival moved(String id, String desk, String region) {
        return arrival("{\"id\":\"%s\",\"v\":1,\"desk\":\"%s\",\"region\":\"%s\"}".formatted(id, desk, region));
    }

    @Test
    void hazard_27_three_hundred_letters_are_decided_in_a_few_seconds() {
        deployment.engine(TRADES_WITH_TIME, 2, 2_048);
        process(IntStream.range(0, 300).mapToObj(i -> trade("t" + i, 1)).toArray(Arrival[]::new));
        upkeep(TRADES);
        deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
        Instant start = deployment.time.instant();
        assertThat(upkeep(TRADES)).isInstanceOf(Upkeep.Outcome.Idle.class);
        assertThat(Duration.between(start, deployment.time.instant())).isLessThan(Duration.ofSeconds(12));
    }

    /// 10, 26: the mark of a letter outlives it.
    @Test
    void a_purged_letter_and_one_that_was_redriven_edited_stay_decided_when_their_records_come_again() {
        AwsEngine engine = deployment.engine(TRADES_WITH_TIME, 2, 2);
        Arrival purged = trade("a", 1);
        Arrival edited = trade("b", 10);
        process(purged, edited);
        assertThat(engine.deadLetters().purge(List.of(1L))).isEqualTo(1);
        byte[] edit =
                "{\"id\":\"b\",\"v\":1,\"desk\":\"FX\",\"value\":7,\"ts\":1000000000}".getBytes(StandardCharsets.UTF_8);
        assertThat(engine.deadLetters().redrive(2, edit)).isEqualTo(DeadLetters.Redriven.ACCEPTED);
        process(purged, edited);
        assertThat(answer(engine, "FX")).isEqualTo("[FX]=[7.00, 1]");
        assertThat(engine.deadLetters().list(0, 10)).isEmpty();
        assertThat(engine.verify().isEqual()).isTrue();
        assertThat(upkeep(TRADES)).isInstanceOf(Upkeep.Outcome.Serving.class);
        assertThat(upkeep(TRADES)).isInstanceOf(Upkeep.Outcome.Idle.class);
        assertThat(answer(engine, "FX")).isEqualTo("[FX]=[7.00, 1]");
        process(purged, edited); // The next pipeline accepts both records, and they are read again.
        assertThat(answer(engine, "FX")).isEqualTo("[FX]=[11.00, 2]");
        assertThat(engine.deadLetters().list(0, 10))
                .extracting(DeadLetter::reason)
                .containsExactly(Reason.CONFLICT);
        assertThat(engine.verify().isEqual()).isTrue();
    }

    @Test
    void ten_letters_of_two_thousand_are_listed_without_reading_all() {
        AwsEngine engine = deployment.engine(TRADES, 2, 2);
        process(IntStream.range(0, 2_000).mapToObj(i -> arrival("poison " + i)).toArray(Arrival[]::new));
        long before = deployment.dynamo.tally().readUnits();
        assertThat(engine.deadLetters().list(0, 10)).hasSize(10);
        assertThat(deployment.dynamo.tally().readUnits() - before).isLessThan(60);
    }
}
