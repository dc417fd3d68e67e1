package dev.onefold.aws.stream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.event.KplEncoder;
import dev.onefold.aws.store.Store;
import dev.onefold.fixtures.Seeds;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;

class ShardReaderTest {
    private static final Instant START = Instant.parse("2030-01-01T00:00:00Z");

    /// No table is asked for anything.
    private static final DynamoDbAsyncClient NO_TABLES = new DynamoDbAsyncClient() {
        @Override
        public String serviceName() {
            return SERVICE_NAME;
        }

        @Override
        public void close() {}
    };

    private final List<Arrival> read = new ArrayList<>();

    private static Store store(RandomGenerator random) {
        return new Store(
                NO_TABLES, Store.Tables.of("none"), Pauseless.THREADS, random, () -> START.plus(Duration.ofDays(1)));
    }

    private ShardReader.Extent read(FakeStream stream, Position from, Position to) {
        read.clear();
        return ShardReader.read(
                store(new SplittableRandom(1)),
                new KinesisPages(stream, FakeStream.ARN, "shardId-0"),
                from,
                to,
                read::addAll);
    }

    private static Position at(FakeStream.Held shard, int record) {
        return new Position.Sequence(shard.records.get(record).sequence().toString());
    }

    private static FakeStream.Held shard(FakeStream stream, int records) {
        FakeStream.Held shard = stream.shard("shardId-0");
        for (int i = 0; i < records; i++) {
            shard.add(i, START.plusSeconds(i), String.valueOf(i).getBytes(StandardCharsets.UTF_8));
        }
        return shard;
    }

    private List<String> texts() {
        return read.stream()
                .map(arrival -> new String(arrival.data(), StandardCharsets.UTF_8))
                .toList();
    }

    private static List<String> numbers(int from, int to) {
        List<String> numbers = new ArrayList<>();
        for (int i = from; i <= to; i++) {
            numbers.add(String.valueOf(i));
        }
        return numbers;
    }

    @Test
    void a_range_is_read_whole_and_nothing_else_however_the_service_pages_it() {
        Seeds.forAllSeeds(300, random -> {
            FakeStream stream = new FakeStream(random, random.nextDouble() * 0.5);
            int records = 1 + random.nextInt(200);
            FakeStream.Held shard = shard(stream, records);
            shard.closed = random.nextBoolean();
            int from = random.nextInt(records);
            int to = from + random.nextInt(records - from);
            shard.trimmed = random.nextInt(from + 1);
            boolean byTime = random.nextBoolean();
            ShardReader.Extent extent = byTime
                    ? read(stream, new Position.Time(START.plusSeconds(from)), new Position.Time(START.plusSeconds(to)))
                    : read(stream, at(shard, from), at(shard, to));
            assertThat(texts()).isEqualTo(numbers(from, to));
            assertThat(extent)
                    .isEqualTo(new ShardReader.Extent(
                            shard.records.get(from).sequence().toString(),
                            shard.records.get(to).sequence().toString(),
                            to - from + 1,
                            false,
                            false));
            assertThat(read.getFirst().shard()).isEqualTo("trades/shardId-0");
            assertThat(new BigInteger(read.getFirst().sequence()))
                    .isEqualTo(shard.records.get(from).sequence());
        });
    }

    @Test
    void what_is_trimmed_is_passed_over_and_told() {
        Seeds.forAllSeeds(100, random -> {
            FakeStream stream = new FakeStream(random, 0.2);
            FakeStream.Held shard = shard(stream, 50);
            shard.trimmed = 20;
            ShardReader.Extent extent = read(stream, at(shard, 10), at(shard, 30));
            assertThat(texts()).isEqualTo(numbers(20, 30));
            assertThat(extent.first())
                    .isEqualTo(shard.records.get(20).sequence().toString());
            shard.trimmed = 40;
            assertThat(read(stream, at(shard, 10), at(shard, 30)).records()).isZero();
            assertThat(read).isEmpty();
            stream.forget("shardId-0");
            assertThat(read(stream, at(shard, 10), at(shard, 30)))
                    .isEqualTo(new ShardReader.Extent(null, null, 0, true, false));
        });
    }

    @Test
    void a_time_to_come_ends_at_the_newest_record() {
        FakeStream stream = new FakeStream(new SplittableRandom(3), 0.3);
        shard(stream, 30);
        read(stream, new Position.Time(START.plusSeconds(10)), new Position.Time(START.plus(Duration.ofDays(9))));
        assertThat(texts()).isEqualTo(numbers(10, 29));
    }

    @Test
    void what_a_producer_s_library_put_together_comes_apart_as_in_an_invocation() {
        FakeStream stream = new FakeStream(new SplittableRandom(3), 0);
        byte[] aggregated = new KplEncoder()
                .add("a", null, "x".getBytes(StandardCharsets.UTF_8))
                .add("b", null, "y".getBytes(StandardCharsets.UTF_8))
                .encode();
        FakeStream.Held shard = stream.shard("shardId-0");
        shard.add(0, START, aggregated);
        assertThat(read(stream, at(shard, 0), at(shard, 0)).records()).isEqualTo(1);
        assertThat(texts()).containsExactly("x", "y");
        assertThat(read).extracting(Arrival::subSequence).containsExactly(0L, 1L);
    }
}
