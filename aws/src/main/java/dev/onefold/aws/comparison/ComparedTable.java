package dev.onefold.aws.comparison;

import dev.onefold.aws.event.StreamName;
import dev.onefold.aws.resync.DeployedPassing;
import dev.onefold.aws.resync.RowListing;
import dev.onefold.aws.store.Store;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.tables.Rate;
import dev.onefold.tables.RowVersions;
import dev.onefold.tables.SourceTable;
import dev.onefold.tables.TableRows;
import dev.onefold.tables.compare.SourceComparison.Passing;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.TableDescription;

/// A table of DynamoDB, in the account and region of the deployment. Not thread-safe.
public final class ComparedTable implements ComparedSource {
    private static final int SEGMENTS = 4;

    private final Store store;
    private final Comparing.Settings settings;
    private final DeployedPassing.Input input;
    private final Consumer<String> notes;

    /// @param input where live changes come from
    /// @param notes is told what is waited for
    public ComparedTable(
            Store store, Comparing.Settings settings, DeployedPassing.Input input, Consumer<String> notes) {
        this.store = store;
        this.settings = settings;
        this.input = input;
        this.notes = notes;
    }

    @Override
    public Found find(Pipeline pipeline) {
        SourceTable table =
                SourceTable.describe(store.client(), settings.table()).requireActive();
        table.requireKey(pipeline);
        String stream = stream(pipeline, table);
        return new Found(id(), new TableRows(store.client(), table, SEGMENTS, Rate.of(settings.units())), stream);
    }

    @Override
    public String id() {
        TableDescription table = store.retried(
                        () -> store.client().describeTable(request -> request.tableName(settings.table())))
                .table();
        return table.tableId() + " of " + table.creationDateTime();
    }

    @Override
    public Rate ofRows() {
        return Rate.of(RowListing.UNITS_PER_SECOND);
    }

    @Override
    public Passing passing(long number, BooleanSupplier isStopped) {
        return new DeployedPassing(store, number, input, new DeployedPassing.Waiting(settings.lag(), isStopped, notes));
    }

    private @Nullable String stream(Pipeline pipeline, SourceTable table) {
        String read = input.stream();
        if (read != null && StreamName.isTable(read) && !StreamName.of(read).startsWith(table.name() + "/")) {
            throw new IllegalArgumentException("The deployment reads the change stream " + StreamName.of(read)
                    + ", which is not one of table " + table.name()
                    + ". Rows can be compared with the table that they come from, and with no other");
        }
        if (!RowVersions.areByPlace(pipeline) || read == null) {
            return null;
        }
        if (SourceTable.isKinesis(read)) {
            return table.requireSentTo(store.client(), read);
        }
        if (table.stream() == null) {
            throw new IllegalArgumentException("The change stream of table " + table.name()
                    + " is off, so its changes are lost. Switch it on, and deploy the template with its ARN");
        }
        RowVersions.requireKind(pipeline, table.stream(), read);
        return table.stream();
    }
}
