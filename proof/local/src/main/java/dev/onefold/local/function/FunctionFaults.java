package dev.onefold.local.function;

import java.util.random.RandomGenerator;

/// What happens to invocations on the way, in thousandths. What is drawn follows from the seed; which invocation it
/// meets depends on the order in which they come.
///
/// @param refusedPerMille fail before they reach the process
/// @param lostPerMille are done, and their answer is lost
/// @param killedPerMille have their process killed at some moment within
/// @param answersPerKill after so many answers a process is killed, idle or busy; 0 for never
public record FunctionFaults(int refusedPerMille, int lostPerMille, int killedPerMille, int answersPerKill) {
    public static final FunctionFaults NONE = new FunctionFaults(0, 0, 0, 0);

    private static final int KILL_DELAY_MS_MAX = 150;

    /// What happens to one invocation.
    sealed interface Fate {
        record Fine() implements Fate {}

        record Refused() implements Fate {}

        record Lost() implements Fate {}

        record Killed(int afterMs) implements Fate {}
    }

    public FunctionFaults {
        if (Math.min(Math.min(refusedPerMille, answersPerKill), Math.min(lostPerMille, killedPerMille)) < 0
                || refusedPerMille + lostPerMille + killedPerMille > 1_000) {
            throw new IllegalArgumentException("Fault rates must be 0 to 1,000 per mille in total");
        }
    }

    Fate draw(RandomGenerator random) {
        int drawn = random.nextInt(1_000);
        if (drawn < refusedPerMille) {
            return new Fate.Refused();
        }
        if (drawn < refusedPerMille + lostPerMille) {
            return new Fate.Lost();
        }
        return drawn < refusedPerMille + lostPerMille + killedPerMille
                ? new Fate.Killed(random.nextInt(KILL_DELAY_MS_MAX))
                : new Fate.Fine();
    }
}
