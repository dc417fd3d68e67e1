package dev.onefold.benchmark;

import dev.onefold.process.Field;
import dev.onefold.process.Processor;
import dev.onefold.process.Step;
import java.util.Map;

/// The function of the benchmark: how far a run has come, and in which time. Metres never go back, so its result
/// depends on the order of the events.
public final class LatestRun implements Processor<LatestRun.Run, LatestRun.Fix> {
    /// What is known of a run.
    ///
    /// @param firstMillis time of its first event; 0 before it
    public record Run(long metres, long firstMillis, long lastMillis) {}

    /// A message of a runner's watch.
    public record Fix(
            @Field("run_id") String run,
            @Field("distance_meters") long metres,
            @Field("timestamp_utc") long millis,
            String club) {}

    /// The row of a run.
    public record Row(@Field("run_id") String run, String club, long metres, long seconds) {}

    @Override
    public Run start() {
        return new Run(0, 0, 0);
    }

    @Override
    public Step<Run> step(Run run, Fix fix) {
        long first = run.firstMillis() == 0 ? fix.millis() : run.firstMillis();
        Run next = new Run(Math.max(run.metres(), fix.metres()), first, fix.millis());
        return Step.to(next).put("runs", new Row(fix.run(), fix.club(), next.metres(), (fix.millis() - first) / 1_000));
    }

    @Override
    public Map<String, Class<? extends Record>> tables() {
        return Map.of("runs", Row.class);
    }
}
