package dev.onefold.aws.template;

import dev.onefold.aws.comparison.Comparing;
import dev.onefold.aws.store.Store;
import java.time.Duration;
import java.util.Map;

/// The environment variables of the function that compares. The pipeline is none of them: it is the one that serves.
///
/// @param stack name of the stack
/// @param bucket name of the bucket that holds the bytes of dead letters
/// @param settings what is compared
/// @param retries URL of the retry queue
public record CompareEnvironment(
        String stack, Store.Tables tables, String bucket, Comparing.Settings settings, String retries) {
    /// Reads the variables of a function.
    ///
    /// @throws IllegalStateException naming one that is missing
    public static CompareEnvironment of(Map<String, String> variables) {
        return new CompareEnvironment(
                Environment.required(variables, Environment.STACK),
                new Store.Tables(
                        Environment.required(variables, Environment.ROWS),
                        Environment.required(variables, Environment.DELTAS),
                        Environment.required(variables, Environment.TOTALS),
                        Environment.required(variables, Environment.LETTERS)),
                Environment.required(variables, Environment.BUCKET),
                new Comparing.Settings(
                        Environment.required(variables, "ONEFOLD_COMPARED"),
                        Environment.required(variables, "ONEFOLD_REPAIRS").equals("true"),
                        Duration.ofHours(Environment.number(variables, "ONEFOLD_COMPARE_HOURS")),
                        Environment.number(variables, "ONEFOLD_COMPARE_UNITS"),
                        Comparing.LAG),
                Environment.required(variables, "ONEFOLD_RETRIES"));
    }
}
