package dev.onefold.aws.store;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.TableDescription;

/// Which tables stand under a deployment's names. A table that is restored gets another id under the same name, and
/// for some minutes there is none under that name. So who has looked within the last minute still speaks to the tables
/// that it has looked at. The request costs nothing. Any thread may call.
public final class TableIds {
    /// For so long it is valid what was found.
    public static final Duration VALID_MAX = Duration.ofMinutes(1);

    private List<String> known = List.of();
    private @Nullable Instant at;

    public TableIds() {}

    /// One table, as it is.
    ///
    /// @param id given to it when it was made or restored, and to no other
    /// @param isRestored whether it was made of a backup
    public record Found(String name, String id, Instant created, boolean isRestored) {}

    /// Asks which tables there are: rows, deltas, totals and letters.
    public static List<Found> ask(Store store) {
        Store.Tables tables = store.tables();
        return ask(store, List.of(tables.rows(), tables.deltas(), tables.totals(), tables.letters()));
    }

    /// Asks which tables stand under these names.
    public static List<Found> ask(Store store, List<String> names) {
        return store.threads()
                .all(
                        names,
                        name -> found(
                                store.retried(() -> store.client().describeTable(request -> request.tableName(name)))
                                        .table()));
    }

    private static Found found(TableDescription table) {
        String created = table.creationDateTime().toString();
        return new Found(
                table.tableName(),
                table.tableId() == null ? created : table.tableId(),
                table.creationDateTime(),
                table.restoreSummary() != null);
    }

    /// Whether they were found to be those of the definition within the last minute.
    public synchronized boolean isValid(Instant now) {
        return at != null && Duration.between(at, now).abs().compareTo(VALID_MAX) < 0;
    }

    /// Whether that was so of these.
    public synchronized boolean isValid(List<String> ids, Instant now) {
        return known.equals(ids) && isValid(now);
    }

    /// Notes that the tables are these, and are those of the definition.
    ///
    /// @param asked before this was found
    public synchronized void note(List<String> ids, Instant asked) {
        known = List.copyOf(ids);
        at = asked;
    }
}
