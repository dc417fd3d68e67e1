package dev.onefold.fakes.aws.table;

import static dev.onefold.fakes.aws.item.Refusal.filled;
import static dev.onefold.fakes.aws.item.Refusal.invalid;

import dev.onefold.fakes.aws.item.Key;
import dev.onefold.fakes.aws.item.Schema;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BillingModeSummary;
import software.amazon.awssdk.services.dynamodb.model.CreateTableRequest;
import software.amazon.awssdk.services.dynamodb.model.CreateTableResponse;
import software.amazon.awssdk.services.dynamodb.model.DescribeTableRequest;
import software.amazon.awssdk.services.dynamodb.model.DescribeTableResponse;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbException;
import software.amazon.awssdk.services.dynamodb.model.ResourceInUseException;
import software.amazon.awssdk.services.dynamodb.model.ResourceNotFoundException;
import software.amazon.awssdk.services.dynamodb.model.TableDescription;
import software.amazon.awssdk.services.dynamodb.model.TableStatus;

/// All tables, and who gets their changes.
public final class Tables {
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_.-]{3,255}");

    private final InstantSource clock;
    private final Map<String, Table> tables = new TreeMap<>();
    private final List<Consumer<Change>> listeners = new ArrayList<>();
    private final List<Consumer<String>> restores = new ArrayList<>();
    private long changes;
    private long ids;

    public Tables(InstantSource clock) {
        this.clock = clock;
    }

    /// Tells of every change from now on, at its instant.
    public void onChange(Consumer<Change> listener) {
        listeners.add(listener);
    }

    /// Tells of every table that is restored from now on.
    void onRestore(Consumer<String> listener) {
        restores.add(listener);
    }

    Instant now() {
        return clock.instant();
    }

    /// The table, which must be active.
    Table table(@Nullable String name) {
        Table table = existing(name);
        if (status(table) != TableStatus.ACTIVE) {
            throw notFound("Requested resource not found: Table: " + name + " is being created");
        }
        return table;
    }

    private Table existing(@Nullable String name) {
        if (name == null) {
            throw invalid("The parameter 'TableName' is required but was not present in the request");
        }
        Table table = tables.get(name);
        if (table == null) {
            throw notFound("Cannot do operations on a non-existent table");
        }
        return table;
    }

    private static DynamoDbException notFound(String message) {
        return filled(ResourceNotFoundException.builder(), "ResourceNotFoundException", message)
                .build();
    }

    private TableStatus status(Table table) {
        return now().isBefore(table.description().creationDateTime()) ? TableStatus.CREATING : TableStatus.ACTIVE;
    }

    /// Creates a table that is active after a while.
    public CreateTableResponse createTable(CreateTableRequest request, Duration creation) {
        if (request.hasGlobalSecondaryIndexes() || request.hasLocalSecondaryIndexes()) {
            throw new UnsupportedOperationException("There are no indices here: table " + request.tableName());
        }
        if (!NAME.matcher(request.tableName()).matches()) {
            throw invalid("Table names must be between 3 and 255 characters long, of a-z, A-Z, 0-9, '_', '-' and '.'");
        }
        Schema schema = Schema.of(request);
        if (tables.containsKey(request.tableName())) {
            throw filled(
                            ResourceInUseException.builder(),
                            "ResourceInUseException",
                            "Table already exists: " + request.tableName())
                    .build();
        }
        TableDescription description = TableDescription.builder()
                .tableName(request.tableName())
                .tableId(newId())
                .tableArn("arn:aws:dynamodb:simulated:000000000000:table/" + request.tableName())
                .keySchema(request.keySchema())
                .attributeDefinitions(request.attributeDefinitions())
                .creationDateTime(now().plus(creation))
                .billingModeSummary(BillingModeSummary.builder()
                        .billingMode(request.billingMode())
                        .build())
                .streamSpecification(request.streamSpecification())
                .build();
        Table table = new Table(description, schema);
        tables.put(request.tableName(), table);
        return CreateTableResponse.builder().tableDescription(described(table)).build();
    }

    /// No other table has it, whatever its name is.
    private String newId() {
        return new UUID(0, ++ids).toString();
    }

    /// What a table holds at a moment.
    public record Backup(String table, List<Map<String, AttributeValue>> items) {
        public Backup {
            items = List.copyOf(items);
        }
    }

    /// What a table holds now, all of it as of one instant; [Backups] are less kind.
    public Backup backup(String name) {
        Table table = table(name);
        return new Backup(
                name,
                table.places().keySet().stream()
                        .map(table::read)
                        .filter(Objects::nonNull)
                        .map(item -> Map.copyOf(item))
                        .toList());
    }

    /// Deletes a table and restores a backup under its name: another table, which is active after a while. No stream
    /// tells of it.
    public void restore(Backup backup, Duration takes) {
        Table before = existing(backup.table());
        Table after = new Table(
                before.description().toBuilder()
                        .tableId(newId())
                        .creationDateTime(now().plus(takes))
                        .restoreSummary(
                                summary -> summary.restoreDateTime(now()).restoreInProgress(false))
                        .build(),
                before.schema());
        backup.items().forEach(item -> after.write(before.schema().keyOf(item), item, now()));
        tables.put(backup.table(), after);
        restores.forEach(listener -> listener.accept(backup.table()));
    }

    public DescribeTableResponse describeTable(DescribeTableRequest request) {
        return DescribeTableResponse.builder()
                .table(described(existing(request.tableName())))
                .build();
    }

    private TableDescription described(Table table) {
        return table.description().toBuilder()
                .tableStatus(status(table))
                .itemCount(table.items())
                .tableSizeBytes(0L) // As it was hours ago, when there was nothing.
                .build();
    }

    /// Writes an item, or removes it, and tells of it if that changes anything.
    void write(Table table, Key key, @Nullable Map<String, AttributeValue> after) {
        Map<String, AttributeValue> before = table.read(key);
        if (Objects.equals(before, after)) {
            return; // As in a real stream: what changes nothing is not told.
        }
        table.write(key, after, now());
        Map<String, AttributeValue> either = after == null ? Objects.requireNonNull(before) : after;
        Change change =
                new Change(table.name(), ++changes, now(), key, table.schema().keyAttributes(either), before, after);
        listeners.forEach(listener -> listener.accept(change));
    }
}
