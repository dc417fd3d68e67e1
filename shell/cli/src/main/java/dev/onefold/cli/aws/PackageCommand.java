package dev.onefold.cli.aws;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.show.Words;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/// `onefold aws package`: the functions' archive. It holds the jars that this program runs on, but for those
/// that only a command line needs; equal jars make equal archives.
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
        List<Path> added = new ArrayList<>();
        for (String each : with) {
            added.add(FunctionArchive.jar(caller, each));
        }
        List<Path> jars = new ArrayList<>(FunctionJars.find());
        jars.addAll(added);
        Path file = caller.path(output);
        FunctionArchive.write(jars, file);
        caller.printLine("Wrote " + caller.shown(file) + ": " + Words.count(jars.size(), "jar") + ", "
                + Words.bytes(Files.size(file)) + ".");
        return ExitCode.DONE.code();
    }
}
