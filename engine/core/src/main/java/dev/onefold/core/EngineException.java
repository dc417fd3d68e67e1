package dev.onefold.core;

/// The engine cannot continue, or refuses to open. The message says what happened, where, with which values,
/// and what to do.
public final class EngineException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /// The kind of failure.
    public enum Kind {
        /// Another process owns the data directory.
        IN_USE,
        /// The folder is not a data directory, and holds files of somebody else.
        FOREIGN,
        /// The user lacks a permission, or the medium is read-only.
        INACCESSIBLE,
        /// A file is not as it was written.
        CORRUPT,
        /// The disk failed to write, force, rename or open; nothing since the last checkpoint may be relied upon.
        STORAGE_FAILED,
        /// A source is not the one that was read before.
        SOURCE_CHANGED,
        /// A source cannot be read: whether it is the one that was read before is unknown. The records of it that
        /// were folded are safe.
        SOURCE_UNREADABLE,
        /// Memory for the state is used up.
        STATE_FULL,
        /// An answer needs more memory than answers may take; the engine continues.
        ANSWER_REFUSED,
        /// The pipeline is another one than that of the data.
        DEFINITION_CHANGED,
        /// The files are of another version of Onefold.
        FORMAT,
        /// The disk is full, and the caller that waited for space has given up. Nothing of its call was done, or the
        /// message says how much.
        NO_SPACE,
        /// The calling thread was interrupted while it waited. Nothing of its call was done, or the message says that
        /// this is unknown.
        INTERRUPTED,
        /// The engine is closed, or has stopped after a failure.
        STOPPED
    }

    private final Kind kind;

    public EngineException(Kind kind, String message) {
        super(message);
        this.kind = kind;
    }

    public EngineException(Kind kind, String message, Throwable cause) {
        super(message, cause);
        this.kind = kind;
    }

    /// The kind of failure.
    public Kind kind() {
        return kind;
    }
}
