package dev.onefold.fakes.disk;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// One operation on directory entries: it survives a power cut whole or not at all. Guarded by the disk's lock.
final class EntryOperation {
    enum State {
        /// Not forced yet.
        PENDING,
        /// Its force failed: clean in memory, perhaps not on disk.
        LOST,
        FORCED
    }

    /// `name` in `directory` leads to `node` afterwards, or to nothing.
    record Binding(
            StoredDirectory directory,
            String name,
            @Nullable Node node) {}

    private final List<Binding> bindings;
    /// The node that got another name.
    private final @Nullable Node moved;
    /// The node that lost its last name.
    private final @Nullable Node removed;

    private State state = State.PENDING;

    private EntryOperation(List<Binding> bindings, @Nullable Node moved, @Nullable Node removed) {
        this.bindings = bindings;
        this.moved = moved;
        this.removed = removed;
    }

    static EntryOperation create(StoredDirectory directory, String name, Node node) {
        return new EntryOperation(List.of(new Binding(directory, name, node)), null, null);
    }

    static EntryOperation delete(StoredDirectory directory, String name, Node node) {
        return new EntryOperation(List.of(new Binding(directory, name, null)), null, node);
    }

    static EntryOperation rename(Binding from, Binding to, Node moved, @Nullable Node replaced) {
        return new EntryOperation(List.of(from, to), moved, replaced);
    }

    List<Binding> bindings() {
        return bindings;
    }

    State state() {
        return state;
    }

    void setState(State newState) {
        state = newState;
    }

    boolean touches(StoredDirectory directory) {
        return bindings.stream().anyMatch(binding -> binding.directory == directory);
    }

    /// Whether it makes no sense without an earlier operation: a node has one name, a removed directory is empty, and
    /// directories form no circle.
    boolean needs(EntryOperation earlier) {
        if (removed instanceof StoredDirectory directory && earlier.touches(directory)) {
            return true;
        }
        if (moved == null || earlier.moved == null) {
            return false;
        }
        return moved == earlier.moved || (moved instanceof StoredDirectory && earlier.moved instanceof StoredDirectory);
    }

    /// The same operation on other nodes.
    EntryOperation on(TreeCopy copy) {
        List<Binding> others = bindings.stream()
                .map(binding -> new Binding(
                        copy.directory(binding.directory),
                        binding.name,
                        binding.node == null ? null : copy.node(binding.node)))
                .toList();
        EntryOperation other = new EntryOperation(
                others, moved == null ? null : copy.node(moved), removed == null ? null : copy.node(removed));
        other.state = state;
        return other;
    }
}
