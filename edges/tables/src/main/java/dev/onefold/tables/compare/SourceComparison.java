package dev.onefold.tables.compare;

import dev.onefold.core.DeadLetters;
import dev.onefold.core.Engine;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Input.Format;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.state.Key;
import dev.onefold.core.state.RangeSums;
import dev.onefold.core.state.Row;
import dev.onefold.core.state.RowMark;
import dev.onefold.tables.Rate;
import dev.onefold.tables.RowForm;
import dev.onefold.tables.RowSource;
import dev.onefold.tables.Seeder;
import dev.onefold.tables.compare.Difference.Kind;
import dev.onefold.tables.compare.Difference.Outcome;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Compares an engine's rows with their source, in both directions, while both change; and repairs the
/// differences.
///
/// First look: the source is read into checksums of ranges; when intake has passed that reading, the
/// checksums of the engine's rows are taken. Ranges whose checksums are equal need no second look.
///
/// Second look, at the rows of the other ranges, in this order: note each row of the engine; wait for the
/// writers that the source has open; read the source; wait until intake has passed that reading; read the
/// row. If the version of a row has changed, or the row is equal, it is not reported: a change of it came,
/// and the next comparison looks at it. Any other difference is real, because no change that the source had
/// when it was read is still under way. In another order a change that is read early and arrives late looks
/// like a loss.
///
/// One thread runs it, and one at a time runs for a pipeline.
public final class SourceComparison {
    private static final int REPAIR_BYTES = 1 << 20;
    private static final int ROWS_AT_A_TIME = 1_000;

    private final Engine engine;
    private final Side side;
    private final Optional<Repairing> repairing;
    private final Listener listener;
    private final Pipeline pipeline;
    private final SourceReader reading;
    private final Report report = new Report();

    /// @param repairing the way of repairing differences; empty if they are only reported
    /// @throws IllegalArgumentException if the rows of the pipeline cannot be compared or repaired
    public SourceComparison(Engine engine, Side side, Optional<Repairing> repairing, Listener listener) {
        this.engine = engine;
        this.side = side;
        this.repairing = repairing;
        this.listener = listener;
        pipeline = engine.pipeline();
        requireComparable(pipeline);
        if (repairing.isPresent()) {
            requireRepairable(pipeline);
        }
        reading = new SourceReader(pipeline, new SourceReader.Way(side.source(), side.form(), side.rate()));
    }

    /// Requires rows with versions.
    ///
    /// @throws IllegalArgumentException with the reason if there are none
    public static void requireComparable(Pipeline pipeline) {
        if (!(pipeline.fold() instanceof Rollups) || !(pipeline.input().identity() instanceof Identity.Versioned)) {
            throw new IllegalArgumentException("Pipeline " + pipeline.name()
                    + " keeps no rows with versions, so there is nothing that could be compared with a table");
        }
    }

    /// Requires that a record can remove a row.
    ///
    /// @throws IllegalArgumentException with the reason if none can
    public static void requireRepairable(Pipeline pipeline) {
        if (pipeline.input().format() instanceof Format.Csv) {
            throw new IllegalArgumentException("Pipeline " + pipeline.name()
                    + " reads CSV, and a repair is a record of JSON. Its rows can be compared, and not repaired");
        }
    }

    /// The source's side of a comparison.
    ///
    /// @param form form of the source's rows as records
    /// @param rate limit on the rows that are read a second
    /// @param passing waits for the engine
    public record Side(RowSource source, RowForm form, Rate rate, Passing passing) {}

    /// Waits until intake has passed all changes of the source: until every change that the source had before
    /// this call is in the engine, if it is to come at all, and also all rows that older seedings have read.
    @FunctionalInterface
    public interface Passing {
        void await() throws IOException, InterruptedException;
    }

    /// How an engine is waited for.
    ///
    /// @param lag the longest that a change takes from the source to the engine
    /// @param isStopped whether to wait no more
    /// @param notes gets a note of what is waited for
    public record Waiting(Duration lag, BooleanSupplier isStopped, Consumer<String> notes) {}

    /// The way of repairing differences.
    ///
    /// @param generation of the log that the pipeline reads; 0 where versions are the user's own
    /// @param number of the re-sync, drawn from the sequence of the seedings
    /// @param removesMany whether rows are removed that the source lacks, however many they are
    public record Repairing(long generation, long number, boolean removesMany, Seeder.Intake intake) {}

    /// Receives the progress of the comparison.
    public interface Listener {
        /// A reading of the source begins.
        void begins(long nth);

        /// @param done of the source's extent in this reading
        /// @param rows of the source that were read in it
        void at(long done, long rows);

        /// Whether to stop.
        boolean stop();
    }

    /// Compares, and repairs if that is wanted.
    ///
    /// @throws IOException if the source cannot be read, or the pipeline's definition has changed meanwhile
    /// @throws InterruptedException if the listener stopped it
    public Report run() throws IOException, InterruptedException {
        RangeSums theirs = new RangeSums();
        read(row -> theirs.add(row.mark().key(), row.mark().content()));
        side.passing().await();
        RangeSums ours = engine.rangeSums();
        requireSameDefinition();
        Removals removals =
                new Removals(ours.rows(), repairing.map(Repairing::removesMany).orElse(true));
        for (BitSet ranges : Slices.of(ours, theirs, reading.rowBytes())) {
            secondLook(ranges, removals);
        }
        return report;
    }

    /// Takes rows one by one.
    private interface Taker {
        void take(SourceRow row);
    }

    private void read(Taker taker) throws IOException, InterruptedException {
        long[] sums = new long[2];
        listener.begins(report.readings() + 1);
        reading.read(
                (row, _) -> {
                    taker.take(row);
                    return true;
                },
                (done, rows) -> {
                    sums[0] += done;
                    sums[1] += rows;
                    listener.at(sums[0], sums[1]);
                    return !listener.stop();
                });
        requireGoing();
        report.read(reading.rows(), reading.withoutKey());
    }

    private void requireGoing() throws InterruptedException {
        if (listener.stop()) {
            throw new InterruptedException("It was stopped");
        }
    }

    private void requireSameDefinition() throws IOException {
        if (!engine.pipeline().equals(pipeline)) {
            throw new IOException("the definition of pipeline " + pipeline.name()
                    + " has changed while its rows were compared; compare again");
        }
    }

    /// A key of the second look.
    private static final class Seen {
        private final byte[] key;
        private @Nullable RowMark noted;
        private @Nullable SourceRow theirs;

        Seen(byte[] key) {
            this.key = key;
        }

        long notedContent() {
            return noted == null ? RowMark.NOTHING : noted.content();
        }

        long content() {
            return theirs == null ? RowMark.NOTHING : theirs.mark().content();
        }
    }

    /// The second look at a slice, with its repairs.
    private void secondLook(BitSet ranges, Removals removals) throws IOException, InterruptedException {
        Map<String, Seen> keys = new HashMap<>();
        for (RowMark mark : engine.rowMarks(ranges)) {
            seen(keys, mark.key()).noted = mark;
        }
        side.source().awaitWriters(listener::stop);
        requireGoing();
        read(row -> {
            if (ranges.get(RangeSums.rangeOf(row.mark().key()))) {
                Seen seen = seen(keys, row.mark().key());
                SourceRow greater = SourceRow.greater(seen.theirs, row);
                seen.theirs = greater.mark().content() == seen.notedContent() ? greater.withoutRow() : greater;
            }
        });
        side.passing().await();
        List<Difference> found = new ArrayList<>();
        List<Seen> differing = keys.values().stream()
                .filter(seen -> seen.content() != seen.notedContent())
                .toList();
        boolean mayBeExplained = !engine.deadLetters().list(0, 1).isEmpty();
        for (int from = 0; from < differing.size(); from += ROWS_AT_A_TIME) {
            requireGoing();
            List<Seen> some = differing.subList(from, Math.min(differing.size(), from + ROWS_AT_A_TIME));
            List<Optional<Row>> rows = engine.rows(
                    some.stream().map(seen -> Key.parts(pipeline, seen.key)).toList());
            for (int i = 0; i < some.size(); i++) {
                judge(some.get(i), rows.get(i).orElse(null), mayBeExplained).ifPresent(found::add);
            }
        }
        requireSameDefinition();
        if (repairing.isEmpty()) {
            found.forEach(report::add);
        } else {
            long ghosts = found.stream().filter(Difference::isLacking).count();
            repair(found, repairing.get(), removals.allow(ghosts, ranges.length(), reading.rows()));
        }
    }

    private static Seen seen(Map<String, Seen> keys, byte[] key) {
        String text = new String(key, StandardCharsets.ISO_8859_1); // One character a byte.
        return keys.computeIfAbsent(text, _ -> new Seen(key));
    }

    private Optional<Difference> judge(Seen seen, @Nullable Row ours, boolean mayBeExplained) {
        List<String> key = Key.parts(pipeline, seen.key);
        if (hasMoved(seen, ours)) {
            report.countMoved();
            return Optional.empty();
        }
        Kind kind = kind(ours, seen.theirs);
        if (kind == Kind.GHOST
                && pipeline.input().format() instanceof Format.DynamoDbStream format
                && format.keepsExpired()) {
            report.countExpired();
            return Optional.empty();
        }
        Outcome outcome = mayBeExplained && isExplained(key, ours) ? Outcome.EXPLAINED : Outcome.REPORTED;
        return Optional.of(new Difference(kind, key, ours, seen.theirs, outcome));
    }

    /// Whether a change of the row came since it was noted.
    private boolean hasMoved(Seen seen, @Nullable Row ours) {
        RowMark noted = seen.noted;
        if (noted == null || ours == null) {
            return noted != null || ours != null;
        }
        return !noted.version().equals(ours.version()) || noted.content() != content(ours);
    }

    private long content(@Nullable Row row) {
        return row == null ? RowMark.NOTHING : RowMark.content(pipeline, row.version(), row.payload());
    }

    private Kind kind(@Nullable Row ours, @Nullable SourceRow theirs) {
        if (theirs != null && theirs.isRefused()) {
            return Kind.REFUSED;
        }
        if (RowMark.hasOwnVersion(pipeline)
                && ours != null
                && theirs != null
                && theirs.version().compareTo(ours.version()) <= 0) {
            return Kind.VERSION_BROKEN;
        }
        if (content(ours) == RowMark.NOTHING) {
            return Kind.MISSING;
        }
        return theirs == null || theirs.mark().isNothing() ? Kind.GHOST : Kind.DIFFERENT;
    }

    /// Whether a letter of the key waits that would change its row.
    private boolean isExplained(List<String> key, @Nullable Row ours) {
        for (DeadLetters.OfKey letter : engine.deadLetters().ofKey(key, DeadLetters.PAGE)) {
            if (ours == null || letter.version().isNone() || letter.version().compareTo(ours.version()) > 0) {
                return true;
            }
        }
        return false;
    }

    private void repair(List<Difference> found, Repairing way, boolean removes) throws InterruptedException {
        Repairs repairs = new Repairs(pipeline, new Repairs.Number(way.generation(), way.number()));
        List<Difference> sent = new ArrayList<>();
        ByteArrayOutputStream lines = new ByteArrayOutputStream();
        for (Difference finding : found) {
            requireGoing();
            if (finding.outcome() == Outcome.EXPLAINED) {
                report.add(finding);
            } else if (finding.isLacking() && !removes) {
                report.add(finding.with(Outcome.HELD_BACK));
            } else if (!canRepair(finding)) {
                report.add(finding.with(Outcome.NOT_REPAIRABLE));
            } else {
                sent.add(finding);
                lines.writeBytes(repairs.record(finding));
                lines.write('\n');
            }
            if (lines.size() > REPAIR_BYTES) {
                send(sent, lines, way);
            }
        }
        send(sent, lines, way);
    }

    /// A row whose key cannot be read may be the one that seems to be missing in the source.
    private boolean canRepair(Difference finding) {
        return switch (finding.kind()) {
            case MISSING, DIFFERENT -> true;
            case GHOST -> reading.withoutKey() == 0;
            case VERSION_BROKEN, REFUSED -> false;
        };
    }

    /// Sends repairs, and determines the outcome of each by its row.
    private void send(List<Difference> sent, ByteArrayOutputStream lines, Repairing way) {
        if (sent.isEmpty()) {
            return;
        }
        way.intake().append(lines.toByteArray(), lines.size());
        List<Optional<Row>> rows =
                engine.rows(sent.stream().map(Difference::key).toList());
        for (int i = 0; i < sent.size(); i++) {
            Difference finding = sent.get(i);
            Row now = rows.get(i).orElse(null);
            SourceRow theirs = finding.theirs();
            long wanted = theirs == null ? RowMark.NOTHING : theirs.mark().content();
            Row before = finding.ours();
            boolean same = now == null || before != null && now.version().equals(before.version());
            Outcome outcome =
                    content(now) == wanted ? Outcome.REPAIRED : same ? Outcome.NOT_REPAIRABLE : Outcome.OVERTAKEN;
            report.add(finding.with(outcome));
        }
        sent.clear();
        lines.reset();
    }
}
