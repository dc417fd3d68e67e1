package dev.onefold.mapping;

import java.time.Duration;
import java.time.InstantSource;

/// Time that passes, real or virtual. Actions of one object are done one at a time, so that what only they touch needs
/// no lock.
public interface Scheduler extends InstantSource {
    /// Does an action after a delay, but never within this call.
    void after(Duration delay, Runnable action);
}
