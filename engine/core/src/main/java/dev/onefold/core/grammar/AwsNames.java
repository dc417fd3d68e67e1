package dev.onefold.core.grammar;

import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/// Settings of event source mappings and queues on AWS, and their equivalents in a pipeline file.
final class AwsNames {
    private static final String RETRY =
            "write when it is tried again and how long: 'retry: {delays: [1m, 10m], for: 3d}', or 'retry: none' for one"
                    + " try. Retries end after a time, not after a number";
    private static final Map<String, String> ADVICE = Map.ofEntries(
            Map.entry(
                    "batchsize",
                    "write 'size: N' under batch for the records of a batch; how many an invocation on AWS brings is the"
                            + " template's parameter BatchSize"),
            Map.entry(
                    "maximumbatchingwindow",
                    "write 'wait: 5m' under batch, which counts from a batch's first record; how long an invocation on"
                            + " AWS gathers is the template's parameter MaximumBatchingWindow"),
            Map.entry("maximumretryattempts", RETRY),
            Map.entry("maximumrecordage", RETRY),
            Map.entry("bisectbatchonfunctionerror", "write 'bisect: true' under batch"),
            Map.entry(
                    "delayseconds",
                    "it is a setting of the queue, or of 'onefold aws produce --delay-seconds'; what passes before a"
                            + " delivery is tried again stands in 'retry: {delays: [10m, 1h]}'"),
            Map.entry(
                    "visibilitytimeout",
                    "a message stays hidden as long as it is worked on; see 'onefold run --visibility-timeout'. How long"
                            + " a delivery may take is 'timeout' under deliver"),
            Map.entry(
                    "maxreceivecount",
                    "a record that cannot be read is a dead letter at once, and a delivery that fails is put aside when"
                            + " its retries end: 'retry: {for: 3d}'. For the retry queue on AWS it is the template's"
                            + " parameter MaxReceiveCount"),
            Map.entry(
                    "maximumconcurrency",
                    "write 'concurrency: N' under batch for deliveries at a time; receivers of a queue are 'onefold run"
                            + " --maximum-concurrency N'"),
            Map.entry(
                    "parallelizationfactor",
                    "write 'concurrency: N' under batch for deliveries at a time; for the shards of a stream on AWS it is"
                            + " the template's parameter ParallelizationFactor"),
            Map.entry(
                    "reportbatchitemfailures",
                    "leave it out: it is always on. A receiver that is idempotent may answer which records have failed"));

    private AwsNames() {}

    /// The advice on the equivalent of a setting of AWS; empty if the name is not known as one.
    static Optional<String> advice(String name) {
        return Optional.ofNullable(ADVICE.get(name.toLowerCase(Locale.ROOT)));
    }
}
