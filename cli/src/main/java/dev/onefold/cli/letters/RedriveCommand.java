package dev.onefold.cli.letters;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.show.Words;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.DeadLetters.Redriven;
import dev.onefold.core.pipeline.Limits;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `onefold dead-letters PIPELINE redrive`.
@Command(
        name = "redrive",
        sortOptions = false,
        description = {
            "Sends rejected records through again, edited or as they are. Each counts once, however often it is redriven.",
            "Exit code 1 when one was rejected again; it stays, with its new reason."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  onefold dead-letters trade-risk.yaml redrive 12 13",
            "  onefold dead-letters trade-risk.yaml redrive 12 --file 12.json",
            "  onefold dead-letters trade-risk.yaml redrive --all"
        })
final class RedriveCommand implements Callable<Integer> {
    private final DeadLettersCommand all;

    @Parameters(arity = "0..*", paramLabel = "ID", description = "The letters' numbers, as 'list' shows them.")
    private List<Long> ids = List.of();

    @Option(names = "--all", description = "All letters that there are now.")
    private boolean every;

    @Option(
            names = "--file",
            paramLabel = "FILE",
            description = "The edited record, to be taken in place of the letter's; - is standard input. For one ID.")
    private @Nullable String file;

    RedriveCommand(DeadLettersCommand all) {
        this.all = all;
    }

    @Override
    public Integer call() throws IOException {
        if (every != ids.isEmpty()) {
            throw CommandFailure.usage("Say which letters to redrive: their numbers, or --all.");
        }
        if (file != null && ids.size() != 1) {
            throw CommandFailure.usage("--file holds the edited record of one letter: give one number with it.");
        }
        return all.use(letters -> {
            byte[] edited = file == null ? null : record(file);
            Map<Redriven, Long> results = new EnumMap<>(Redriven.class);
            for (long id : every ? DeadLettersCommand.ids(letters) : ids) {
                Redriven result = redrive(letters, id, edited);
                results.merge(result, 1L, Long::sum);
                if (!every) {
                    caller().out().print(id + " " + words(result) + "\n");
                }
            }
            if (every) {
                caller().out().print(summary(results));
            }
            boolean refused = results.containsKey(Redriven.REJECTED) || results.containsKey(Redriven.CONFLICTING);
            return refused ? ExitCode.DIFFERENT : ExitCode.DONE;
        });
    }

    private Caller caller() {
        return all.caller().caller();
    }

    private static Redriven redrive(DeadLetters letters, long id, byte @Nullable [] edited) {
        try {
            return letters.redrive(id, edited);
        } catch (IllegalArgumentException e) {
            throw new CommandFailure(
                    ExitCode.DIFFERENT, "Dead letter " + id + " cannot be redriven: " + e.getMessage(), e);
        }
    }

    /// A line end, which an editor leaves at the end of a file, is no part of the record.
    private byte[] record(String from) throws IOException {
        byte[] bytes;
        if (from.equals("-")) {
            bytes = caller().in().readNBytes(Limits.RECORD_BYTES_MAX + 2);
        } else {
            Path path = caller().path(from);
            if (!Files.isRegularFile(path)) {
                throw CommandFailure.usage("There is no file " + caller().shown(path) + ".");
            }
            try (InputStream in = Files.newInputStream(path)) {
                bytes = in.readNBytes(Limits.RECORD_BYTES_MAX + 2);
            }
        }
        int length = bytes.length;
        if (length > 0 && bytes[length - 1] == '\n') {
            length -= length > 1 && bytes[length - 2] == '\r' ? 2 : 1;
        }
        for (int i = 0; i < length; i++) {
            if (bytes[i] == '\n') {
                throw CommandFailure.usage("The edited record has more than one line; a record is one line.");
            }
        }
        return Arrays.copyOf(bytes, length);
    }

    private static String summary(Map<Redriven, Long> results) {
        return results.isEmpty()
                ? "There are no dead letters.\n"
                : results.entrySet().stream()
                        .map(entry -> Words.count(entry.getValue()) + " " + words(entry.getKey()) + "\n")
                        .collect(Collectors.joining());
    }

    private static String words(Redriven result) {
        return switch (result) {
            case ACCEPTED -> "accepted";
            case DUPLICATE -> "duplicate: it was in already";
            case STALE -> "stale: a higher version is in";
            case CONFLICTING -> "conflicting: the same version is in with another content";
            case REJECTED -> "rejected again: it stays, with its new reason";
            case GONE -> "gone: redriven or purged before, or never there";
        };
    }
}
