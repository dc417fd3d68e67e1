package dev.onefold.aws.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.aws.Connection;
import dev.onefold.aws.store.Threads;
import dev.onefold.fakes.aws.FakeClient;
import dev.onefold.fixtures.Seeds;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient;
import software.amazon.awssdk.services.kinesis.model.PutRecordsRequest;
import software.amazon.awssdk.services.kinesis.model.PutRecordsRequestEntry;
import software.amazon.awssdk.services.kinesis.model.PutRecordsResponse;
import software.amazon.awssdk.services.kinesis.model.PutRecordsResultEntry;
import software.amazon.awssdk.services.kinesis.model.ResourceNotFoundException;

class ProducerTest {
    private final List<String> refused = new ArrayList<>();

    private Producer producer(KinesisAsyncClient client, Turns turns, RandomGenerator random) {
        return new Producer(
                client, "s", turns, random, (record, reason) -> refused.add(record.number() + " " + reason));
    }

    private static StreamRecord record(long number, String key) {
        return new StreamRecord(number, key, (key + ":" + number).getBytes(StandardCharsets.UTF_8));
    }

    private static StreamRecord large(long number, int bytes) {
        return new StreamRecord(number, "k" + number, new byte[bytes]);
    }

    /// What a stream has of each key, by its order within the shards, without repetitions.
    private static Map<String, List<String>> firstOccurrences(FakeKinesis kinesis) {
        Map<String, List<String>> found = new LinkedHashMap<>();
        for (List<String> shard : kinesis.shards.values()) {
            for (String text : new LinkedHashSet<>(shard)) {
                found.computeIfAbsent(text.substring(0, text.indexOf(':')), _ -> new ArrayList<>())
                        .add(text);
            }
        }
        return found;
    }

    @Test
    void whatever_the_service_does_every_record_is_put_and_those_of_a_key_stay_in_order() {
        Seeds.forAllSeeds(300, random -> {
            Turns turns = new Turns(random);
            FakeKinesis kinesis = new FakeKinesis(turns, random, random.nextDouble() * 0.4);
            Producer producer = producer(kinesis, turns, random);
            int keys = 1 + random.nextInt(1_000);
            int count = random.nextInt(3_000);
            Map<String, List<String>> expected = new LinkedHashMap<>();
            for (int i = 0; i < count; i++) {
                StreamRecord record = record(i, "k" + random.nextInt(keys));
                expected.computeIfAbsent(record.partitionKey(), _ -> new ArrayList<>())
                        .add(record.partitionKey() + ":" + i);
                producer.add(record);
            }
            Producer.Sent sent = producer.finish();
            assertThat(firstOccurrences(kinesis)).isEqualTo(expected);
            long stored = kinesis.shards.values().stream().mapToLong(List::size).sum();
            assertThat(stored - count).isBetween(0L, kinesis.lostEntries);
            assertThat(kinesis.lostEntries).isLessThanOrEqualTo(sent.unanswered());
            assertThat(sent.records()).isEqualTo(count);
            assertThat(sent.requests()).isEqualTo(kinesis.requests);
            assertThat(producer.firstNotPut()).isEmpty();
            assertThat(refused).isEmpty();
        });
    }

    @Test
    void records_of_many_keys_go_together_and_one_that_is_large_goes_alone() {
        RandomGenerator random = new SplittableRandom(1);
        Turns turns = new Turns(random);
        FakeKinesis kinesis = new FakeKinesis(turns, random, 0);
        Producer producer = producer(kinesis, turns, random);
        for (int i = 0; i < 10_000; i++) {
            producer.add(record(i, "k" + i));
        }
        producer.add(large(10_000, 9 * 1024 * 1024));
        assertThat(producer.finish().records()).isEqualTo(10_001);
        assertThat(kinesis.requests).isLessThan(16 + 10_000 / 250);
    }

    @Test
    void a_pause_or_a_thread_that_fails_ends_the_producer_with_its_failure() {
        for (boolean inPause : List.of(true, false)) {
            RandomGenerator random = new SplittableRandom(1);
            Turns turns = new Turns(random);
            AtomicInteger threads = new AtomicInteger();
            Threads failing = new Threads() {
                @Override
                public void execute(Runnable task) {
                    if (!inPause && threads.incrementAndGet() == 3) {
                        throw new IllegalStateException("no more");
                    }
                    turns.execute(task);
                }

                @Override
                public void pause(Duration pause) {
                    throw new IllegalStateException("no more");
                }

                @Override
                public <T> T await(CompletableFuture<T> answer) {
                    return turns.await(answer);
                }
            };
            Producer producer =
                    new Producer(new FakeKinesis(turns, random, inPause ? 0.4 : 0), "s", failing, random, (_, _) -> {});
            assertThatThrownBy(() -> {
                        for (int i = 0; i < 2_000; i++) {
                            producer.add(record(i, "k" + i));
                        }
                        producer.finish();
                    })
                    .hasMessage("no more");
            assertThatThrownBy(producer::finish).hasMessage("no more");
        }
    }

    @Test
    void what_a_stream_takes_with_its_last_answer_counts_too() {
        List<String> taken = new CopyOnWriteArrayList<>();
        CompletableFuture<Void> added = new CompletableFuture<>();
        KinesisAsyncClient oneAtATime = new OneAtATime(taken, added);
        Producer producer = new Producer(oneAtATime, "s", Pauseless.THREADS, new SplittableRandom(1), (_, _) -> {});
        assertThatThrownBy(() -> {
                    for (int i = 0; i < 200; i++) {
                        producer.add(record(i, "k" + i));
                    }
                    added.complete(null);
                    producer.finish();
                })
                .hasMessageContaining("has refused a record 50 times");
        assertThat(producer.sent().records()).isEqualTo(taken.size());
        assertThat(producer.sent().records() + producer.notPut().size()).isEqualTo(200);
    }

    /// A stream that takes one record of each request, and never the one with the key `k0`.
    ///
    /// @param added it answers nothing before that
    private record OneAtATime(List<String> taken, CompletableFuture<Void> added)
            implements KinesisAsyncClient, FakeClient {
        @Override
        public CompletableFuture<PutRecordsResponse> putRecords(PutRecordsRequest request) {
            List<PutRecordsResultEntry> results = new ArrayList<>();
            boolean isOneIn = false;
            for (PutRecordsRequestEntry entry : request.records()) {
                boolean isIn = !isOneIn && !entry.partitionKey().equals("k0");
                if (isIn) {
                    isOneIn = true;
                    taken.add(entry.partitionKey());
                }
                results.add(
                        isIn
                                ? PutRecordsResultEntry.builder()
                                        .sequenceNumber("1")
                                        .build()
                                : PutRecordsResultEntry.builder()
                                        .errorCode("ProvisionedThroughputExceededException")
                                        .errorMessage("Rate exceeded")
                                        .build());
            }
            return added.thenApply(
                    _ -> PutRecordsResponse.builder().records(results).build());
        }
    }

    @Test
    void a_producer_that_is_faster_than_the_stream_is_made_to_wait() {
        RandomGenerator random = new SplittableRandom(1);
        Turns turns = new Turns(random);
        Producer producer = producer(new FakeKinesis(turns, random, 0), turns, random);
        AtomicInteger added = new AtomicInteger();
        CompletableFuture<Void> adding = CompletableFuture.runAsync(
                () -> {
                    while (added.get() < 200) {
                        producer.add(large(added.incrementAndGet(), 1024 * 1024));
                    }
                },
                turns);
        turns.goOn();
        assertThat(added.get()).isLessThan(100);
        turns.await(adding);
        assertThat(producer.finish().records()).isEqualTo(200);
    }

    @Test
    void a_record_that_the_stream_can_never_take_is_refused_with_a_reason_and_the_others_are_put() {
        RandomGenerator random = new SplittableRandom(1);
        Turns turns = new Turns(random);
        FakeKinesis kinesis = new FakeKinesis(turns, random, 0).withRecordBytesMax(1024 * 1024);
        Producer producer = producer(kinesis, turns, random);
        producer.add(record(0, "a"));
        producer.add(large(1, 2 * 1024 * 1024)); // For this stream.
        producer.add(large(2, 10 * 1024 * 1024)); // For every one, with its partition key.
        producer.add(record(3, "a"));
        producer.finish();
        assertThat(producer.sent().records()).isEqualTo(2);
        assertThat(producer.firstNotPut()).isEmpty();
        assertThat(refused)
                .anySatisfy(why -> assertThat(why).startsWith("1 The service wants a record of at most 1048576 bytes"))
                .contains("2 it has 10485762 bytes with its partition key, and Kinesis takes at most 10485760")
                .hasSize(2);
    }

    @Test
    void when_nothing_more_can_be_put_it_says_from_which_record_on_nothing_is_certain() {
        RandomGenerator random = new SplittableRandom(1);
        Turns turns = new Turns(random);
        KinesisAsyncClient gone = new KinesisAsyncClient() {
            private final FakeKinesis before = new FakeKinesis(turns, random, 0);

            @Override
            public CompletableFuture<PutRecordsResponse> putRecords(PutRecordsRequest request) {
                return request.records().stream()
                                .anyMatch(entry -> entry.partitionKey().equals("gone"))
                        ? CompletableFuture.failedFuture(ResourceNotFoundException.builder()
                                .message("Stream s not found")
                                .statusCode(400)
                                .build())
                        : before.putRecords(request);
            }

            @Override
            public String serviceName() {
                return SERVICE_NAME;
            }

            @Override
            public void close() {}
        };
        Producer producer = producer(gone, turns, random);
        producer.add(record(7, "a"));
        producer.add(record(8, "gone"));
        turns.goOn();
        assertThatThrownBy(() -> producer.add(record(9, "a"))).hasMessageContaining("Stream s not found");
        CompletableFuture<Producer.Sent> finished = CompletableFuture.supplyAsync(producer::finish, turns);
        turns.goOn();
        assertThat(finished).isNotDone(); // What is under way may still succeed.
        assertThatThrownBy(() -> turns.await(finished)).hasMessageContaining("Stream s not found");
        assertThat(producer.firstNotPut()).hasValue(8);
        assertThat(producer.sent().records()).isEqualTo(1);
    }

    @Test
    void a_stream_that_refuses_a_record_without_end_is_given_up() {
        RandomGenerator random = new SplittableRandom(1);
        Turns turns = new Turns(random);
        FakeKinesis kinesis = new FakeKinesis(turns, random, 1);
        Producer producer = producer(kinesis, turns, random);
        producer.add(record(1, "a"));
        assertThatThrownBy(producer::finish).hasMessageContaining("refused a record 50 times");
        assertThat(kinesis.requests).isEqualTo(50);
        assertThat(producer.firstNotPut()).hasValue(1);
    }

    @Test
    void a_stream_that_accepts_and_never_answers_is_given_up_after_a_minute() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                KinesisAsyncClient client = impatient(silent.getLocalPort())) {
            Producer producer = new Producer(client, "s", new FastClock(), new SplittableRandom(1), (_, _) -> {});
            for (int i = 0; i < 12; i++) {
                producer.add(record(i, "k" + i));
            }
            assertThatThrownBy(producer::finish).hasMessageMatching("(?s)Stream s has not answered for \\d+ s; .*");
            assertThat(producer.firstNotPut()).hasValue(0);
            assertThat(producer.sent().records()).isZero();
        }
    }

    private static KinesisAsyncClient impatient(int port) {
        return KinesisAsyncClient.builder()
                .endpointOverride(URI.create("http://127.0.0.1:" + port))
                .region(Region.EU_CENTRAL_1)
                .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("a", "b")))
                .overrideConfiguration(override -> override.apiCallTimeout(Duration.ofMillis(20)))
                .build();
    }

    /// The threads of this machine, where a millisecond is a second.
    private static final class FastClock implements Threads {
        @Override
        public void execute(Runnable task) {
            Connection.THREADS.execute(task);
        }

        @Override
        public void pause(Duration pause) {
            Connection.THREADS.pause(pause.dividedBy(1_000));
        }

        @Override
        public long nanoTime() {
            return System.nanoTime() * 1_000;
        }
    }
}
