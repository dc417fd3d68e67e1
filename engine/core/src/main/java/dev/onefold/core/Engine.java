package dev.onefold.core;

import dev.onefold.core.Capabilities.Capability;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.process.KeyState;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import dev.onefold.core.query.TableAnswer;
import dev.onefold.core.query.TableQuery;
import dev.onefold.core.state.RangeSums;
import dev.onefold.core.state.Row;
import dev.onefold.core.state.RowMark;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/// The engine of one pipeline in a runtime: its totals, and the operations on them. All methods may be called
/// from any thread, also during intake.
public interface Engine extends AutoCloseable {
    /// The pipeline whose totals are served.
    Pipeline pipeline();

    /// The capabilities of this runtime. A method that needs a missing capability throws an
    /// [IllegalArgumentException] with the reason.
    Capabilities capabilities();

    /// Answers from one cut.
    ///
    /// @throws IllegalArgumentException if the query names something that the pipeline does not have
    Answer query(Query query);

    /// Answers from one cut, for a reader that takes the lines one by one: they are valid until it returns,
    /// and it may take its time. Of a large answer no more than a few lines are on the heap at a time.
    ///
    /// @throws IllegalArgumentException if the query names something that the pipeline does not have
    default <T> T query(Query query, Function<Answer, T> reader) {
        return reader.apply(query(query));
    }

    /// The row of a key, given by its parts.
    ///
    /// @throws IllegalArgumentException if the pipeline's keys have another number of parts, or it has none
    Optional<Row> get(List<String> key);

    /// The rows of several keys, in their order, each as it is when it is read.
    ///
    /// @throws IllegalArgumentException as [#get]
    default List<Optional<Row>> rows(List<List<String>> keys) {
        return keys.stream().map(this::get).toList();
    }

    /// The state of a key that a function folds, given by its parts.
    ///
    /// @throws IllegalArgumentException if the pipeline has no function, or its keys have another number of
    ///     parts
    default Optional<KeyState> state(List<String> key) {
        throw new IllegalArgumentException("Pipeline " + pipeline().name() + " has no process section here");
    }

    /// Reads rows of a function's tables from one cut, for a reader that takes them one by one: they are
    /// valid until it returns.
    ///
    /// @throws IllegalArgumentException if the pipeline has no such tables
    default <T> T tables(TableQuery query, Function<TableAnswer, T> reader) {
        throw new IllegalArgumentException("Pipeline " + pipeline().name() + " has no process section here");
    }

    /// The batches of the pipeline.
    ///
    /// @throws IllegalArgumentException if it makes none
    default SealedBatches batches() {
        throw new IllegalArgumentException("Pipeline " + pipeline().name() + " has no batch section here");
    }

    /// Reads something under one definition: reads it again if another definition serves afterwards.
    ///
    /// @param reading gets the pipeline that serves; may be called several times
    default <T> T underOneDefinition(Function<Pipeline, T> reading) {
        while (true) {
            Pipeline before = pipeline();
            try {
                T read = reading.apply(before);
                if (pipeline().equals(before)) {
                    return read;
                }
            } catch (RuntimeException e) {
                if (pipeline().equals(before)) {
                    throw e;
                }
            }
        }
    }

    /// Recomputes the totals from all rows and compares.
    default Verification verify() {
        return verify(Truth.ROWS);
    }

    /// Recomputes the totals from the truth and compares.
    ///
    /// @throws IllegalArgumentException if there is no such truth in this pipeline
    Verification verify(Truth truth);

    /// Replaces the totals by those recomputed from all rows.
    default Verification rebuild() {
        return rebuild(Truth.ROWS);
    }

    /// Replaces the totals by recomputed ones; the differences that it returns are repaired.
    ///
    /// @throws IllegalArgumentException if there is no such truth in this pipeline
    Verification rebuild(Truth truth);

    /// Checksums of all rows, by ranges of their keys. Each row is read once, and intake continues meanwhile,
    /// so the sums are not of one cut.
    default RangeSums rangeSums() {
        throw lacking(Capability.COMPARISON);
    }

    /// The rows of some ranges of [RangeSums], deleted ones included, each as it is when it is read.
    default List<RowMark> rowMarks(BitSet ranges) {
        throw lacking(Capability.COMPARISON);
    }

    /// The rejected records.
    DeadLetters deadLetters();

    /// The counts of the records so far, by fate.
    Counts counts();

    /// Why records were stale, conflicting or silent, where the cause has a name.
    Causes causes();

    /// The status of the engine.
    default Status status() {
        throw lacking(Capability.STATUS);
    }

    /// How the data can follow another definition of its pipeline. Changes nothing.
    ///
    /// @throws EngineException if the definition is of another pipeline
    default DefinitionChange change(Pipeline definition) {
        throw lacking(Capability.DEFINITION_CHANGE);
    }

    /// Whether the journal is kept for ever, and its release.
    default KeptJournal journal() {
        throw lacking(Capability.JOURNAL);
    }

    /// Takes records of a source that cannot be read again, behind those that it has. When it returns, they
    /// are durable and in the totals. Any number of threads may append to one source.
    ///
    /// @param records without line ends; an empty list does nothing, an empty record becomes a dead letter
    default Appended append(String source, List<String> records) {
        throw lacking(Capability.APPEND);
    }

    /// Takes whole lines of a source that cannot be read again, numbered by a producer that sends them
    /// again after a failure. When it returns, they are durable and in the totals.
    ///
    /// @param firstRecord number of the first line, from 1; lines that are in already are passed over
    /// @param length number of bytes of the lines, from the beginning of the array; 0 does nothing
    /// @return the fates of the lines that were not passed over
    /// @throws EngineException if lines in between are missing
    default Appended append(String source, long firstRecord, byte[] lines, int length) {
        throw lacking(Capability.APPEND);
    }

    /// Takes rows of a table, or removals of rows, from a seeding or a repair: lines of
    /// [dev.onefold.core.form.RowLine]. Otherwise as [#append(String, long, byte\[\], int)]. It is for a
    /// process beside the data directory; [#sync] brings rows to every engine, under a number that orders
    /// them.
    default Appended appendRows(String source, long firstRecord, byte[] lines, int length) {
        throw lacking(Capability.APPEND);
    }

    /// The seedings, repairs and comparisons of this engine.
    default Sync sync() {
        throw lacking(Capability.SYNC);
    }

    /// Lines of a source that are acknowledged so far.
    default long acknowledged(String source) {
        throw lacking(Capability.APPEND);
    }

    /// Takes a checkpoint now, and waits until it is durable.
    default void checkpointNow() {
        throw lacking(Capability.CHECKPOINT);
    }

    private IllegalArgumentException lacking(Capability capability) {
        return new IllegalArgumentException(capabilities().reason(capability).orElseThrow());
    }

    /// Forces everything that was folded to disk, and releases all resources. May be called twice.
    @Override
    void close();

    /// The fate of appended records. They are forced to disk, and are in the totals or among the dead letters.
    ///
    /// @param acknowledged lines of the source that are acknowledged so far, these included
    /// @param counts of these records alone
    /// @param letters ids of the dead letters that these records became or caused, ascending
    record Appended(long acknowledged, Counts counts, List<Long> letters) {
        public Appended {
            letters = List.copyOf(letters);
        }

        /// Nothing appended.
        public static Appended none(long acknowledged) {
            return new Appended(acknowledged, new Counts(0, 0, 0, 0, 0), List.of());
        }

        /// These records, and those that were appended behind them.
        public Appended plus(Appended later) {
            List<Long> all = new ArrayList<>(letters);
            all.addAll(later.letters);
            return new Appended(later.acknowledged, counts.plus(later.counts), all);
        }
    }

    /// Whether an engine keeps its journal for ever. Any thread may call.
    interface KeptJournal {
        /// Whether all entries are kept, from the first on, so that totals can be recomputed from them.
        boolean isKept();

        /// Keeps the journal no longer: the entries that a checkpoint covers are deleted, now and from now
        /// on. This cannot be taken back.
        void release();
    }
}
