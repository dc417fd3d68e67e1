package dev.onefold.aws.template;

import dev.onefold.aws.serve.Access;
import dev.onefold.aws.store.Store;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Pipeline;
import java.util.Map;

/// The settings that the template gives the function Serve.
///
/// @param tables their names; a batch pipeline has no table of totals
/// @param bucket name of the bucket that holds the bytes of dead letters
/// @param stream name or ARN of the stream that takes records; empty if there is none
/// @param queue address or ARN of the queue that takes records; empty if there is none
/// @param access rule for the callers that are let in
public record ServeEnvironment(
        Store.Tables tables, String bucket, Pipeline pipeline, String stream, String queue, Access access) {
    private static final String STREAM = "ONEFOLD_SERVE_STREAM";
    private static final String QUEUE = "ONEFOLD_SERVE_QUEUE";
    private static final String ISSUER = "ONEFOLD_SERVE_ISSUER";
    private static final String AUDIENCE = "ONEFOLD_SERVE_AUDIENCE";
    private static final String KEYS = "ONEFOLD_SERVE_KEYS";

    /// Reads the variables of the function.
    ///
    /// @throws IllegalStateException naming one that is missing
    /// @throws IllegalArgumentException if nobody can be let in with these
    public static ServeEnvironment of(Map<String, String> variables) {
        Pipeline pipeline = Environment.pipeline(Environment.required(variables, Environment.PIPELINE));
        boolean isBatch = pipeline.fold() instanceof Batching;
        return new ServeEnvironment(
                new Store.Tables(
                        Environment.required(variables, Environment.ROWS),
                        Environment.required(variables, Environment.DELTAS),
                        isBatch ? "" : Environment.required(variables, Environment.TOTALS),
                        Environment.required(variables, Environment.LETTERS)),
                Environment.required(variables, Environment.BUCKET),
                pipeline,
                variables.getOrDefault(STREAM, ""),
                variables.getOrDefault(QUEUE, ""),
                Access.of(
                        variables.getOrDefault(ISSUER, ""),
                        variables.getOrDefault(AUDIENCE, ""),
                        variables.getOrDefault(KEYS, "")));
    }
}
