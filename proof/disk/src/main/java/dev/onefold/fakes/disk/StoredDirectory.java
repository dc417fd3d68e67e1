package dev.onefold.fakes.disk;

import dev.onefold.fakes.disk.Node.Inode;
import java.util.SortedMap;
import java.util.TreeMap;

/// A directory: its entries as a program sees them, and as they would be read after a power cut if no operation that
/// was not forced survived it. Guarded by the disk's lock.
final class StoredDirectory implements Node {
    private final Inode inode;
    private final SortedMap<String, Node> entries = new TreeMap<>();
    private final SortedMap<String, Node> durableEntries = new TreeMap<>();

    StoredDirectory(Inode inode) {
        this.inode = inode;
    }

    @Override
    public Inode inode() {
        return inode;
    }

    SortedMap<String, Node> entries() {
        return entries;
    }

    SortedMap<String, Node> durableEntries() {
        return durableEntries;
    }
}
