package dev.onefold.fakes.disk;

import java.nio.file.FileStore;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.FileAttributeView;
import java.nio.file.attribute.FileStoreAttributeView;
import org.jspecify.annotations.Nullable;

/// The space of a disk, in bytes.
final class SimulatedStore extends FileStore {
    private final SimulatedDisk disk;

    SimulatedStore(SimulatedDisk disk) {
        this.disk = disk;
    }

    @Override
    public String name() {
        return SimulatedProvider.SCHEME;
    }

    @Override
    public String type() {
        return SimulatedProvider.SCHEME;
    }

    @Override
    public boolean isReadOnly() {
        return false;
    }

    @Override
    public long getTotalSpace() {
        return disk.spaceBytes();
    }

    @Override
    public long getUsableSpace() {
        return disk.spaceBytesFree();
    }

    @Override
    public long getUnallocatedSpace() {
        return disk.spaceBytesFree();
    }

    @Override
    public boolean supportsFileAttributeView(Class<? extends FileAttributeView> type) {
        return type == BasicFileAttributeView.class;
    }

    @Override
    public boolean supportsFileAttributeView(String name) {
        return name.equals("basic");
    }

    @Override
    public <V extends FileStoreAttributeView> @Nullable V getFileStoreAttributeView(Class<V> type) {
        return null;
    }

    @Override
    public Object getAttribute(String attribute) {
        throw new UnsupportedOperationException("Unknown attribute: " + attribute);
    }
}
