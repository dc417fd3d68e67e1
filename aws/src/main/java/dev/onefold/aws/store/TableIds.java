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
        return ask(store, store.tables().names());
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

    /// The ids of rows, deltas, totals and letters as they are.
    public static List<String> of(Store store) {
        return ask(store).stream().map(Found::id).toList();
    }

    /// Fails if one of the tables under these names is another one than a definition knows, or if the deployment is
    /// closed. Tables that were found to be right are taken for that for [#VALID_MAX].
    ///
    /// @param known ids in the definition, in the order of the names: empty texts while the deployment is closed;
    ///     none if the definition is from before ids were noted
    public static void require(Store store, List<String> known, List<String> names) {
        Instant asked = store.clock().instant();
        if (store.ids().isValid(known, asked)) {
            return;
        }
        if (!known.isEmpty() && known.stream().allMatch(String::isEmpty)) {
            throw new OtherTable();
        }
        List<Found> found = ask(store, names);
        for (int table = 0; table < found.size(); table++) {
            if (isOther(known, table, found.get(table))) {
                throw new OtherTable(found.get(table));
            }
        }
        store.ids().note(known, asked);
    }

    /// Whether a table is another one than a definition knows. Where it knows none, one that was restored is.
    public static boolean isOther(List<String> known, int table, Found found) {
        return known.isEmpty() ? found.isRestored() : !found.id().equals(known.get(table));
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
