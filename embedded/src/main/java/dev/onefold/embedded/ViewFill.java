package dev.onefold.embedded;

import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.state.Derivation;
import dev.onefold.embedded.disk.Checkpoint;
import dev.onefold.embedded.disk.Entry;
import dev.onefold.embedded.disk.Journal;
import dev.onefold.embedded.fold.Chunk;
import dev.onefold.embedded.fold.LineReader;
import dev.onefold.embedded.fold.Sources;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// Fills a new view beside an old one that goes on serving. Nothing changes the old one meanwhile: intake waits.
final class ViewFill {
    private static final String RECOMPUTED = "its sources are read again";

    private final View.Opening opening;
    private final View old;
    private final Pipeline definition;

    ViewFill(View.Opening opening, View old, Pipeline definition) {
        this.opening = opening;
        this.old = old;
        this.definition = definition;
    }

    /// The filled view; or why it cannot be filled.
    View fill(Function<String, @Nullable FileSource> reopen) {
        return switch (Derivation.of(old.pipeline, definition)) {
            case Derivation.Possible possible
            when possible.doubt().isEmpty() || !isReadable(reopen) ->
                filled(fresh -> fresh.fillFromRows(old, possible));
            case Derivation.Possible possible -> refolded(reopen, possible.doubt());
            case Derivation.Impossible(var reason) -> refolded(reopen, reason);
        };
    }

    private View refolded(Function<String, @Nullable FileSource> reopen, String reason) {
        List<FileSource> files = readable(reopen, reason);
        return filled(fresh -> refold(fresh, files, reason));
    }

    private View filled(Consumer<View> filling) {
        View fresh = View.open(opening, old.number + 1, definition, null);
        boolean filled = false;
        try {
            filling.accept(fresh);
            filled = true;
            return fresh;
        } finally {
            if (!filled) {
                fresh.close(false);
            }
        }
    }

    /// Whether all that was folded can be read again.
    private boolean isReadable(Function<String, @Nullable FileSource> reopen) {
        try {
            readable(reopen, "");
            return true;
        } catch (EngineException e) {
            return false;
        }
    }

    /// A view of the same definition, recomputed from the sources and the journal.
    View shadow(Function<String, @Nullable FileSource> reopen) {
        return refolded(reopen, RECOMPUTED);
    }

    private EngineException refused(String reason, String missing) {
        if (reason.equals(RECOMPUTED)) {
            return new EngineException(
                    EngineException.Kind.SOURCE_CHANGED,
                    "The totals of " + opening.root() + " cannot be recomputed from the sources: " + missing
                            + ". They are as they were.");
        }
        return new EngineException(
                EngineException.Kind.DEFINITION_CHANGED,
                "The pipeline file is not the one that the data in " + opening.root() + " was folded with, and "
                        + reason
                        + ", so the rows do not hold what it needs; " + missing
                        + ". The old definition still stands. Put the file back, or fold into another data directory (--data).");
    }

    /// The sources to read again, in the order in which they were first read.
    private List<FileSource> readable(Function<String, @Nullable FileSource> reopen, String reason) {
        List<FileSource> files = new ArrayList<>();
        for (Sources.Source source : old.state.sources.all()) {
            if (source.replayable) {
                FileSource file = reopen.apply(source.name);
                if (file == null) {
                    throw refused(reason, "source " + source.name + " cannot be read again");
                }
                files.add(file);
            } else if (!opening.journal().isKept()) {
                throw refused(
                        reason,
                        "what came as " + source.name
                                + " was not kept (--keep-journal keeps it from the first record on)");
            }
        }
        return files;
    }

    private void refold(View fresh, List<FileSource> files, String reason) {
        List<Checkpoint.Source> sources = old.state.sources.store();
        for (Checkpoint.Source source : sources) {
            fresh.state.sources.findOrAdd(source.name(), source.replayable());
        }
        for (FileSource file : files) {
            Checkpoint.Source known = sources.stream()
                    .filter(source -> source.name().equals(file.name()))
                    .findFirst()
                    .orElseThrow();
            try (InputStream in = new Limited(file.opener().open(), known.bytes())) {
                refold(fresh, in, known, reason);
            } catch (IOException e) {
                throw refused(reason, "source " + file.name() + " cannot be read again: " + e.getMessage());
            }
        }
        if (opening.journal().position().number() > 1) { // Redriven records are there, too, wherever they came from.
            refoldJournal(fresh, reason);
        }
    }

    private void refold(View fresh, InputStream in, Checkpoint.Source known, String reason) throws IOException {
        Sources.Source source = fresh.state.sources.findOrAdd(known.name(), true);
        LineReader reader = new LineReader(in, LineReader.sha256(), false, false);
        Chunk chunk = new Chunk(fresh.state.shards.length);
        for (LineReader.Lines lines = reader.next(); lines != null; lines = reader.next()) {
            chunk.set(lines, source, source.bytes);
            fresh.folding.takeHeader(chunk);
            fresh.folding.round(List.of(chunk));
            fresh.checkpoints.takeIfDue();
        }
        if (source.bytes != known.bytes() || !Arrays.equals(source.currentHash(), known.sha256())) {
            throw refused(reason, "source " + known.name() + " is not what it was when it was folded");
        }
    }

    private void refoldJournal(View fresh, String reason) {
        if (!opening.journal().isWhole()) {
            throw refused(
                    reason,
                    "what was redriven from the dead letters was not kept (--keep-journal keeps it from the first record on)");
        }
        long[] entries = new long[1];
        try (Journal again = Journal.read(opening.root(), opening.identity(), Journal.Position.START, payload -> {
            entries[0]++;
            switch (Entry.decode(payload)) {
                case Entry.Redrive redrive -> {
                    fresh.commits.refold(redrive, fresh.letters.removeAt(redrive.place()));
                }
                case Entry.Purge _ -> {}
                case Entry entry -> fresh.commits.replay(entry);
            }
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
            int read = super.read(bytes, from, (int) Math.min(length, left));
            left -= Math.max(read, 0);
            return read;
        }
    }
}
