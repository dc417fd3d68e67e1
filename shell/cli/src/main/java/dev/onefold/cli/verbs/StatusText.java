package dev.onefold.cli.verbs;

import dev.onefold.cli.show.Words;
import dev.onefold.core.Causes;
import dev.onefold.core.Counts;
import dev.onefold.core.Fates;
import dev.onefold.core.SealedBatches;
import dev.onefold.core.Status;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/// How a pipeline is, as text.
///
/// @param pipeline its name
/// @param place where its data are
record StatusText(String pipeline, String place, Status status) {
    private static boolean isCount(String value) {
        return value.matches("[0-9,]+");
    }

    private static void put(Map<String, String> lines, Status.OfFunction function) {
        lines.put("impure calls", Words.count(function.impureCalls()));
        function.lastImpure().ifPresent(last -> {
            lines.put("  the last, of key", RowText.key(last.key()));
            lines.put("  came to", Words.visible(last.first()));
            lines.put("  and then to", Words.visible(last.second()));
        });
        lines.put("stuck calls", Words.count(function.stuckThreads()));
        function.otherJar().ifPresent(warning -> lines.put("jar", warning));
    }

    /// A line for each log; and one for each of its partitions that lacks something.
    private static void putLogs(Map<String, String> lines, List<Status.OfPartition> logs) {
        logs.stream()
                .collect(Collectors.groupingBy(
                        partition -> partition
                                .source()
                                .substring(0, partition.source().lastIndexOf('/')),
                        TreeMap::new,
                        Collectors.toList()))
                .forEach((log, partitions) -> lines.put("log " + Words.visible(log), log(partitions)));
        for (Status.OfPartition partition : logs) {
            String source = Words.visible(partition.source());
            if (!partition.waits().isEmpty()) {
                lines.put("  " + source + " waits", Words.visible(partition.waits()));
            }
            if (!partition.stopped().isEmpty()) {
                lines.put("  " + source + " stopped", Words.visible(partition.stopped()));
            }
            if (!partition.lost().isEmpty()) {
                lines.put(
                        "  " + source + " lacks",
                        partition.lost().stream()
                                .map(lost -> "offsets " + lost.from() + " to " + (lost.to() - 1) + ", accepted at "
                                        + Words.time(lost.accepted()))
                                .collect(Collectors.joining("; ")));
            }
        }
    }

    private static String log(List<Status.OfPartition> partitions) {
        String text = Words.count(partitions.size(), "partition") + ", ";
        boolean isKnown = partitions.stream().noneMatch(partition -> partition.behind() < 0);
        if (!isKnown
                && partitions.stream().allMatch(partition -> partition.waits().isEmpty())) {
            return text + "nobody reads it now";
        }
        long behindMs = partitions.stream()
                .mapToLong(Status.OfPartition::behindMs)
                .max()
                .orElse(0);
        return text
                + (isKnown ? "" : "at least ")
                + Words.count(
                        partitions.stream()
                                .mapToLong(partition -> Math.max(0, partition.behind()))
                                .sum(),
                        "offset")
                + " behind"
                + (behindMs <= 0 ? "" : ", for " + Words.duration(Duration.ofMillis(behindMs)))
                + partitions.stream()
                        .mapToLong(Status.OfPartition::retentionLeftMs)
                        .filter(ms -> ms >= 0)
                        .min()
                        .stream()
                        .mapToObj(ms -> ", kept for " + Words.duration(Duration.ofMillis(ms)) + " more")
                        .collect(Collectors.joining());
    }

    private static void put(Map<String, String> lines, Status.OfDelay delay) {
        lines.put(
                "delay of " + delay.from(),
                "mean " + micros(delay.meanMicros()) + ", half of them up to " + micros(delay.p50Micros())
                        + ", 99 % up to " + micros(delay.p99Micros()) + ", longest " + micros(delay.longestMicros()));
    }

    private static String micros(long micros) {
        return micros < 1_000_000
                ? BigDecimal.valueOf(micros, 3).setScale(micros < 10_000 ? 1 : 0, RoundingMode.HALF_UP) + " ms"
                : Words.duration(Duration.ofNanos(micros * 1_000));
    }

    private static void put(Map<String, String> lines, Status.OfPublication publication) {
        lines.put(
                "published",
                publication
                        .cutAt()
                        .map(at -> "cut " + Words.count(publication.cut()) + " of " + Words.time(at))
                        .orElse("nothing yet"));
        publication
                .failingSince()
                .ifPresent(since -> lines.put(
                        "not published", "since " + Words.time(since) + ": " + Words.visible(publication.failure())));
    }

    private static void put(Map<String, String> lines, SealedBatches.Summary batches) {
        lines.put("batches", Words.count(batches.sealed()));
        lines.put("  done", Words.count(batches.done()));
        lines.put("  waiting", Words.count(batches.waiting()));
        lines.put("  being delivered", Words.count(batches.delivering()));
        lines.put("  in doubt", Words.count(batches.inDoubt()));
        lines.put("  put aside", Words.count(batches.aside()));
        if (batches.decided().delivered() > 0) {
            lines.put(
                    "said to be delivered",
                    Words.count(batches.decided().delivered(), "batch").replace("batchs", "batches"));
        }
        if (batches.decided().discarded() > 0) {
            lines.put("discarded", discarded(batches.decided()));
        }
        lines.put("open records", Words.count(batches.openRecords()));
        if (batches.undeliveredSince() != null) {
            lines.put("not delivered since", Words.time(batches.undeliveredSince()));
        }
        if (batches.heldUpBy() != null) {
            lines.put("held up by", "batch " + batches.heldUpBy());
        }
        lines.put("bytes of batches", Words.bytes(batches.bytes()));
        if (batches.intakeWaitsSince() != null) {
            lines.put("receiver", "intake waits for it since " + Words.time(batches.intakeWaitsSince()));
        }
    }

    private static String discarded(SealedBatches.Decided decided) {
        return Words.count(decided.discarded(), "batch").replace("batchs", "batches") + ", "
                + Words.count(decided.discardedRecords(), "record");
    }

    /// The named causes of a fate.
    private static void put(Map<String, String> lines, Causes causes, String fate) {
        causes.of(fate).forEach((cause, count) -> lines.put("    " + Words.visible(cause), Words.count(count)));
    }

    private static Map<String, String> lines(Fates fates) {
        Counts counts = fates.counts();
        Map<String, String> lines = new LinkedHashMap<>();
        lines.put("records", Words.count(counts.records()));
        lines.put("  accepted", Words.count(counts.accepted()));
        lines.put("  duplicate", Words.count(counts.duplicate()));
        lines.put("  stale", Words.count(counts.stale()));
        put(lines, fates.causes(), "stale");
        lines.put("  conflicting", Words.count(counts.conflicting()));
        put(lines, fates.causes(), "conflicting");
        lines.put("  rejected", Words.count(counts.rejected()));
        if (counts.silent() > 0) {
            lines.put("  silent", Words.count(counts.silent()));
            put(lines, fates.causes(), "silent");
        }
        return lines;
    }

    /// How the records of a pipeline are, of an engine that says no more.
    static String ofRecords(String pipeline, String place, Fates fates) {
        return text(pipeline, place, fates, lines(fates));
    }

    String table() {
        Fates fates = new Fates(status.counts(), status.causes());
        Map<String, String> lines = lines(fates);
        lines.put("dead letters", Words.count(status.deadLetters()));
        status.deadLettersByReason().forEach((reason, count) -> lines.put("  " + Words.of(reason), Words.count(count)));
        if (status.deadLettersCounted() < status.deadLetters()) {
            lines.put("  (reasons of the first", Words.count(status.deadLettersCounted()) + ")");
        }
        lines.put(status.function().isPresent() ? "keys" : "rows", Words.count(status.rows()));
        lines.put("memory", Words.bytes(status.stateBytes()));
        lines.put("disk", Words.bytes(status.diskBytes()));
        lines.put("checkpoint", Words.duration(status.checkpointAge()) + " ago");
        lines.put("lag", Words.bytes(status.lagBytes()));
        putLogs(lines, status.logs());
        status.delays().forEach(delay -> put(lines, delay));
        status.waitingForSpaceSince()
                .ifPresent(since -> lines.put("disk full", "intake waits for space since " + since));
        lines.put("definition", status.definitionPending() ? "changed: 'onefold run' takes it over" : "served");
        status.function().ifPresent(function -> put(lines, function));
        status.batches().ifPresent(batches -> put(lines, batches));
        status.publication().ifPresent(publication -> put(lines, publication));
        return text(pipeline, place, fates, lines);
    }

    private static String text(String pipeline, String place, Fates fates, Map<String, String> lines) {
        int width = lines.keySet().stream().mapToInt(String::length).max().orElse(0);
        int numbers = Words.count(fates.counts().records()).length();
        StringBuilder text =
                new StringBuilder(pipeline).append(" in ").append(place).append("\n\n");
        lines.forEach((name, value) -> text.append(name)
                .repeat(' ', width - name.length() + 2 + (isCount(value) ? numbers - value.length() : 0))
                .append(value)
                .append('\n'));
        fates.causes().advice().forEach(each -> text.append('\n').append(each).append('\n'));
        return text.toString();
    }
}
