package dev.onefold.aws.reduce;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.LocalDynamoDb;
import dev.onefold.aws.item.Items;
import dev.onefold.aws.item.Stored;
import dev.onefold.aws.item.TotalsKey;
import dev.onefold.aws.store.Store;
import java.math.BigInteger;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

class AdditionTest {
    private static final Map<String, AttributeValue> KEY =
            TotalsKey.of(TotalsKey.partition(1, 0), new byte[] {0, 1, 65});
    private static final Addition ADDITION = new Addition(KEY, Map.of(), Map.of("r", BigInteger.ONE));

    private static Map<String, AttributeValue> read(long epoch) {
        return Map.of(Stored.EPOCH, Items.number(epoch));
    }

    /// Else the copy of the end of an epoch would be of another one, and an answer of two instants.
    @Test
    void an_item_is_added_to_only_as_it_was_read() {
        LocalDynamoDb local = new LocalDynamoDb();
        Store store = local.store("addition");
        Map<String, AttributeValue> item = new HashMap<>(KEY);
        item.putAll(Map.of(Stored.EPOCH, Items.number(7), "r", Items.number(5)));
        local.client
                .putItem(put -> put.tableName(store.tables().totals()).item(item))
                .join();
        for (Map<String, AttributeValue> other : List.of(read(6), read(8), Map.<String, AttributeValue>of())) {
            assertThat(store.transact(List.of(ADDITION.update(store, other, 8, OptionalLong.empty()))))
                    .isInstanceOfSatisfying(
                            Store.Written.Refused.class,
                            refused -> assertThat(refused.failed(0)).isTrue());
        }
        assertThat(store.transact(List.of(ADDITION.update(store, read(7), 8, OptionalLong.empty()))))
                .isEqualTo(new Store.Written.Done());
        Map<String, AttributeValue> after = local.client
                .getItem(get -> get.tableName(store.tables().totals()).key(KEY))
                .join()
                .item();
        assertThat(Items.number(after, "r")).isEqualTo(6);
        assertThat(Items.number(after, Stored.before("r"))).isEqualTo(5);
        assertThat(Items.number(after, Stored.EPOCH)).isEqualTo(8);
    }
}
