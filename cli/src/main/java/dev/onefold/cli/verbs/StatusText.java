package dev.onefold.cli.verbs;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.data.DataDirectory;
import dev.onefold.cli.show.Words;
import dev.onefold.core.Counts;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.document.Json;
import dev.onefold.core.event.Reason;
import dev.onefold.core.query.Answer;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Status;
import dev.onefold.embedded.source.FileLag;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/// How a pipeline is, as text.
///
/// @param letters by reason, of the first ones
/// @param lettersSize how many dead letters there are
/// @param diskBytes of all files in the data directory
/// @param lagBytes by which files have grown since they were folded
/// @param pending whether the pipeline file says something else than what is served
record StatusText(
        DataDirectory data,
        Counts counts,
        Status status,
        Map<Reason, Long> letters,
        long lettersSize,
        long diskBytes,
        long lagBytes,
        boolean pending,
        Instant now) {
    private static final int PAGE = 1_000;
    private static final long LETTERS_MAX = 100_000; // To read more of them would take seconds.

    static StatusText of(EmbeddedEngine engine, DataDirectory data) throws IOException {
        Status status = engine.status();
        boolean other = data.definition() != null && !data.definition().equals(engine.pipeline());
        return new StatusText(
                data,
                engine.counts(),
                status,
                byReason(engine.deadLetters()),
                engine.deadLetters().size(),
                bytes(data.path()),
                FileLag.bytes(status.sources()),
                other || engine.wanted().isPresent(),
                Instant.now());
    }

    private static Map<Reason, Long> byReason(DeadLetters letters) {
        Map<Reason, Long> byReason = new EnumMap<>(Reason.class);
        long seen = 0;
        long after = 0;
        for (List<DeadLetter> page = letters.list(after, PAGE);
                !page.isEmpty() && seen < LETTERS_MAX;
                page = letters.list(after, PAGE)) {
            page.forEach(letter -> byReason.merge(letter.reason(), 1L, Long::sum));
            seen += page.size();
            after = page.getLast().id();
        }
        return byReason;
    }

    private static long bytes(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.mapToLong(StatusText::size).sum();
        } catch (UncheckedIOException changed) {
            throw changed.getCause();
        }
    }

    private static long size(Path file) {
        try {
            return Files.isRegularFile(file) ? Files.size(file) : 0;
        } catch (IOException gone) {
            return 0; // A checkpoint has removed it meanwhile.
        }
    }

    private long counted() {
        return letters.values().stream().mapToLong(Long::longValue).sum();
    }

    private Duration age() {
        Duration age = Duration.between(status.checkpointAt(), now);
        return age.isNegative() ? Duration.ZERO : age;
    }

    private static boolean isCount(String value) {
        return value.matches("[0-9,]+");
    }

    String table(Caller caller) {
        Map<String, String> lines = new LinkedHashMap<>();
        lines.put("records", Words.count(counts.records()));
        lines.put("  accepted", Words.count(counts.accepted()));
        lines.put("  duplicate", Words.count(counts.duplicate()));
        lines.put("  stale", Words.count(counts.stale()));
        lines.put("  conflicting", Words.count(counts.conflicting()));
        lines.put("  rejected", Words.count(counts.rejected()));
        lines.put("dead letters", Words.count(lettersSize));
        letters.forEach((reason, count) -> lines.put("  " + Words.of(reason), Words.count(count)));
        if (counted() < lettersSize) {
            lines.put("  (reasons of the first", Words.count(counted()) + ")");
        }
        lines.put("rows", Words.count(status.rows()));
        lines.put("memory", Words.bytes(status.stateBytes()));
        lines.put("disk", Words.bytes(diskBytes));
        lines.put("checkpoint", Words.duration(age()) + " ago");
        lines.put("lag", Words.bytes(lagBytes));
        status.waitingForSpaceSince()
                .ifPresent(since -> lines.put("disk full", "intake waits for space since " + since));
        lines.put("definition", pending ? "changed: 'onefold run' takes it over" : "served");
        int width = lines.keySet().stream().mapToInt(String::length).max().orElse(0);
        int numbers = Words.count(counts.records()).length();
        StringBuilder text = new StringBuilder(data.pipeline())
                .append(" in ")
                .append(caller.shown(data.path()))
                .append("\n\n");
        lines.forEach((name, value) -> text.append(name)
                .repeat(' ', width - name.length() + 2 + (isCount(value) ? numbers - value.length() : 0))
                .append(value)
                .append('\n'));
        return text.toString();
    }

    String json() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("pipeline", data.pipeline());
        json.put("at", now);
        json.put("records", counts.records());
        json.put("accepted", counts.accepted());
        json.put("duplicate", counts.duplicate());
        json.put("stale", counts.stale());
        json.put("conflicting", counts.conflicting());
        json.put("rejected", counts.rejected());
        Map<String, Object> reasons = new LinkedHashMap<>();
        letters.forEach((reason, count) -> reasons.put(Words.of(reason), count));
        json.put("deadLetters", lettersSize);
        json.put("deadLettersCounted", counted());
        json.put("deadLettersByReason", reasons);
        json.put("rows", status.rows());
        json.put("memoryBytes", status.stateBytes());
        json.put("diskBytes", diskBytes);
        json.put("checkpoint", status.checkpoint());
        json.put("checkpointAt", status.checkpointAt());
        json.put("checkpointAgeMs", age().toMillis());
        json.put("lagBytes", lagBytes);
        status.waitingForSpaceSince().ifPresent(since -> json.put("waitingForSpaceSince", since));
        json.put("definitionPending", pending);
        json.put("sources", status.sources().stream().map(StatusText::progress).toList());
        return Json.of(json) + "\n";
    }

    private static Map<String, Object> progress(Answer.Progress progress) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("source", progress.source());
        json.put("records", progress.records());
        json.put("bytes", progress.bytes());
        return json;
    }
}
