package dev.onefold.fakes.disk;

/// The end of the simulated process: an error, so that no production code takes it for a failure that it could handle.
/// From the moment it is thrown the disk is frozen: every thread that asks something of it meets the same end, and
/// nothing that a `finally` block does reaches it.
public final class SimulatedCrash extends Error {
    public SimulatedCrash(String message) {
        super(message);
    }
}
