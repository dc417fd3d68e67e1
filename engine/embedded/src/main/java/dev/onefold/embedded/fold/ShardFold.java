package dev.onefold.embedded.fold;

import dev.onefold.core.EngineException;
import dev.onefold.core.Status;
import dev.onefold.core.Verification;
import dev.onefold.core.event.Decoder.RecordIdentity;
import dev.onefold.core.event.Event;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.process.LoadedFunction;
import dev.onefold.embedded.checkpoint.Checkpoint;
import dev.onefold.embedded.disk.Entry;
import dev.onefold.embedded.disk.OutOfSpaceException;
import dev.onefold.embedded.framing.Records;
import dev.onefold.embedded.guard.Backlog;
import dev.onefold.embedded.guard.EngineLimits;
import dev.onefold.embedded.letters.Letters;
import dev.onefold.embedded.rows.Memory;
import dev.onefold.embedded.rows.Shard;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The fold of a view by its kind. [#of] makes one object per view from the pipeline, and no other code asks
/// for the kind: a plain roll-up enters no class of functions or batches. Most methods have a default, for
/// the kinds that have nothing to do there. Called with the engine's lock held; within a round also by its
/// threads, each with its own [Encoder], then with one shard at a time.
///
///     decode   encoder().add    an event into its chunk, any thread
///     round    begin            one thread
///              apply            each shard on one thread
///              end              one thread
public sealed interface ShardFold permits TotalsFold, KeyedFold, MemberFold {
    /// The parts of a fold.
    ///
    /// @param directory of the view
    /// @param identity of the data directory
    /// @param codes empty if no pipeline has a function
    record Parts(
            Pipeline pipeline,
            Path directory,
            long identity,
            EngineLimits settings,
            Memory memory,
            Letters letters,
            Workers workers,
            Optional<Codes> codes) {
        State state(Shard.Maker shards) {
            return new State(pipeline, settings.shards(), memory, shards);
        }
    }

    /// The fold of a pipeline, with nothing folded.
    static ShardFold of(Parts parts) {
        return switch (parts.pipeline.fold()) {
            case Rollups _ -> new TotalsFold(parts);
            case Processing processing -> new KeyedFold(parts, processing);
            case Batching batching -> new MemberFold(parts, batching);
        };
    }

    /// The function of a definition; empty if it has none.
    private static Optional<Processing> function(Pipeline definition) {
        return switch (definition.fold()) {
            case Processing processing -> Optional.of(processing);
            case Rollups _, Batching _ -> Optional.empty();
        };
    }

    /// Requires that the function of a definition is found, if it has one.
    static void requireFound(Pipeline definition) {
        if (function(definition).filter(each -> each.code() == null).isPresent()) {
            throw new IllegalArgumentException(
                    "Pipeline " + definition.name() + " has a process section: open it with its function");
        }
    }

    /// The functions of a data directory; empty if neither definition has one.
    ///
    /// @param given the function that the directory was opened with; `null`: no function
    /// @throws EngineException if the wanted function is older than that of the stored data
    static Optional<Codes> codes(Path root, @Nullable LoadedFunction given, Pipeline stored, Pipeline wanted) {
        Optional<Processing> has = function(stored);
        Optional<Processing> wants = function(wanted);
        if (has.isEmpty() && wants.isEmpty()) {
            return Optional.empty();
        }
        Optional<FunctionVersions> versions =
                has.flatMap(old -> wants.map(next -> new FunctionVersions(stored, old, wanted, next)));
        versions.ifPresent(FunctionVersions::requireNotLower);
        return Optional.of(new Codes(root, given, versions.flatMap(FunctionVersions::otherJar)));
    }

    /// Everything that is folded.
    State state();

    /// Puts events into chunks. Each thread has its own.
    interface Encoder {
        void add(Event event, Chunk chunk, Records records);
    }

    Encoder encoder();

    /// Begins a round, whose chunks are decoded.
    default void begin(List<Chunk> chunks, Instant now) {}

    /// Applies the part of a shard, chunk after chunk.
    void apply(int shard, List<Chunk> chunks);

    /// Ends a round, when all shards have ended and the sources have advanced.
    void end(List<Chunk> chunks, Instant now);

    /// Whether the one record of a chunk, which is redriven and decoded, would be accepted now. Changes
    /// nothing.
    default boolean accepts(Chunk chunk) {
        return true;
    }

    /// The mark of a purge or an edit that settles the letter of a conflict.
    default Entry.Settles settlesConflict() {
        return Entry.Settles.LOST_ROW;
    }

    /// The part of a checkpoint beside rows, cells and letters.
    interface Cut {
        Cut NONE = new Cut() {};

        /// Input of [ShardFold#recover].
        default byte[] state() {
            return new byte[0];
        }

        /// Writes it; durable when this returns. After a full disk it can be written again.
        default void write() throws OutOfSpaceException {}

        /// The checkpoint is durable.
        default void written() {}
    }

    /// Cuts here: all that was folded so far belongs to this checkpoint.
    default Cut cut() {
        return Cut.NONE;
    }

    /// Whether enough waits for a checkpoint that one is due.
    default boolean isCheckpointDue() {
        return false;
    }

    /// Loads the state of [Cut#state] from a checkpoint. Rows and cells are loaded afterwards.
    default void recover(Checkpoint checkpoint) {}

    /// Names of the files beside those of rows, groups and letters that a checkpoint needs.
    default List<String> files() {
        return List.of();
    }

    /// The sealed batches for which intake has to wait now; empty if it continues.
    default Optional<Backlog> backlog() {
        return Optional.empty();
    }

    /// Compares the served totals with those of the rows, and the other stored state with its origin.
    default Verification verify(Workers workers) {
        State state = state();
        List<Verification.Difference> differences = new ArrayList<>();
        long[] groups = new long[1];
        state.recompute(
                workers,
                (rollup, recomputed) ->
                        groups[0] += Verification.compare(state.served(rollup), recomputed, differences));
        String truth = state.rows() + " " + rowWord() + (state.rows() == 1 ? "" : "s")
                + (state.hasForgotten() ? " and what forgotten rows came to" : "");
        return audited(new Verification(truth, groups[0], differences));
    }

    /// Compares the served totals and the other stored state with those of another fold of the same definition.
    default Verification verify(ShardFold recomputed, String truth) {
        List<Verification.Difference> differences = new ArrayList<>();
        long groups = 0;
        long seenMs = Math.max(state().seenMs(), recomputed.state().seenMs());
        for (int rollup = 0; rollup < state().groups.length; rollup++) {
            groups += Verification.compare(
                    state().served(rollup, seenMs), recomputed.state().served(rollup, seenMs), differences);
        }
        return compared(new Verification(truth, groups, differences), recomputed);
    }

    /// The word for a row in a message.
    default String rowWord() {
        return "row";
    }

    /// Adds to a comparison of totals with rows a comparison of the other stored state.
    default Verification audited(Verification ofTotals) {
        return ofTotals;
    }

    /// Adds to a comparison of totals with those of another fold a comparison of the other stored state.
    default Verification compared(Verification ofTotals, ShardFold recomputed) {
        return ofTotals;
    }

    /// Requires that totals can be recomputed.
    ///
    /// @throws IllegalArgumentException saying why they cannot
    default void requireRecomputable() {}

    /// The origin of the state of a view with another definition.
    sealed interface Basis {
        /// The stored state.
        ///
        /// @param lost fields that the next definition drops and nobody can read again
        /// @param doubt why a fold of all records might come to something else; empty if it could not
        record Stored(List<String> lost, String doubt) implements Basis {}

        /// The sources, read again.
        ///
        /// @param reason why the stored state is not enough
        record Sources(String reason) implements Basis {
            static final Sources OTHER_KIND =
                    new Sources("a pipeline with a function and one without hold different things");
        }

        /// There is none.
        record Nothing(String reason) implements Basis {
            static final Nothing MADE_NO_BATCHES = sealed("the pipeline did not make batches before");

            static Nothing sealed(String change) {
                return new Nothing("what is sealed cannot be sealed again, and " + change);
            }
        }
    }

    /// The origin of the state of a view with another definition of this pipeline.
    ///
    /// @param areSourcesWhole whether all input can be read again
    Basis basis(Pipeline definition, boolean areSourcesWhole);

    /// The state of a view with another definition, and the parts of its own view that a fold is filled with.
    ///
    /// @param refold folds the record of a letter again
    /// @param between called between two parts of the work, so that a checkpoint may be taken
    record Filling(State state, Letters letters, Consumer<Entry.Redrive> refold, Runnable between) {}

    /// Fills this fold, as [Basis.Stored] allows. It is empty, but has the sources, letters and counts of the
    /// other view.
    ///
    /// @throws EngineException if the stored state cannot be brought to this definition
    void fill(Filling from);

    /// The part that folds keys by the user's function.
    ///
    /// @throws IllegalArgumentException if the pipeline has none
    default KeyedFold keyed() {
        throw new IllegalArgumentException("Pipeline " + state().pipeline.name() + " has no process section");
    }

    /// The part that collects the members of batches; empty if the pipeline makes none.
    default Optional<MemberFold> members() {
        return Optional.empty();
    }

    /// Requires rows with versions, which can be compared with those of a table.
    default TotalsFold listed() {
        throw new IllegalArgumentException("Pipeline " + state().pipeline.name()
                + " keeps no rows with versions, so there is nothing that could be compared with a table");
    }

    /// The identity of a record, as the summary of a letter states it; empty if a row's summary does not.
    default Optional<RecordIdentity> stated(byte[] summary) {
        return Optional.empty();
    }

    /// Whether events can be folded: the function's code is here, if the pipeline has a function.
    default boolean canFold() {
        return true;
    }

    /// Requires that events can be folded.
    ///
    /// @throws EngineException if the function's code is not here
    default void requireCode() {}

    /// The state of the function; empty if the pipeline has none.
    default Optional<Status.OfFunction> functionStatus() {
        return Optional.empty();
    }

    /// Ends the threads of the function.
    default void close() {}
}
