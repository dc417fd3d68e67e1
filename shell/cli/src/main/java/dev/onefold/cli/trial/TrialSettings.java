package dev.onefold.cli.trial;

import dev.onefold.cli.show.Words;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/// The settings of a trial.
///
/// @param name the name of the stack and of the deployment
/// @param tried the pipeline as it is deployed
/// @param amount the number and rate of the records
/// @param failures percentage of the invocations that fail on purpose, by the name of the function
/// @param parameters parameters of the template, besides those that every trial has
/// @param keeps whether the stack is kept after the trial
/// @param isLocal whether the trial runs on servers of this machine, which end with it
record TrialSettings(
        String name,
        TrialPipeline tried,
        Amount amount,
        SortedMap<String, BigDecimal> failures,
        Map<String, String> parameters,
        boolean keeps,
        boolean isLocal) {
    /// What makes a trial short, where the template has it. Of a failed invocation messages come again after
    /// six times the time-out.
    private static final Map<String, String> SHORT =
            Map.of("TickMinutes", "1", "AuditOneIn", "0", "CollectTimeout", "30");

    private static final Duration AROUND = Duration.ofMinutes(15); // Making, draining and deleting.

    TrialSettings {
        parameters = Map.copyOf(parameters);
        failures = Collections.unmodifiableSortedMap(new TreeMap<>(failures));
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
                "Dashboard", String.valueOf(!isLocal),
                "LogRetentionDays", "7"));
        SHORT.forEach((name, value) -> {
            if (tried.parameters().contains(name)) {
                all.put(name, value);
            }
        });
        failures.forEach((function, percent) -> all.put("Fail" + function + "Percent", percent.toPlainString()));
        all.putAll(parameters);
        return all;
    }

    /// The announcement of the trial: the resources that it makes, the records that it puts, and its cost.
    String announcement(String what) {
        String where = isLocal ? "on servers of this machine that stand in for AWS" : "in your account";
        String text = "Makes the stack " + name + " " + where
                + ": " + tried.resources() + ".\nPuts " + Words.count(amount.rate) + " records a second, "
                + Words.count(amount.records) + " in all: " + what + "." + failing() + "\n";
        String price = isLocal ? "On AWS it would cost about " : "It costs about ";
        return text + price
                + Prices.dollars(Prices.estimate(tried.work(), amount.rate, amount.time.plus(AROUND), amount.records))
                + " at list prices of us-east-1, the first hour of the input included. "
                + end();
    }

    private String failing() {
        return failures.entrySet().stream()
                .map(each -> each.getValue().toPlainString() + " of " + each.getKey())
                .collect(Collectors.joining(" and ", " Of 100 invocations fail on purpose: ", "."));
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
