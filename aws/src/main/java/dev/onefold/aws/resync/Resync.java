package dev.onefold.aws.resync;

import dev.onefold.aws.event.StreamName;
import dev.onefold.aws.stream.CatchUp;
import dev.onefold.core.Engine.Appended;
import dev.onefold.core.Sync;
import dev.onefold.core.bytes.RecordKind;
import dev.onefold.core.event.RecordEnds;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsAsyncClient;
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient;

/// A comparison with the rows of a deployment; a repair, if it has the turn. One thread.
final class Resync implements Sync.Run {
    private static final Duration SLICE = Duration.ofMillis(50);
    private static final Duration PAUSE = Duration.ofSeconds(2);
    private static final Duration PATIENCE = Duration.ofMinutes(5);

    private final AwsSync sync;
    private final Optional<ResyncTurn> turn;
    private final Optional<RowIntake> intake;
    private final Optional<Renewal> renewal;
    private final Optional<RetryQueue> retries;
    private boolean noted;

    /// @param retries names the records that the mapping has given up; closed with this object
    Resync(AwsSync sync, Optional<ResyncTurn> turn, Optional<RetryQueue> retries) {
        this.sync = sync;
        this.turn = turn;
        this.retries = retries;
        intake = turn.map(mine -> RowIntake.ofRepair(sync.store(), mine, RecordEnds.of(sync.pipeline())));
        renewal = turn.map(mine -> Renewal.of(sync.store().threads(), mine::renew));
    }

    @Override
    public long number() {
        return turn.map(ResyncTurn::number).orElse(Long.MAX_VALUE);
    }

    @Override
    public Appended append(byte[] lines, int length) {
        throw new IllegalStateException("A repair brings rows alone");
    }

    @Override
    public Appended appendRows(byte[] lines, int length) {
        return intake.orElseThrow().append(RecordKind.ROW, lines, length);
    }

    @Override
    public void save(Map<String, String> marks) {
        throw new IllegalStateException("A comparison has no marks");
    }

    /// Until all that the stream has is in the rows, for which it is read here; then for the retry queue.
    @Override
    public void catchUp(@Nullable String stream, BooleanSupplier isStopped, Consumer<String> notes)
            throws InterruptedException {
        String read = sync.stream().orElse(stream);
        if (read == null) {
            note(
                    notes,
                    "The function State has read no stream yet, so there is none to be read here. Changes are waited"
                            + " for during --lag alone.");
        } else {
            CatchUp.Done done = catchUp(read, isStopped);
            if (done.behind() > 0) {
                note(
                        notes,
                        "State is behind by more than " + CatchUp.LATEST.toMinutes() + " minutes in " + done.behind()
                                + (done.behind() == 1 ? " shard" : " shards") + " of " + read
                                + ". What it has not taken was folded from here.");
            }
        }
        if (retries.isPresent()) {
            awaitEmpty(retries.get(), isStopped);
        }
    }

    private void note(Consumer<String> notes, String text) {
        if (!noted) {
            notes.accept(text);
            noted = true;
        }
    }

    private CatchUp.Done catchUp(String stream, BooleanSupplier isStopped) {
        if (StreamName.isTable(stream)) {
            try (DynamoDbStreamsAsyncClient client = sync.way().changes().get()) {
                return CatchUp.run(sync.store(), client, stream, isStopped);
            }
        }
        try (KinesisAsyncClient client = sync.way().kinesis().get()) {
            return CatchUp.run(sync.store(), client, stream, isStopped);
        }
    }

    private static void awaitEmpty(RetryQueue queue, BooleanSupplier isStopped) throws InterruptedException {
        long begun = System.nanoTime();
        for (long size = queue.size(); size > 0; size = queue.size()) {
            if (System.nanoTime() - begun > PATIENCE.toNanos()) {
                throw new IllegalStateException("the retry queue has " + size + (size == 1 ? " message" : " messages")
                        + ", which name records that are not in the rows yet, and would look like differences;"
                        + " compare when it is empty");
            }
            for (long slices = PAUSE.dividedBy(SLICE); slices > 0; slices--) {
                if (isStopped.getAsBoolean()) {
                    throw new InterruptedException("It was stopped");
                }
                Thread.sleep(SLICE);
            }
        }
    }

    @Override
    public void finish() {
        sync.requireSame();
    }

    @Override
    public void close() {
        renewal.ifPresent(Renewal::close);
        retries.ifPresent(RetryQueue::close);
        turn.ifPresent(ResyncTurn::release);
    }
}
