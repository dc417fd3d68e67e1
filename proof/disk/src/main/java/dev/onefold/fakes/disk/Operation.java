package dev.onefold.fakes.disk;

/// What a program asks of a disk, and so what can be counted, failed or interrupted by a crash.
public enum Operation {
    OPEN,
    READ,
    WRITE,
    TRUNCATE,
    FORCE,
    LOCK,
    /// Attributes, existence, size.
    STAT,
    /// Whether this user may read, write or look into it, as `Files.isWritable` asks.
    ACCESS,
    LIST,
    CREATE_DIRECTORY,
    RENAME,
    DELETE;

    /// Whether a crash before it and a crash after it can leave different disks.
    public boolean isChange() {
        return switch (this) {
            case OPEN, WRITE, TRUNCATE, FORCE, CREATE_DIRECTORY, RENAME, DELETE -> true;
            case READ, LOCK, STAT, ACCESS, LIST -> false;
        };
    }
}
