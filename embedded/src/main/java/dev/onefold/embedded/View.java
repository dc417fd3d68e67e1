package dev.onefold.embedded;

import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.PipelineText;
import dev.onefold.core.pipeline.Reading;
import dev.onefold.core.state.Derivation;
import dev.onefold.embedded.disk.Checkpoint;
import dev.onefold.embedded.disk.Disk;
import dev.onefold.embedded.disk.FileHeader;
import dev.onefold.embedded.disk.FileNames;
import dev.onefold.embedded.disk.GroupLogs;
import dev.onefold.embedded.disk.Journal;
import dev.onefold.embedded.disk.Letters;
import dev.onefold.embedded.disk.OutOfSpaceException;
import dev.onefold.embedded.fold.Folding;
import dev.onefold.embedded.fold.State;
import dev.onefold.embedded.fold.Workers;
import dev.onefold.embedded.rows.RowBatch;
import dev.onefold.embedded.rows.RowTranslator;
import dev.onefold.embedded.rows.Rows;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/// The totals under one definition: state, dead letters and checkpoints in a directory `view-N` of their own. The
/// file `CURRENT` names the one that serves; a new definition is filled beside it and takes its place by one
/// rename. Guarded by the engine's lock.
final class View {
    private static final String CURRENT = "CURRENT";
    private static final int FORMAT = 1;
    private static final Pattern FORMAT_OF_NAME = Pattern.compile("onefold ([0-9]{1,5}) ");
    private static final Pattern NAME = Pattern.compile("onefold [0-9]+ view-([1-9][0-9]{0,17}) [0-9a-f]{8}\n");

    final Path directory;
    final long number;
    final Pipeline pipeline;
    final State state;
    final Letters letters;
    final GroupLogs groupLogs;
    final Folding folding;
    final Checkpoints checkpoints;
    final Commits commits;

    private View(
            Path directory, long number, Recovery.Recovered recovered, Opening opening, @Nullable Checkpoint from) {
        this.directory = directory;
        this.number = number;
        state = recovered.state();
        pipeline = state.pipeline;
        letters = recovered.letters();
        groupLogs = recovered.groupLogs();
        folding = new Folding(state, letters, opening.settings, opening.workers);
        commits = new Commits(state, folding, letters, opening.journal);
        checkpoints = new Checkpoints(
                directory,
                new Checkpoints.Engine(
                        state,
                        letters,
                        groupLogs,
                        opening,
                        PipelineText.write(pipeline),
                        from == null ? 0 : from.number(),
                        from == null ? Instant.EPOCH : from.at()));
    }

    /// What views of one engine share.
    ///
    /// @param reading whether nothing on the disk may be changed
    record Opening(Path root, Settings settings, Workers workers, Journal journal, boolean reading) {}

    /// The number of the view that serves; 0 if there is none yet.
    static long current(Path root) {
        Path file = root.resolve(CURRENT);
        if (!Files.exists(file)) {
            requireNoData(root);
            return 0;
        }
        String text = new String(Disk.readAll(file), StandardCharsets.US_ASCII);
        if (text.startsWith("view-")) { // As it was before files had numbers.
            throw FileHeader.otherFormat(file, 0, FORMAT);
        }
        Matcher format = FORMAT_OF_NAME.matcher(text);
        if (format.lookingAt() && Integer.parseInt(format.group(1)) != FORMAT) {
            throw FileHeader.otherFormat(file, Integer.parseInt(format.group(1)), FORMAT);
        }
        Matcher named = NAME.matcher(text);
        if (!named.matches() || !text.equals(nameOf(Long.parseLong(named.group(1))))) {
            throw Disk.corrupt(file, 0, "it does not name a view");
        }
        return Long.parseLong(named.group(1));
    }

    /// A line of text: `onefold 1 view-3 `, then its CRC-32C.
    private static String nameOf(long number) {
        String name = "onefold " + FORMAT + " view-" + number + " ";
        CRC32C crc = new CRC32C();
        crc.update(name.getBytes(StandardCharsets.US_ASCII));
        return name + HexFormat.of().toHexDigits((int) crc.getValue()) + "\n";
    }

    /// A view that was begun when a crash came holds no record yet; one that does was named, and its name is gone.
    private static void requireNoData(Path root) {
        for (Path view : FileNames.list(root, FileNames::isView)) {
            Checkpoint checkpoint = Checkpoint.read(view);
            if (checkpoint != null && !checkpoint.sources().isEmpty()) {
                throw Disk.corrupt(root.resolve(CURRENT), 0, "the file is gone, but " + view + " holds data");
            }
        }
    }

    /// The definition that a checkpoint was taken under.
    static Pipeline definition(Path root, Checkpoint checkpoint) {
        return switch (PipelineText.read(checkpoint.definition())) {
            case Reading.Read(var pipeline) -> pipeline;
            case Reading.Refused refused ->
                throw new EngineException(
                        EngineException.Kind.FORMAT,
                        "The definition stored in " + root + " cannot be read: "
                                + refused.problems().getFirst() + ". Use the version of Onefold that wrote it.");
        };
    }

    /// Settings under which nothing of the data is changed: who only looks neither divides the rows anew nor lets
    /// go of a journal that was kept.
    static Settings asStored(Path root, Checkpoint checkpoint, Settings settings) {
        boolean kept = Journal.isKept(root);
        return settings.withShards(checkpoint.rows().size()).withKeepJournal(kept || settings.keepJournal());
    }

    static Path directory(Path root, long number) {
        return root.resolve("view-" + number);
    }

    /// Opens the view that a checkpoint describes, or begins one with nothing.
    static View open(Opening opening, long number, Pipeline pipeline, @Nullable Checkpoint checkpoint) {
        Path directory = directory(opening.root, number);
        if (!opening.reading) {
            Disk.createDirectories(directory);
        }
        Recovery recovery = new Recovery(directory, pipeline, opening);
        return new View(directory, number, recovery.recover(checkpoint), opening, checkpoint);
    }

    /// Makes this view the one that serves; durable when it returns.
    void serve(Opening opening) {
        checkpoints.take();
        checkpoints.await();
        name(opening.root, number, opening.settings.pause());
    }

    /// Names the view that serves, also when that name can be read already: it may have been left by a process that was
    /// killed, or stopped, before it was on the disk; and what it does not name is about to be deleted.
    static void name(Path root, long number, Runnable pause) {
        ByteBuffer name = ByteBuffer.wrap(nameOf(number).getBytes(StandardCharsets.US_ASCII));
        while (true) {
            try {
                Disk.replace(root.resolve(CURRENT), name.duplicate());
                return;
            } catch (OutOfSpaceException e) {
                pause.run();
            }
        }
    }

    /// Fills this view, which is empty, from the rows and the dead letters of another; both hold the same sources then.
    void fillFromRows(View other, Derivation.Possible derivation) {
        state.sources.load(other.state.sources.store());
        state.watermarkMs = other.state.watermarkMs;
        RowTranslator translator = new RowTranslator(other.pipeline, other.state.groups, state.groups, derivation);
        for (Rows rows : other.state.shards) {
            translator.translate(rows, batch -> {
                applyTranslated(batch, _ -> {
                    throw new IllegalStateException("A key has two rows");
                });
                checkpoints.takeIfDue();
            });
        }
        for (Rows rows : state.shards) {
            rows.resetCounts();
        }
        state.counts = other.state.allCounts();
        new LetterFill(other, this, derivation).fill();
    }

    /// Applies rows that were made of another view's.
    void applyTranslated(RowBatch batch, Rows.Conflicts conflicts) {
        requireMemory(batch);
        List<RowBatch> byShard = new ArrayList<>();
        for (int shard = 0; shard < state.shards.length; shard++) {
            byShard.add(new RowBatch());
        }
        batch.split(byShard);
        for (int shard = 0; shard < state.shards.length; shard++) {
            state.shards[shard].apply(byShard.get(shard), conflicts);
        }
    }

    private void requireMemory(RowBatch batch) {
        long needed = state.valueBytesFor(batch.count(), batch.bytes());
        for (Rows rows : state.shards) {
            needed += rows.store().bytesFor(batch.bytes(), batch.count());
        }
        if (!state.memory.fits(needed)) {
            throw new EngineException(
                    EngineException.Kind.STATE_FULL,
                    "There is not enough memory to fill the new view beside the old one: " + state.memory.bytesMax()
                            + " bytes are allowed for each. Allow more (--state-memory); the old view is as it was.");
        }
    }

    /// Lets go of memory and files.
    void close(boolean broken) {
        checkpoints.close();
        if (!broken) { // A writer may still be at work after a failure; the process is about to end.
            state.close();
        }
        letters.close();
        groupLogs.close();
    }

    /// Deletes the directories of views that do not serve: of an old one that was replaced, or a new one that was
    /// never finished.
    static void deleteOthers(Path root, long current) {
        Path serving = directory(root, current);
        FileNames.list(root, path -> FileNames.isView(path) && !path.equals(serving))
                .forEach(FileNames::deleteView);
    }
}
