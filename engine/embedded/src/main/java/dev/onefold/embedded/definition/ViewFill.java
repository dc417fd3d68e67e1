package dev.onefold.embedded.definition;

import dev.onefold.api.body.JsonRecords;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.DefinitionChange;
import dev.onefold.core.EngineException;
import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.event.Reason;
import dev.onefold.core.event.RecordEnds;
import dev.onefold.core.keyed.Feeds;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.state.Derivation;
import dev.onefold.core.state.Horizon;
import dev.onefold.embedded.disk.Entry;
import dev.onefold.embedded.disk.FileNames;
import dev.onefold.embedded.disk.Journal;
import dev.onefold.embedded.fold.Chunk;
import dev.onefold.embedded.fold.Lines;
import dev.onefold.embedded.fold.Settled;
import dev.onefold.embedded.fold.ShardFold;
import dev.onefold.embedded.framing.Framing;
import dev.onefold.embedded.framing.LineReader;
import dev.onefold.embedded.framing.Position;
import dev.onefold.embedded.framing.Source;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.view.View;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// Fills a new view beside an old one that continues to serve. Nothing changes the old one meanwhile: intake
/// waits.
final class ViewFill {
    private static final String RECOMPUTED = "its sources are read again";

    private final View.Opening opening;
    private final View old;
    private final Pipeline definition;

    ViewFill(View.Opening opening, View old, Pipeline definition) {
        this.opening = opening;
        this.old = old;
        this.definition = definition.ofDataOf(old.pipeline);
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
                reason, names, opening.journal().position().number() > 1);
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
        return filled(fresh -> refold(fresh, readable.files, reason));
    }

    private View filled(Consumer<View> filling) {
        View fresh = View.open(opening, old.number + 1, definition, null);
        try {
            filling.accept(fresh);
            return fresh;
        } catch (RuntimeException | Error e) {
            discard(fresh, e);
            throw e;
        }
    }

    /// A view that is not finished takes no memory and no space on the disk, however it failed.
    private void discard(View fresh, Throwable failure) {
        try {
            fresh.close(false);
            if (!opening.reading()) {
                FileNames.deleteView(fresh.directory);
            }
        } catch (RuntimeException | Error e) {
            failure.addSuppressed(e);
        }
    }

    /// The files that can be read again.
    ///
    /// @param files in the order in which they were first read
    /// @param missing reason why not all input can be read again; empty if it can
    private record Readable(List<FileSource> files, String missing) {
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
                            + ". They are as they were.");
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
        List<Source> sources = opening.guard().reading(() -> List.copyOf(old.state.sources.all()));
        for (Source source : sources) {
            FileSource file = source.kind() == Source.Kind.FILE ? reopened(reopen, source.name()) : null;
            if (source.kind() != Source.Kind.LINES && Horizon.of(definition).isPresent()) {
                return new Readable(
                        files, "the horizon needs the arrival of each record, and " + source.name() + " has none");
            } else if (file != null) {
                files.add(file);
            } else if (source.kind() != Source.Kind.LINES) {
                return new Readable(files, "source " + source.name() + " cannot be read again");
            } else if (!opening.journal().isKept()) {
                return new Readable(
                        files,
                        "what came as " + source.name()
                                + " was not kept (--keep-journal keeps it from the first record on)");
            }
        }
        if (opening.journal().position().number() > 1
                && !RecordEnds.of(definition).areAs(RecordEnds.of(old.pipeline))) {
            return new Readable(
                    files,
                    "the records of the journal, and edits of dead letters, begin and end at other lines now, because"
                            + " the edition, the quote, the delimiter, the escape or the comment of CSV has changed; 'edition: "
                            + old.pipeline.input().edition() + "' under input is the one of the data");
        }
        if (opening.journal().position().number() > 1 && !opening.journal().isWhole()) {
            return new Readable(
                    files,
                    "what was redriven from the dead letters was not kept (--keep-journal keeps it from the first record on)");
        }
        return new Readable(files, "");
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

    private void refold(View fresh, List<FileSource> files, String reason) {
        boolean hasJournal = opening.journal().position().number() > 1;
        Settled settled = hasJournal ? settled(reason) : new Settled();
        if (reason.equals(RECOMPUTED) && old.state.keep.isPresent()) {
            readAgain(settled);
        }
        fresh.folding.settle(settled);
        fresh.letters.numberFrom(old.letters.idNext()); // A number that was told never means another record.
        List<Source.Known> sources = old.state.sources.store();
        for (Source source : old.state.sources.all()) {
            fresh.state.sources.findOrAdd(source.name(), source.kind());
        }
        for (FileSource file : files) {
            Source.Known known = sources.stream()
                    .filter(source -> source.name().equals(file.name()))
                    .findFirst()
                    .orElseThrow();
            try (InputStream in = Limited.open(RecordEnds.of(definition), file, known.bytes())) {
                refold(fresh, in, known, reason);
            } catch (IOException e) {
                throw refused(reason, "source " + file.name() + " cannot be read again: " + e.getMessage());
            }
        }
        if (hasJournal) { // Redriven records are there, too, wherever they came from.
            refoldJournal(fresh, settled, reason);
        }
        fresh.folding.settle(new Settled());
    }

    /// Notes the letters of records that may have been too new when they were read. After an edit a letter may have
    /// another reason.
    private void readAgain(Settled settled) {
        settled.readAgain();
        List<DeadLetter> page = old.letters.list(0, DeadLetters.PAGE);
        while (!page.isEmpty()) {
            page.stream()
                    .filter(letter -> letter.reason() == Reason.TOO_NEW || old.letters.edited(letter.id()) != null)
                    .forEach(settled::readAgain);
            page = old.letters.list(page.getLast().id(), DeadLetters.PAGE);
        }
    }

    /// The redrives and purges that people have decided. They stay in force when all sources are read again.
    private Settled settled(String reason) {
        Settled settled = new Settled();
        forEachEntry(reason, entry -> {
            switch (entry) {
                case Entry.Redrive redrive
                when redrive.decides() -> settled.edit(redrive.place(), redrive.record(), redrive.kind());
                case Entry.Purge purge ->
                    purge.letters().forEach(letter -> settled.purge(letter.place(), letter.settles()));
                case Entry.Redrive _, Entry.Lines _, Entry.Oversized _ -> {}
            }
            requireMemory(settled);
        });
        return settled.sorted();
    }

    private void refold(View fresh, InputStream in, Source.Known known, String reason) throws IOException {
        Source source = fresh.state.sources.open(known.name(), Source.Kind.FILE);
        Framing framing = Framing.ofLines(definition);
        LineReader reader = LineReader.hashing(RecordEnds.ofSource(definition), in, Sha256.digest(), false);
        Chunk chunk = new Chunk(fresh.state.shards.length);
        for (LineReader.Lines lines = reader.next(); lines != null; lines = reader.next()) {
            chunk.setLines(framing, lines, source, source.at());
            fresh.folding.takeHeader(chunk);
            fresh.folding.rounds(List.of(chunk));
            reader.giveBack(lines);
            fresh.checkpoints.takeIfDue();
            opening.space().requireOpen();
        }
        RecordEnds.Fault fault = reader.fault();
        if (fault != null) {
            throw refused(
                    reason, "source " + known.name() + " cannot be read by it: " + fault.message(source.records()));
        }
        if (!(known.position() instanceof Position.File(long bytes, byte[] sha256, var _))
                || source.at() != bytes
                || !Arrays.equals(source.currentHash(), sha256)) {
            throw refused(reason, "source " + known.name() + " is not what it was when it was folded");
        }
    }

    private void refoldJournal(View fresh, Settled settled, String reason) {
        forEachEntry(reason, entry -> {
            switch (entry) {
                case Entry.Redrive redrive when redrive.decides() -> {}
                case Entry.Redrive redrive ->
                    fresh.letters.at(redrive.place()).stream()
                            .findFirst()
                            .ifPresent(letter -> fresh.letters.edit(letter, redrive.record()));
                case Entry.Purge purge -> fresh.commits.purgeAgain(purge, settled);
                case Entry.Lines _, Entry.Oversized _ -> fresh.commits.replay(entry);
            }
            fresh.checkpoints.takeIfDue();
        });
    }

    private void requireMemory(Settled settled) {
        if (settled.editBytes() > Lines.heapBytesMax()) {
            throw new EngineException(
                    EngineException.Kind.STATE_FULL,
                    "The edits of dead letters take more than " + Lines.heapBytesMax()
                            + " bytes of the heap, a quarter of it, while the sources of " + opening.root()
                            + " are folded again. Nothing was changed. Allow a larger heap (java -Xmx).");
        }
    }

    private void forEachEntry(String reason, Consumer<Entry> visitor) {
        long[] entries = new long[1];
        try (Journal again = Journal.read(opening.root(), opening.identity(), Journal.Position.START, payload -> {
            entries[0]++;
            opening.space().requireOpen();
            visitor.accept(Entry.decode(payload));
        })) {
            if (again.position().number() != opening.journal().position().number()) {
                throw refused(
                        reason,
                        "the journal holds " + entries[0] + " of "
                                + (opening.journal().position().number() - 1) + " entries");
            }
        }
    }

    /// The first bytes of a stream.
    private static final class Limited extends FilterInputStream {
        private long left;

        Limited(InputStream in, long bytes) {
            super(in);
            left = bytes;
        }

        static Limited open(RecordEnds ends, FileSource file, long bytes) throws IOException {
            try {
                return new Limited(JsonRecords.of(ends, file.opener().open()), bytes);
            } catch (RuntimeException e) {
                throw new IOException(e);
            }
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] bytes, int from, int length) throws IOException {
            if (left == 0) {
                return -1;
            }
            try {
                int read = super.read(bytes, from, (int) Math.min(length, left));
                left -= Math.max(read, 0);
                return read;
            } catch (RuntimeException e) { // The caller's code has failed, not the engine.
                throw new IOException(e);
            }
        }
    }
}
