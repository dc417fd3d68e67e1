package dev.onefold.fakes.disk;

import dev.onefold.fakes.disk.EntryOperation.State;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileStore;
import java.nio.file.FileSystem;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystems;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.nio.file.StandardOpenOption;
import java.nio.file.WatchService;
import java.nio.file.attribute.UserPrincipalLookupService;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// A disk in memory, used through the paths that it gives: `Files` and `FileChannel` work on them as on Linux. What a
/// program reads is what it wrote; what a power cut leaves is what it forced, and whatever chance keeps of the rest:
///
/// - a forced file keeps its content, but its name only once its directory is forced;
/// - of the writes since, any 512-byte sectors survive, in any order, and so does the new size, with zeros or garbage;
/// - of the creations, renames and deletions since, any survive, but a rename survives whole or not at all.
///
/// One process runs on a disk. It ends by [#crash], by [#kill] or by a [SimulatedCrash]; what it left is
/// another disk, and nothing reaches this one any more. Deterministic, if its user is. Safe for threads: one lock,
/// the disk itself, guards everything.
public final class SimulatedDisk extends FileSystem {
    private static final long CLOCK_START_MS = 946_684_800_000L; // 2000-01-01T00:00:00Z

    private enum Life {
        RUNNING,
        /// A simulated crash was thrown, and every thread meets it.
        FROZEN,
        /// Another disk has taken over.
        RETIRED
    }

    private final SimulatedProvider provider = new SimulatedProvider(this);
    private final Tree tree;
    private final Map<Operation, Long> counts = new EnumMap<>(Operation.class);
    private Faults faults = Faults.none();
    private long changeCount;
    private long nowMs;
    private Life life = Life.RUNNING;

    private SimulatedDisk(Tree tree, long nowMs) {
        this.tree = tree;
        this.nowMs = nowMs;
    }

    /// A disk that holds nothing but its root.
    public static SimulatedDisk empty() {
        return new SimulatedDisk(new Tree(new StoredDirectory(new Node.Inode(1, CLOCK_START_MS)), 2), CLOCK_START_MS);
    }

    /// Cuts the power and gives the disk as it may be found afterwards. Everything on that one is durable. Asked again,
    /// with other randomness, it gives another disk that this power cut may leave.
    public synchronized SimulatedDisk crash(RandomGenerator random) {
        retire();
        return new SimulatedDisk(PowerCut.strike(tree, random), nowMs);
    }

    /// Ends the process, as SIGKILL does, and gives the disk to the next one: all that was written is there, but is no
    /// more durable than before.
    public synchronized SimulatedDisk kill() {
        retire();
        return new SimulatedDisk(TreeCopy.of(tree), nowMs);
    }

    /// An independent disk in the same state, also when this one is frozen. It has no faults, channels or locks.
    public synchronized SimulatedDisk copy() {
        return new SimulatedDisk(TreeCopy.of(tree), nowMs);
    }

    /// Makes everything durable, names too, as sync(2) does: a state for a test to start from.
    public synchronized void sync() {
        tree.sync();
    }

    /// From now on this goes wrong, and nothing else. Operations are counted from here.
    public synchronized void inject(Faults newFaults) {
        faults = newFaults;
        counts.clear();
        changeCount = 0;
    }

    /// Operations of a kind since faults were last injected, failed ones included.
    public synchronized long operationCount(Operation operation) {
        return counts.getOrDefault(operation, 0L);
    }

    /// Operations that change the disk ([Operation#isChange]) since faults were last injected: the points at which
    /// a crash makes a difference.
    public synchronized long changeCount() {
        return changeCount;
    }

    /// All files with their sizes in bytes, also when this disk is frozen.
    public synchronized SortedMap<Path, Long> fileSizes() {
        SortedMap<Path, Long> sizes = new TreeMap<>();
        collectSizes(getPath("/"), tree.root(), sizes);
        return sizes;
    }

    /// Flips a bit, as a bad medium does; bit 0 is the lowest of the first byte. No clock or count notices.
    public synchronized void flipBit(Path path, long bitIndex) throws IOException {
        StoredFile file = file(path);
        if (bitIndex < 0 || bitIndex / Byte.SIZE >= file.current().size()) {
            throw new IllegalArgumentException("%s has %d bytes, and no bit %d"
                    .formatted(path, file.current().size(), bitIndex));
        }
        file.flipBit(bitIndex);
    }

    /// Another process tries to lock a file; whether it could. As on Linux it can, although this process holds a lock,
    /// once this process has closed any channel of that file.
    public synchronized boolean lockElsewhere(Path path) throws IOException {
        StoredFile file = file(path);
        if (file.isLockedByProcess() || file.isLockedElsewhere()) {
            return false;
        }
        file.setLockedElsewhere(true);
        return true;
    }

    public synchronized void unlockElsewhere(Path path) throws IOException {
        file(path).setLockedElsewhere(false);
    }

    @Override
    public SimulatedProvider provider() {
        return provider;
    }

    @Override
    public Path getPath(String first, String... more) {
        return SimulatedPath.parse(this, more.length == 0 ? first : first + "/" + String.join("/", more));
    }

    @Override
    public synchronized boolean isOpen() {
        return life == Life.RUNNING;
    }

    @Override
    public void close() {
        throw new UnsupportedOperationException("A simulated disk ends by crash or kill.");
    }

    @Override
    public boolean isReadOnly() {
        return false;
    }

    @Override
    public String getSeparator() {
        return "/";
    }

    @Override
    public Iterable<Path> getRootDirectories() {
        return List.of(getPath("/"));
    }

    @Override
    public Iterable<FileStore> getFileStores() {
        return List.of(new SimulatedStore(this));
    }

    @Override
    public Set<String> supportedFileAttributeViews() {
        return Set.of("basic");
    }

    @Override
    public PathMatcher getPathMatcher(String syntaxAndPattern) {
        PathMatcher matcher = FileSystems.getDefault().getPathMatcher(syntaxAndPattern);
        return path -> matcher.matches(Path.of(path.toString()));
    }

    @Override
    public UserPrincipalLookupService getUserPrincipalLookupService() {
        throw new UnsupportedOperationException("A simulated disk has no users.");
    }

    @Override
    public WatchService newWatchService() {
        throw new UnsupportedOperationException("A simulated disk cannot be watched.");
    }

    // What follows is called by provider and channels; those named after an operation count, and may fail.

    synchronized SimulatedChannel open(SimulatedPath path, Set<? extends OpenOption> options) throws IOException {
        before(Operation.OPEN, path);
        boolean append = options.contains(StandardOpenOption.APPEND);
        boolean write = append || options.contains(StandardOpenOption.WRITE);
        boolean read = !write || options.contains(StandardOpenOption.READ);
        boolean createNew = write && options.contains(StandardOpenOption.CREATE_NEW);
        @Nullable Node node = tree.lookup(path);
        if (node != null && createNew) {
            throw new FileAlreadyExistsException(path.toString());
        }
        if (node instanceof StoredDirectory && write) {
            throw new FileSystemException(path.toString(), null, "Is a directory");
        }
        if (node == null) {
            if (!createNew && !(write && options.contains(StandardOpenOption.CREATE))) {
                throw new NoSuchFileException(path.toString());
            }
            node = tree.createFile(path, tick());
        }
        if (node instanceof StoredFile file) {
            if (write && options.contains(StandardOpenOption.TRUNCATE_EXISTING)) {
                file.truncate(0);
                file.inode().touch(tick());
            }
            file.opened();
        }
        return new SimulatedChannel(path, node, new SimulatedChannel.Mode(read, write, append));
    }

    /// Reads into `target[0, length)`; returns -1 at the end.
    int read(StoredFile file, SimulatedPath path, long position, byte[] target) throws IOException {
        before(Operation.READ, path);
        int length = shortened(faults.shortReadEvery(), Operation.READ, target.length);
        return position >= file.current().size() ? -1 : file.current().read(position, target, length);
    }

    int write(StoredFile file, SimulatedPath path, long position, byte[] bytes) throws IOException {
        ensureRunning();
        try {
            before(Operation.WRITE, path);
        } catch (SimulatedCrash crash) {
            // A process that is killed in a write has written a part of it.
            file.write(position, bytes, fitting(file, position, bytes, (int) scramble(nowMs, bytes.length + 1L)));
            throw crash;
        }
        int length = shortened(faults.shortWriteEvery(), Operation.WRITE, bytes.length);
        int fitting = fitting(file, position, bytes, length);
        if (fitting == 0) {
            throw new IOException(Faults.NO_SPACE);
        }
        file.write(position, bytes, fitting);
        file.inode().touch(tick());
        return fitting;
    }

    void truncate(StoredFile file, SimulatedPath path, long size) throws IOException {
        before(Operation.TRUNCATE, path);
        file.truncate(size);
        file.inode().touch(tick());
    }

    void force(Node node, SimulatedPath path) throws IOException {
        ensureRunning();
        try {
            before(Operation.FORCE, path);
        } catch (IOException failure) {
            switch (node) {
                case StoredFile file -> file.forceFailed();
                case StoredDirectory directory -> tree.force(directory, State.LOST);
            }
            throw failure;
        }
        switch (node) {
            case StoredFile file -> file.force();
            case StoredDirectory directory -> tree.force(directory, State.FORCED);
        }
    }

    synchronized void createDirectory(SimulatedPath path) throws IOException {
        before(Operation.CREATE_DIRECTORY, path);
        tree.createDirectory(path, tick());
    }

    synchronized void delete(SimulatedPath path) throws IOException {
        before(Operation.DELETE, path);
        tree.delete(path, tick());
    }

    synchronized void renameAtomically(SimulatedPath source, SimulatedPath target) throws IOException {
        before(Operation.RENAME, source);
        tree.rename(source, target, tick());
    }

    /// As the JDK does it, a move that is not atomic first deletes what it replaces.
    synchronized void move(SimulatedPath source, SimulatedPath target, boolean replace) throws IOException {
        ensureRunning();
        Node moved = existing(source);
        @Nullable Node replaced = tree.lookupBelowAnything(target);
        if (replaced == moved) {
            return;
        }
        if (replaced != null && !replace) {
            throw new FileAlreadyExistsException(target.toString());
        }
        if (replaced != null) {
            delete(target);
        }
        renameAtomically(source, target);
    }

    /// The entries in an order that, as on Linux, says nothing.
    synchronized List<Path> list(SimulatedPath path) throws IOException {
        before(Operation.LIST, path);
        StoredDirectory directory = directory(path);
        return directory.entries().keySet().stream()
                .sorted(Comparator.comparingLong(name -> scramble(name.hashCode(), Long.MAX_VALUE)))
                .<Path>map(path::resolve)
                .toList();
    }

    synchronized SimulatedAttributes stat(SimulatedPath path) throws IOException {
        before(Operation.STAT, path);
        return SimulatedAttributes.of(existing(path));
    }

    /// Everybody may do everything, unless a hook says otherwise.
    synchronized void access(SimulatedPath path) throws IOException {
        before(Operation.ACCESS, path);
        existing(path);
    }

    synchronized void setModified(SimulatedPath path, long modifiedMs) throws IOException {
        ensureRunning();
        tree.find(path).inode().touch(modifiedMs);
    }

    synchronized long spaceBytes() {
        return faults.spaceBytesMax();
    }

    synchronized long spaceBytesFree() {
        return Math.max(0, faults.spaceBytesMax() - tree.allocatedBytes());
    }

    void closed(StoredFile file) {
        file.closed();
        tree.release(file);
    }

    void ensureRunning() throws IOException {
        switch (life) {
            case RUNNING -> {}
            case FROZEN -> throw new SimulatedCrash("The process has ended.");
            case RETIRED -> throw new ClosedChannelException();
        }
    }

    void before(Operation operation, SimulatedPath path) throws IOException {
        ensureRunning();
        long count = counts.merge(operation, 1L, Long::sum);
        changeCount += operation.isChange() ? 1 : 0;
        try {
            if (operation.isChange() && changeCount == faults.crashAtChange()) {
                throw new SimulatedCrash(
                        "The process ends at change %d, %s of %s.".formatted(changeCount, operation, path));
            }
            faults.hook().beforeOperation(operation, path);
        } catch (SimulatedCrash crash) {
            life = Life.FROZEN;
            throw crash;
        }
        Faults.@Nullable Failure failure = faults.failures().get(operation);
        if (failure != null && failure.strikes(count)) {
            throw switch (operation) {
                case READ, WRITE, TRUNCATE, FORCE, LOCK -> new IOException(failure.message());
                case OPEN, STAT, ACCESS, LIST, CREATE_DIRECTORY, RENAME, DELETE ->
                    new FileSystemException(path.toString(), null, failure.message());
            };
        }
    }

    /// A frozen disk stays so: its threads must not take their end for a failure.
    private void retire() {
        life = life == Life.RUNNING ? Life.RETIRED : life;
    }

    private long tick() {
        return ++nowMs;
    }

    private int shortened(int every, Operation operation, int length) {
        long count = operationCount(operation);
        boolean isShort = every > 0 && count % every == 0 && length > 1;
        return isShort ? 1 + (int) scramble(count, length - 1L) : length;
    }

    private int fitting(StoredFile file, long position, byte[] bytes, int length) {
        return file.current().fitting(position, Math.min(length, bytes.length), spaceBytesFree());
    }

    private static long scramble(long value, long bound) {
        long mixed = (value + 1) * 0x9E3779B97F4A7C15L;
        return Math.floorMod(mixed ^ (mixed >>> 32), bound);
    }

    /// What the JDK asks for attributes: below a file it finds nothing, where other operations find no directory.
    private Node existing(SimulatedPath path) throws IOException {
        @Nullable Node node = tree.lookupBelowAnything(path);
        if (node == null) {
            throw new NoSuchFileException(path.toString());
        }
        return node;
    }

    private StoredDirectory directory(SimulatedPath path) throws IOException {
        try {
            if (tree.find(path) instanceof StoredDirectory directory) {
                return directory;
            }
        } catch (NoSuchFileException absent) {
            throw absent;
        } catch (FileSystemException _) {
            // One of the parents is a file.
        }
        throw new NotDirectoryException(path.toString());
    }

    private StoredFile file(Path path) throws IOException {
        if (tree.find(SimulatedPath.of(path)) instanceof StoredFile file) {
            return file;
        }
        throw new FileSystemException(path.toString(), null, "Is a directory");
    }

    private static void collectSizes(Path path, StoredDirectory directory, SortedMap<Path, Long> sizes) {
        directory.entries().forEach((name, node) -> {
            switch (node) {
                case StoredFile file ->
                    sizes.put(path.resolve(name), file.current().size());
                case StoredDirectory inner -> collectSizes(path.resolve(name), inner, sizes);
            }
        });
    }
}
