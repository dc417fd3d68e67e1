package dev.onefold.core.grammar;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// A setting with a name of AWS is refused, with the equivalent setting of Onefold as advice.
class AwsNamesTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "batchSize | write 'size: N' under batch",
                "BatchSize | write 'size: N' under batch",
                "maximumBatchingWindow | write 'wait: 5m' under batch",
                "maximumRetryAttempts | 'retry: {delays: [1m, 10m], for: 3d}', or 'retry: none' for one try",
                "maximumRecordAge | Retries end after a time",
                "bisectBatchOnFunctionError | write 'bisect: true' under batch",
                "delaySeconds | 'onefold aws produce --delay-seconds'",
                "visibilityTimeout | 'onefold run --visibility-timeout'",
                "maxReceiveCount | a record that cannot be read is a dead letter at once",
                "maximumConcurrency | write 'concurrency: N' under batch",
                "parallelizationFactor | write 'concurrency: N' under batch",
                "MaximumBatchingWindowInSeconds | write 'wait: 5m' under batch",
                "maximumRecordAgeInSeconds | counts from the first try",
                "bisectOnError | write 'bisect: true' under batch",
                "destinationConfig | a batch whose retries end is put aside",
                "redrivePolicy | ('onefold dead-letters')",
                "filterCriteria | write 'filter: CONDITION' under input",
                "partitionKey | 'order: key' under batch",
                "MessageDeduplicationId | write 'id: FIELD' under input",
                "scalingConfig | write 'concurrency: N' under batch",
                "functionResponseTypes | it is always on",
                "reportBatchItemFailures | it is always on"
            })
    void a_setting_of_aws_is_refused_with_what_does_it_here(String name, String said) {
        String batch =
                "{\"pipeline\":\"p\",\"input\":{\"id\":\"k\"},\"batch\":{\"size\":1,\"deliver\":{\"file\":\"{number}\"}%s}}";
        assertThat(Read.problems(batch.formatted(""))).isEmpty();
        assertThat(Read.problems(batch.formatted(",\"" + name + "\":3")))
                .singleElement()
                .asString()
                .contains("is not a setting of batch", said);
    }
}
