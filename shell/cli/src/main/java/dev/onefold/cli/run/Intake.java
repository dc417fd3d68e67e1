package dev.onefold.cli.run;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.show.Words;
import dev.onefold.core.Counts;
import dev.onefold.core.event.RecordEnds;
import dev.onefold.core.pipeline.Input.Records;
import dev.onefold.core.query.Answer;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.LineIntake;
import dev.onefold.embedded.framing.ReadAhead;
import dev.onefold.embedded.source.FoldListener;
import dev.onefold.embedded.source.FoldReport;
import dev.onefold.embedded.source.FollowedFile;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// Brings one input after the other to the engine. Not thread-safe.
public final class Intake {
    private final Caller caller;
    private final EmbeddedEngine engine;
    private final StopRequest stop;
    private final Progress.Mode mode;
    private final EqualFiles equal;
    private String position = "";
    private boolean hasRejected;

    /// The caller's word on a file that equals one that was folded under another name.
    public enum EqualFiles {
        /// Refused where each record counts by its place: only the caller can know.
        UNSAID,
        SEPARATE,
        COPIES
    }

    public Intake(Caller caller, EmbeddedEngine engine, StopRequest stop, Progress.Mode mode, EqualFiles equal) {
        this.caller = caller;
        this.engine = engine;
        this.stop = stop;
        this.mode = mode;
        this.equal = equal;
    }

    /// How the lines of standard input are numbered and acknowledged.
    ///
    /// @param source `null` for one of its own
    /// @param from number of the first line; there when the source is
    record Lines(@Nullable String source, @Nullable Long from, boolean acknowledge) {}

    /// Whether each record of one of the inputs was rejected.
    boolean hasRejectedSource() {
        return hasRejected;
    }

    private RejectedSource begin(String shown) {
        return new RejectedSource(caller, engine, shown);
    }

    private void end(RejectedSource source) {
        hasRejected |= source.isAll(engine.counts());
    }

    /// Where a run that was stopped has got to, and how to go on; empty if it came to its end.
    String stopped() {
        return stop.isMade() ? "Stopped" + position + "\n" : "";
    }

    private static String part(long done, long total) {
        return total == 0 || done >= total ? "" : " at " + Math.max(done, 0) * 100 / total + " %";
    }

    /// Folds a file to its end.
    void file(String text) throws IOException {
        InputFile file = InputFile.of(caller, text);
        FoldReport report;
        long before = foldedBefore(file);
        String shown = caller.shown(file.path());
        AtomicLong done = new AtomicLong();
        RejectedSource rejected = begin(shown);
        try (Progress progress = Progress.begin(
                caller, mode, String.valueOf(file.path().getFileName()), Progress.Unit.BYTES, file.bytes())) {
            boolean compressed = file.isCompressed()
                    || RecordEnds.of(engine.pipeline()).ofFiles() != Records.LINES; // Positions are not its bytes.
            if (!compressed) {
                progress.at(before, engine.counts().records());
            }
            report = engine.fold(file.source(isSeparate()), new FoldListener() {
                @Override
                public void folded(long durableBytes, long foldedBytes, Counts counts) {
                    done.set(compressed ? file.read().get() : foldedBytes);
                    progress.at(done.get(), counts.records());
                    rejected.seen(counts);
                }

                @Override
                public boolean stop() {
                    return stop.isMade();
                }
            });
        }
        end(rejected);
        String at = part(done.get(), file.bytes());
        position = at + (at.isEmpty() ? " after " : " of ") + shown + ". The same command goes on there.";
        switch (report) {
            case FoldReport.AlreadyFolded(String asName) -> {
                String known = caller.shown(caller.path(asName));
                if (equal == EqualFiles.UNSAID
                        && engine.pipeline().recordsKnownFor().isPresent()) {
                    throw new CommandFailure(ExitCode.DIFFERENT, equals(shown, known));
                }
                caller.note(shown + " is folded already, as " + known + ".");
            }
            case FoldReport.Folded folded -> {
                if (folded.bytes() == before && before > 0 && !stop.isMade()) {
                    caller.note(shown + " is folded already.");
                }
            }
        }
    }

    private boolean isSeparate() {
        return equal == EqualFiles.SEPARATE;
    }

    private static String equals(String shown, String known) {
        return "Input " + shown + " has the same content as " + known
                + ", which is folded. Whether it is a copy or a file"
                + " of its own cannot be told, as nothing in the records of this pipeline is their identity. Nothing of it"
                + " was folded. If it is a copy, say --copy; if its records count, too, say --separate.";
    }

    private long foldedBefore(InputFile file) {
        return engine.progress().stream()
                .filter(source -> source.source().equals(file.path().toString()))
                .mapToLong(Answer.Progress::bytes)
                .findFirst()
                .orElse(0);
    }

    /// Reads a growing file until a stop is asked for.
    public void follow(String text, boolean forgetRotated) throws IOException {
        position = ". The same command goes on following " + text + ".";
        InputFile file = InputFile.of(caller, text);
        if (file.isCompressed()) {
            throw CommandFailure.usage("A compressed file cannot be followed: " + caller.shown(file.path()) + ".");
        }
        RejectedSource rejected = begin(caller.shown(file.path()));
        engine.follow(new FollowedFile(file.path(), forgetRotated, isSeparate()), new FoldListener() {
            @Override
            public void folded(long durableBytes, long foldedBytes, Counts counts) {
                rejected.seen(counts);
            }

            @Override
            public boolean stop() {
                return stop.isMade();
            }

            @Override
            public void following(Path followed, long generation) {
                caller.note("Following " + caller.shown(followed)
                        + (generation == 1 ? "." : " (generation " + generation + ")."));
            }

            @Override
            public void finished(Path rotated) {
                caller.note("Finished " + caller.shown(rotated) + ", which was rotated.");
            }
        });
        end(rejected);
    }

    /// Folds standard input to its end.
    ExitCode standardInput(Lines lines) throws IOException {
        String source = lines.source() == null
                ? "stdin " + Instant.now() + " " + ProcessHandle.current().pid()
                : lines.source();
        long from = lines.from() == null ? 1 : lines.from();
        RejectedSource rejected = begin("standard input");
        try (Progress progress = Progress.begin(caller, mode, "stdin", Progress.Unit.BYTES, 0);
                ReadAhead input = new ReadAhead(caller.in(), stop::isMade)) {
            LineIntake intake = new LineIntake(engine, source, from, acknowledged -> {
                if (lines.acknowledge()) {
                    caller.print(acknowledged + "\n");
                    caller.out().flush();
                }
                Counts counts = engine.counts();
                progress.at(0, counts.records());
                rejected.seen(counts);
            });
            position = lines.source() == null
                    ? ". Lines of standard input that were read are folded; those after them must be sent."
                    : ". Send again from the last acknowledged line on, with the same --source.";
            long unfinished = intake.run(input);
            if (!stop.isMade()) {
                intake.requireWhole();
            }
            if (unfinished > 0 && !stop.isMade() && !lines.acknowledge() && lines.source() == null) {
                intake.takeRest();
                unfinished = 0;
            }
            end(rejected);
            return left(unfinished);
        }
    }

    /// To a producer that counts lines, a line without its end is one that is still to be sent.
    private ExitCode left(long unfinished) {
        if (unfinished == 0 || stop.isMade()) {
            return ExitCode.DONE;
        }
        caller.note("The last line has no end; its " + Words.count(unfinished, "byte")
                + " are not taken and not acknowledged. Send it again, whole.");
        return ExitCode.DIFFERENT;
    }
}
