package dev.onefold.fakes.aws.bucket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.fakes.aws.Fault;
import dev.onefold.fakes.aws.Faults;
import dev.onefold.fakes.aws.SimulatedClient;
import dev.onefold.fakes.aws.SimulatedDynamoDb;
import dev.onefold.fakes.aws.VirtualTime;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.core.async.AsyncRequestBody;
import software.amazon.awssdk.core.async.AsyncResponseTransformer;
import software.amazon.awssdk.core.exception.ApiCallTimeoutException;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.model.NoSuchKeyException;
import software.amazon.awssdk.services.s3.model.PutObjectResponse;
import software.amazon.awssdk.services.s3.model.S3Exception;

class SimulatedBucketTest {
    private final VirtualTime time = new VirtualTime(Instant.parse("2030-01-01T00:00:00Z"));
    private final SimulatedDynamoDb dynamo = new SimulatedDynamoDb(time, 1);
    private final SimulatedBucket bucket = new SimulatedBucket(time, dynamo::faults, new SplittableRandom(1));
    private final SimulatedClient process = dynamo.client("process");
    private final S3AsyncClient client = bucket.client(process);

    private CompletableFuture<PutObjectResponse> put(String object, String content) {
        return client.putObject(
                request -> request.bucket("b").key(object),
                AsyncRequestBody.fromBytes(content.getBytes(StandardCharsets.UTF_8)));
    }

    private String get(String object) {
        return time.runUntil(client.getObject(
                        request -> request.bucket("b").key(object), AsyncResponseTransformer.toBytes()))
                .asUtf8String();
    }

    private void always(Fault fault) {
        dynamo.inject(Faults.none().with(fault, 1));
    }

    @Test
    void what_was_put_is_there_until_it_is_removed() {
        time.runUntil(put("o", "content"));
        time.runUntil(put("o", "content"));
        assertThat(get("o")).isEqualTo("content");
        assertThat(bucket.size()).isEqualTo(1);
        time.runUntil(client.deleteObject(request -> request.bucket("b").key("o")));
        time.runUntil(client.deleteObject(request -> request.bucket("b").key("o")));
        assertThatThrownBy(() -> get("o")).isInstanceOf(NoSuchKeyException.class);
    }

    @Test
    void a_lost_answer_is_of_a_request_that_was_done_and_a_lost_request_of_one_that_was_not() {
        always(Fault.REPLY_LOST);
        assertThatThrownBy(() -> time.runUntil(put("done", "x"))).isInstanceOf(ApiCallTimeoutException.class);
        always(Fault.REQUEST_LOST);
        assertThatThrownBy(() -> time.runUntil(put("lost", "x"))).isInstanceOf(ApiCallTimeoutException.class);
        dynamo.inject(Faults.none());
        assertThat(get("done")).isEqualTo("x");
        assertThatThrownBy(() -> get("lost")).isInstanceOf(NoSuchKeyException.class);
    }

    @Test
    void the_service_fails_before_or_after_it_did_what_was_asked_and_refuses_when_it_is_busy() {
        always(Fault.ERROR_AFTER);
        assertThatThrownBy(() -> time.runUntil(put("after", "x")))
                .isInstanceOfSatisfying(
                        S3Exception.class, e -> assertThat(e.statusCode()).isEqualTo(500));
        always(Fault.ERROR_BEFORE);
        assertThatThrownBy(() -> time.runUntil(put("before", "x"))).isInstanceOf(S3Exception.class);
        always(Fault.THROTTLED);
        assertThatThrownBy(() -> time.runUntil(put("busy", "x")))
                .isInstanceOfSatisfying(
                        S3Exception.class, e -> assertThat(e.statusCode()).isEqualTo(503));
        assertThat(bucket.size()).isEqualTo(1);
    }

    @Test
    void a_zombie_arrives_when_its_client_has_long_given_up() {
        always(Fault.ZOMBIE);
        assertThatThrownBy(() -> time.runUntil(put("late", "x"))).isInstanceOf(ApiCallTimeoutException.class);
        assertThat(bucket.size()).isZero();
        time.runFor(Duration.ofHours(1));
        assertThat(bucket.size()).isEqualTo(1);
    }

    @Test
    void what_a_killed_process_has_sent_may_arrive_and_it_hears_nothing() {
        CompletableFuture<PutObjectResponse> sent = put("sent", "x");
        process.kill();
        time.runFor(Duration.ofHours(1));
        assertThat(sent).isNotDone();
        assertThat(bucket.size()).isEqualTo(1);
    }
}
