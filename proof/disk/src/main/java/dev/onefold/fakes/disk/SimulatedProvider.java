package dev.onefold.fakes.disk;

import java.io.IOException;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.AccessMode;
import java.nio.file.CopyOption;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileStore;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileAttributeView;
import java.nio.file.attribute.FileTime;
import java.nio.file.spi.FileSystemProvider;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Translates what `Files` and `FileChannel` ask into operations of one disk. What it does not simulate it refuses with
/// an [UnsupportedOperationException].
final class SimulatedProvider extends FileSystemProvider {
    static final String SCHEME = "simulated";

    private final SimulatedDisk disk;

    SimulatedProvider(SimulatedDisk disk) {
        this.disk = disk;
    }

    @Override
    public String getScheme() {
        return SCHEME;
    }

    @Override
    public FileSystem newFileSystem(URI uri, Map<String, ?> environment) {
        throw new UnsupportedOperationException("A simulated disk is made by SimulatedDisk.empty().");
    }

    @Override
    public FileSystem getFileSystem(URI uri) {
        return disk;
    }

    @Override
    public Path getPath(URI uri) {
        return disk.getPath(uri.getPath());
    }

    @Override
    public FileChannel newFileChannel(Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
            throws IOException {
        for (OpenOption option : options) {
            if (option == StandardOpenOption.DELETE_ON_CLOSE
                    || option == StandardOpenOption.SYNC
                    || option == StandardOpenOption.DSYNC) {
                throw new UnsupportedOperationException(option + " is not simulated");
            }
        }
        if (options.contains(StandardOpenOption.APPEND)) {
            if (options.contains(StandardOpenOption.READ)) {
                throw new IllegalArgumentException("READ + APPEND not allowed");
            }
            if (options.contains(StandardOpenOption.TRUNCATE_EXISTING)) {
                throw new IllegalArgumentException("APPEND + TRUNCATE_EXISTING not allowed");
            }
        }
        return disk.open(SimulatedPath.of(path), options);
    }

    @Override
    public SeekableByteChannel newByteChannel(
            Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes) throws IOException {
        return newFileChannel(path, options, attributes);
    }

    @Override
    public DirectoryStream<Path> newDirectoryStream(Path directory, DirectoryStream.Filter<? super Path> filter)
            throws IOException {
        return new Listing(disk.list(SimulatedPath.of(directory)), filter);
    }

    @Override
    public void createDirectory(Path directory, FileAttribute<?>... attributes) throws IOException {
        disk.createDirectory(SimulatedPath.of(directory));
    }

    @Override
    public void delete(Path path) throws IOException {
        disk.delete(SimulatedPath.of(path));
    }

    @Override
    public void copy(Path source, Path target, CopyOption... options) throws IOException {
        boolean replace = List.of(options).contains(StandardCopyOption.REPLACE_EXISTING);
        checkAccess(source);
        if (Files.exists(target) && isSameFile(source, target)) {
            return;
        }
        if (replace) {
            Files.deleteIfExists(target);
        }
        if (Files.isDirectory(source)) {
            createDirectory(target);
        } else {
            Files.write(target, Files.readAllBytes(source), StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW);
        }
    }

    @Override
    public void move(Path source, Path target, CopyOption... options) throws IOException {
        List<CopyOption> all = List.of(options);
        if (all.contains(StandardCopyOption.COPY_ATTRIBUTES)) {
            throw new UnsupportedOperationException("Unsupported option: COPY_ATTRIBUTES");
        }
        if (all.contains(StandardCopyOption.ATOMIC_MOVE)) {
            disk.renameAtomically(SimulatedPath.of(source), SimulatedPath.of(target));
        } else {
            boolean replace = all.contains(StandardCopyOption.REPLACE_EXISTING);
            disk.move(SimulatedPath.of(source), SimulatedPath.of(target), replace);
        }
    }

    @Override
    public boolean isSameFile(Path path, Path other) throws IOException {
        if (path.equals(other)) {
            return true;
        }
        if (!(other instanceof SimulatedPath simulated) || simulated.disk() != disk) {
            return false;
        }
        return disk.stat(SimulatedPath.of(path))
                .fileKey()
                .equals(disk.stat(simulated).fileKey());
    }

    @Override
    public boolean isHidden(Path path) {
        @Nullable Path name = path.getFileName();
        return name != null && name.toString().startsWith(".");
    }

    @Override
    public FileStore getFileStore(Path path) throws IOException {
        checkAccess(path);
        return new SimulatedStore(disk);
    }

    @Override
    public void checkAccess(Path path, AccessMode... modes) throws IOException {
        if (modes.length == 0) {
            disk.stat(SimulatedPath.of(path));
        } else {
            disk.access(SimulatedPath.of(path));
        }
    }

    @Override
    public <V extends FileAttributeView> @Nullable V getFileAttributeView(
            Path path, Class<V> type, LinkOption... options) {
        return type == BasicFileAttributeView.class
                ? type.cast(new SimulatedAttributes.View(SimulatedPath.of(path)))
                : null;
    }

    @Override
    public <A extends BasicFileAttributes> A readAttributes(Path path, Class<A> type, LinkOption... options)
            throws IOException {
        if (type != BasicFileAttributes.class) {
            throw new UnsupportedOperationException(type.getName() + " is not simulated");
        }
        return type.cast(disk.stat(SimulatedPath.of(path)));
    }

    @Override
    public Map<String, Object> readAttributes(Path path, String names, LinkOption... options) throws IOException {
        SimulatedAttributes found = disk.stat(SimulatedPath.of(path));
        Map<String, Object> all = Map.of(
                "lastModifiedTime", found.lastModifiedTime(),
                "lastAccessTime", found.lastAccessTime(),
                "creationTime", found.creationTime(),
                "size", found.size(),
                "isDirectory", found.isDirectory(),
                "isRegularFile", found.isRegularFile(),
                "isSymbolicLink", false,
                "isOther", false,
                "fileKey", found.fileKey());
        List<String> wanted = List.of(names.replaceFirst("^basic:", "").split(",", -1));
        if (wanted.contains("*")) {
            return all;
        }
        if (!all.keySet().containsAll(wanted)) {
            throw new IllegalArgumentException("One of these attributes is not simulated: " + names);
        }
        Map<String, Object> some = new HashMap<>(all);
        some.keySet().retainAll(wanted);
        return some;
    }

    @Override
    public void setAttribute(Path path, String name, Object value, LinkOption... options) throws IOException {
        if (!name.endsWith("lastModifiedTime") || !(value instanceof FileTime time)) {
            throw new UnsupportedOperationException("Attribute " + name + " is not simulated");
        }
        disk.setModified(SimulatedPath.of(path), time.toMillis());
    }

    private static final class Listing implements DirectoryStream<Path> {
        private final List<Path> entries;
        private final DirectoryStream.Filter<? super Path> filter;
        private boolean given;

        Listing(List<Path> entries, DirectoryStream.Filter<? super Path> filter) {
            this.entries = entries;
            this.filter = filter;
        }

        @Override
        public Iterator<Path> iterator() {
            if (given) {
                throw new IllegalStateException("Iterator already obtained, or stream closed");
            }
            given = true;
            List<Path> accepted = new ArrayList<>();
            for (Path entry : entries) {
                try {
                    if (filter.accept(entry)) {
                        accepted.add(entry);
                    }
                } catch (IOException failure) {
                    throw new DirectoryIteratorException(failure);
                }
            }
            return List.copyOf(accepted).iterator();
        }

        @Override
        public void close() {
            given = true;
        }
    }
}
