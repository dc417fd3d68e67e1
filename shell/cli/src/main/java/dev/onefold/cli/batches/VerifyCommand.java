package dev.onefold.cli.batches;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.data.EngineArgument;
import dev.onefold.cli.show.Words;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.receivers.Verification;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `onefold batches verify`.
@Command(
        name = "verify",
        description = {
            "Proves from the manifests in a folder that no batch and no record is missing or doubled: numbers without gaps,"
                    + " each batch naming the one before it, and the size, the SHA-256 and the records of each content.",
            "It reads nothing but the folder, so a receiver can run it, too. Other files in the folder are ignored."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:All is proven.", "1:Something is wrong; each finding is one line.", "2:Usage error."},
        footerHeading = "%nExamples:%n",
        footer = {
            "  ${COMMAND-FULL-NAME} out",
            "  Batches before the 1,000th were removed:",
            "    ${COMMAND-FULL-NAME} out --from 1000"
        })
final class VerifyCommand implements Callable<Integer> {
    private final EngineArgument pipeline;
    private final Caller caller;

    @Parameters(paramLabel = "FOLDER", description = "Folder with contents and their manifests.")
    private String folder = "";

    @Option(names = "--from", paramLabel = "NUMBER", description = "First batch that must be there. Default: 1.")
    private long from = 1;

    VerifyCommand(EngineArgument pipeline) {
        this.pipeline = pipeline;
        caller = pipeline.caller();
    }

    @Override
    public Integer call() {
        if (pipeline.isPlaced()) {
            throw CommandFailure.usage("'batches verify' reads a folder on this machine and asks no engine. Leave out"
                    + " --at and the options that go with it.");
        }
        Path path = caller.path(folder);
        if (!Files.isDirectory(path)) {
            throw CommandFailure.usage("There is no folder " + caller.shown(path) + ".");
        }
        if (from < 1) {
            throw CommandFailure.usage("The first batch has the number 1, so --from cannot be " + from + ".");
        }
        Verification verification;
        try {
            verification = Verification.of(path, from);
        } catch (UncheckedIOException e) {
            throw new CommandFailure(
                    ExitCode.DIFFERENT,
                    caller.shown(path) + " cannot be read: "
                            + Objects.requireNonNullElse(e.getCause(), e).getMessage() + ".",
                    e);
        }
        verification.findings().forEach(caller::printLine);
        for (Verification.Numbers numbers : verification.pipelines()) {
            caller.printLine(numbers.pipeline() + ": batches " + BatchNumber.of(numbers.first()) + " to "
                    + BatchNumber.of(numbers.last()) + ", " + Words.count(numbers.contents(), "file") + ", "
                    + Words.count(numbers.records(), "record") + ", " + Words.count(numbers.bytes(), "byte"));
        }
        caller.printLine(
                verification.isProven()
                        ? "Proven: up to the last one, nothing is missing or doubled."
                        : "Not proven: " + Words.count(verification.findings().size(), "finding") + ".");
        return (verification.isProven() ? ExitCode.DONE : ExitCode.DIFFERENT).code();
    }
}
