package dev.onefold.fakes.disk;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.ProviderMismatchException;
import java.nio.file.WatchEvent;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// A Unix path on one simulated disk, whose current directory is the root. Immutable. The empty path has one name,
/// which is empty; the root has none.
final class SimulatedPath implements Path {
    private final SimulatedDisk disk;
    private final boolean absolute;
    private final List<String> names;

    private SimulatedPath(SimulatedDisk disk, boolean absolute, List<String> names) {
        this.disk = disk;
        this.absolute = absolute;
        this.names = !absolute && names.isEmpty() ? List.of("") : List.copyOf(names);
    }

    static SimulatedPath parse(SimulatedDisk disk, String text) {
        if (text.indexOf('\0') >= 0) {
            throw new InvalidPathException(text, "Nul character not allowed");
        }
        List<String> names = new ArrayList<>();
        for (int at = 0; at < text.length(); ) {
            int slash = text.indexOf('/', at);
            int end = slash < 0 ? text.length() : slash;
            if (end > at) {
                names.add(text.substring(at, end));
            }
            at = end + 1;
        }
        return new SimulatedPath(disk, text.startsWith("/"), names);
    }

    static SimulatedPath of(Path path) {
        if (path instanceof SimulatedPath simulated) {
            return simulated;
        }
        throw new ProviderMismatchException("Not a path of a simulated disk: " + path);
    }

    /// From the root, with neither `.` nor `..`.
    List<String> namesFromRoot() {
        return toAbsolutePath().normalize().names;
    }

    SimulatedDisk disk() {
        return disk;
    }

    @Override
    public SimulatedDisk getFileSystem() {
        return disk;
    }

    @Override
    public boolean isAbsolute() {
        return absolute;
    }

    @Override
    public @Nullable SimulatedPath getRoot() {
        return absolute ? path(true, List.of()) : null;
    }

    @Override
    public @Nullable SimulatedPath getFileName() {
        return names.isEmpty() ? null : path(false, List.of(names.getLast()));
    }

    @Override
    public @Nullable SimulatedPath getParent() {
        if (names.isEmpty() || (!absolute && names.size() == 1)) {
            return null;
        }
        return path(absolute, names.subList(0, names.size() - 1));
    }

    @Override
    public int getNameCount() {
        return names.size();
    }

    @Override
    public SimulatedPath getName(int index) {
        return subpath(index, index + 1);
    }

    @Override
    public SimulatedPath subpath(int beginIndex, int endIndex) {
        if (beginIndex < 0 || endIndex > names.size() || beginIndex >= endIndex) {
            throw new IllegalArgumentException("Path " + this + " has no names from " + beginIndex + " to " + endIndex);
        }
        return path(false, names.subList(beginIndex, endIndex));
    }

    @Override
    public boolean startsWith(Path other) {
        if (!(other instanceof SimulatedPath that) || that.disk != disk || that.absolute != absolute) {
            return false;
        }
        return that.names.size() <= names.size()
                && names.subList(0, that.names.size()).equals(that.names);
    }

    @Override
    public boolean endsWith(Path other) {
        if (!(other instanceof SimulatedPath that) || that.disk != disk || that.names.size() > names.size()) {
            return false;
        }
        if (that.absolute) {
            return equals(that);
        }
        return names.subList(names.size() - that.names.size(), names.size()).equals(that.names)
                && (!that.isEmpty() || isEmpty());
    }

    @Override
    public SimulatedPath normalize() {
        List<String> kept = new ArrayList<>();
        for (String name : names) {
            boolean up = name.equals("..");
            if (up && !kept.isEmpty() && !kept.getLast().equals("..")) {
                kept.removeLast();
            } else if (!name.isEmpty() && !name.equals(".") && !(up && absolute)) {
                kept.add(name);
            }
        }
        return path(absolute, kept);
    }

    @Override
    public SimulatedPath resolve(Path other) {
        SimulatedPath that = of(other);
        if (that.absolute || isEmpty()) {
            return that;
        }
        if (that.isEmpty()) {
            return this;
        }
        List<String> all = new ArrayList<>(names);
        all.addAll(that.names);
        return path(absolute, all);
    }

    @Override
    public SimulatedPath relativize(Path other) {
        SimulatedPath that = of(other);
        if (that.equals(this)) {
            return path(false, List.of());
        }
        if (that.absolute != absolute) {
            throw new IllegalArgumentException("'other' is different type of Path");
        }
        if (isEmpty()) {
            return that;
        }
        boolean dots = hasDots() || that.hasDots();
        List<String> from = (dots ? normalize() : this).realNames();
        List<String> to = (dots ? that.normalize() : that).realNames();
        int common = 0;
        while (common < Math.min(from.size(), to.size()) && from.get(common).equals(to.get(common))) {
            common++;
        }
        List<String> steps = new ArrayList<>();
        for (String name : from.subList(common, from.size())) {
            if (name.equals("..")) {
                throw new IllegalArgumentException("Unable to compute relative path from " + this + " to " + other);
            }
            steps.add("..");
        }
        steps.addAll(to.subList(common, to.size()));
        return path(false, steps);
    }

    @Override
    public SimulatedPath toAbsolutePath() {
        return absolute ? this : path(true, realNames());
    }

    @Override
    public SimulatedPath toRealPath(LinkOption... options) throws IOException {
        disk.provider().checkAccess(this);
        return toAbsolutePath().normalize();
    }

    @Override
    public URI toUri() {
        try {
            return new URI(SimulatedProvider.SCHEME, null, toAbsolutePath().toString(), null);
        } catch (URISyntaxException impossible) {
            throw new IllegalStateException("Path " + this + " cannot be written as a URI.", impossible);
        }
    }

    @Override
    public WatchKey register(WatchService watcher, WatchEvent.Kind<?>[] events, WatchEvent.Modifier... modifiers) {
        throw new UnsupportedOperationException("A simulated disk cannot be watched.");
    }

    @Override
    public int compareTo(Path other) {
        return toString().compareTo(of(other).toString());
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof SimulatedPath that
                && that.disk == disk
                && that.absolute == absolute
                && that.names.equals(names);
    }

    @Override
    public int hashCode() {
        return Objects.hash(absolute, names);
    }

    @Override
    public String toString() {
        return (absolute ? "/" : "") + String.join("/", names);
    }

    private boolean isEmpty() {
        return !absolute && names.getFirst().isEmpty();
    }

    private boolean hasDots() {
        return names.contains(".") || names.contains("..");
    }

    private List<String> realNames() {
        return isEmpty() ? List.of() : names;
    }

    private SimulatedPath path(boolean isAbsolute, List<String> newNames) {
        return new SimulatedPath(disk, isAbsolute, newNames);
    }
}
