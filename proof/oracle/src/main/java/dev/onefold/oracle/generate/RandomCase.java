package dev.onefold.oracle.generate;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.random.RandomGenerator;

/// A pipeline file and records for it. Equal random numbers give equal cases.
///
/// Of the records most are events and many touch the same few keys: higher and lower versions, duplicates, the
/// same event in another spelling, conflicts, deletes and what comes after them, and records that are refused.
///
/// The records may come in any order and any number of times (without key and id: from the same place) with the
/// same totals; with a horizon, if each has an arrival that does not change.
///
/// @param pipeline the text of a valid pipeline file
/// @param lines the records, without line ends; none holds a line feed
/// @param hasHeader the first line is no record but names the columns, and must stay first
/// @param hasHorizon what counts depends on when it arrived
/// @param isKept groups end, and the records arrive at [#lastTime]
/// @param firstTime before all times of the records, which are at most [#TIMES] later
public record RandomCase(
        String pipeline, List<byte[]> lines, boolean hasHeader, boolean hasHorizon, boolean isKept, Instant firstTime) {
    /// How far the times of records lie apart, at most.
    public static final Duration TIMES = Duration.ofDays(5);

    /// Times around those where a number has another sign, or may be a date.
    private static final List<Instant> FIRST_TIMES =
            List.of(Instant.parse("1969-12-30T00:00:00Z"), Instant.parse("1973-03-01T00:00:00Z"));

    public RandomCase {
        lines = List.copyOf(lines);
    }

    /// The case that these random numbers say.
    public static RandomCase of(RandomGenerator random) {
        return of(random, FIRST_TIMES.get(random.nextInt(FIRST_TIMES.size())));
    }

    /// The same, with other times.
    public static RandomCase of(RandomGenerator random, Instant firstTime) {
        Chance chance = new Chance(random);
        RandomPipeline pipeline = new RandomPipeline(chance, firstTime);
        String yaml = pipeline.yaml();
        List<byte[]> records = new RandomRecords(chance, pipeline).lines();
        boolean isOfChanges = ChangeLines.isFor(yaml);
        return new RandomCase(
                isOfChanges ? ChangeLines.pipeline(yaml) : yaml,
                isOfChanges ? ChangeLines.lines(records) : records,
                pipeline.hasHeader(),
                pipeline.hasHorizon(),
                pipeline.isKept(),
                firstTime);
    }

    /// Behind all times of the records.
    public Instant lastTime() {
        return firstTime.plus(TIMES);
    }

    /// As a person can read it.
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(pipeline);
        for (int index = 0; index < lines.size(); index++) {
            String line = new String(lines.get(index), StandardCharsets.UTF_8);
            text.append("%4d ".formatted(index + 1)).append(line).append('\n');
        }
        return text.toString();
    }
}
