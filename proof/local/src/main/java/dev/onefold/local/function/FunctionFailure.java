package dev.onefold.local.function;

/// An invocation without an answer: the handler threw, ran out of time, or its process died. What it did before may be
/// done.
public final class FunctionFailure extends RuntimeException {
    private static final long serialVersionUID = 1;

    FunctionFailure(String message) {
        super(message);
    }
}
