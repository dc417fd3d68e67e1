package dev.onefold.embedded.view;

import dev.onefold.core.EngineException;
import dev.onefold.core.aggregate.Cells;
import dev.onefold.core.map.Groups;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.checkpoint.Checkpoint;
import dev.onefold.embedded.checkpoint.Checkpoint.Extent;
import dev.onefold.embedded.checkpoint.GroupLogs;
import dev.onefold.embedded.disk.Disk;
import dev.onefold.embedded.disk.FileNames;
import dev.onefold.embedded.fold.ShardFold;
import dev.onefold.embedded.fold.State;
import dev.onefold.embedded.letters.Letters;
import dev.onefold.embedded.rows.Memory;
import dev.onefold.embedded.rows.RowFiles;
import dev.onefold.embedded.rows.RowStore;
import dev.onefold.embedded.rows.Segment;
import dev.onefold.embedded.rows.Shard;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/// Brings a data directory back into memory as its checkpoint says. The engine folds the entries of the journal
/// behind the checkpoint again, with the same code as at first.
final class Recovery {
    private final Path directory;
    private final Pipeline pipeline;
    private final View.Opening opening;
    private final long identity;
    private final Memory memory;

    Recovery(Path directory, Pipeline pipeline, View.Opening opening) {
        this.directory = directory;
        this.pipeline = pipeline;
        this.opening = opening;
        identity = opening.identity();
        memory = new Memory(opening.settings().stateBytesMax());
    }

    /// The recovered state of a view.
    ///
    /// @param replaced files that the next checkpoint does not name any more
    record Recovered(ShardFold fold, Letters letters, GroupLogs groupLogs, List<Path> replaced) {}

    /// Reads all that a checkpoint names; without one, begins with nothing.
    Recovered recover(@Nullable Checkpoint checkpoint) {
        Letters letters = new Letters(directory, identity, memory);
        ShardFold fold = ShardFold.of(new ShardFold.Parts(
                pipeline,
                directory,
                identity,
                opening.settings(),
                memory,
                letters,
                opening.workers(),
                opening.codes()));
        State state = fold.state();
        GroupLogs groupLogs = new GroupLogs(directory, identity, state.groups, state.values);
        Recovered recovered = new Recovered(fold, letters, groupLogs, new ArrayList<>());
        boolean whole = false;
        try {
            recover(checkpoint, recovered);
            whole = true;
            return recovered;
        } finally {
            if (!whole) {
                fold.close();
                state.close();
                letters.close();
                letters.free();
                groupLogs.close();
            }
        }
    }

    private void recover(@Nullable Checkpoint checkpoint, Recovered into) {
        if (checkpoint != null) {
            into.fold.recover(checkpoint);
        }
        if (!opening.reading()) {
            if (checkpoint != null) {
                writeAgain(checkpoint);
            }
            deleteUnnamed(checkpoint, into.fold.files());
        }
        if (checkpoint == null) {
            return;
        }
        requireMemory(checkpoint);
        State state = into.fold.state();
        state.sources.load(checkpoint.sources());
        state.countBefore(checkpoint.counts(), checkpoint.causes());
        state.saw(checkpoint.seenMs());
        into.letters.load(checkpoint.letters());
        if (!memory.fits(0)) {
            throw new EngineException(
                    EngineException.Kind.STATE_FULL,
                    "The " + into.letters.size() + " dead letters in " + directory + " need " + memory.used()
                            + " bytes of memory; " + memory.bytesMax() + " are allowed. Allow more (--state-memory).");
        }
        int shards = checkpoint.rows().size();
        if (shards == opening.settings().shards()) {
            into.groupLogs.load(checkpoint.groupLogs(), state.cells());
            requireMemory(checkpoint); // The values of measures are in it now.
            loadRows(checkpoint, state.shards);
        } else {
            reshard(checkpoint, state, into.groupLogs);
            into.replaced.addAll(rowFiles(checkpoint));
        }
    }

    /// Writes again the checkpoint that was read. It may not be on the disk yet: the process that renamed it
    /// was perhaps killed, or its force failed. Files that it does not name are about to be deleted, and the
    /// checkpoint before may name them.
    private void writeAgain(Checkpoint checkpoint) {
        opening.space().change(() -> checkpoint.write(directory));
    }

    private void requireMemory(Checkpoint checkpoint) {
        long segments = checkpoint.rows().stream()
                .flatMap(List::stream)
                .filter(extent -> Shard.takesMemory(extent.sequence()))
                .count();
        if (!memory.fits(segments * Segment.BYTES)) {
            throw new EngineException(
                    EngineException.Kind.STATE_FULL,
                    "The rows in " + directory + " need " + segments * Segment.BYTES + " bytes of memory beside "
                            + memory.used() + " that are in use (values of min, max and distinct among them); "
                            + memory.bytesMax() + " are allowed. Allow more (--state-memory).");
        }
    }

    private void loadRows(Checkpoint checkpoint, Shard[] shards) {
        AtomicInteger next = new AtomicInteger();
        opening.workers().run(Math.min(opening.workers().parallelism(), shards.length), _ -> {
            for (int shard = next.getAndIncrement(); shard < shards.length; shard = next.getAndIncrement()) {
                RowFiles files = new RowFiles(directory, identity, shard);
                for (Extent extent : checkpoint.rows().get(shard)) {
                    RowStore store = shards[shard].storeOf(extent.sequence());
                    Segment segment = store.segmentToLoad(extent.sequence());
                    files.read(segment, extent.length());
                    long wrong = store.load(segment, shard, shards.length);
                    if (wrong >= 0) {
                        throw Disk.corrupt(
                                files.file(extent.sequence()), wrong, "the row's key belongs to another shard");
                    }
                    shards[shard].map(files); // One after the other: together they may not fit.
                }
                shards[shard].loaded(files);
            }
        });
    }

    /// The number of shards has changed: each new one takes its rows out of the old ones, and the first
    /// inherits all cells.
    private void reshard(Checkpoint checkpoint, State state, GroupLogs groupLogs) {
        Groups[] groups = state.groups;
        Shard[] old = new Shard[checkpoint.rows().size()];
        Arrays.setAll(old, _ -> state.newShard());
        Cells[][] oldCells = State.cellsOf(old, groups.length, state.forgets);
        groupLogs.load(checkpoint.groupLogs(), oldCells);
        groupLogs.beginAnew();
        loadRows(checkpoint, old);
        for (int shard = 0; shard < state.shards.length; shard++) {
            state.shards[shard].numberBehind(old);
            for (Shard each : old) {
                state.shards[shard].adopt(each, shard, state.shards.length);
            }
            state.shards[shard].loaded(new RowFiles(directory, identity, shard));
        }
        for (int part = 0; part < oldCells.length; part++) {
            for (int rollup = 0; rollup < groups.length; rollup++) {
                Cells heir = part < old.length ? state.shards[0].cells(rollup) : state.shards[0].forgotten(rollup);
                heir.addAll(oldCells[part][rollup], groups[rollup].size());
            }
        }
        for (Shard each : old) {
            memory.give(each.bytes());
            each.close();
        }
    }

    private List<Path> rowFiles(Checkpoint checkpoint) {
        List<Path> all = new ArrayList<>();
        for (int shard = 0; shard < checkpoint.rows().size(); shard++) {
            RowFiles files = new RowFiles(directory, identity, shard);
            checkpoint.rows().get(shard).forEach(extent -> all.add(files.file(extent.sequence())));
        }
        return all;
    }

    /// Deletes the files that a crash left between being written and being named, or between being unnamed
    /// and deleted. Files of deliveries do not belong to the checkpoint, and stay.
    ///
    /// @param foldFiles names of the files that the kind of fold needs
    void deleteUnnamed(@Nullable Checkpoint checkpoint, List<String> foldFiles) {
        Set<String> named = new HashSet<>();
        if (checkpoint != null) {
            rowFiles(checkpoint).forEach(file -> named.add(String.valueOf(file.getFileName())));
            checkpoint.groupLogs().forEach(log -> named.add("groups-" + log.sequence()));
            named.add("letters-" + checkpoint.letters().sequence());
            named.add("CHECKPOINT");
            named.addAll(foldFiles);
        }
        FileNames.list(
                        directory,
                        file -> FileNames.isInView(file)
                                && !named.contains(String.valueOf(file.getFileName()))
                                && (checkpoint == null || !FileNames.isOfDelivery(file)))
                .forEach(Disk::delete);
    }
}
