package dev.onefold.aws.template;

import dev.onefold.aws.serve.Access;
import java.util.Map;

/// What the template tells the function Serve beside what all functions are told.
///
/// @param environment of all functions
/// @param stream that takes records, its name or its ARN; empty where the deployment is only read
/// @param access who is let in
public record ServeEnvironment(Environment environment, String stream, Access access) {
    private static final String STREAM = "ONEFOLD_SERVE_STREAM";
    private static final String ISSUER = "ONEFOLD_SERVE_ISSUER";
    private static final String AUDIENCE = "ONEFOLD_SERVE_AUDIENCE";
    private static final String KEYS = "ONEFOLD_SERVE_KEYS";

    /// Reads the variables of the function.
    ///
    /// @throws IllegalStateException naming one that is missing
    /// @throws IllegalArgumentException if nobody can be let in with these
    public static ServeEnvironment of(Map<String, String> variables) {
        return new ServeEnvironment(
                Environment.of(variables),
                variables.getOrDefault(STREAM, ""),
                Access.of(
                        variables.getOrDefault(ISSUER, ""),
                        variables.getOrDefault(AUDIENCE, ""),
                        variables.getOrDefault(KEYS, "")));
    }
}
