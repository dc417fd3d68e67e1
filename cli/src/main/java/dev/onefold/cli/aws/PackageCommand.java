package dev.onefold.cli.aws;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.show.Words;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/// `onefold aws package`: the functions' archive. It holds the jars that this program runs on, but for those that only
/// a command line needs; equal jars make equal archives.
@Command(
        name = "package",
        description = {
            "Writes the archive of the functions, to be put into a bucket.",
            "All functions run from it. Give each archive a key of its own, or CloudFormation does not notice a new one."
        },
        footer = {
            "  onefold aws package --output onefold-functions.zip",
            "  onefold aws package --with runs.jar --output runs-functions.zip",
            "  aws s3 cp onefold-functions.zip s3://my-code/onefold-functions-1.zip"
        })
final class PackageCommand implements Callable<Integer> {
    /// 1980-01-01, the earliest that an archive can say.
    private static final FileTime ALWAYS = FileTime.fromMillis(315_532_800_000L);

    private final Caller caller;

    @Option(
            names = {"-o", "--output"},
            required = true,
            paramLabel = "FILE",
            description = "The archive to write.")
    private String output = "";

    @Option(
            names = "--with",
            paramLabel = "JAR",
            description = "The jar of a pipeline's function; it may be given several times.")
    private List<String> with = List.of();

    PackageCommand(Caller caller) {
        this.caller = caller;
    }

    @Override
    public Integer call() throws IOException {
        List<Path> jars = new ArrayList<>(FunctionJars.find());
        with.stream().map(caller::path).forEach(jars::add);
        requireDistinct(jars);
        Path file = caller.path(output);
        try (OutputStream out = Files.newOutputStream(file);
                ZipOutputStream zip = new ZipOutputStream(out)) {
            zip.setMethod(ZipOutputStream.STORED); // Jars are compressed already.
            for (Path jar : jars) {
                add(zip, jar);
            }
        }
        caller.printLine("Wrote " + caller.shown(file) + ": " + Words.count(jars.size(), "jar") + ", "
                + Words.bytes(Files.size(file)) + ".");
        return ExitCode.DONE.code();
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
}
