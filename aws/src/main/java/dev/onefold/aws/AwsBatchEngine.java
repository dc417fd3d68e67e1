package dev.onefold.aws;

import dev.onefold.aws.batch.AwsBatches;
import dev.onefold.aws.batch.BatchDefinition;
import dev.onefold.aws.batch.Redrive;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.letter.LetterTable;
import dev.onefold.aws.state.Fate;
import dev.onefold.aws.store.Store;
import dev.onefold.core.Capabilities;
import dev.onefold.core.Causes;
import dev.onefold.core.Counts;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.Engine;
import dev.onefold.core.SealedBatches;
import dev.onefold.core.Truth;
import dev.onefold.core.Verification;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import dev.onefold.core.state.Row;
import java.util.List;
import java.util.Optional;

/// The verbs on the tables of a deployed batch pipeline. It collects and delivers nothing itself: the functions do.
public final class AwsBatchEngine implements Engine {
    private final Store store;

    private AwsBatchEngine(Store store) {
        this.store = store;
    }

    /// Opens what is deployed under these names.
    ///
    /// @throws IllegalStateException if nothing is, or nothing was collected yet
    public static AwsBatchEngine deployed(Store store) {
        AwsBatchEngine engine = at(store);
        engine.definition();
        return engine;
    }

    /// Looks when it is asked something. Where nothing is deployed, each question fails with an IllegalStateException.
    public static AwsBatchEngine at(Store store) {
        return new AwsBatchEngine(store);
    }

    /// Whether something is deployed under these names: Collect makes it with the first record.
    public static boolean isDeployed(Store store) {
        return BatchDefinition.find(store).isPresent();
    }

    private BatchDefinition definition() {
        return BatchDefinition.find(store)
                .orElseThrow(() -> new IllegalStateException("Table "
                        + store.tables().rows()
                        + " holds no batches: nothing was deployed there, or no message has come yet."));
    }

    @Override
    public Pipeline pipeline() {
        return definition().pipeline();
    }

    @Override
    public Capabilities capabilities() {
        return AwsEngine.CAPABILITIES;
    }

    @Override
    public SealedBatches batches() {
        return new AwsBatches(store, definition());
    }

    @Override
    public DeadLetters deadLetters() {
        return new AwsDeadLetters(store, this::pipeline, new AwsDeadLetters.Way(this::redrive, () -> {}));
    }

    private Fate redrive(Arrival letter) {
        return switch (new Redrive(store, definition()).redrive(letter)) {
            case Redrive.Result.Collected _ -> new Fate.Accepted();
            case Redrive.Result.Known _ -> new Fate.Duplicate();
            case Redrive.Result.Conflicting(var loser) -> new Fate.Conflicting(Optional.of(loser));
            case Redrive.Result.Rejected(var malformed) -> new Fate.Rejected(malformed);
        };
    }

    @Override
    public Counts counts() {
        return new LetterTable(store).fates().counts();
    }

    @Override
    public Causes causes() {
        return new LetterTable(store).fates().causes();
    }

    private IllegalArgumentException withoutTotals() {
        return new IllegalArgumentException("Pipeline " + pipeline().name()
                + " makes batches, and this is for pipelines with totals or tables. Use 'onefold aws batches'.");
    }

    @Override
    public Answer query(Query query) {
        throw withoutTotals();
    }

    @Override
    public Optional<Row> get(List<String> key) {
        throw withoutTotals();
    }

    @Override
    public Verification verify(Truth truth) {
        throw withoutTotals();
    }

    @Override
    public Verification rebuild(Truth truth) {
        throw withoutTotals();
    }

    @Override
    public void close() {
        // The client is its maker's.
    }
}
