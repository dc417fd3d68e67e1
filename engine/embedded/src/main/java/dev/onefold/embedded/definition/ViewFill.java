package dev.onefold.embedded.definition;

import dev.onefold.core.DefinitionChange;
import dev.onefold.core.EngineException;
import dev.onefold.core.event.RecordEnds;
import dev.onefold.core.keyed.Feeds;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.state.Derivation;
import dev.onefold.core.state.Horizon;
import dev.onefold.embedded.disk.FileNames;
import dev.onefold.embedded.fold.ShardFold;
import dev.onefold.embedded.framing.Position;
import dev.onefold.embedded.framing.Source;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.LogBatch;
import dev.onefold.embedded.source.LogSource;
import dev.onefold.embedded.view.View;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Fills a new view beside an old one that continues to serve. Nothing changes the old one meanwhile: intake
/// waits, unless a log is read again ([Refold]).
final class ViewFill {
    private static final String RECOMPUTED = "its sources are read again";

    private final View.Opening opening;
    private final View old;
    private final Pipeline definition;
    private final Map<String, LogSource> logs;

    /// @param logs those that can be read again, by their names
    ViewFill(View.Opening opening, View old, Pipeline definition, Map<String, LogSource> logs) {
        this.opening = opening;
        this.old = old;
        this.definition = definition.ofDataOf(old.pipeline);
        this.logs = logs;
    }

    /// The way in which the view can be filled.
    DefinitionChange change(Function<String, @Nullable FileSource> reopen) {
        View.requireName(opening.root(), old.pipeline, definition);
        if (Derivation.storesSame(old.pipeline, definition)) {
            return new DefinitionChange.None();
        }
        String otherRecords = otherRecords();
        if (!otherRecords.isEmpty()) {
            return new DefinitionChange.Impossible(otherRecords, "");
        }
        Readable readable = readable(reopen);
        return switch (old.fold.basis(definition, readable.isWhole())) {
            case ShardFold.Basis.Stored(var lost, var doubt) -> new DefinitionChange.FromRows(lost, doubt);
            case ShardFold.Basis.Sources(var reason) when readable.isWhole() -> fromSources(reason, readable);
            case ShardFold.Basis.Sources(var reason) -> new DefinitionChange.Impossible(reason, readable.missing);
            case ShardFold.Basis.Nothing(var reason) -> new DefinitionChange.Impossible(reason, readable.missing);
        };
    }

    /// Positions in sources count the records of one way to hold them.
    private String otherRecords() {
        if (RecordEnds.of(definition).ofFiles() == RecordEnds.of(old.pipeline).ofFiles()) {
            return "";
        }
        return opening.guard()
                .reading(() -> old.state.sources.all().stream()
                        .filter(source -> source.at() > 0 || source.records() > 0)
                        .map(source -> "'records' has changed, so " + source.name() + " has other records now")
                        .findFirst()
                        .orElse(""));
    }

    private DefinitionChange fromSources(String reason, Readable readable) {
        List<String> names = readable.files.stream().map(FileSource::name).toList();
        return new DefinitionChange.FromSources(
                reason,
                names,
                readable.logs.stream().map(LogSource::name).toList(),
                opening.journal().position().number() > 1);
    }

    /// The filled view.
    ///
    /// @param acceptLoss whether fields that cannot be read again may be lost
    /// @throws EngineException if it cannot be filled
    View fill(Function<String, @Nullable FileSource> reopen, boolean acceptLoss) {
        return switch (change(reopen)) {
            case DefinitionChange.None _ -> throw new IllegalStateException("The definition serves already");
            case DefinitionChange.FromRows(var lost, var _) when !lost.isEmpty() && !acceptLoss -> throw loss(lost);
            case DefinitionChange.FromRows _ -> filledFromStored(reopen);
            case DefinitionChange.FromSources sources -> refolded(reopen, sources.reason());
            case DefinitionChange.Impossible(var reason, var missing) -> throw refused(reason, missing);
        };
    }

    /// Where a row of a table does not fit the new roll-ups, all is folded again, if it can be read.
    private View filledFromStored(Function<String, @Nullable FileSource> reopen) {
        try {
            return filled(fresh -> fresh.fillFrom(old));
        } catch (EngineException e) {
            if (e.getCause() instanceof Feeds.UnfitRowException
                    && readable(reopen).isWhole()) {
                return refolded(reopen, "rows of a table do not fit the roll-ups");
            }
            throw e;
        }
    }

    private EngineException loss(List<String> lost) {
        return new EngineException(
                EngineException.Kind.DEFINITION_CHANGED,
                "The pipeline file reads less than the one that the data in " + opening.root()
                        + " was folded with, and the records cannot be read again. These would be lost for ever: "
                        + String.join(", ", lost)
                        + ". The old definition still serves. Accept the loss (onefold run --accept-loss, in Java"
                        + " fillView), put the file back, or fold into another data directory (--data).");
    }

    private View refolded(Function<String, @Nullable FileSource> reopen, String reason) {
        Readable readable = readable(reopen);
        if (!readable.isWhole()) {
            throw refused(reason, readable.missing);
        }
        return begun(readable, reason).whole();
    }

    /// Begins the fold of all sources again, if a log is among them: it is read beside the intake. Empty if there is
    /// none, or if no source is to be read again.
    ///
    /// @throws EngineException if the view cannot be filled
    Optional<Supplier<Refold>> beside(Function<String, @Nullable FileSource> reopen, boolean acceptLoss) {
        if (!hasLogs()) {
            return Optional.empty();
        }
        return switch (change(reopen)) {
            case DefinitionChange.FromSources sources -> beside(readable(reopen), sources.reason());
            case DefinitionChange.FromRows(var lost, var _) when !lost.isEmpty() && !acceptLoss -> throw loss(lost);
            case DefinitionChange.None _, DefinitionChange.FromRows _ -> Optional.empty();
            case DefinitionChange.Impossible(var reason, var missing) -> throw refused(reason, missing);
        };
    }

    /// The same for a view of the same definition.
    Optional<Supplier<Refold>> shadowBeside(Function<String, @Nullable FileSource> reopen) {
        return hasLogs() && old.pipeline.otherRules().isEmpty()
                ? beside(readable(reopen), RECOMPUTED)
                : Optional.empty();
    }

    private boolean hasLogs() {
        return opening.guard()
                .reading(() ->
                        old.state.sources.all().stream().anyMatch(source -> source.kind() == Source.Kind.PARTITION));
    }

    private Optional<Supplier<Refold>> beside(Readable readable, String reason) {
        if (!readable.isWhole()) {
            throw refused(reason, readable.missing);
        }
        return readable.logs.isEmpty() ? Optional.empty() : Optional.of(() -> begun(readable, reason));
    }

    private Refold begun(Readable readable, String reason) {
        Refold.Sources sources = new Refold.Sources(readable.files, readable.logs, missing -> refused(reason, missing));
        return Refold.begin(opening, old, definition, sources);
    }

    private View filled(Consumer<View> filling) {
        View fresh = View.open(opening, old.number + 1, definition, null);
        try {
            filling.accept(fresh);
            return fresh;
        } catch (RuntimeException | Error e) {
            try {
                discard(opening, fresh);
            } catch (RuntimeException | Error also) {
                e.addSuppressed(also);
            }
            throw e;
        }
    }

    /// A view that is not finished takes no memory and no space on the disk, however it failed.
    static void discard(View.Opening opening, View fresh) {
        fresh.close(false);
        if (!opening.reading()) {
            FileNames.deleteView(fresh.directory);
        }
    }

    /// The sources that can be read again.
    ///
    /// @param files in the order in which they were first read
    /// @param missing reason why not all input can be read again; empty if it can
    private record Readable(List<FileSource> files, List<LogSource> logs, String missing) {
        boolean isWhole() {
            return missing.isEmpty();
        }
    }

    /// A view of the same definition, recomputed from the sources and the journal.
    View shadow(Function<String, @Nullable FileSource> reopen) {
        old.pipeline.otherRules().ifPresent(reason -> {
            throw refused(RECOMPUTED, reason);
        });
        return refolded(reopen, RECOMPUTED);
    }

    private EngineException refused(String reason, String missing) {
        if (reason.equals(RECOMPUTED)) {
            return new EngineException(
                    EngineException.Kind.SOURCE_CHANGED,
                    "The totals of " + opening.root() + " cannot be recomputed from the sources: " + missing
                            + ". They are as they were."
                            + (old.pipeline.input().identity() instanceof Identity.ByPlace
                                    ? ""
                                    : " From the rows they can be, without --from-sources."));
        }
        String gone = missing.isEmpty() ? "" : "; and " + missing;
        if (old.pipeline.otherRules(definition).isPresent()) {
            return new EngineException(
                    EngineException.Kind.DEFINITION_CHANGED,
                    "No record is folded in " + opening.root() + ": " + reason + gone
                            + ". Queries go on. Run this with the Java (or the tzdata) of before; or put the sources of"
                            + " totals back, and 'onefold run' reads them again; or fold into another data directory"
                            + " (--data).");
        }
        return new EngineException(
                EngineException.Kind.DEFINITION_CHANGED,
                "The pipeline file is not the one that the data in " + opening.root() + " was folded with, and "
                        + "the rows are not enough for it: " + reason + gone
                        + ". The old definition still serves. Put the file back, or fold into another data directory (--data).");
    }

    private Readable readable(Function<String, @Nullable FileSource> reopen) {
        List<FileSource> files = new ArrayList<>();
        List<LogSource> again = new ArrayList<>();
        List<Source> sources = opening.guard().reading(() -> old.state.sources.all());
        for (Source source : sources) {
            FileSource file = source.kind() == Source.Kind.FILE ? reopened(reopen, source.name()) : null;
            LogSource log = source.kind() == Source.Kind.PARTITION ? logs.get(LogBatch.logOf(source.name())) : null;
            if (source.kind() != Source.Kind.LINES && Horizon.of(definition).isPresent()) {
                return new Readable(
                        files,
                        again,
                        "the horizon needs the arrival of each record, and " + source.name() + " has none");
            } else if (file != null) {
                files.add(file);
            } else if (log != null) {
                if (!again.contains(log)) {
                    again.add(log);
                }
            } else if (source.kind() != Source.Kind.LINES) {
                return new Readable(
                        files,
                        again,
                        "source " + source.name() + " cannot be read again"
                                + (source.kind() == Source.Kind.PARTITION
                                        ? ", for only the pipeline file says where the log is"
                                        : ""));
            } else if (!opening.journal().isKept()) {
                return new Readable(
                        files,
                        again,
                        "what came as " + source.name()
                                + " was not kept (--keep-journal keeps it from the first record on)");
            }
        }
        if (opening.journal().position().number() > 1
                && !RecordEnds.of(definition).areAs(RecordEnds.of(old.pipeline))) {
            return new Readable(
                    files,
                    again,
                    "the records of the journal, and edits of dead letters, begin and end at other lines now, because"
                            + " the edition, the quote, the delimiter, the escape or the comment of CSV has changed; 'edition: "
                            + old.pipeline.input().edition() + "' under input is the one of the data");
        }
        if (opening.journal().position().number() > 1 && !opening.journal().isWhole()) {
            return new Readable(
                    files,
                    again,
                    "what was redriven from the dead letters was not kept (--keep-journal keeps it from the first record on)");
        }
        return new Readable(
                files,
                again,
                again.stream()
                        .map(this::missing)
                        .filter(missing -> !missing.isEmpty())
                        .findFirst()
                        .orElse(""));
    }

    /// Why a log cannot be read again, from the first offset on that is in the results; empty if it can.
    private String missing(LogSource log) {
        SortedMap<Integer, LogSource.Range> all = new TreeMap<>();
        for (Source.Known known : opening.guard().reading(() -> old.state.sources.store())) {
            if (known.position() instanceof Position.Partition partition
                    && LogBatch.logOf(known.name()).equals(log.name())) {
                long from = partition.first();
                for (Position.Gap gap : partition.gaps()) {
                    from = gap.from() == from ? gap.to() : from;
                }
                if (from < partition.next()) {
                    all.put(
                            LogBatch.partitionOf(known.name()),
                            new LogSource.Range(from, partition.next(), partition.mark()));
                }
            }
        }
        try (LogSource.Again again =
                log.opener().open(definition, () -> opening.space().isClosing())) {
            again.begin(all);
            return "";
        } catch (IOException | RuntimeException e) {
            return "log " + log.name() + " cannot be read again: " + e.getMessage();
        }
    }

    /// Reopens a source by the caller's code. An exception of that code is reported as a changed source; it is
    /// not a failure of the engine.
    private static @Nullable FileSource reopened(Function<String, @Nullable FileSource> reopen, String source) {
        try {
            return reopen.apply(source);
        } catch (RuntimeException e) {
            throw new EngineException(
                    EngineException.Kind.SOURCE_CHANGED,
                    "Source " + source + " could not be looked for: " + e + ". Nothing was changed.",
                    e);
        }
    }
}
