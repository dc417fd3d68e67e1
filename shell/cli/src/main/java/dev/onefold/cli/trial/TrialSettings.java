package dev.onefold.cli.trial;

import dev.onefold.cli.show.Words;
import dev.onefold.core.pipeline.Pipeline;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;

/// The settings of a trial.
///
/// @param name the name of the stack and of the deployment
/// @param pipeline the pipeline of the trial
/// @param amount the number and rate of the records
/// @param failState percentage of the invocations of State that fail on purpose
/// @param parameters parameters of the template, besides those that every trial has
/// @param keeps whether the stack is kept after the trial
/// @param isLocal whether the trial runs on servers of this machine, which end with it
record TrialSettings(
        String name,
        Pipeline pipeline,
        Amount amount,
        BigDecimal failState,
        BigDecimal failReduce,
        Map<String, String> parameters,
        boolean keeps,
        boolean isLocal) {
    private static final Duration AROUND = Duration.ofMinutes(15); // Making, draining and deleting.

    TrialSettings {
        parameters = Map.copyOf(parameters);
    }

    /// How much is put.
    ///
    /// @param rate records a second
    /// @param time for which records are put, at most
    /// @param records in all, at most
    record Amount(long rate, Duration time, long records) {}

    /// All parameters but where the code is.
    Map<String, String> all() {
        Map<String, String> all = new TreeMap<>(Map.of(
                "DeletionProtection", "false",
                "Alarms", "none",
                "TickMinutes", "1",
                "LogRetentionDays", "7",
                "AuditOneIn", "0",
                "FailStatePercent", failState.toPlainString(),
                "FailReducePercent", failReduce.toPlainString()));
        all.putAll(parameters);
        return all;
    }

    /// The announcement of the trial: the resources that it makes, the records that it puts, and its cost.
    String announcement(String what) {
        String where = isLocal ? "on servers of this machine that stand in for AWS" : "in your account";
        String text = "Makes the stack " + name + " " + where
                + ": a Kinesis stream on demand, four tables, a bucket, two queues, three functions, their roles and"
                + " schedules; and a bucket for their code.\nPuts " + Words.count(amount.rate) + " records a second, "
                + Words.count(amount.records) + " in all: " + what
                + ". Of 100 invocations of State " + failState.toPlainString() + " fail on purpose, and "
                + failReduce.toPlainString() + " of Reduce.\n";
        String price = isLocal ? "On AWS it would cost about " : "It costs about ";
        return text + price + Prices.dollars(Prices.estimate(amount.rate, amount.time.plus(AROUND), amount.records))
                + " at list prices of us-east-1, an hour of the stream included. "
                + end();
    }

    private String end() {
        String clean = "'onefold aws clean " + name + "' deletes it.";
        if (keeps) {
            return isLocal
                    ? "It is there until Ctrl-C, if the trial comes to its end."
                    : "It is left there at the end, and costs more then, until " + clean;
        }
        return "All of it is deleted at the end, also after Ctrl-C."
                + (isLocal ? "" : " If this machine fails meanwhile, " + clean);
    }
}
