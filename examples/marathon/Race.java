package com.example;

import dev.onefold.process.Processor;
import dev.onefold.process.Step;
import java.util.Map;
import java.util.Optional;

/// The furthest crossing of each runner, as one table. Its steps may be exchanged, and the result is that of the
/// newest crossing, so the table is the same with each order of `process`.
public final class Race implements Processor<Race.Furthest, Race.Crossing> {
    /// What is known of a runner: the mat that was crossed last, along the course.
    public record Furthest(int mat) {}

    /// A crossing of a mat, and a row of table `furthest`.
    public record Crossing(
            String runner,
            int mat,
            long metres,
            long elapsedS,
            String gender,
            String ageGroup,
            String country,
            Optional<String> state) {}

    @Override
    public Furthest start() {
        return new Furthest(0);
    }

    @Override
    public Step<Furthest> step(Furthest furthest, Crossing crossing) {
        return crossing.mat() < furthest.mat()
                ? Step.to(furthest)
                : Step.to(new Furthest(crossing.mat())).put("furthest", crossing);
    }

    @Override
    public Map<String, Class<? extends Record>> tables() {
        return Map.of("furthest", Crossing.class);
    }
}
