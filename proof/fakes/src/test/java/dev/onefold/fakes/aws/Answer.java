package dev.onefold.fakes.aws;

import dev.onefold.fakes.aws.item.Values;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbException;
import software.amazon.awssdk.services.dynamodb.model.TransactionCanceledException;

/// What a call was answered, as a text by which two services are compared; what a message says does not count.
final class Answer {
    private static final long WAIT_SECONDS_MAX = 30;

    private Answer() {}

    /// A call that shows its result.
    interface Call extends Function<DynamoDbAsyncClient, CompletableFuture<String>> {}

    static String simulated(Service service, Call call) {
        try {
            return service.run(call);
        } catch (DynamoDbException failure) {
            return shown(failure);
        }
    }

    static String real(DynamoDbAsyncClient client, Call call) {
        try {
            return call.apply(client)
                    .orTimeout(WAIT_SECONDS_MAX, TimeUnit.SECONDS)
                    .join();
        } catch (DynamoDbException failure) {
            return shown(failure);
        } catch (CompletionException failure) {
            if (failure.getCause() instanceof DynamoDbException refusal) {
                return shown(refusal);
            }
            throw failure;
        }
    }

    private static String shown(DynamoDbException failure) {
        String what = failure.getClass().getSimpleName() + " "
                + failure.awsErrorDetails().errorCode();
        return switch (failure) {
            case TransactionCanceledException cancelled ->
                what
                        + cancelled.cancellationReasons().stream()
                                .map(reason -> reason.code() + (reason.hasItem() ? shown(reason.item()) : ""))
                                .toList();
            case ConditionalCheckFailedException failed -> what + (failed.hasItem() ? shown(failed.item()) : "");
            default -> what;
        };
    }

    static String shown(Map<String, AttributeValue> item) {
        return item.isEmpty() ? "{}" : Values.canonical(item).toString();
    }

    static String shown(List<Map<String, AttributeValue>> items) {
        return items.stream().map(Answer::shown).toList().toString();
    }

    /// In any order.
    static String sorted(List<Map<String, AttributeValue>> items) {
        return new TreeSet<>(items.stream().map(Answer::shown).toList()).toString();
    }
}
