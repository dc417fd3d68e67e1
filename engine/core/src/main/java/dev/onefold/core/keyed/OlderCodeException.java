package dev.onefold.core.keyed;

/// A key was folded by a newer version of the function than the one that runs: nothing may be written.
public final class OlderCodeException extends RuntimeException {
    OlderCodeException(int stored, int running) {
        super("A key was folded by version " + stored + " of the function, and version " + running
                + " runs here: it writes nothing");
    }
}
