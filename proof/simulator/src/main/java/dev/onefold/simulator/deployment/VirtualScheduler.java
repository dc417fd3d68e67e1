package dev.onefold.simulator.deployment;

import dev.onefold.fakes.aws.VirtualTime;
import dev.onefold.mapping.Scheduler;
import java.time.Duration;
import java.time.Instant;

/// Virtual time as the event source mappings want it.
public record VirtualScheduler(VirtualTime time) implements Scheduler {
    @Override
    public Instant instant() {
        return time.instant();
    }

    @Override
    public void after(Duration delay, Runnable action) {
        time.after(delay, action);
    }
}
