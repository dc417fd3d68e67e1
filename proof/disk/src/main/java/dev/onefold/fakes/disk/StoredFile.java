package dev.onefold.fakes.disk;

import dev.onefold.fakes.disk.Node.Inode;
import java.util.ArrayList;
import java.util.List;

/// A file: its content as a program sees it, and what a power cut would leave of it. Guarded by the disk's lock.
///
///     durable  +  doubtful, in order                   +  pending              =  current
///     forced      lost ones may have reached the disk,    may reach the disk
///                 forced ones have                        in any order
///
/// `doubtful` is empty until a force fails. Its changes are then clean in the page cache and perhaps not on disk; the
/// next force succeeds without them (hazard 47), and what it forces must come after them.
final class StoredFile implements Node {
    record Doubtful(Change change, boolean forced) {}

    private final Inode inode;
    private final Content current;
    private final Content durable;
    private final List<Doubtful> doubtful = new ArrayList<>();
    private final List<Change> pending = new ArrayList<>();
    private final List<SimulatedLock> locks = new ArrayList<>();
    private boolean lockedByProcess;
    private boolean lockedElsewhere;
    private boolean linked = true;
    private int channelCount;

    StoredFile(Inode inode) {
        this(inode, new Content(), new Content());
    }

    StoredFile(Inode inode, Content current, Content durable) {
        this.inode = inode;
        this.current = current;
        this.durable = durable;
    }

    /// An independent file in the same state, without channels and locks.
    StoredFile copy() {
        StoredFile copy = new StoredFile(inode.copy(), current.copy(), durable.copy());
        copy.doubtful.addAll(doubtful);
        copy.pending.addAll(pending);
        copy.linked = linked;
        return copy;
    }

    @Override
    public Inode inode() {
        return inode;
    }

    Content current() {
        return current;
    }

    Content durable() {
        return durable;
    }

    List<Doubtful> doubtful() {
        return doubtful;
    }

    List<Change> pending() {
        return pending;
    }

    void write(long position, byte[] bytes, int length) {
        if (position > current.size()) {
            change(new Change.Extend(current.size(), position));
        }
        change(new Change.Write(position, bytes, length));
    }

    void truncate(long size) {
        if (size < current.size()) {
            change(new Change.Truncate(size));
        }
    }

    private void change(Change change) {
        change.applyTo(current);
        pending.add(change);
    }

    void force() {
        if (doubtful.isEmpty()) {
            pending.forEach(change -> change.applyTo(durable));
        } else {
            pending.forEach(change -> doubtful.add(new Doubtful(change, true)));
        }
        pending.clear();
    }

    void forceFailed() {
        pending.forEach(change -> doubtful.add(new Doubtful(change, false)));
        pending.clear();
    }

    /// A medium that went bad: what is read now, and what is read after a power cut, differ from what was written.
    void flipBit(long bitIndex) {
        long position = bitIndex / Byte.SIZE;
        if (position < durable.size()) {
            durable.flipBit(bitIndex);
        }
        byte[] flipped = new byte[1];
        current.read(position, flipped, 1);
        flipped[0] ^= (byte) (1 << (bitIndex % Byte.SIZE));
        change(new Change.Write(position, flipped, 1));
    }

    List<SimulatedLock> locks() {
        return locks;
    }

    /// Whether the process holds the lock in the eyes of the operating system, which forgets it when the process closes
    /// any channel of the file.
    boolean isLockedByProcess() {
        return lockedByProcess;
    }

    void setLockedByProcess(boolean locked) {
        lockedByProcess = locked;
    }

    boolean isLockedElsewhere() {
        return lockedElsewhere;
    }

    void setLockedElsewhere(boolean locked) {
        lockedElsewhere = locked;
    }

    void opened() {
        channelCount++;
    }

    void closed() {
        channelCount--;
        lockedByProcess = false;
    }

    void setLinked(boolean isLinked) {
        linked = isLinked;
    }

    boolean isLinked() {
        return linked;
    }

    /// Whether its space may be given to others: it has neither name nor channel.
    boolean isGone() {
        return !linked && channelCount == 0;
    }
}
