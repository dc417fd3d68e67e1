package dev.onefold.embedded.source;

/// A stage of the engine's work. The engine announces each stage that it has passed, so that a process can be
/// made to die between any two of them.
public enum Stage {
    /// Records were read. Nothing of them is on disk.
    READ,
    /// The journal has them, forced. They are neither folded nor acknowledged. Files and logs are their own
    /// journal.
    JOURNAL,
    /// They are folded. They are neither acknowledged nor in a checkpoint.
    FOLD,
    /// The files of a checkpoint are written and forced. No checkpoint names them.
    WRITE,
    /// A checkpoint is durable. No log or queue has heard of it, and the files that it replaces are not
    /// deleted.
    CHECKPOINT,
    /// A delivery was begun. Its receiver has nothing of it.
    BEGIN,
    /// A receiver has answered. The end of the delivery is not noted.
    DELIVERY
}
