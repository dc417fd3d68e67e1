package dev.onefold.cli.deploy;

import dev.onefold.aws.Connection;
import dev.onefold.cli.call.Reason;
import dev.onefold.cli.show.Words;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.LongStream;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.DescribeLimitsResponse;
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient;
import software.amazon.awssdk.services.kinesis.model.DescribeLimitsRequest;
import software.amazon.awssdk.services.lambda.LambdaAsyncClient;
import software.amazon.awssdk.services.lambda.model.AccountLimit;

/// The quotas of an account beside what a deployment asks for, as far as the services say them. A quota that
/// cannot be asked is no reason to stop.
///
/// @param parameters of the deployment that are no defaults
/// @param isNew whether its stack, and a stream with it, is to be made
record Quotas(Map<String, String> parameters, boolean makesStream, boolean isNew) {
    /// Lambda reserves nothing that leaves others less.
    private static final int UNRESERVED_MIN = 100;

    /// Fewer functions at a time are those of a new account.
    private static final int FUNCTIONS_FEW = 100;

    private static final String ASK = "Ask AWS for more (Service Quotas).";

    /// What one service says.
    ///
    /// @param isTooLow whether the deployment is certain to fail
    record Finding(String text, boolean isTooLow) {}

    /// Asks the services.
    List<Finding> findings(LambdaAsyncClient functions, DynamoDbAsyncClient tables, KinesisAsyncClient streams) {
        List<Finding> findings = new ArrayList<>();
        ask(findings, "Lambda", () -> functions(functions));
        ask(findings, "DynamoDB", () -> tables(Connection.THREADS.await(tables.describeLimits())));
        if (makesStream && isNew) {
            ask(findings, "Kinesis", () -> streams(streams));
        }
        return findings;
    }

    /// A question to a service.
    private interface Question {
        List<Finding> answer();
    }

    private static void ask(List<Finding> findings, String service, Question question) {
        try {
            findings.addAll(question.answer());
        } catch (SdkException e) {
            String reason = Reason.of(e).lines().findFirst().orElse("");
            findings.add(new Finding("Quotas of " + service + " were not checked: " + reason, false));
        }
    }

    private List<Finding> functions(LambdaAsyncClient client) {
        AccountLimit limit =
                Connection.THREADS.await(client.getAccountSettings()).accountLimit();
        long all = limit.concurrentExecutions();
        long free = limit.unreservedConcurrentExecutions();
        long reserved = number("ServeConcurrency", 0);
        boolean isTooLow = isNew && reserved > 0 && free - reserved < UNRESERVED_MIN;
        String said =
                "Lambda: " + Words.count(all, "function") + " at a time, " + Words.count(free) + " not reserved. ";
        if (isTooLow) {
            said += "ServeConcurrency=" + reserved + " would leave fewer than " + UNRESERVED_MIN
                    + " for the others, which Lambda refuses. " + ASK;
        } else if (free < FUNCTIONS_FEW) {
            said += "All functions of the account share them, and records wait while none is free. " + ASK;
        }
        return List.of(new Finding(said.strip(), isTooLow));
    }

    private List<Finding> tables(DescribeLimitsResponse limits) {
        List<Finding> findings = new ArrayList<>();
        boolean isProvisioned = "PROVISIONED".equals(parameters.get("BillingMode"));
        compare(
                findings,
                isProvisioned,
                "Write",
                limits.tableMaxWriteCapacityUnits(),
                limits.accountMaxWriteCapacityUnits());
        compare(
                findings,
                isProvisioned,
                "Read",
                limits.tableMaxReadCapacityUnits(),
                limits.accountMaxReadCapacityUnits());
        return findings;
    }

    private void compare(List<Finding> findings, boolean isProvisioned, String access, long tableMax, long accountMax) {
        List<Long> units = List.of(
                number("Rows" + access + "Units", 1),
                number("Deltas" + access + "Units", 1),
                number("Totals" + access + "Units", 1));
        long greatest = units.stream().mapToLong(Long::longValue).max().orElseThrow();
        long all = units.stream().flatMapToLong(LongStream::of).sum();
        boolean isTooLow = greatest > tableMax || isProvisioned && isNew && all > accountMax;
        findings.add(new Finding(
                "DynamoDB: " + Words.count(tableMax) + " " + access.toLowerCase(Locale.ROOT)
                        + " units a table, " + Words.count(accountMax) + " provisioned in the account."
                        + (isTooLow
                                ? " The parameters ask for " + Words.count(greatest) + " of a table and "
                                        + Words.count(all) + " in all. " + ASK
                                : ""),
                isTooLow));
    }

    private List<Finding> streams(KinesisAsyncClient client) {
        var limits = Connection.THREADS.await(
                client.describeLimits(DescribeLimitsRequest.builder().build()));
        if ("PROVISIONED".equals(parameters.get("StreamMode"))) {
            int free = limits.shardLimit() - limits.openShardCount();
            long shards = number("StreamShards", 1);
            return List.of(new Finding(
                    "Kinesis: " + Words.count(free, "shard") + " of " + Words.count(limits.shardLimit()) + " are free."
                            + (shards > free ? " The stream needs " + Words.count(shards) + ". " + ASK : ""),
                    shards > free));
        }
        if (limits.onDemandStreamCount() == null || limits.onDemandStreamCountLimit() == null) {
            return List.of();
        }
        int free = limits.onDemandStreamCountLimit() - limits.onDemandStreamCount();
        return List.of(new Finding(
                "Kinesis: " + Words.count(free, "stream") + " on demand of "
                        + Words.count(limits.onDemandStreamCountLimit()) + " are free."
                        + (free < 1 ? " Set StreamMode=PROVISIONED. " + ASK : ""),
                free < 1));
    }

    private long number(String parameter, long byDefault) {
        String value = parameters.get(parameter);
        return value == null || !value.matches("[0-9]{1,18}") ? byDefault : Long.parseLong(value);
    }
}
