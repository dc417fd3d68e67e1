package dev.onefold.aws.reduce;

import dev.onefold.aws.item.Definition;
import dev.onefold.aws.item.Header;
import dev.onefold.aws.store.SettledReads;
import dev.onefold.aws.store.Store;
import java.util.Map;
import java.util.Optional;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// Makes the headers of lanes that have none yet. An epoch cannot be closed before all are there, so all are made in
/// the first one, whoever makes them and however often.
public final class Headers {
    private Headers() {}

    /// Makes those that are missing.
    public static void make(Store store, Definition definition) {
        for (int lane = 0; lane < definition.lanes(); lane++) {
            Header header = Header.first(lane, definition.incarnation().id());
            store.retriedIf(() -> store.client()
                    .putItem(request -> request.tableName(store.tables().totals())
                            .item(header.item())
                            .conditionExpression("attribute_not_exists(p)")));
        }
    }

    /// Returns when all that a header's last commit wrote is visible to plain reads.
    ///
    /// @param header as it was read
    public static void settle(Store store, Header header) {
        Header last = header;
        for (int attempt = 1;
                SettledReads.of(store, store.tables().totals(), last.touched()).isEmpty();
                attempt++) {
            store.backOff(attempt);
            Optional<Header> now = find(store, header.lane());
            if (now.isEmpty() || now.get().last() != header.last()) {
                return; // Nobody sends the next commit before the last one is visible.
            }
            last = now.get();
        }
    }

    /// A lane's header, if it has one.
    public static Optional<Header> find(Store store, int lane) {
        Map<String, AttributeValue> item = store.get(store.tables().totals(), Header.keyOf(lane));
        return item.isEmpty() ? Optional.empty() : Optional.of(Header.of(item));
    }
}
