package dev.onefold.fakes.disk;

import java.io.IOException;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import org.jspecify.annotations.Nullable;

/// What is known of a file or directory at one moment. Times count modifications of the disk, a millisecond each.
record SimulatedAttributes(
        FileTime creationTime, FileTime lastModifiedTime, long size, boolean isDirectory, Key fileKey)
        implements BasicFileAttributes {
    private static final long DIRECTORY_BYTES = 4_096;

    record Key(long number) {}

    static SimulatedAttributes of(Node node) {
        return new SimulatedAttributes(
                FileTime.fromMillis(node.inode().createdMs()),
                FileTime.fromMillis(node.inode().modifiedMs()),
                sizeOf(node),
                node instanceof StoredDirectory,
                new Key(node.inode().number()));
    }

    static long sizeOf(Node node) {
        return switch (node) {
            case StoredFile file -> file.current().size();
            case StoredDirectory _ -> DIRECTORY_BYTES;
        };
    }

    @Override
    public FileTime lastAccessTime() {
        return lastModifiedTime;
    }

    @Override
    public boolean isRegularFile() {
        return !isDirectory;
    }

    @Override
    public boolean isSymbolicLink() {
        return false;
    }

    @Override
    public boolean isOther() {
        return false;
    }

    record View(SimulatedPath path) implements BasicFileAttributeView {
        @Override
        public String name() {
            return "basic";
        }

        @Override
        public BasicFileAttributes readAttributes() throws IOException {
            return path.disk().stat(path);
        }

        @Override
        public void setTimes(@Nullable FileTime lastModified, @Nullable FileTime lastAccess, @Nullable FileTime created)
                throws IOException {
            if (lastModified != null) {
                path.disk().setModified(path, lastModified.toMillis());
            }
        }
    }
}
