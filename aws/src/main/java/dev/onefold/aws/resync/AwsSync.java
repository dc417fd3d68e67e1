package dev.onefold.aws.resync;

import dev.onefold.api.sync.FolderRun;
import dev.onefold.api.sync.SeedLog;
import dev.onefold.aws.letter.LetterTable;
import dev.onefold.aws.state.Definitions;
import dev.onefold.aws.state.SeedNumbers;
import dev.onefold.aws.store.Store;
import dev.onefold.core.EngineException;
import dev.onefold.core.EngineException.Kind;
import dev.onefold.core.Sync;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.tables.Rate;
import java.io.Closeable;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsAsyncClient;
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient;

/// The seedings, repairs and comparisons of a deployment. The tables give the numbers, and say what runs, to
/// all machines; the progress of a seeding is noted on the machine that seeds. Any thread may call.
public final class AwsSync implements Sync {
    private final Store store;
    private final Way way;
    private final String incarnation;

    /// How the parts beside the tables are reached.
    ///
    /// @param notes folder of the progress of seedings
    /// @param kinesis makes a client for the streams of Kinesis
    /// @param changes makes a client for the change streams of tables
    /// @param retries finds the queue that names the records that the mapping has given up; empty if it is not
    ///     asked
    public record Way(
            Path notes,
            Supplier<KinesisAsyncClient> kinesis,
            Supplier<DynamoDbStreamsAsyncClient> changes,
            Supplier<Optional<RetryQueue>> retries) {}

    public AwsSync(Store store, Way way) {
        this.store = store;
        this.way = way;
        incarnation = incarnation(); // Rows that went to another one, or before a restore, are not here.
    }

    private String incarnation() {
        return new Definitions(store).load().incarnation().id();
    }

    Pipeline pipeline() {
        return new Definitions(store).load().servedView().pipeline();
    }

    @Override
    public Run seed(String source, Optional<Instant> asOf, boolean restart) {
        SeedLog log = new SeedLog(way.notes());
        Running running = new Running(asOf);
        try {
            // The marks name the incarnation, so those of another one are not gone on at.
            SeedLog.Seed seed = FolderRun.noted(() -> log.begin(incarnation + " " + source, running, restart));
            RowIntake intake = RowIntake.ofSeed(store, pipeline(), seed.number());
            return new FolderRun(seed, intake::append, this::requireSame, running);
        } catch (RuntimeException e) {
            running.close();
            throw e;
        }
    }

    @Override
    public Run repair() {
        return begun(() -> Optional.of(ResyncTurn.take(store)
                .orElseThrow(() -> new EngineException(
                        Kind.IN_USE,
                        "Rows of pipeline " + pipeline().name() + " are being repaired by another command; one repairs"
                                + " at a time. If it was killed, its turn ends "
                                + ResyncTurn.HELD.toMinutes() + " minutes after it was heard of last."))));
    }

    @Override
    public Run compare() {
        return begun(Optional::empty);
    }

    private Run begun(Supplier<Optional<ResyncTurn>> turn) {
        Optional<RetryQueue> retries = way.retries().get();
        try {
            return new Resync(this, turn.get(), retries);
        } catch (RuntimeException e) {
            retries.ifPresent(RetryQueue::close);
            throw e;
        }
    }

    @Override
    public boolean isRunning(long below) {
        return SeedLease.isRunning(store, below);
    }

    @Override
    public Optional<String> stream() {
        return new LetterTable(store).input();
    }

    @Override
    public Optional<Cost> cost() {
        return Optional.of(new Cost(new RowScan(store, Rate.of(0)).units(), RowScan.UNITS_PER_SECOND));
    }

    Store store() {
        return store;
    }

    Way way() {
        return way;
    }

    void requireSame() {
        if (!incarnation().equals(incarnation)) {
            throw new EngineException(
                    Kind.SOURCE_CHANGED,
                    "The deployment of " + store.tables().rows() + " was restored meanwhile, and rows that came before"
                            + " are not in it. Run the command again: it begins at the beginning.");
        }
    }

    /// Says in the tables that a seeding runs, from when the deployment gives its number: each is above those
    /// of all machines.
    private final class Running implements SeedLog.Numbers, Closeable {
        private final long nowMs = store.clock().millis();
        private final OptionalLong kept;
        private @Nullable SeedLease lease;
        private @Nullable Renewal renewal;

        Running(Optional<Instant> asOf) {
            kept = SeedLog.Numbers.earlier(nowMs, asOf);
        }

        @Override
        public long draw(long last) {
            long number = kept.isPresent()
                    ? SeedNumbers.drawKept(store, kept.getAsLong())
                    : SeedNumbers.draw(store, Math.max(nowMs, last + 1));
            SeedLease begun = SeedLease.begin(store, number);
            close();
            lease = begun;
            renewal = Renewal.of(store.threads(), begun::renew);
            return begun.number();
        }

        @Override
        public boolean holds(long number) {
            return true;
        }

        @Override
        public void close() {
            if (renewal != null) {
                renewal.close();
            }
            if (lease != null) {
                lease.close();
            }
        }
    }
}
