package dev.onefold.fakes.aws;

import static dev.onefold.fakes.aws.Service.item;
import static dev.onefold.fakes.aws.Service.number;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.fakes.aws.table.Backups;
import dev.onefold.fakes.aws.table.Tables.Backup;
import java.time.Duration;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;

/// Backups as AWS describes them.
class BackupsTest {
    private static final Duration SECOND = Duration.ofSeconds(1);

    private final Service service = new Service(1);
    private final Backups backups = service.dynamo.backups();

    private void put(long value, String... keys) {
        List<TransactWriteItem> items = List.of(keys).stream()
                .map(key -> TransactWriteItem.builder()
                        .put(put -> put.tableName("Table").item(item(key, "n", number(value))))
                        .build())
                .toList();
        service.run(it -> it.transactWriteItems(request -> request.transactItems(items)));
    }

    private String drawn() {
        TreeSet<String> found = new TreeSet<>();
        Backup backup = backups.get("Table");
        backup.items()
                .forEach(item -> found.add(item.get("pk").s() + item.get("n").n()));
        return String.join(" ", found);
    }

    private SortedSet<String> drawnOften() {
        SortedSet<String> all = new TreeSet<>();
        for (int i = 0; i < 500; i++) {
            all.add(drawn());
        }
        return all;
    }

    @Test
    void of_a_transaction_within_a_minute_of_the_request_a_backup_may_hold_some_items_and_not_the_rest() {
        put(1, "a", "b");
        service.time.runFor(Backups.SPREAD.multipliedBy(2));
        put(2, "a", "b");
        service.time.runFor(Backups.SPREAD); // The request.
        assertThat(drawnOften()).containsExactly("a1 b1", "a1 b2", "a2 b1", "a2 b2");
    }

    @Test
    void what_was_written_a_minute_before_the_request_is_in_every_backup() {
        put(1, "a", "b");
        put(2, "a");
        service.time.runFor(Backups.SPREAD.multipliedBy(2).plus(SECOND));
        assertThat(drawnOften()).containsExactly("a2 b1");
    }

    @Test
    void an_item_that_came_or_went_within_a_minute_after_the_request_may_be_in_or_not() {
        put(1, "a");
        service.time.runFor(Backups.SPREAD.multipliedBy(3));
        put(1, "b");
        service.run(it -> it.deleteItem(request -> request.tableName("Table").key(Service.key("a"))));
        service.time.runFor(Backups.SPREAD);
        assertThat(drawnOften()).containsExactly("", "a1", "a1 b1", "b1");
    }

    @Test
    void after_a_restore_the_writes_of_the_table_before_are_not_undone() {
        put(1, "a");
        Backup backup = service.dynamo.backup("Table");
        put(2, "a", "b");
        service.dynamo.restore(backup, SECOND);
        service.time.runFor(SECOND);
        assertThat(drawnOften()).containsExactly("a1");
    }
}
