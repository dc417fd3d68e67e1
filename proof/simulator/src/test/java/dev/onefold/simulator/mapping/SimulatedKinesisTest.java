package dev.onefold.simulator.mapping;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.fakes.aws.Fault;
import dev.onefold.fakes.aws.Faults;
import dev.onefold.fakes.stream.SimulatedKinesis;
import dev.onefold.mapping.source.KinesisSource;
import dev.onefold.mapping.source.StreamSource.ForgottenIterator;
import dev.onefold.mapping.source.StreamSource.Position;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.kinesis.model.InvalidArgumentException;
import software.amazon.awssdk.services.kinesis.model.PutRecordsRequestEntry;
import software.amazon.awssdk.services.kinesis.model.PutRecordsResponse;
import software.amazon.awssdk.services.kinesis.model.ResourceNotFoundException;
import software.amazon.awssdk.services.kinesis.model.ShardIteratorType;

class SimulatedKinesisTest {
    private static final String SHARD = "shardId-000000000000";

    private final Bench bench = new Bench(1);

    private PutRecordsResponse put(int count, int bytes) {
        PutRecordsRequestEntry entry = PutRecordsRequestEntry.builder()
                .partitionKey("k")
                .data(SdkBytes.fromByteArray(new byte[bytes]))
                .build();
        return bench.of(bench.producer.putRecords(
                request -> request.streamName(Bench.STREAM).records(Collections.nCopies(count, entry))));
    }

    @Test
    void what_is_too_much_for_one_request_is_refused() {
        assertThat(put(500, 1).failedRecordCount()).isZero();
        assertThatThrownBy(() -> put(501, 1)).isInstanceOf(InvalidArgumentException.class);
        assertThat(put(1, 10 * 1024 * 1024 - 1).failedRecordCount()).isZero();
        assertThatThrownBy(() -> put(1, 10 * 1024 * 1024)).isInstanceOf(InvalidArgumentException.class);
        assertThatThrownBy(() -> put(3, 4 * 1024 * 1024)).isInstanceOf(InvalidArgumentException.class);
    }

    @Test
    void some_entries_of_a_request_may_be_refused_and_only_the_others_are_taken() {
        bench.kinesis.inject(Faults.none().with(Fault.UNPROCESSED, 0.3));
        PutRecordsResponse answer = put(200, 1);
        assertThat(answer.failedRecordCount()).isBetween(20, 120);
        assertThat(bench.kinesis.everything()).hasSize(200 - answer.failedRecordCount());
        assertThat(answer.records())
                .hasSize(200)
                .allSatisfy(entry -> assertThat(entry.errorCode() == null).isEqualTo(entry.sequenceNumber() != null));
    }

    @Test
    void an_iterator_is_good_for_five_minutes() {
        KinesisSource source = new KinesisSource(bench.kinesis.client(), SimulatedKinesis.arn(Bench.STREAM));
        String iterator = bench.of(source.iterator(SHARD, new Position.TrimHorizon()));
        bench.putAll("r0");
        bench.run(Duration.ofMinutes(5));
        assertThat(bench.of(source.records(SHARD, iterator)).records()).hasSize(1);
        bench.run(Duration.ofSeconds(1));
        assertThatThrownBy(() -> bench.of(source.records(SHARD, iterator))).isInstanceOf(ForgottenIterator.class);
    }

    @Test
    void what_is_older_than_the_retention_is_gone_and_so_is_a_closed_shard() {
        bench.putAll("r0");
        bench.of(bench.producer.splitShard(
                request -> request.streamName(Bench.STREAM).shardToSplit(SHARD).newStartingHashKey("9")));
        bench.run(Duration.ofHours(25));
        assertThat(bench.of(bench.producer.listShards(request -> request.streamName(Bench.STREAM)))
                        .shards())
                .extracting(shard -> shard.shardId() + " of " + shard.parentShardId())
                .containsExactly("shardId-000000000001 of " + SHARD, "shardId-000000000002 of " + SHARD);
        assertThatThrownBy(() -> bench.of(bench.producer.getShardIterator(request -> request.streamName(Bench.STREAM)
                        .shardId(SHARD)
                        .shardIteratorType(ShardIteratorType.TRIM_HORIZON))))
                .isInstanceOf(ResourceNotFoundException.class);
    }

    @Test
    void a_stream_recreated_under_its_name_does_not_know_the_numbers_of_the_old_one() {
        String old = bench.put("k", "r0");
        bench.kinesis.delete(Bench.STREAM);
        bench.run(Duration.ofSeconds(9));
        bench.kinesis.create(Bench.STREAM, 1);
        String now = bench.put("k", "r0");
        assertThat(List.of(now)).doesNotContain(old);
        assertThatThrownBy(() -> bench.of(bench.producer.getShardIterator(request -> request.streamName(Bench.STREAM)
                        .shardId(SHARD)
                        .shardIteratorType(ShardIteratorType.AFTER_SEQUENCE_NUMBER)
                        .startingSequenceNumber(old))))
                .isInstanceOf(InvalidArgumentException.class)
                .hasMessageContaining("did not come from this stream");
    }
}
