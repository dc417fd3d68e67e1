package dev.onefold.aws.comparison;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.item.Definition;
import dev.onefold.aws.resync.Renewal;
import dev.onefold.aws.resync.RepairIntake;
import dev.onefold.aws.resync.ResyncTurn;
import dev.onefold.aws.resync.RowListing;
import dev.onefold.aws.resync.SeedLease;
import dev.onefold.aws.state.Definitions;
import dev.onefold.aws.store.Store;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.tables.Rate;
import dev.onefold.tables.RowVersions;
import dev.onefold.tables.Seeding;
import dev.onefold.tables.compare.Removals;
import dev.onefold.tables.compare.SourceComparison;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.exception.SdkException;

/// Compares a deployment's rows with their source once in a while, a step at a time.
///
/// The first look is one step, and so is the second look at each slice of what it leaves: each is whole in itself, and
/// what is left is in the tables. So the steps may be done by several invocations, and a step that was killed is done
/// again; what it has repaired is equal then. A step must fit into one invocation. If one does not, the comparison
/// fails and says so: it is never taken for equal.
///
/// Not thread-safe.
public final class Comparing {
    /// Invocations in a row that may come to nothing.
    static final int ATTEMPTS_MAX = 3;

    /// After a failure it is tried again behind this, or when the next one would begin, whichever is earlier.
    private static final Duration AGAIN = Duration.ofHours(1);

    /// The longest that a change takes from the table to its stream, if nothing else is known.
    public static final Duration LAG = Duration.ofSeconds(10);

    private final Store store;
    private final Settings settings;
    private final ComparedSource source;
    private final LongConsumer repairs;

    /// The source of a comparison, its schedule and its limits.
    ///
    /// @param table name of the source
    /// @param every time from the beginning of one comparison to that of the next
    /// @param units of the source that are read in a second, at most
    /// @param lag longest time that a change takes from the source to the stream
    public record Settings(String table, boolean repairs, Duration every, long units, Duration lag) {
        /// As the command writes it.
        public String source() {
            return "dynamodb:" + table;
        }
    }

    /// The result of an invocation.
    public sealed interface Outcome {
        /// Nothing is to be done before this time.
        record Idle(Instant next) implements Outcome {}

        /// Nothing was done, because somebody else is at it, or must be waited for.
        record Waiting(String why) implements Outcome {}

        /// Goes on with the next wake-up.
        ///
        /// @param slices that are left
        record Working(int slices) implements Outcome {}

        /// All rows were compared.
        record Compared(Instant begun, Tally tally) implements Outcome {}

        /// The last one failed.
        record Failed(String why, Instant again) implements Outcome {}
    }

    /// @param repairs is told how many rows are about to be repaired
    public Comparing(Store store, Settings settings, ComparedSource source, LongConsumer repairs) {
        this.store = store;
        this.settings = settings;
        this.source = source;
        this.repairs = repairs;
    }

    /// Goes on for as long as there is time.
    ///
    /// @param remainingMs time that is left for it
    public Outcome step(LongSupplier remainingMs) {
        Optional<Definition> definition = new Definitions(store).find();
        if (definition.isEmpty()) {
            return new Outcome.Waiting("State has taken no record yet, so there are no rows");
        }
        String rows = rows(definition.get());
        Comparison now = Comparison.of(store, new Comparison.Of(settings.source(), settings.repairs(), rows));
        Instant at = store.clock().instant();
        if (now.isHeld(at)) {
            return new Outcome.Waiting("Another invocation compares");
        }
        Instant due = due(now, at);
        if (now.work() == null && at.isBefore(due)) {
            return now.failure().isEmpty() ? new Outcome.Idle(due) : new Outcome.Failed(now.failure(), due);
        }
        if (SeedLease.isRunning(store, Long.MAX_VALUE)) {
            now.noteFirst(store); // If seedings never end, the comparison is overdue.
            return new Outcome.Waiting("A seeding is under way");
        }
        Optional<Comparison> taken = now.take(store);
        if (taken.isEmpty()) {
            return new Outcome.Waiting("Another invocation compares");
        }
        return new Turn(taken.get(), now.attempts(), remainingMs).run();
    }

    /// The incarnation of the tables and the view that serves: what was read of others says nothing of these rows.
    private static String rows(Definition definition) {
        return definition.incarnation().id() + "/" + definition.served();
    }

    /// The deployed interval may be shorter than the one that the last comparison knew. If a clock was set back, the
    /// next comparison may be noted for a time that does not come for long.
    private Instant due(Comparison now, Instant at) {
        Instant latest = now.lastEnd().plus(settings.every());
        Instant due = now.failure().isEmpty() && latest.isBefore(now.next()) ? latest : now.next();
        return due.isAfter(at.plus(settings.every())) ? at : due;
    }

    /// The reason why the rows do not count as compared; empty if the last comparison is complete and recent.
    ///
    /// @param now state of the comparison in the tables
    public Optional<String> overdue(Comparison now) {
        if (!now.failure().isEmpty()) {
            return Optional.of("The last comparison failed: " + now.failure());
        }
        Instant end = now.lastEnd();
        return end.plus(settings.every().multipliedBy(2)).isBefore(store.clock().instant())
                ? Optional.of("No comparison has come to its end since " + end + ", and one is wanted every "
                        + settings.every().toHours() + " hours")
                : Optional.empty();
    }

    /// The work of one invocation, which holds the comparison.
    private final class Turn implements SourceComparison.Listener {
        private final int before;
        private final LongSupplier remainingMs;
        private final long wholeMs;
        private Comparison now;
        private Tally tally;
        private long longestMs;
        private boolean isStopped;
        private @Nullable SourceComparison comparison;

        Turn(Comparison now, int before, LongSupplier remainingMs) {
            this.now = now;
            this.before = before;
            this.remainingMs = remainingMs;
            wholeMs = remainingMs.getAsLong();
            tally = now.work() == null
                    ? Tally.NONE.plusUnended(now.unended().repairs())
                    : now.work().tally();
        }

        Outcome run() {
            if (before >= ATTEMPTS_MAX) {
                return failed(
                        before + " invocations in a row were ended in the middle of a reading. Their logs say by what:"
                                + " their time, or their memory. Raise CompareMemory, or compare with 'onefold aws verify --against', which has no limit",
                        settings.every());
            }
            Optional<ResyncTurn> turn = Optional.empty();
            Comparison mine = now;
            try (Renewal _ = Renewal.of(store.threads(), () -> mine.renew(store))) {
                if (settings.repairs()) {
                    turn = ResyncTurn.take(store);
                    if (turn.isEmpty()) {
                        return waiting("Another re-sync repairs, or its turn is taken for some minutes after its end");
                    }
                }
                return compare(turn);
            } catch (InterruptedException | CancellationException e) {
                return stopped(e);
            } catch (IOException | SdkException | IllegalArgumentException | IllegalStateException e) {
                return failed(String.valueOf(e.getMessage()), AGAIN);
            } finally {
                turn.ifPresent(Turn::release);
            }
        }

        private static void release(ResyncTurn turn) {
            try {
                turn.release();
            } catch (SdkException e) {
                return; // It ends by itself, some minutes later, and what this step has come to must be told.
            }
        }

        private Outcome compare(Optional<ResyncTurn> turn) throws IOException, InterruptedException {
            if (turn.isEmpty()) {
                return compareAs(Long.MAX_VALUE, Optional.empty());
            }
            ResyncTurn mine = turn.get();
            try (Renewal _ = Renewal.of(store.threads(), mine::renew)) {
                return compareAs(mine.number(), Optional.of(new RepairIntake(store, mine)));
            }
        }

        private Outcome compareAs(long number, Optional<RepairIntake> intake) throws IOException, InterruptedException {
            AwsEngine engine = AwsEngine.deployed(store).listingAt(source.ofRows());
            Pipeline pipeline = engine.pipeline();
            ComparedSource.Found found = source.find(pipeline);
            String stream = found.stream();
            requireToFit(found.rows().extent().readUnits());
            Comparison.Work work = now.work();
            if (work != null && !work.table().equals(found.id())) { // What was read of another one says nothing.
                now = now.anew(now.unendedBy(work.tally()));
                tally = Tally.NONE.plusUnended(now.unended().repairs());
            }
            Removals[] removals = new Removals[1];
            SourceComparison mine = new SourceComparison(
                    engine,
                    new SourceComparison.Side(
                            found.rows(),
                            RowVersions.form(pipeline, stream, intake.isPresent() ? number : 1),
                            Rate.of(0),
                            source.passing(number, this::stop)),
                    intake.map(taking -> new SourceComparison.Repairing(
                            RowVersions.areByPlace(pipeline) ? RowVersions.generation(pipeline, stream) : 0,
                            number,
                            false,
                            noted(taking, removals))),
                    this);
            comparison = mine;
            return look(mine, found.id(), removals);
        }

        /// Before a reading begins that cannot end.
        private void requireToFit(long sourceUnits) {
            long ours = new RowListing(store, Rate.of(0)).units();
            Duration needed = Duration.ofSeconds(sourceUnits / settings.units()
                    + ours / RowListing.UNITS_PER_SECOND
                    + settings.lag().toSeconds());
            if (needed.toMillis() > wholeMs) {
                throw new IllegalStateException(
                        "To read " + sourceUnits + " units of the source at " + settings.units()
                                + " a second, and " + ours + " of the rows at " + RowListing.UNITS_PER_SECOND
                                + ", takes "
                                + needed.toMinutes() + " minutes, and an invocation has " + wholeMs / 60_000
                                + ". Raise CompareReadUnits, or compare with 'onefold aws verify --against', which has no limit");
            }
        }

        /// Rows are counted before they are repaired: a killed step finds them equal when it is done again.
        private Seeding.Intake noted(RepairIntake taking, Removals[] removals) {
            return (lines, length) -> {
                long count = 0;
                for (int i = 0; i < length; i++) {
                    count += lines[i] == '\n' ? 1 : 0;
                }
                Comparison.Work work = Objects.requireNonNull(now.work());
                requireSame(work.table());
                Slicing.Begun begun = work.slicing().begun();
                now = now.repairing(work.with(
                                work.slicing().with(new Slicing.Begun(removals[0].latest(), begun.repairs() + count))))
                        .save(store);
                repairs.accept(count);
                return taking.append(lines, length);
            };
        }

        /// Fails if the source is another table by now: the new table may not have got all rows back yet.
        private void requireSame(String table) {
            if (!source.id().equals(table)) {
                throw new IllegalStateException("The source was replaced by another table of its name meanwhile."
                        + " The rows are compared with the new one, from the beginning");
            }
        }

        private Outcome look(SourceComparison mine, String table, Removals[] removals)
                throws IOException, InterruptedException {
            Comparison.Work work = now.work();
            if (work == null) {
                Instant begun = store.clock().instant();
                long from = remainingMs.getAsLong();
                Slicing slicing = Slicing.of(mine.firstLook(), now.unended().removals());
                longestMs = from - remainingMs.getAsLong();
                work = new Comparison.Work(begun, table, slicing, tally.plus(mine.report()));
                now = now.with(work).save(store);
            }
            while (!work.slicing().isDone()) {
                long from = remainingMs.getAsLong();
                if (from < longestMs + longestMs / 2) {
                    return working();
                }
                Slicing slicing = work.slicing();
                Slicing.Begun before = slicing.begun();
                removals[0] = new Removals(
                        slicing.rows(),
                        false,
                        slicing.ghosts(),
                        before.ghosts(),
                        now.unended().removals());
                mine.secondLook(slicing.next(), removals[0]);
                longestMs = Math.max(longestMs, from - remainingMs.getAsLong());
                tally = tally.plusUnended(before.repairs());
                work = new Comparison.Work(
                        work.begun(), table, slicing.after(removals[0].ghosts()), tally.plus(mine.report()));
                now = now.with(work).save(store);
            }
            return complete(work);
        }

        private Outcome complete(Comparison.Work work) throws IOException {
            if (!rows(new Definitions(store).load()).equals(now.of().rows())) {
                throw new IOException(
                        "the deployment was restored, or has another pipeline, meanwhile; its rows are compared again");
            }
            requireSame(work.table());
            now = now.complete(
                            new Comparison.Result(store.clock().instant(), work.tally()),
                            work.begun().plus(settings.every()))
                    .save(store);
            return new Outcome.Compared(work.begun(), work.tally());
        }

        /// To be called while a comparison is under way.
        private Outcome working() {
            now = now.released(0).save(store);
            return new Outcome.Working(
                    Objects.requireNonNull(now.work()).slicing().left());
        }

        private Outcome waiting(String why) {
            // An attempt that has come to something before it waits ends the row of those that did not.
            now = now.released(Math.min(before, now.attempts())).save(store);
            return new Outcome.Waiting(why);
        }

        private Outcome failed(String why, Duration after) {
            Duration soon = after.compareTo(settings.every()) < 0 ? after : settings.every();
            Instant again = store.clock().instant().plus(soon);
            Tally seen = comparison == null ? tally : tally.plus(comparison.report());
            now = now.failed(why, again, now.unendedBy(seen)).save(store);
            return new Outcome.Failed(why, again);
        }

        /// The time is over. A step that had all of it will not fit into the next invocation, either.
        private Outcome stopped(Exception e) {
            if (!isStopped) {
                throw new IllegalStateException("The comparison was interrupted", e);
            }
            if (SeedLease.isRunning(store, Long.MAX_VALUE)) {
                return waiting("A seeding is under way");
            }
            Comparison.Work work = now.work();
            if (longestMs > 0 && work != null) {
                return working();
            }
            return failed(
                    "One reading of the source and of the rows has not ended within the " + wholeMs / 60_000
                            + " minutes of an invocation, or intake was behind for that long. Raise CompareReadUnits and"
                            + " CompareMemory, which brings processors, or compare with 'onefold aws verify --against', which has no limit",
                    settings.every());
        }

        @Override
        public void begins(long nth) {}

        @Override
        public void at(long done, long rows) {}

        @Override
        public boolean stop() {
            isStopped = isStopped || remainingMs.getAsLong() <= 0;
            return isStopped;
        }
    }
}
