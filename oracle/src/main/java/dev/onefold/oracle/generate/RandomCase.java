package dev.onefold.oracle.generate;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.random.RandomGenerator;

/// A pipeline file and records for it. Equal random numbers give equal cases.
///
/// Of the records most are events and many touch the same few keys: higher and lower versions, duplicates, the same
/// event in another spelling, conflicts, deletes and what comes after them, and records that are refused.
///
/// @param pipeline the text of a valid pipeline file
/// @param lines the records, without line ends; none holds a line feed
/// @param hasHeader the first line is no record but names the columns, and must stay first
/// @param dependsOnOrder a horizon is set: what is too old to tell depends on what came before. Of all other cases the
///     records may come in any order and any number of times (without key and id: from the same place) with the same
/// totals
public record RandomCase(String pipeline, List<byte[]> lines, boolean hasHeader, boolean dependsOnOrder) {
    public RandomCase {
        lines = List.copyOf(lines);
    }

    /// The case that these random numbers say.
    public static RandomCase of(RandomGenerator random) {
        Chance chance = new Chance(random);
        RandomPipeline pipeline = new RandomPipeline(chance);
        return new RandomCase(
                pipeline.yaml(),
                new RandomRecords(chance, pipeline).lines(),
                pipeline.hasHeader(),
                pipeline.hasHorizon());
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
