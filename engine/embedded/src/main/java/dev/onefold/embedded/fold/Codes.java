package dev.onefold.embedded.fold;

import dev.onefold.core.EngineException;
import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.process.LoadedFunction;
import dev.onefold.embedded.disk.Disk;
import dev.onefold.embedded.disk.FileNames;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The functions that fold in a data directory: the one that it was opened with, those whose jars it holds,
/// and those on the class path. So a start finds the code for the records in the journal, also when the
/// pipeline file names a newer one. A function that was in no jar is not kept, nor is a command: the given one
/// replaces it.
public final class Codes implements AutoCloseable {
    private final Path root;
    private final @Nullable LoadedFunction given;
    private final Optional<String> otherJar;
    private final List<URLClassLoader> loaders = new ArrayList<>();

    /// @param given the function that the directory was opened with; `null`: no function
    /// @param otherJar reports that its jar has another hash and the same version; empty if it has not
    Codes(Path root, @Nullable LoadedFunction given, Optional<String> otherJar) {
        this.root = root;
        this.given = given;
        this.otherJar = otherJar;
    }

    /// Says that the given function's jar has another hash and the same version; empty if it has not.
    public Optional<String> otherJar() {
        return otherJar;
    }

    /// The function that folds under a definition; empty if its code is not found.
    Optional<LoadedFunction> of(Pipeline pipeline, Processing processing) {
        Processing.Code code = processing.code();
        if (code == null) {
            return Optional.empty();
        }
        if (given != null && given.pipeline().ofDataOf(pipeline).equals(pipeline)) {
            return Optional.of(given.ofDataOf(pipeline));
        }
        String sha256 = code.sha256();
        Optional<LoadedFunction> found = found(pipeline, sha256);
        boolean isKept = !sha256.isEmpty() && (given == null || given.command().isEmpty());
        return found.isEmpty() && given != null && !isKept ? given.under(pipeline) : found;
    }

    private synchronized Optional<LoadedFunction> found(Pipeline pipeline, String sha256) {
        try {
            ClassLoader loader = sha256.isEmpty() ? onClassPath() : inJar(sha256);
            if (loader == null) {
                return Optional.empty();
            }
            LoadedFunction function = LoadedFunction.load(pipeline, loader, sha256);
            return function.pipeline().equals(pipeline) ? Optional.of(function) : Optional.empty();
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    private @Nullable ClassLoader inJar(String sha256) {
        Path jar = FileNames.code(root, sha256);
        if (!Files.isRegularFile(jar)) {
            return null;
        }
        if (!Sha256.hex(Disk.readAll(jar)).equals(sha256)) {
            throw Disk.corrupt(jar, 0, "its SHA-256 is not the one in its name");
        }
        URLClassLoader loader = loader(jar);
        loaders.add(loader);
        return loader;
    }

    private static ClassLoader onClassPath() {
        ClassLoader context = Thread.currentThread().getContextClassLoader();
        return context == null ? ClassLoader.getSystemClassLoader() : context;
    }

    /// Finds the classes of a jar, which see the JDK and `dev.onefold.process` alone.
    private static URLClassLoader loader(Path jar) {
        try {
            return new URLClassLoader(new URL[] {jar.toUri().toURL()}, new LoadedFunction.Classes());
        } catch (MalformedURLException e) {
            throw new IllegalArgumentException("The jar " + jar + " has no address", e);
        }
    }

    /// Copies a jar into the directory, where it is found when the pipeline file names another one. A damaged copy is
    /// replaced.
    public void keep(byte[] jar) {
        Path copy = FileNames.code(root, Sha256.hex(jar));
        if (!Files.exists(copy) || !Arrays.equals(Disk.readAll(copy), jar)) {
            try {
                Disk.replace(copy, ByteBuffer.wrap(jar));
            } catch (dev.onefold.embedded.disk.OutOfSpaceException e) {
                throw new EngineException(
                        EngineException.Kind.NO_SPACE, "There is no space for the function's jar in " + root, e);
            }
        }
    }

    @Override
    public void close() {
        for (URLClassLoader loader : loaders) {
            try {
                loader.close();
            } catch (IOException e) {
                throw new IllegalStateException("A jar could not be closed", e);
            }
        }
    }
}
