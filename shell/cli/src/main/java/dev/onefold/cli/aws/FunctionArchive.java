package dev.onefold.cli.aws;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.run.InputFile;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.pipeline.Processing.Program;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipException;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;

/// The archive that the functions run from: their jars, as they are. Equal jars make equal archives.
public final class FunctionArchive {
    /// 1980-01-01, the earliest that an archive can say.
    private static final FileTime ALWAYS = FileTime.fromMillis(315_532_800_000L);

    private FunctionArchive() {}

    /// Writes the archive. An incomplete archive is deleted, so that it cannot be uploaded.
    public static void write(List<Path> jars, Path file) throws IOException {
        requireDistinct(jars);
        OutputStream out = Files.newOutputStream(file);
        try (ZipOutputStream zip = new ZipOutputStream(out)) {
            zip.setMethod(ZipOutputStream.STORED); // Jars are compressed already.
            for (Path jar : jars) {
                add(zip, jar);
            }
        } catch (IOException e) {
            if (Files.isRegularFile(file)) {
                Files.delete(file);
            }
            if (e instanceof FileSystemException) {
                throw e; // It names its file.
            }
            throw new CommandFailure(
                    ExitCode.STORAGE, "The archive " + file + " cannot be written: " + e.getMessage() + ".", e);
        }
    }

    /// Makes the archive of a pipeline: the functions, the jar that the pipeline file names, and others.
    ///
    /// @param file of the pipeline
    /// @param with jars of the user
    public static Path made(Caller caller, String file, Pipeline pipeline, List<String> with, Path folder)
            throws IOException {
        List<Path> jars = new ArrayList<>(FunctionJars.find());
        Optional<String> own = jarOf(pipeline);
        if (own.isPresent()) {
            Path beside = caller.path(file).toAbsolutePath().resolveSibling(own.get());
            jars.add(jar(caller, beside.toString()));
        }
        for (String each : with) {
            jars.add(jar(caller, each));
        }
        Path made = folder.resolve("functions.zip");
        write(jars, made);
        return made;
    }

    /// The jar that the pipeline file names.
    private static Optional<String> jarOf(Pipeline pipeline) {
        return switch (pipeline.fold()) {
            case Processing processing ->
                processing.program() instanceof Program.JavaClass java
                        ? Optional.ofNullable(java.jar())
                        : Optional.empty();
            case Batching batching -> batching.deliver().option("jar");
            default -> Optional.empty();
        };
    }

    private static void requireDistinct(List<Path> jars) {
        Set<String> names = new HashSet<>();
        for (Path jar : jars) {
            if (!names.add(String.valueOf(jar.getFileName()))) {
                throw new CommandFailure(
                        ExitCode.DIFFERENT,
                        "Two jars of the archive are called " + jar.getFileName() + ": rename the one of the function");
            }
        }
    }

    private static void add(ZipOutputStream zip, Path jar) throws IOException {
        byte[] bytes = Files.readAllBytes(jar);
        CRC32 crc = new CRC32();
        crc.update(bytes);
        ZipEntry entry = new ZipEntry("lib/" + jar.getFileName());
        entry.setLastModifiedTime(ALWAYS);
        entry.setSize(bytes.length);
        entry.setCompressedSize(bytes.length);
        entry.setCrc(crc.getValue());
        zip.putNextEntry(entry);
        zip.write(bytes);
        zip.closeEntry();
    }

    /// Of the files of the archive the functions load those that are jars by their name.
    public static Path jar(Caller caller, String text) throws IOException {
        Path path = InputFile.ofBytes(caller, text);
        if (!path.toString().endsWith(".jar")) {
            throw noJar(caller, path);
        }
        try (ZipFile _ = new ZipFile(path.toFile())) {
            return path;
        } catch (ZipException e) {
            throw (CommandFailure) noJar(caller, path).initCause(e);
        }
    }

    private static CommandFailure noJar(Caller caller, Path path) {
        return CommandFailure.usage(
                caller.shown(path) + " is not a jar. Build the function into one, called NAME.jar.");
    }
}
