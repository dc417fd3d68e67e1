package dev.onefold.aws.item;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.map.Delta;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

class StoredTest {
    private static final Map<String, AttributeValue> ITEM = Map.of(
            Stored.EPOCH, Items.number(7), Stored.ROWS, Items.number(5), Stored.before(Stored.ROWS), Items.number(3));

    @Test
    void an_item_is_read_as_it_is_where_it_has_not_changed_since_the_cut() {
        assertThat(Stored.sums(ITEM, 0, 7)).isEqualTo(new Delta.Sums(5, List.of(), List.of()));
        assertThat(Stored.count(ITEM, 8)).isEqualTo(5);
    }

    @Test
    void an_item_that_has_changed_since_the_cut_is_read_by_its_copy() {
        assertThat(Stored.sums(ITEM, 0, 6)).isEqualTo(new Delta.Sums(3, List.of(), List.of()));
        assertThat(Stored.count(ITEM, 6)).isEqualTo(3);
    }

    @Test
    void of_an_item_that_has_changed_in_two_epochs_since_the_cut_nobody_knows_what_it_was() {
        assertThat(Stored.sums(ITEM, 0, 5)).isNull();
        assertThat(Stored.count(ITEM, 5)).isNull();
        assertThat(Stored.sums(ITEM, 0, 1)).isNull();
    }

    @Test
    void an_item_tells_what_it_was_at_the_end_of_the_epoch_that_is_held_and_of_no_other() {
        Map<String, AttributeValue> held = new TreeMap<>(ITEM);
        held.put(Stored.HELD, Items.number(3));
        held.put(Stored.held(Stored.ROWS), Items.number(2));
        assertThat(Stored.count(held, 3)).isEqualTo(2);
        assertThat(Stored.sums(held, 0, 3)).isEqualTo(new Delta.Sums(2, List.of(), List.of()));
        assertThat(Stored.count(held, 4)).isNull();
        assertThat(Stored.count(held, 2)).isNull();
        assertThat(Stored.count(held, 6)).isEqualTo(3);
        held.remove(Stored.held(Stored.ROWS)); // The item is younger than the held epoch.
        assertThat(Stored.count(held, 3)).isZero();
    }
}
