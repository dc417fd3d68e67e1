package dev.onefold.cli.batches;

import dev.onefold.cli.call.ExitCode;
import dev.onefold.core.batch.BatchNumber;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `onefold batches PIPELINE export NUMBER`.
@Command(
        name = "export",
        description = "Writes the records of a batch that is not delivered, a line each, as they were sealed.",
        footer = {"    onefold batches quakes.yaml export 42 -o 42.ndjson"})
final class ExportCommand implements Callable<Integer> {
    private final BatchesCommand all;

    @Parameters(paramLabel = "NUMBER", description = "Number of the batch, like 42, or of a part of one, like 42.1.")
    private String number = "";

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FILE",
            description = "File to write; it is replaced. Default: standard output.")
    private @Nullable String output;

    ExportCommand(BatchesCommand all) {
        this.all = all;
    }

    @Override
    public Integer call() throws IOException {
        BatchNumber wanted = BatchesCommand.number(number);
        return all.read(batches -> {
            BatchNumber there = BatchesCommand.line(batches, wanted).number();
            if (output == null) {
                batches.export(there, bytes -> write(all.caller().out(), bytes));
                all.caller().out().flush();
            } else {
                Path file = all.caller().path(output);
                try (OutputStream out = Files.newOutputStream(file)) {
                    batches.export(there, bytes -> write(out, bytes));
                }
            }
            return ExitCode.DONE;
        });
    }

    private static void write(OutputStream out, byte[] bytes) {
        try {
            out.write(bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
