package dev.onefold.aws.content;

import dev.onefold.core.batch.Manifest;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.json.Json;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.receivers.Receivers;
import dev.onefold.s3.EventLoops;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.http.nio.netty.NettyNioAsyncHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.lambda.LambdaAsyncClient;
import software.amazon.awssdk.services.lambda.LambdaAsyncClientBuilder;
import software.amazon.awssdk.services.lambda.model.InvokeResponse;
import software.amazon.awssdk.services.lambda.model.TooManyRequestsException;

/// Invokes a function of the user's for each batch, and waits for its answer. The function gets the place of the
/// content, because an invocation carries 6 MB. Each attempt invokes it once. Any thread.
public final class LambdaReceiver {
    /// A name, or an ARN, each with a version or an alias if that is wished.
    public static final Pattern FUNCTION =
            Pattern.compile("(arn:aws[a-z-]*:lambda:(?<region>[a-z0-9-]+):[0-9]{12}:function:)?"
                    + "[a-zA-Z0-9_-]{1,64}(:[a-zA-Z0-9_$-]{1,128})?");

    private static final Duration CONNECTING_MAX = Duration.ofSeconds(10);
    private static final Duration IDLE_MAX = Duration.ofSeconds(5);

    /// So that the limit of the call ends it, and not that of its connection.
    private static final Duration MARGIN = Duration.ofSeconds(5);

    /// Answers that are given before the function runs. Others may come from the middle of it: 410, for example, says
    /// that a file system of the function failed.
    private static final Set<Integer> NOT_RUN = Set.of(400, 401, 403, 404, 409, 413, 415, 429);

    private final LambdaAsyncClient client;
    private final String function;

    private LambdaReceiver(LambdaAsyncClient client, String function) {
        this.client = client;
        this.function = function;
    }

    /// Opens the receiver. No request is made.
    ///
    /// @param timeout of an invocation
    /// @throws IllegalArgumentException if the destination is no function
    public static LambdaReceiver open(Batching batching, Duration timeout) {
        return open(batching, timeout, LambdaAsyncClient.builder());
    }

    /// Opens a receiver with a client that has settings of the caller's, such as an endpoint.
    ///
    /// @throws IllegalArgumentException if the destination is no function
    public static LambdaReceiver open(Batching batching, Duration timeout, LambdaAsyncClientBuilder client) {
        String function = batching.deliver().target().getFirst();
        Matcher name = FUNCTION.matcher(function);
        if (!name.matches()) {
            throw new IllegalArgumentException(function + " is no name and no ARN of a Lambda function");
        }
        client.httpClientBuilder(NettyNioAsyncHttpClient.builder()
                        .eventLoopGroup(EventLoops.SHARED)
                        .maxConcurrency(batching.concurrency() + 1)
                        .connectionTimeout(CONNECTING_MAX)
                        .connectionMaxIdleTime(IDLE_MAX)
                        .tcpKeepAlive(true)
                        .readTimeout(timeout.plus(MARGIN)))
                .overrideConfiguration(
                        override -> override.apiCallTimeout(timeout).retryStrategy(AwsRetryStrategy.doNotRetry()));
        if (name.group("region") != null) {
            client.region(Region.of(name.group("region")));
        }
        return new LambdaReceiver(client.build(), function);
    }

    /// Makes one attempt.
    ///
    /// @param bucket that has the content
    /// @param key of the content
    public Outcome deliver(Manifest manifest, int attempt, String bucket, String key) throws InterruptedException {
        Map<String, Object> fields = fields(manifest, attempt);
        fields.put("bucket", bucket);
        fields.put("key", key);
        return invoke(fields);
    }

    /// Makes one attempt with a content that is small enough for an invocation.
    public Outcome deliver(Manifest manifest, int attempt, String content) throws InterruptedException {
        Map<String, Object> fields = fields(manifest, attempt);
        fields.put("content", content);
        return invoke(fields);
    }

    private Outcome invoke(Map<String, Object> fields) throws InterruptedException {
        CompletableFuture<InvokeResponse> answer = client.invoke(
                request -> request.functionName(function).payload(SdkBytes.fromUtf8String(Json.of(fields))));
        try {
            return answered(answer.get());
        } catch (ExecutionException e) {
            return failed(e.getCause() == null ? e : e.getCause());
        } finally {
            answer.cancel(true);
        }
    }

    private static Map<String, Object> fields(Manifest manifest, int attempt) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("batch", manifest.id());
        fields.put("number", manifest.number().toString());
        fields.put("records", manifest.records());
        fields.put("bytes", manifest.bytes());
        fields.put("sha256", manifest.sha256());
        fields.put("attempt", attempt);
        return fields;
    }

    private Outcome answered(InvokeResponse answer) {
        String text = answer.payload() == null ? "" : answer.payload().asUtf8String();
        return answer.functionError() == null
                ? Receivers.answered(text)
                : new Outcome.Unknown("The function " + function + " failed, and may have done a part of its work: "
                        + Receivers.shown(text));
    }

    /// Only an answer of Lambda itself says that the function did not run.
    private Outcome failed(Throwable failure) {
        if (failure instanceof TooManyRequestsException throttled) {
            return new Outcome.NotNow(
                    "The function " + function + " is throttled: " + throttled.getMessage(),
                    after(throttled.retryAfterSeconds()));
        }
        if (failure instanceof AwsServiceException answer && NOT_RUN.contains(answer.statusCode())) {
            return new Outcome.NotNow(
                    "Lambda answered " + answer.statusCode() + " for the function " + function + ": "
                            + answer.getMessage() + ". Check its name and its permissions",
                    null);
        }
        return new Outcome.Unknown("Nobody knows what the function " + function + " has done: " + failure.getMessage());
    }

    private static @Nullable Duration after(@Nullable String seconds) {
        return seconds != null && seconds.matches("[0-9]{1,6}") ? Duration.ofSeconds(Long.parseLong(seconds)) : null;
    }
}
