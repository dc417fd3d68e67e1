package dev.onefold.core.grammar;

import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/// Settings of event source mappings and queues on AWS, and their equivalents in a pipeline file.
final class AwsNames {
    private static final String RETRY =
            "write when it is tried again and how long: 'retry: {delays: [1m, 10m], for: 3d}', or 'retry: none' for one"
                    + " try. Retries end after a time, not after a number; it counts from the first try, and a record"
                    + " does not grow too old";
    private static final String WINDOW =
            "write 'wait: 5m' under batch, which counts from a batch's first record; how long an invocation on AWS gathers"
                    + " is the template's parameter MaximumBatchingWindow";
    private static final String BISECT = "write 'bisect: true' under batch";
    private static final String FAILURES =
            "leave it out: a record that cannot be read is a dead letter ('onefold dead-letters'), and a batch whose"
                    + " retries end is put aside ('onefold batches'). Both are kept until a person decides";
    private static final String ITEM_FAILURES =
            "leave it out: it is always on. A receiver that is idempotent may answer which records have failed";
    private static final String CONCURRENCY =
            "write 'concurrency: N' under batch for deliveries at a time; receivers of a queue are 'onefold run"
                    + " --maximum-concurrency N'";
    private static final String KEY = "write 'key: FIELD' under input and 'order: key' under batch";
    private static final String ID = "write 'id: FIELD' under input: each id is in one batch";
    private static final String SECONDS = "inseconds";
    private static final Map<String, String> ADVICE = Map.ofEntries(
            Map.entry(
                    "batchsize",
                    "write 'size: N' under batch for the records of a batch; how many an invocation on AWS brings is the"
                            + " template's parameter BatchSize"),
            Map.entry("maximumbatchingwindow", WINDOW),
            Map.entry("maxbatchingwindow", WINDOW),
            Map.entry("batchingwindow", WINDOW),
            Map.entry("maximumretryattempts", RETRY),
            Map.entry("maximumrecordage", RETRY),
            Map.entry("bisectbatchonfunctionerror", BISECT),
            Map.entry("bisectonfunctionerror", BISECT),
            Map.entry("bisectonerror", BISECT),
            Map.entry("destinationconfig", FAILURES),
            Map.entry("onfailure", FAILURES),
            Map.entry("redrivepolicy", FAILURES),
            Map.entry("deadletterqueue", FAILURES),
            Map.entry("deadletterconfig", FAILURES),
            Map.entry("filtercriteria", "write 'filter: CONDITION' under input"),
            Map.entry("partitionkey", KEY),
            Map.entry("messagegroupid", KEY),
            Map.entry("deduplicationid", ID),
            Map.entry("messagededuplicationid", ID),
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
            Map.entry("maximumconcurrency", CONCURRENCY),
            Map.entry("scalingconfig", CONCURRENCY),
            Map.entry(
                    "parallelizationfactor",
                    "write 'concurrency: N' under batch for deliveries at a time; for the shards of a stream on AWS it is"
                            + " the template's parameter ParallelizationFactor"),
            Map.entry("reportbatchitemfailures", ITEM_FAILURES),
            Map.entry("functionresponsetypes", ITEM_FAILURES));

    private AwsNames() {}

    /// The advice on the equivalent of a setting of AWS; empty if the name is not known as one.
    static Optional<String> advice(String name) {
        String known = name.toLowerCase(Locale.ROOT);
        return Optional.ofNullable(
                ADVICE.get(known.endsWith(SECONDS) ? known.substring(0, known.length() - SECONDS.length()) : known));
    }
}
