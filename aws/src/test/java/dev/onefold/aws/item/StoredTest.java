package dev.onefold.aws.item;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.map.Delta;
import java.util.List;
import java.util.Map;
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
}
