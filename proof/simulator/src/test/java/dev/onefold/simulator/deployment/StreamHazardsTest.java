package dev.onefold.simulator.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.event.FailedBatch;
import dev.onefold.aws.function.StateFunction;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Query;
import dev.onefold.fakes.aws.Fault;
import dev.onefold.fakes.aws.Faults;
import dev.onefold.fakes.queue.SimulatedQueues;
import dev.onefold.fakes.stream.KinesisClient;
import dev.onefold.fakes.stream.SimulatedKinesis;
import dev.onefold.mapping.Destination;
import dev.onefold.mapping.MappingFaults;
import dev.onefold.mapping.MappingSettings;
import dev.onefold.mapping.MappingSettings.StartingPosition;
import dev.onefold.mapping.StreamMapping;
import dev.onefold.mapping.Target;
import dev.onefold.mapping.source.KinesisSource;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.core.SdkBytes;

/// Known ways in which streams make such systems count wrong, each with its schedule: the function itself, behind an
/// event source mapping on a simulated stream. The number in a test's name is the hazard's.
class StreamHazardsTest {
    private static final String STREAM = "trades";
    private static final String FIRST_SHARD = "shardId-000000000000";
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final Pipeline TRADES = TradeFixtures.VALUES;

    private final Deployment deployment = Deployment.calm();
    private final AwsEngine engine = deployment.engine(TRADES, 3, 4);
    private final SimulatedKinesis kinesis = new SimulatedKinesis(deployment.time, 1);
    private final SimulatedQueues queues = new SimulatedQueues(deployment.time, 1);
    private final KinesisClient producer = kinesis.client();

    StreamHazardsTest() {
        kinesis.create(STREAM, 1);
        queues.create("retries", MINUTE, 5);
    }

    private static byte[] trade(String id, int version, String desk, int value) {
        return "{\"id\":\"%s\",\"v\":%d,\"desk\":\"%s\",\"value\":%d}"
                .formatted(id, version, desk, value)
                .getBytes(StandardCharsets.UTF_8);
    }

    private static List<byte[]> trades(int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> trade("t" + i, 1, "desk" + i % 3, 1))
                .toList();
    }

    private String put(String partitionKey, byte[] data) {
        return deployment
                .of(producer.putRecord(request ->
                        request.streamName(STREAM).partitionKey(partitionKey).data(SdkBytes.fromByteArray(data))))
                .sequenceNumber();
    }

    private void putAll(List<byte[]> records) {
        for (int i = 0; i < records.size(); i++) {
            put("k" + i, records.get(i));
        }
    }

    private Sandboxes state(double killed) {
        return new Sandboxes(
                deployment,
                new SplittableRandom(1),
                killed,
                client -> new StateFunction(deployment.store(client), TRADES, Deployment.SILENT)::handle);
    }

    private Sandboxes map(MappingSettings settings, MappingFaults mappingFaults, double killed) {
        Sandboxes state = state(killed);
        StreamMapping.open(
                new VirtualScheduler(deployment.time),
                new KinesisSource(kinesis.client(), SimulatedKinesis.arn(STREAM)),
                new Target(state, "state", new Destination(queues.client(), SimulatedQueues.url("retries"))),
                settings,
                mappingFaults);
        return state;
    }

    private Sandboxes map() {
        return map(MappingSettings.input(), MappingFaults.NONE, 0);
    }

    private List<String> lines() {
        engine.reduce();
        return engine.query(Query.all("main")).lines().stream()
                .map(line -> String.join("/", line.group()) + "=" + line.values())
                .toList();
    }

    private String total() {
        return lines().getFirst();
    }

    private void run(Duration duration) {
        deployment.time.runFor(duration);
    }

    @Test
    void hazard_1_a_batch_whose_answer_is_lost_comes_again_cut_elsewhere_and_counts_once() {
        putAll(trades(100));
        MappingFaults nasty = new MappingFaults(1, 0, 0.8, 1, 0, 0);
        Sandboxes state = map(MappingSettings.input().withFailure(false, true), nasty, 0);
        run(Duration.ofMinutes(10));
        assertThat(state.invocations()).isGreaterThan(20);
        assertThat(total()).isEqualTo("=[100.00, 100]");
        assertThat(engine.verify().isEqual()).isTrue();
    }

    @Test
    void hazard_1_and_7_and_8_batches_in_two_invocations_at_once_and_ranges_that_come_again_later_count_once() {
        deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL).with(Fault.ZOMBIE, 0.05));
        putAll(trades(200));
        MappingFaults nasty = new MappingFaults(1, 0.9, 0.1, 0.5, 0.9, 0.2);
        map(MappingSettings.input().withBatch(20, Duration.ZERO), nasty, 0.1);
        run(Duration.ofHours(1));
        deployment.dynamo.inject(Faults.none());
        assertThat(total()).isEqualTo("=[200.00, 200]");
        assertThat(engine.verify().isEqual()).isTrue();
    }

    @Test
    void hazard_24_behind_a_poison_record_the_healthy_ones_go_on_within_seconds_and_it_is_kept_once() {
        map();
        run(MINUTE);
        put("k", trade("a", 1, "FX", 1));
        String poison = put("k", "poison".getBytes(StandardCharsets.UTF_8));
        put("k", trade("b", 1, "FX", 2));
        run(Duration.ofSeconds(2));
        assertThat(total()).isEqualTo("=[3.00, 2]");
        assertThat(engine.deadLetters().list(0, 9)).singleElement().satisfies(letter -> {
            assertThat(letter.place().source()).isEqualTo(STREAM + "/" + FIRST_SHARD + ":" + poison);
            assertThat(new String(engine.deadLetters().record(letter.id()), StandardCharsets.UTF_8))
                    .isEqualTo("poison");
        });
    }

    @Test
    void hazard_27_functions_that_are_killed_in_the_middle_of_their_batches_leave_nothing_out() {
        deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL).with(Fault.DIES_WITH_CLIENT, 0.5));
        putAll(trades(150));
        map(MappingSettings.input().withBatch(30, Duration.ZERO), MappingFaults.NONE, 0.7);
        run(Duration.ofMinutes(30));
        deployment.dynamo.inject(Faults.none());
        assertThat(total()).isEqualTo("=[150.00, 150]");
        assertThat(queues.bodies("retries")).isEmpty();
    }

    @Test
    void hazard_9_and_30_entries_that_put_records_refuses_are_put_again_and_what_is_in_twice_counts_once() {
        kinesis.inject(Faults.none().with(Fault.UNPROCESSED, 0.3).with(Fault.REPLY_LOST, 0.2));
        map();
        Producers producers = new Producers(deployment.time, kinesis.client(), TRADES, new SplittableRandom(1));
        deployment.of(producers.put(STREAM, trades(200)));
        assertThat(kinesis.everything()).hasSizeGreaterThan(200 / 2);
        run(Duration.ofMinutes(5));
        assertThat(total()).isEqualTo("=[200.00, 200]");
    }

    @Test
    void hazard_31_records_from_before_the_mapping_are_read_and_from_latest_on_they_would_not_be() {
        putAll(trades(5));
        map(MappingSettings.input().withStart(StartingPosition.LATEST, null), MappingFaults.NONE, 0);
        run(MINUTE);
        assertThat(total()).isEqualTo("=[0.00, 0]");
        map();
        run(MINUTE);
        assertThat(total()).isEqualTo("=[5.00, 5]");
    }

    @Test
    void hazard_34_versions_of_a_key_across_a_split_and_a_merge_come_parent_first_and_each_counts_once() {
        map(MappingSettings.input().withBatch(3, Duration.ZERO), new MappingFaults(1, 0.3, 0.3, 0.3, 0.9, 0.1), 0.2);
        int version = 0;
        for (int round = 0; round < 6; round++) {
            for (int i = 0; i < 5; i++) {
                version++;
                put("a", trade("a", version, "desk" + version % 4, version));
                put("b", trade("b", version, "desk" + version % 3, 1));
            }
            reshard(round % 2 == 0);
            run(Duration.ofSeconds(7));
        }
        run(Duration.ofHours(1));
        assertThat(lines()).containsExactly("=[31.00, 2]", "desk0=[1.00, 1]", "desk2=[30.00, 1]");
        assertThat(engine.verify().isEqual()).isTrue();
    }

    private void reshard(boolean splits) {
        List<String> open = deployment.of(producer.listShards(request -> request.streamName(STREAM))).shards().stream()
                .filter(shard -> shard.sequenceNumberRange().endingSequenceNumber() == null)
                .map(shard -> shard.shardId())
                .toList();
        if (splits) {
            deployment.of(producer.splitShard(request -> request.streamName(STREAM)
                    .shardToSplit(open.getFirst())
                    .newStartingHashKey("170141183460469231731687303715884105728")));
        } else {
            deployment.of(producer.mergeShards(request ->
                    request.streamName(STREAM).shardToMerge(open.getFirst()).adjacentShardToMerge(open.getLast())));
        }
    }

    @Test
    void hazard_34_a_stream_that_is_deleted_and_recreated_is_read_from_its_beginning_and_its_letters_are_others() {
        map();
        byte[] poison = "poison".getBytes(StandardCharsets.UTF_8);
        put("k", trade("a", 1, "FX", 1));
        put("k", poison);
        run(MINUTE);
        kinesis.delete(STREAM);
        run(Duration.ofSeconds(15));
        kinesis.create(STREAM, 1);
        put("k", trade("a", 2, "FX", 5));
        put("k", poison);
        run(MINUTE);
        assertThat(lines()).containsExactly("=[5.00, 1]", "FX=[5.00, 1]");
        assertThat(engine.deadLetters().list(0, 9)).hasSize(2);
    }

    @Test
    void hazard_35_parts_of_an_aggregated_record_have_their_own_places_and_a_failure_in_the_middle_counts_none_twice() {
        deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL).with(Fault.DIES_WITH_CLIENT, 0.5));
        byte[] poison = "poison".getBytes(StandardCharsets.UTF_8);
        for (int i = 0; i < 5; i++) {
            put("k", Aggregates.of(List.of(trade("a" + i, 1, "FX", 1), poison, trade("a" + i, 2, "Rates", 2), poison)));
        }
        map(MappingSettings.input(), MappingFaults.of(1, 0.3), 0.5);
        run(Duration.ofMinutes(30));
        deployment.dynamo.inject(Faults.none());
        assertThat(lines()).containsExactly("=[10.00, 5]", "Rates=[10.00, 5]");
        assertThat(engine.deadLetters().list(0, 99).stream().map(DeadLetter::place))
                .hasSize(10)
                .doesNotHaveDuplicates()
                .allMatch(place -> place.line() == 2 || place.line() == 4);
    }

    @Test
    void hazard_36_with_ten_batches_of_a_shard_at_once_the_highest_version_of_each_key_counts() {
        deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL));
        for (int version = 1; version <= 20; version++) {
            for (int key = 0; key < 10; key++) {
                // One key in two places of the stream: its versions overtake each other.
                put("place-" + (key + version % 2), trade("t" + key, version, "desk" + version % 5, version));
            }
        }
        map(MappingSettings.input().withBatch(5, Duration.ZERO).withParallelizationFactor(10), MappingFaults.NONE, 0.1);
        run(Duration.ofMinutes(10));
        deployment.dynamo.inject(Faults.none());
        assertThat(lines()).containsExactly("=[200.00, 10]", "desk0=[200.00, 10]");
        assertThat(engine.verify().isEqual()).isTrue();
    }

    @Test
    void hazard_25_and_37_a_batch_over_six_megabytes_is_cut_and_a_record_that_no_event_holds_is_in_the_retry_queue() {
        String padding = "x".repeat(1024 * 1024);
        for (int i = 0; i < 8; i++) {
            put(
                    "k",
                    ("{\"id\":\"t" + i + "\",\"v\":1,\"desk\":\"FX\",\"value\":1,\"note\":\"" + padding + "\"}")
                            .getBytes(StandardCharsets.UTF_8));
        }
        String large = put("k", new byte[9 * 1024 * 1024]);
        put("k", trade("behind", 1, "FX", 1));
        map();
        run(MINUTE);
        assertThat(lines()).containsExactly("=[9.00, 9]", "FX=[9.00, 9]");
        assertThat(queues.bodies("retries")).singleElement().satisfies(body -> {
            FailedBatch failed = FailedBatch.read(body);
            assertThat(failed.shard()).isEqualTo(STREAM + "/" + FIRST_SHARD);
            assertThat(failed.firstSequence()).isEqualTo(large).isEqualTo(failed.lastSequence());
        });
    }

    @Test
    void hazard_32_and_53_deltas_whose_wake_ups_are_lost_or_forgotten_by_the_table_s_stream_are_found_each_minute() {
        Reducers reducers = new Reducers(
                deployment, new SplittableRandom(3), 0, Faults.none().with(Fault.ERROR_BEFORE, 1));
        map();
        putAll(trades(20));
        CompletableFuture<Void> minutes = new CompletableFuture<>();
        deployment.time.schedule(Duration.ofMinutes(2), () -> minutes.complete(null));
        deployment.of(minutes);
        assertThat(engine.query(Query.all("main")).lines().getFirst().values()).hasToString("[20.00, 20]");
        reducers.close();
    }
}
