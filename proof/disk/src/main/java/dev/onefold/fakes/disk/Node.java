package dev.onefold.fakes.disk;

/// A file or directory, apart from the names that lead to it.
sealed interface Node permits StoredFile, StoredDirectory {
    Inode inode();

    /// What files and directories have in common. The number is unique among the nodes that exist and is given again
    /// after them, as Linux does. Times are logical. Guarded by the disk's lock.
    final class Inode {
        private final long number;
        private final long createdMs;
        private long modifiedMs;

        Inode(long number, long nowMs) {
            this.number = number;
            this.createdMs = nowMs;
            this.modifiedMs = nowMs;
        }

        Inode copy() {
            return copy(number);
        }

        Inode copy(long newNumber) {
            Inode copy = new Inode(newNumber, createdMs);
            copy.modifiedMs = modifiedMs;
            return copy;
        }

        long number() {
            return number;
        }

        long createdMs() {
            return createdMs;
        }

        long modifiedMs() {
            return modifiedMs;
        }

        void touch(long nowMs) {
            modifiedMs = nowMs;
        }
    }
}
