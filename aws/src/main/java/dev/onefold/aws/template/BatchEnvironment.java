package dev.onefold.aws.template;

import dev.onefold.aws.batch.Collect;
import dev.onefold.aws.store.Store;
import dev.onefold.core.pipeline.Pipeline;
import java.time.Duration;
import java.util.Map;

/// The settings that the template of a batch pipeline gives a function by variables of its environment; see
/// [Environment].
///
/// @param stack the stack's name, which metrics carry
/// @param tables their names; there is no table of totals
/// @param bucket name of the bucket that holds the bytes of dead letters and of large records
/// @param lanes of a deployment that has collected nothing yet
/// @param isStream whether records come from a stream; a queue then brings the places of those that no invocation took
/// @param redelivery for how long after its arrival a source may give a record again, where ids are forgotten
/// @param pipelineCode see [Environment#code(Pipeline)]
public record BatchEnvironment(
        String stack,
        Store.Tables tables,
        String bucket,
        int lanes,
        boolean isStream,
        Duration redelivery,
        String pipelineCode) {
    /// How many collectors can write at once without getting in each other's way: 917 to 1,249 transactions a second.
    public static final int LANES_DEFAULT = 64;

    static final int LANES_MAX = 256;

    static final String QUEUE = "queue";
    static final String STREAM = "stream";

    /// Only Collect has them.
    private static final String INPUT = "ONEFOLD_INPUT";
    private static final String REDELIVERY = "ONEFOLD_REDELIVERY_HOURS";

    public BatchEnvironment {
        if (lanes < 1 || lanes > LANES_MAX) {
            throw new IllegalArgumentException("A deployment has 1 to " + LANES_MAX + " lanes, not " + lanes);
        }
    }

    /// Reads the variables of a function.
    ///
    /// @throws IllegalStateException naming one that is missing
    public static BatchEnvironment of(Map<String, String> variables) {
        return new BatchEnvironment(
                Environment.required(variables, Environment.STACK),
                new Store.Tables(
                        Environment.required(variables, Environment.ROWS),
                        Environment.required(variables, Environment.DELTAS),
                        "",
                        Environment.required(variables, Environment.LETTERS)),
                Environment.required(variables, Environment.BUCKET),
                Environment.number(variables, Environment.LANES),
                STREAM.equals(variables.get(INPUT)),
                variables.containsKey(REDELIVERY)
                        ? Duration.ofHours(Environment.number(variables, REDELIVERY))
                        : Collect.REDELIVERY_OF_QUEUES,
                Environment.required(variables, Environment.PIPELINE));
    }

    /// The pipeline that the variables carry.
    public Pipeline pipeline() {
        return Environment.pipeline(pipelineCode);
    }
}
