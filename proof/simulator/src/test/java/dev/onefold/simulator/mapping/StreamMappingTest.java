package dev.onefold.simulator.mapping;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.aws.event.BatchResponse;
import dev.onefold.fakes.aws.Fault;
import dev.onefold.fakes.aws.Faults;
import dev.onefold.fixtures.Seeds;
import dev.onefold.mapping.MappingFaults;
import dev.onefold.mapping.MappingSettings;
import dev.onefold.mapping.MappingSettings.StartingPosition;
import dev.onefold.mapping.StreamMapping;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.core.SdkBytes;

class StreamMappingTest {
    private static final MappingSettings INPUT = MappingSettings.input();
    private static final Duration MINUTE = Duration.ofMinutes(1);

    private final Bench bench = new Bench(1);

    private static String[] numbered(int count) {
        return IntStream.range(0, count).mapToObj(i -> "r" + i).toArray(String[]::new);
    }

    @Test
    void a_function_is_given_what_lambda_gives_it() {
        bench.map(INPUT);
        String sequence = bench.put("key-1", "{}");
        bench.run(MINUTE);
        assertThat(new String(bench.events.getFirst(), StandardCharsets.UTF_8)).isEqualTo("""
                {"Records":[{"kinesis":{"kinesisSchemaVersion":"1.0","partitionKey":"key-1","sequenceNumber":"%1$s",\
                "data":"%2$s","approximateArrivalTimestamp":1893456000.000},"eventSource":"aws:kinesis",\
                "eventVersion":"1.0","eventID":"shardId-000000000000:%1$s","eventName":"aws:kinesis:record",\
                "invokeIdentityArn":"arn:aws:iam::000000000000:role/mapping","awsRegion":"eu-central-1",\
                "eventSourceARN":"arn:aws:kinesis:eu-central-1:000000000000:stream/trades"}]}""".formatted(
                        sequence, Base64.getEncoder().encodeToString("{}".getBytes(StandardCharsets.UTF_8))));
    }

    @Test
    void every_record_is_delivered_once_and_in_order_in_batches_of_the_size_that_is_set() {
        bench.putAll(numbered(25));
        StreamMapping mapping = bench.map(INPUT.withBatch(10, Duration.ZERO));
        bench.run(MINUTE);
        assertThat(bench.done).containsExactly(numbered(25));
        assertThat(bench.batches).extracting(List::size).containsExactly(10, 10, 5);
        assertThat(mapping.lastProcessingResult()).isEqualTo("OK");
        assertThat(mapping.checkpoint("shardId-000000000000"))
                .contains(bench.kinesis.ends(Bench.STREAM).get("shardId-000000000000"));
    }

    @Test
    void bisecting_finds_the_poison_record_and_the_healthy_ones_round_it_are_done() {
        bench.failsFor("r13"::equals);
        bench.putAll(numbered(40));
        bench.map(INPUT.withEnd(2, MappingSettings.FOREVER));
        bench.run(MINUTE);
        assertThat(bench.done).hasSize(39).doesNotContain("r13").doesNotHaveDuplicates();
        assertThat(bench.batches).contains(List.of("r13"));
        assertThat(bench.batches.stream().filter(List.of("r13")::equals)).hasSize(3); // Once, and two retries.
        assertThat(bench.givenUp()).singleElement().satisfies(failed -> {
            assertThat(failed.firstSequence()).isEqualTo(failed.lastSequence());
            assertThat(failed.condition()).isEqualTo("RetryAttemptsExhausted");
            assertThat(failed.shard()).isEqualTo("trades/shardId-000000000000");
        });
    }

    @Test
    void without_bisecting_the_whole_batch_is_given_up_and_the_message_says_from_where_to_where() {
        bench.failsFor("r3"::equals);
        String first = bench.put("k", "r0");
        bench.putAll("r1", "r2", "r3");
        String last = bench.put("k", "r4");
        bench.map(INPUT.withBatch(5, Duration.ZERO)
                .withEnd(0, MappingSettings.FOREVER)
                .withFailure(false, true));
        bench.run(MINUTE);
        bench.putAll("r5");
        bench.run(MINUTE);
        assertThat(bench.done).containsExactly("r5");
        assertThat(bench.givenUp()).singleElement().satisfies(failed -> {
            assertThat(failed.firstSequence()).isEqualTo(first);
            assertThat(failed.lastSequence()).isEqualTo(last);
        });
    }

    @Test
    void of_a_partial_response_the_records_from_the_lowest_failed_one_on_come_again() {
        boolean[] failed = new boolean[1];
        bench.answers(batch -> {
            if (failed[0] || batch.size() < 5) {
                return BatchResponse.DONE;
            }
            failed[0] = true;
            return new BatchResponse(
                    List.of(batch.get(4).sequence(), batch.get(2).sequence()));
        });
        bench.putAll(numbered(6));
        bench.map(INPUT);
        bench.run(MINUTE);
        assertThat(bench.batches).containsExactly(List.of(numbered(6)), List.of("r2", "r3", "r4", "r5"));
    }

    @Test
    void a_partial_response_is_a_success_where_nobody_asked_for_it() {
        bench.answers(batch -> new BatchResponse(List.of(batch.getFirst().sequence())));
        bench.putAll(numbered(6));
        bench.map(INPUT.withFailure(true, false));
        bench.run(MINUTE);
        assertThat(bench.batches).containsExactly(List.of(numbered(6)));
    }

    @Test
    void an_answer_that_names_a_record_of_another_batch_makes_the_whole_batch_come_again() {
        boolean[] failed = new boolean[1];
        bench.answers(_ -> {
            boolean first = !failed[0];
            failed[0] = true;
            return first ? new BatchResponse(List.of("42")) : BatchResponse.DONE;
        });
        bench.putAll(numbered(3));
        bench.map(INPUT);
        bench.run(MINUTE);
        assertThat(bench.batches).containsExactly(List.of(numbered(3)), List.of(numbered(3)));
    }

    @Test
    void what_is_older_than_the_maximum_age_is_given_up_and_what_is_younger_is_not() {
        bench.failsFor(_ -> true);
        bench.putAll("old");
        bench.map(INPUT.withEnd(-1, MINUTE));
        bench.run(Duration.ofSeconds(50));
        bench.putAll("young");
        bench.run(Duration.ofSeconds(20));
        assertThat(bench.givenUp()).singleElement().satisfies(failed -> {
            assertThat(failed.condition()).isEqualTo("RecordAgeExceeded");
            assertThat(failed.firstSequence()).isEqualTo(failed.lastSequence());
        });
        bench.answers(_ -> BatchResponse.DONE);
        bench.run(MINUTE);
        assertThat(bench.done).containsExactly("young");
    }

    @Test
    void nothing_is_given_up_where_no_end_is_set_and_order_holds_meanwhile() {
        bench.failsFor("r1"::equals);
        bench.putAll(numbered(4));
        bench.map(INPUT);
        bench.run(Duration.ofHours(3));
        assertThat(bench.done).containsExactly("r0");
        bench.answers(_ -> BatchResponse.DONE);
        bench.run(MINUTE);
        assertThat(bench.done).containsExactly(numbered(4));
        assertThat(bench.givenUp()).isEmpty();
    }

    @Test
    void the_mapping_goes_on_only_when_the_destination_knows_what_was_given_up() {
        bench.failsFor("poison"::equals);
        bench.queues.inject(Faults.none().with(Fault.ERROR_BEFORE, 1));
        bench.putAll("poison", "r1");
        StreamMapping mapping = bench.map(INPUT.withBatch(1, Duration.ZERO).withEnd(0, MappingSettings.FOREVER));
        bench.run(MINUTE);
        assertThat(bench.done).isEmpty();
        assertThat(mapping.lastProcessingResult()).startsWith("PROBLEM: What was given up cannot be told to");
        bench.queues.inject(Faults.none());
        bench.run(MINUTE);
        assertThat(bench.done).containsExactly("r1");
        assertThat(bench.givenUp()).hasSize(1);
    }

    @Test
    void a_batch_waits_for_its_window_unless_it_is_full() {
        bench.map(INPUT.withBatch(3, Duration.ofSeconds(30)));
        bench.run(Duration.ofSeconds(5));
        bench.putAll("a", "b");
        bench.run(Duration.ofSeconds(20));
        assertThat(bench.batches).isEmpty();
        bench.putAll("c", "d");
        bench.run(Duration.ofSeconds(5));
        assertThat(bench.batches).containsExactly(List.of("a", "b", "c"));
        bench.run(MINUTE);
        assertThat(bench.batches).containsExactly(List.of("a", "b", "c"), List.of("d"));
    }

    @Test
    void a_split_shard_s_children_begin_when_all_of_it_is_done_and_a_merged_one_waits_for_both() {
        bench.failsFor("r1"::equals);
        bench.putAll("r0", "r1");
        bench.map(INPUT);
        bench.run(MINUTE);
        bench.of(bench.producer.splitShard(request -> request.streamName(Bench.STREAM)
                .shardToSplit("shardId-000000000000")
                .newStartingHashKey("170141183460469231731687303715884105728")));
        bench.putAll("r2", "r3", "r4", "r5");
        bench.run(MINUTE);
        assertThat(bench.done).containsExactly("r0");
        bench.answers(_ -> BatchResponse.DONE);
        bench.run(MINUTE);
        assertThat(bench.done).startsWith("r0", "r1").containsExactlyInAnyOrder(numbered(6));
        bench.failsFor(data -> data.equals("r6") || data.equals("r7"));
        bench.putAll("r6", "r7");
        bench.of(bench.producer.mergeShards(request -> request.streamName(Bench.STREAM)
                .shardToMerge("shardId-000000000001")
                .adjacentShardToMerge("shardId-000000000002")));
        bench.putAll("r8", "r9");
        bench.run(MINUTE);
        assertThat(bench.done).hasSize(6);
        bench.answers(_ -> BatchResponse.DONE);
        bench.run(MINUTE);
        assertThat(bench.done).containsExactlyInAnyOrder(numbered(10)).endsWith("r8", "r9");
    }

    @Test
    void a_mapping_begins_where_it_is_told_to_and_reads_new_shards_from_their_beginning() {
        bench.putAll("old");
        bench.run(MINUTE);
        Instant then = bench.time.instant();
        bench.putAll("middle");
        bench.run(MINUTE);
        StreamMapping latest = bench.map(INPUT.withStart(StartingPosition.LATEST, null));
        bench.run(Duration.ofSeconds(5));
        bench.of(bench.producer.splitShard(request -> request.streamName(Bench.STREAM)
                .shardToSplit("shardId-000000000000")
                .newStartingHashKey("5")));
        bench.putAll("new");
        bench.run(MINUTE);
        assertThat(bench.done).containsExactly("new");
        latest.close();
        bench.done.clear();
        bench.map(INPUT.withStart(StartingPosition.AT_TIMESTAMP, then));
        bench.run(MINUTE);
        assertThat(bench.done).containsExactly("middle", "new");
    }

    @Test
    void ten_batches_of_a_shard_run_at_once_and_each_partition_key_keeps_its_order() {
        bench.duration = Duration.ofSeconds(1);
        Map<String, List<String>> put = new HashMap<>();
        for (int i = 0; i < 600; i++) {
            String key = "k" + i % 40;
            String data = key + "/" + i;
            put.computeIfAbsent(key, _ -> new ArrayList<>()).add(data);
            bench.put(key, data);
        }
        SplittableRandom random = new SplittableRandom(1);
        bench.answers(_ -> {
            if (random.nextInt(4) == 0) {
                throw new IllegalStateException("now and then");
            }
            return BatchResponse.DONE;
        });
        bench.map(INPUT.withBatch(7, Duration.ZERO).withParallelizationFactor(10));
        bench.run(Duration.ofMinutes(10));
        assertThat(bench.concurrentMax).isGreaterThan(5).isLessThanOrEqualTo(10);
        assertThat(bench.done).hasSize(600);
        put.forEach((key, data) -> assertThat(bench.done.stream().filter(each -> each.startsWith(key + "/")))
                .containsExactlyElementsOf(data));
    }

    @Test
    void after_an_outage_that_outlives_its_iterators_a_mapping_goes_on_where_it_was() {
        bench.putAll("r0", "r1");
        StreamMapping mapping = bench.map(INPUT);
        bench.run(MINUTE);
        bench.kinesis.inject(Faults.none().with(Fault.ERROR_BEFORE, 1));
        bench.run(Duration.ofMinutes(10));
        assertThat(mapping.lastProcessingResult()).startsWith("PROBLEM: ");
        bench.kinesis.inject(Faults.none());
        bench.putAll("r2");
        bench.run(MINUTE);
        assertThat(bench.done).containsExactly("r0", "r1", "r2");
    }

    @Test
    void what_the_stream_has_forgotten_is_skipped_and_the_oldest_that_it_has_comes_next() {
        bench.putAll("r0");
        bench.map(INPUT);
        bench.run(MINUTE);
        bench.kinesis.inject(Faults.none().with(Fault.ERROR_BEFORE, 1));
        bench.run(Duration.ofHours(1));
        bench.kinesis.inject(Faults.none());
        bench.put("k", "r1");
        bench.kinesis.inject(Faults.none().with(Fault.ERROR_BEFORE, 1));
        bench.run(Duration.ofHours(25));
        bench.kinesis.inject(Faults.none());
        bench.put("k", "r2");
        bench.run(MINUTE);
        assertThat(bench.batches).containsExactly(List.of("r0"), List.of("r2"));
    }

    @Test
    void a_closed_mapping_invokes_no_more() {
        bench.putAll("r0");
        StreamMapping mapping = bench.map(INPUT);
        bench.run(MINUTE);
        mapping.close();
        mapping.close();
        bench.putAll("r1");
        bench.run(MINUTE);
        assertThat(bench.done).containsExactly("r0");
    }

    @Test
    void however_nasty_a_mapping_is_it_loses_nothing() {
        Seeds.forEachSeed(0, 30, seed -> {
            SplittableRandom random = new SplittableRandom(seed);
            Bench nasty = new Bench(1 + random.nextInt(3));
            nasty.kinesis.inject(Faults.none()
                    .with(Faults.Timing.USUAL)
                    .with(Fault.UNPROCESSED, 0.1)
                    .with(Fault.REPLY_LOST, 0.05)
                    .with(Fault.ERROR_BEFORE, 0.05)
                    .with(Fault.THROTTLED, 0.05));
            nasty.answers(batch -> switch (random.nextInt(6)) {
                case 0 -> throw new IllegalStateException("now and then");
                case 1 ->
                    new BatchResponse(
                            List.of(batch.get(random.nextInt(batch.size())).sequence()));
                default -> BatchResponse.DONE;
            });
            MappingFaults chances = new MappingFaults(seed, 0.2, 0.2, 0.2, 0.2, 0.05);
            nasty.map(
                    INPUT.withBatch(1 + random.nextInt(20), Duration.ofMillis(random.nextInt(2_000)))
                            .withParallelizationFactor(1 + random.nextInt(10))
                            .withFailure(random.nextBoolean(), true),
                    chances);
            List<String> put = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                put.add("r" + i);
                var _ = nasty.producer.putRecord(request -> request.streamName(Bench.STREAM)
                        .partitionKey("r" + random.nextInt(30))
                        .data(SdkBytes.fromUtf8String(put.getLast())));
                if (i % 25 == 24) {
                    nasty.run(Duration.ofSeconds(random.nextInt(20)));
                }
            }
            nasty.run(Duration.ofMinutes(5));
            List<String> stored = nasty.kinesis.everything().stream()
                    .map(each -> each.record().data().asUtf8String())
                    .toList();
            assertThat(stored).hasSizeGreaterThan(50);
            assertThat(nasty.done).containsAll(stored);
        });
    }

    @Test
    void settings_that_aws_refuses_are_refused() {
        assertThatThrownBy(() -> INPUT.withBatch(10_001, Duration.ZERO)).hasMessageContaining("batchSize");
        assertThatThrownBy(() -> INPUT.withBatch(1, Duration.ofSeconds(301)))
                .hasMessageContaining("maximumBatchingWindow");
        assertThatThrownBy(() -> INPUT.withParallelizationFactor(11)).hasMessageContaining("parallelizationFactor");
        assertThatThrownBy(() -> INPUT.withEnd(10_001, MINUTE)).hasMessageContaining("maximumRetryAttempts");
        assertThatThrownBy(() -> INPUT.withEnd(1, Duration.ofSeconds(59))).hasMessageContaining("maximumRecordAge");
        assertThatThrownBy(() -> INPUT.withStart(StartingPosition.AT_TIMESTAMP, null))
                .hasMessageContaining("startingPositionTimestamp");
    }
}
