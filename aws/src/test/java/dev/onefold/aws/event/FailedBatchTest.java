package dev.onefold.aws.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.aws.event.Invocation.UnreadableEvent;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FailedBatchTest {
    private static final String FIRST = "49601189658422359378836298521827638475320189012309704722";
    private static final String LAST = "49601189658422359378836298522902373528957594348623495186";

    private static String message(String info) {
        return """
                {"requestContext":{"requestId":"c9b8fa9f-5a7f-4a7c-af9c-0c604cde93a5",
                "functionArn":"arn:aws:lambda:eu-central-1:000000000000:function:f",
                "condition":"RetryAttemptsExhausted","approximateInvokeCount":1},
                "responseContext":{"statusCode":200,"executedVersion":"$LATEST","functionError":"Unhandled"},
                "version":"1.0","timestamp":"2019-11-14T00:38:06.021Z",%s}""".formatted(info);
    }

    private static String kinesis() {
        return message("""
                "KinesisBatchInfo":{"shardId":"shardId-000000000001","startSequenceNumber":"%s",
                "endSequenceNumber":"%s","approximateArrivalOfFirstRecord":"2019-11-14T00:38:04.835Z",
                "approximateArrivalOfLastRecord":"2019-11-14T00:38:05.580Z","batchSize":500,
                "streamArn":"arn:aws:kinesis:eu-central-1:000000000000:stream/trades"}""".formatted(FIRST, LAST));
    }

    @Test
    void a_batch_given_up_says_where_its_records_are() {
        FailedBatch failed = FailedBatch.read(kinesis());
        assertThat(failed)
                .isEqualTo(new FailedBatch(
                        "arn:aws:kinesis:eu-central-1:000000000000:stream/trades",
                        "shardId-000000000001",
                        FIRST,
                        LAST,
                        "RetryAttemptsExhausted"));
        assertThat(failed.shard()).isEqualTo("trades/shardId-000000000001");
    }

    @Test
    void one_of_a_tables_stream_says_it_too_and_its_shard_is_the_place_that_its_records_have() {
        FailedBatch failed = FailedBatch.read(message("""
                "DDBStreamBatchInfo":{"shardId":"shardId-00000001573689847184-864758bb",
                "startSequenceNumber":"800000000003126276362","endSequenceNumber":"800000000003126276362",
                "batchSize":1,"streamArn":
                "arn:aws:dynamodb:eu-central-1:000000000000:table/t/stream/2019-11-14T00:04:06.388"}"""));
        assertThat(failed.firstSequence()).isEqualTo(failed.lastSequence()).isEqualTo("800000000003126276362");
        assertThat(failed.shard()).isEqualTo("t/2019-11-14T00:04:06.388");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "{}", "wake up", "[1]", "{\"KinesisBatchInfo\":{}}", "{\"KinesisBatchInfo\":1}"})
    void anything_else_is_refused(String body) {
        assertThatThrownBy(() -> FailedBatch.read(body))
                .isInstanceOf(UnreadableEvent.class)
                .hasMessageStartingWith("The message is not what an event source mapping sends when it gives up");
    }

    @Test
    void a_position_that_is_none_is_refused() {
        assertThatThrownBy(() -> FailedBatch.read(kinesis().replace(LAST, "end")))
                .isInstanceOf(UnreadableEvent.class)
                .hasMessageContaining("endSequenceNumber is not a sequence number");
    }
}
