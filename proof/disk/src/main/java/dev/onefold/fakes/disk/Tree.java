package dev.onefold.fakes.disk;

import dev.onefold.fakes.disk.EntryOperation.Binding;
import dev.onefold.fakes.disk.EntryOperation.State;
import dev.onefold.fakes.disk.Node.Inode;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/// The names of a disk: which exist, and which operations on them a power cut may undo. Guarded by the disk's lock.
///
/// The log holds, in order, what is not in the durable entries: operations not forced, and from the first one on whose
/// force failed also what was forced after it. Forcing a directory forces the operations that touch it, each whole, and
/// with a rename what came before it in its other directory; it does not force the directory's own name.
final class Tree {
    /// Contents of removed files that a garbage sector may show again.
    private static final int FREED_FILES_MAX = 8;

    private final StoredDirectory root;
    private final List<EntryOperation> log = new ArrayList<>();
    private final Set<StoredFile> files = new HashSet<>();
    private final Deque<Content> freed = new ArrayDeque<>();
    private final TreeSet<Long> numbersFree = new TreeSet<>();
    private long numberNext;

    Tree(StoredDirectory root, long numberNext) {
        this.root = root;
        this.numberNext = numberNext;
    }

    StoredDirectory root() {
        return root;
    }

    List<EntryOperation> log() {
        return log;
    }

    /// Those with a name or a channel, in no order.
    Set<StoredFile> files() {
        return files;
    }

    Deque<Content> freed() {
        return freed;
    }

    Set<Long> numbersFree() {
        return numbersFree;
    }

    long numberNext() {
        return numberNext;
    }

    long allocatedBytes() {
        long bytes = 0;
        for (StoredFile file : files) {
            bytes += file.current().allocatedBytes();
        }
        return bytes;
    }

    @Nullable
    Node lookup(SimulatedPath path) throws FileSystemException {
        Node node = root;
        for (String name : path.namesFromRoot()) {
            if (!(node instanceof StoredDirectory directory)) {
                throw new FileSystemException(path.toString(), null, "Not a directory");
            }
            @Nullable Node next = directory.entries().get(name);
            if (next == null) {
                return null;
            }
            node = next;
        }
        return node;
    }

    /// Below a file there is nothing, and no failure either.
    @Nullable
    Node lookupBelowAnything(SimulatedPath path) {
        Node node = root;
        for (String name : path.namesFromRoot()) {
            @Nullable
            Node next = node instanceof StoredDirectory directory
                    ? directory.entries().get(name)
                    : null;
            if (next == null) {
                return null;
            }
            node = next;
        }
        return node;
    }

    Node find(SimulatedPath path) throws FileSystemException {
        @Nullable Node node = lookup(path);
        if (node == null) {
            throw new NoSuchFileException(path.toString());
        }
        return node;
    }

    StoredFile createFile(SimulatedPath path, long nowMs) throws FileSystemException {
        Place place = newPlace(path);
        StoredFile file = new StoredFile(new Inode(newNumber(), nowMs));
        files.add(file);
        perform(EntryOperation.create(place.directory, place.name, file), nowMs);
        return file;
    }

    void createDirectory(SimulatedPath path, long nowMs) throws FileSystemException {
        Place place = newPlace(path);
        StoredDirectory directory = new StoredDirectory(new Inode(newNumber(), nowMs));
        perform(EntryOperation.create(place.directory, place.name, directory), nowMs);
    }

    void delete(SimulatedPath path, long nowMs) throws FileSystemException {
        Node node = find(path);
        if (node instanceof StoredDirectory directory && !directory.entries().isEmpty()) {
            throw new DirectoryNotEmptyException(path.toString());
        }
        Place place = place(path);
        perform(EntryOperation.delete(place.directory, place.name, node), nowMs);
        unlink(node);
    }

    /// Atomic, and replaces what it may, as rename(2) does.
    void rename(SimulatedPath source, SimulatedPath target, long nowMs) throws FileSystemException {
        Place from = place(source);
        Place to = place(target);
        Node node = find(source);
        @Nullable Node replaced = lookup(target);
        if (replaced == node) {
            return;
        }
        @Nullable
        String refusal = isBelow(target, source)
                ? "Invalid argument"
                : isBelow(source, target) ? "Directory not empty" : refusalToReplace(replaced, node);
        if (refusal != null) {
            throw new FileSystemException(source.toString(), target.toString(), refusal);
        }
        Binding away = new Binding(from.directory, from.name, null);
        Binding here = new Binding(to.directory, to.name, node);
        perform(EntryOperation.rename(away, here, node, replaced), nowMs);
        if (replaced != null) {
            unlink(replaced);
        }
    }

    private static boolean isBelow(SimulatedPath path, SimulatedPath ancestor) {
        return path.toAbsolutePath()
                .normalize()
                .startsWith(ancestor.toAbsolutePath().normalize());
    }

    private static @Nullable String refusalToReplace(@Nullable Node replaced, Node node) {
        return switch (replaced) {
            case null -> null;
            case StoredFile _ -> node instanceof StoredDirectory ? "Not a directory" : null;
            case StoredDirectory directory -> {
                String notEmpty = directory.entries().isEmpty() ? null : "Directory not empty";
                yield node instanceof StoredFile ? "Is a directory" : notEmpty;
            }
        };
    }

    /// Makes what was done to the directory's entries durable, or after a failure (`state` LOST) clean and doubtful.
    void force(StoredDirectory directory, State state) {
        Set<StoredDirectory> forced = new HashSet<>();
        forced.add(directory);
        for (EntryOperation operation : log.reversed()) {
            if (forced.stream().anyMatch(operation::touches)) {
                operation.bindings().forEach(binding -> forced.add(binding.directory()));
                if (operation.state() == State.PENDING) {
                    operation.setState(state);
                }
            }
        }
        if (log.stream().noneMatch(operation -> operation.state() == State.LOST)) {
            for (EntryOperation operation : List.copyOf(log)) {
                if (operation.state() == State.FORCED) {
                    apply(operation);
                    log.remove(operation);
                }
            }
        }
    }

    /// Everything becomes durable as a program sees it.
    void sync() {
        for (StoredFile file : files) {
            file.force();
        }
        for (EntryOperation operation : log) {
            if (operation.state() == State.PENDING) {
                operation.setState(State.FORCED);
            }
        }
        force(root, State.FORCED);
    }

    /// Gives the space of a file back if it has neither name nor channel any more.
    void release(StoredFile file) {
        if (file.isGone() && files.remove(file)) {
            numbersFree.add(file.inode().number());
            if (freed.size() == FREED_FILES_MAX) {
                freed.removeFirst();
            }
            freed.addLast(file.current());
        }
    }

    private static void apply(EntryOperation operation) {
        for (Binding binding : operation.bindings()) {
            bind(binding.directory().durableEntries(), binding);
        }
    }

    static void bind(SortedMap<String, Node> entries, Binding binding) {
        if (binding.node() == null) {
            entries.remove(binding.name());
        } else {
            entries.put(binding.name(), binding.node());
        }
    }

    private void perform(EntryOperation operation, long nowMs) {
        for (Binding binding : operation.bindings()) {
            bind(binding.directory().entries(), binding);
            binding.directory().inode().touch(nowMs);
        }
        log.add(operation);
    }

    private void unlink(Node node) {
        switch (node) {
            case StoredFile file -> {
                file.setLinked(false);
                release(file);
            }
            case StoredDirectory directory -> numbersFree.add(directory.inode().number());
        }
    }

    private record Place(StoredDirectory directory, String name) {}

    private Place newPlace(SimulatedPath path) throws FileSystemException {
        if (lookup(path) != null) {
            throw new FileAlreadyExistsException(path.toString());
        }
        return place(path);
    }

    /// Where the entry of a path is, or would be.
    private Place place(SimulatedPath path) throws FileSystemException {
        SimulatedPath normal = path.toAbsolutePath().normalize();
        @Nullable SimulatedPath parent = normal.getParent();
        @Nullable SimulatedPath name = normal.getFileName();
        if (parent == null || name == null) {
            throw new FileSystemException(path.toString(), null, "Device or resource busy");
        }
        @Nullable Node directory = lookup(parent);
        return switch (directory) {
            case StoredDirectory found -> new Place(found, name.toString());
            case StoredFile _ -> throw new FileSystemException(path.toString(), null, "Not a directory");
            case null -> throw new NoSuchFileException(path.toString());
        };
    }

    private long newNumber() {
        @Nullable Long used = numbersFree.pollFirst();
        return used == null ? numberNext++ : used;
    }
}
