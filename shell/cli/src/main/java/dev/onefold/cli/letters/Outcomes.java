package dev.onefold.cli.letters;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.run.Progress;
import dev.onefold.cli.show.Words;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.DeadLetters.Redriven;
import dev.onefold.core.event.Reason;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The outcomes of redriven letters. They are printed one by one, or as a summary at the end that names failed
/// letters. A terminal shows the progress until the summary.
final class Outcomes implements AutoCloseable {
    private static final int NAMED_MAX = 20;

    private final DeadLetters letters;
    private final PrintStream out;
    private final boolean each;
    private final Progress progress;
    private final List<String> failures = new ArrayList<>();
    private final Map<Redriven, Long> counts = new EnumMap<>(Redriven.class);
    private long refused;
    private long done;
    private boolean closed;
    private boolean isTooLate;

    private Outcomes(DeadLetters letters, PrintStream out, boolean each, Progress progress) {
        this.letters = letters;
        this.out = out;
        this.each = each;
        this.progress = progress;
    }

    /// Outcomes that are printed one by one.
    static Outcomes ofEach(DeadLetters letters, Caller caller) {
        Progress none = Progress.begin(caller, Progress.Mode.none, "Redriving", Progress.Unit.RECORDS, 0);
        return new Outcomes(letters, caller.out(), true, none);
    }

    /// Outcomes of many letters.
    ///
    /// @param count of these letters; 0 where it is not known
    static Outcomes summary(DeadLetters letters, Caller caller, long count) {
        Progress progress = Progress.begin(caller, Progress.Mode.auto, "Redriving", Progress.Unit.RECORDS, count);
        return new Outcomes(letters, caller.out(), false, progress);
    }

    /// Ends the progress; what is printed from now on has lines of its own.
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            progress.close();
        }
    }

    /// Redrives a letter.
    void redrive(long id, byte @Nullable [] edited, DeadLetters.Keys keys) {
        try {
            add(id, letters.redrive(id, edited, keys));
        } catch (IllegalArgumentException e) {
            refuse("letter " + id, String.valueOf(e.getMessage()));
        }
        done++;
        progress.at(done, done);
    }

    /// Notes what was not even tried.
    void refuse(String what, String why) {
        refused++;
        failed(what + ": not redriven: " + why);
    }

    private void add(long id, Redriven redriven) {
        counts.merge(redriven, 1L, Long::sum);
        switch (redriven) {
            case REJECTED -> failed("letter " + id + ": rejected again: " + why(id));
            case CONFLICTING ->
                failed("letter " + id + ": conflicting: the same version is in with another content; the lesser of the"
                        + " two is a dead letter");
            case NO_RECORD ->
                failed("letter " + id + ": not redriven: it holds no record, only what is known of one."
                        + " Redrive the record itself with --file.");
            case ACCEPTED -> told(id, "accepted");
            case DUPLICATE -> told(id, "duplicate: it was in already");
            case STALE -> told(id, "stale: a higher version is in");
            case GONE -> told(id, "gone: redriven or purged before, or never there");
        }
    }

    private String why(long id) {
        Optional<DeadLetter> rejected = letters.list(id - 1, 1).stream()
                .filter(letter -> letter.id() == id)
                .findFirst();
        isTooLate |=
                rejected.filter(letter -> letter.reason() == Reason.TOO_LATE).isPresent();
        return rejected.map(letter ->
                        new LetterText(letter).reason() + ": " + Words.visible(letter.message()) + kept(letter))
                .orElse("it is gone by now");
    }

    private static String kept(DeadLetter letter) {
        return letter.edited() ? ". Its record is as it arrived; 'show --edited' shows the edit" : "";
    }

    private void told(long id, String what) {
        if (each) {
            out.print("letter " + id + ": " + what + "\n");
        }
    }

    private void failed(String line) {
        if (each) {
            out.print(line + "\n");
        } else if (failures.size() < NAMED_MAX) {
            failures.add(line);
        } else if (failures.size() == NAMED_MAX) {
            failures.add("… and more: 'list' shows them, with their reasons");
        }
    }

    /// Prints how many came to what.
    ExitCode end() {
        close();
        if (!each) {
            failures.forEach(line -> out.print(line + "\n"));
            counts.forEach((redriven, count) -> out.print(line(words(redriven), count)));
            if (refused > 0) {
                out.print(line("not redriven", refused));
            }
            if (counts.isEmpty() && refused == 0) {
                out.print("There are no such dead letters.\n");
            }
        }
        if (isTooLate) {
            out.print("What is too late stays out. 'rebuild --from-sources' decides all records afresh, where their"
                    + " sources can be read.\n");
        }
        boolean isRefused = refused > 0
                || each && counts.keySet().equals(Set.of(Redriven.GONE)) // The person has mistyped a number, perhaps.
                || counts.containsKey(Redriven.REJECTED)
                || counts.containsKey(Redriven.CONFLICTING)
                || counts.containsKey(Redriven.NO_RECORD);
        return isRefused ? ExitCode.DIFFERENT : ExitCode.DONE;
    }

    private static String line(String what, long count) {
        return what + ": " + Words.count(count, "dead letter") + "\n";
    }

    private static String words(Redriven redriven) {
        return switch (redriven) {
            case ACCEPTED -> "accepted";
            case DUPLICATE -> "duplicate";
            case STALE -> "stale";
            case CONFLICTING -> "conflicting";
            case REJECTED -> "rejected again";
            case NO_RECORD -> "without a record";
            case GONE -> "gone";
        };
    }
}
