package dev.onefold.aws.batch;

import dev.onefold.aws.item.Items;
import dev.onefold.aws.item.RowItem;
import dev.onefold.aws.store.Store;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Edition;
import dev.onefold.core.pipeline.Pipeline;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// What a deployment collects, and into how many lanes. How records are read and told apart is fixed for
/// the life of a deployment, because their claims are stored; so is the number of lanes.
///
///     item = k 00 "batches", t canonical text of the pipeline, n lanes
///
/// @param pipeline as it was deployed last
/// @param lanes as it was deployed first
public record BatchDefinition(Pipeline pipeline, int lanes) {
    private static Map<String, AttributeValue> key() {
        return RowItem.other("batches");
    }

    /// The definition of a deployment; empty if it has never collected anything.
    public static Optional<BatchDefinition> find(Store store) {
        Map<String, AttributeValue> item = store.get(store.tables().rows(), key());
        return item.isEmpty() ? Optional.empty() : Optional.of(of(item));
    }

    /// The definition of a deployment, which is made of this pipeline if there is none yet. Another one is brought to
    /// this pipeline, if that is possible.
    ///
    /// @param lanes of a new deployment
    /// @throws IllegalStateException if the deployment was made for a pipeline that reads records otherwise
    public static BatchDefinition openOrCreate(Store store, Pipeline pipeline, int lanes) {
        BatchDefinition first = new BatchDefinition(pipeline.inEdition(Edition.NEWEST), lanes);
        boolean isNew = find(store).isEmpty()
                && store.retriedIf(() -> store.client()
                        .putItem(request -> request.tableName(store.tables().rows())
                                .item(first.item())
                                .conditionExpression("attribute_not_exists(k)")));
        if (isNew) {
            return first;
        }
        BatchDefinition found = find(store).orElseThrow();
        Pipeline wanted = pipeline.ofDataOf(found.pipeline);
        found.requireSameRecords(wanted);
        BatchDefinition now = new BatchDefinition(wanted, found.lanes);
        if (!found.text().equals(now.text())) {
            store.retried(() -> store.client()
                    .putItem(request -> request.tableName(store.tables().rows()).item(now.item())));
        }
        return now;
    }

    private void requireSameRecords(Pipeline other) {
        if (!stored(pipeline).equals(stored(other))) {
            throw new IllegalStateException("The deployment of " + other.name() + " was made for a pipeline that reads"
                    + " its records otherwise, or tells them apart otherwise: " + stored(pipeline) + ". Nothing is"
                    + " collected. Deploy the changed pipeline as a stack of its own.");
        }
    }

    private static String stored(Pipeline pipeline) {
        return PipelineText.stored(
                new Pipeline(pipeline.name(), pipeline.input(), pipeline.fold().stored()));
    }

    private String text() {
        return PipelineText.stored(pipeline);
    }

    private static BatchDefinition of(Map<String, AttributeValue> item) {
        return switch (PipelineText.readStored(Items.text(item, "t"))) {
            case Reading.Read(var pipeline) -> new BatchDefinition(pipeline, (int) Items.number(item, "n"));
            case Reading.Refused(var problems) ->
                throw new IllegalStateException("The deployed pipeline is not one that this version knows: "
                        + problems.getFirst().message() + ". Use the version that deployed it.");
        };
    }

    private Map<String, AttributeValue> item() {
        Map<String, AttributeValue> item = new TreeMap<>(key());
        item.put("t", AttributeValue.fromS(text()));
        item.put("n", Items.number(lanes));
        return item;
    }
}
