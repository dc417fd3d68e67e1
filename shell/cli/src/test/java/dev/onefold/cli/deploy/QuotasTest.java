package dev.onefold.cli.deploy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.cli.deploy.Quotas.Finding;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.core.SdkClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient;
import software.amazon.awssdk.services.kinesis.model.DescribeLimitsRequest;
import software.amazon.awssdk.services.kinesis.model.DescribeLimitsResponse;
import software.amazon.awssdk.services.lambda.LambdaAsyncClient;
import software.amazon.awssdk.services.lambda.model.AccountLimit;
import software.amazon.awssdk.services.lambda.model.GetAccountSettingsRequest;
import software.amazon.awssdk.services.lambda.model.GetAccountSettingsResponse;
import software.amazon.awssdk.services.lambda.model.LambdaException;

class QuotasTest {
    /// A client that holds nothing.
    private interface Fake extends SdkClient {
        @Override
        default String serviceName() {
            return "fake";
        }

        @Override
        default void close() {}
    }

    /// @param free functions at a time that are not reserved; negative if nobody may ask
    private record Functions(int free) implements LambdaAsyncClient, Fake {
        @Override
        public CompletableFuture<GetAccountSettingsResponse> getAccountSettings(GetAccountSettingsRequest request) {
            if (free < 0) {
                return CompletableFuture.failedFuture(LambdaException.builder()
                        .awsErrorDetails(AwsErrorDetails.builder()
                                .errorMessage("not authorized to perform lambda:GetAccountSettings")
                                .build())
                        .build());
            }
            return CompletableFuture.completedFuture(GetAccountSettingsResponse.builder()
                    .accountLimit(AccountLimit.builder()
                            .concurrentExecutions(1_000)
                            .unreservedConcurrentExecutions(free)
                            .build())
                    .build());
        }
    }

    private static final class Tables implements DynamoDbAsyncClient, Fake {
        @Override
        public CompletableFuture<software.amazon.awssdk.services.dynamodb.model.DescribeLimitsResponse> describeLimits(
                software.amazon.awssdk.services.dynamodb.model.DescribeLimitsRequest request) {
            return CompletableFuture.completedFuture(
                    software.amazon.awssdk.services.dynamodb.model.DescribeLimitsResponse.builder()
                            .accountMaxReadCapacityUnits(80_000L)
                            .accountMaxWriteCapacityUnits(80_000L)
                            .tableMaxReadCapacityUnits(40_000L)
                            .tableMaxWriteCapacityUnits(40_000L)
                            .build());
        }
    }

    private static final class Streams implements KinesisAsyncClient, Fake {
        @Override
        public CompletableFuture<DescribeLimitsResponse> describeLimits(DescribeLimitsRequest request) {
            return CompletableFuture.completedFuture(DescribeLimitsResponse.builder()
                    .shardLimit(200)
                    .openShardCount(190)
                    .onDemandStreamCount(50)
                    .onDemandStreamCountLimit(50)
                    .build());
        }
    }

    private static List<Finding> findings(Map<String, String> parameters, boolean isNew, int free) {
        return new Quotas(parameters, true, isNew).findings(new Functions(free), new Tables(), new Streams());
    }

    private static List<String> tooLow(Map<String, String> parameters, boolean isNew) {
        return findings(parameters, isNew, 900).stream()
                .filter(Finding::isTooLow)
                .map(Finding::text)
                .toList();
    }

    @Test
    void what_is_certain_to_fail_is_said_and_what_is_there_already_is_not_counted_again() {
        assertThat(tooLow(Map.of(), true)).singleElement().asString().contains("StreamMode=PROVISIONED");
        assertThat(tooLow(Map.of(), false)).isEmpty();
        Map<String, String> provisioned = Map.of("StreamMode", "PROVISIONED", "StreamShards", "10");
        assertThat(tooLow(provisioned, true)).isEmpty();
        assertThat(tooLow(Map.of("StreamMode", "PROVISIONED", "StreamShards", "11"), true))
                .singleElement()
                .asString()
                .contains("10 shards of 200 are free", "needs 11");
        assertThat(tooLow(Map.of("RowsWriteUnits", "40000", "ServeConcurrency", "800"), false))
                .isEmpty();
        assertThat(tooLow(Map.of("RowsWriteUnits", "40001"), false))
                .singleElement()
                .asString()
                .contains("40,000 write units a table", "40,001");
        Map<String, String> units = Map.of(
                "StreamMode", "PROVISIONED",
                "BillingMode", "PROVISIONED",
                "RowsReadUnits", "30000",
                "DeltasReadUnits", "30000",
                "TotalsReadUnits", "30000",
                "ServeConcurrency", "801");
        assertThat(tooLow(units, true)).hasSize(2).anyMatch(text -> text.contains("90,000 in all"));
    }

    @Test
    void few_functions_at_a_time_are_a_warning_and_what_cannot_be_asked_is_said() {
        assertThat(findings(Map.of(), false, 10))
                .first()
                .satisfies(finding -> assertThat(finding.isTooLow()).isFalse())
                .satisfies(finding ->
                        assertThat(finding.text()).contains("10 not reserved", "records wait", "Service Quotas"));
        assertThat(findings(Map.of(), false, -1))
                .first()
                .satisfies(finding -> assertThat(finding.text())
                        .startsWith("Quotas of Lambda were not checked: ")
                        .contains("lambda:GetAccountSettings"))
                .satisfies(finding -> assertThat(finding.isTooLow()).isFalse());
    }
}
