package dev.onefold.core.keyed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.codec.Codec;
import dev.onefold.core.event.Reason;
import dev.onefold.process.Processor;
import dev.onefold.process.Step;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// The limits of a function, and the fate of an event that makes it exceed them.
class BoundsTest {
    private static final String TABLES = ",\"tables\":{\"t\":[\"k\",\"n\"]}";

    /// Writes the rows that its events name.
    public static final class Obedient implements Processor<Obedient.Text, Obedient.Order> {
        /// A context.
        public record Text(String text) {}

        /// An event.
        ///
        /// @param from of the rows that are written
        /// @param bytes of each row
        public record Order(int from, int rows, int bytes, int context, String owner) {}

        /// A row.
        public record Row(String k, int n, String text) {}

        @Override
        public Text start() {
            return new Text("");
        }

        @Override
        public Step<Text> step(Text text, Order order) {
            Step<Text> step = Step.to(new Text("x".repeat(order.context())));
            for (int n = order.from(); n < order.from() + order.rows(); n++) {
                step = step.put("t", new Row(order.owner(), n, text.text().length() + "y".repeat(order.bytes())));
            }
            return step;
        }
    }

    private static final Codec<Obedient.Order> ORDERS = Codec.of(Obedient.Order.class);

    private final StoredKey stored = new StoredKey();

    private static StepFunction function(String order, String rollups) {
        return StoredKey.function("\"class\":\"X\",\"order\":\"" + order + "\"" + TABLES, rollups, new Obedient());
    }

    private static byte[] order(int from, int rows, int bytes, int context) {
        return StoredKey.content(ORDERS, new Obedient.Order(from, rows, bytes, context, "k"));
    }

    private void refuses(byte[] content, String why) {
        for (String order : List.of("latest", "every", "in-order")) {
            StoredKey key = new StoredKey();
            assertThat(key.fold(function(order, ""), 1, content)).isEqualTo(Verdict.REJECTED);
            assertThat(key.letters).singleElement().satisfies(letter -> {
                assertThat(letter.why().reason()).isEqualTo(Reason.FAILED);
                assertThat(letter.why().message()).contains(why);
            });
            assertThat(key.rows).isEmpty();
            assertThat(key.fold(function(order, ""), 2, order(0, 1, 1, 1))).isEqualTo(Verdict.ACCEPTED);
        }
    }

    @Test
    void an_event_that_writes_too_much_is_a_dead_letter_and_the_key_goes_on() {
        refuses(order(0, 91, 1, 1), "91 rows; at most 90");
        refuses(order(0, 1, 90_000, 1), "bytes into table t; at most 90000");
        refuses(order(0, 1, 1, 90_000), "a context of 90");
        refuses(order(0, 60, 40_000, 1), "bytes in all; at most 2000000");
        refuses(StoredKey.content(ORDERS, new Obedient.Order(0, 1, 1, 1, "other")), "writes rows of its own key only");
    }

    @Test
    void an_event_may_write_what_the_bounds_allow() {
        assertThat(stored.fold(function("in-order", ""), 1, order(0, 90, 10, 80_000)))
                .isEqualTo(Verdict.ACCEPTED);
        assertThat(stored.rows).hasSize(90);
    }

    @Test
    void a_step_touches_at_most_24_groups() {
        String byN = ",\"rollups\":{\"by-n\":{\"of\":\"t\",\"levels\":[\"n\"],\"measures\":{\"rows\":\"count()\"}}}";
        assertThat(stored.fold(function("every", byN), 1, order(0, 25, 1, 1))).isEqualTo(Verdict.REJECTED);
        assertThat(stored.letters.getFirst().why().message())
                .contains("touches 25 groups")
                .contains("24");
        assertThat(stored.fold(function("every", byN), 2, order(0, 24, 1, 1))).isEqualTo(Verdict.ACCEPTED);
    }

    @Test
    void hazard_93_a_late_event_whose_refold_is_too_wide_is_a_letter_with_the_number_and_changes_nothing() {
        StepFunction function = function("in-order", "");
        stored.fold(function, 1, order(0, 1, 1, 1));
        for (int version = 10; version < 20; version++) {
            stored.fold(function, version, order(10 * version, 10, 1, version));
        }
        String before = stored.table().toString();
        // Each row says how long the context before it was: a late event with another context changes the rows behind
        // it.
        assertThat(stored.fold(function, 9, order(1_000, 85, 1, 3))).isEqualTo(Verdict.REJECTED);
        assertThat(stored.letters).singleElement().satisfies(letter -> {
            assertThat(letter.why().reason()).isEqualTo(Reason.TOO_LATE);
            assertThat(letter.why().message()).contains("would change 95 rows").contains("90");
        });
        assertThat(stored.table()).hasToString(before);
        assertThat(stored.fold(function, 9, order(1_000, 80, 1, 3))).isEqualTo(Verdict.ACCEPTED);
    }

    @Test
    void what_is_kept_is_bounded_by_bytes_too() {
        StepFunction function = function("in-order", "");
        for (int version = 10; version < 40; version++) {
            stored.fold(function, version, order(0, 1, 30_000, 1));
        }
        assertThat(stored.kept).hasSizeLessThan(20);
        assertThat(stored.fold(function, 9, order(0, 1, 1, 1))).isEqualTo(Verdict.REJECTED);
        assertThat(stored.letters.getFirst().why().message())
                .contains("folded for good (9 newer ones are kept; no more are, because of their bytes");
        assertThat(stored.fold(function, 40, order(1, 30, 30_000, 1))).isEqualTo(Verdict.ACCEPTED);
        assertThat(stored.fold(function, 41, order(1, 30, 40_000, 1))).isEqualTo(Verdict.ACCEPTED);
        assertThat(stored.kept).as("what 41 would undo is more than is kept").isEmpty();
    }

    @Test
    void a_version_in_a_gap_below_what_is_kept_is_too_late_and_one_that_is_in_is_a_duplicate() {
        StepFunction function =
                StoredKey.function("\"class\":\"X\",\"order\":\"in-order\",\"keep\":2" + TABLES, "", new Obedient());
        for (int version : new int[] {1, 2, 4, 5, 6, 7, 8, 9, 10}) {
            stored.fold(function, version, order(0, 1, 1, version));
        }
        assertThat(stored.fold(function, 2, order(0, 1, 1, 2))).isEqualTo(Verdict.DUPLICATE);
        assertThat(stored.fold(function, 3, order(0, 1, 1, 3))).isEqualTo(Verdict.REJECTED);
        assertThat(stored.letters.getFirst().why().message())
                .contains("too late")
                .contains("keep: 2");
    }

    @Test
    void every_remembers_so_many_runs_and_tells_when_it_cannot_tell() {
        StepFunction function =
                StoredKey.function("\"class\":\"X\",\"order\":\"every\",\"keep\":3" + TABLES, "", new Obedient());
        for (int version : new int[] {10, 20, 30, 40}) {
            stored.fold(function, version, order(0, 1, 1, version));
        }
        assertThat(stored.fold(function, 5, order(0, 1, 1, 5))).isEqualTo(Verdict.REJECTED);
        assertThat(stored.letters.getFirst().why().message()).contains("too old to tell");
        assertThat(stored.fold(function, 15, order(0, 1, 1, 15))).isEqualTo(Verdict.ACCEPTED);
    }

    @Test
    void code_that_is_older_than_the_keys_writes_nothing() {
        StepFunction newer =
                StoredKey.function("\"class\":\"X\",\"order\":\"in-order\",\"version\":2" + TABLES, "", new Obedient());
        stored.fold(newer, 1, order(0, 1, 1, 1));
        assertThatThrownBy(() -> stored.fold(function("in-order", ""), 2, order(0, 1, 1, 1)))
                .isInstanceOf(OlderCodeException.class)
                .hasMessageContaining("version 2");
    }

    @Test
    void whether_an_event_touches_too_many_groups_does_not_depend_on_the_order_of_arrival() {
        String byN = ",\"rollups\":{\"by-n\":{\"of\":\"t\",\"levels\":[\"n\"],\"measures\":{\"rows\":\"count()\"}}}";
        StepFunction function = function("in-order", byN);
        List<byte[]> events = List.of(order(0, 25, 1, 1), order(0, 13, 1, 5), order(13, 12, 1, 6));
        StoredKey other = new StoredKey();
        for (int version : new int[] {1, 2, 3}) {
            stored.fold(function, version, events.get(version - 1));
        }
        for (int version : new int[] {2, 3, 1}) {
            other.fold(function, version, events.get(version - 1));
        }
        assertThat(other.letters)
                .singleElement()
                .satisfies(letter -> assertThat(letter.why().message()).contains("touches 25 groups"));
        assertThat(other.table()).isEqualTo(stored.table());
        stored.fold(function, 0, order(0, 1, 1, 2));
        assertThat(stored.letters)
                .as("an event that is skipped does not make others too late")
                .isEmpty();
    }

    @Test
    void a_lower_keep_is_taken_up_while_events_of_the_last_refold_are_kept() {
        StepFunction function = function("in-order", "");
        StepFunction lower =
                StoredKey.function("\"class\":\"X\",\"order\":\"in-order\",\"keep\":4" + TABLES, "", new Obedient());
        for (int version : new int[] {1, 2, 3, 4, 6, 7, 8, 9, 10, 5}) {
            stored.fold(function, version, order(version % 3, 2, 1, version));
        }
        for (int version = 12; version < 40; version += 2) {
            assertThat(stored.fold(lower, version, order(version % 3, 2, 1, version)))
                    .isEqualTo(Verdict.ACCEPTED);
            assertThat(stored.fold(lower, version - 9, order(0, 1, 1, version)))
                    .as("too late")
                    .isEqualTo(version > 19 ? Verdict.REJECTED : Verdict.DUPLICATE);
        }
        assertThat(stored.kept).hasSizeLessThanOrEqualTo(8);
        assertThat(stored.fold(lower, 37, order(0, 1, 1, 37))).isEqualTo(Verdict.ACCEPTED);
    }

    /// Removes the row that its event names, by a key of many kinds.
    public static final class Removing implements Processor<Obedient.Text, Obedient.Order> {
        private final Object key;

        Removing(Object key) {
            this.key = key;
        }

        @Override
        public Obedient.Text start() {
            return new Obedient.Text("");
        }

        @Override
        public Step<Obedient.Text> step(Obedient.Text text, Obedient.Order order) {
            return order.rows() == 0
                    ? Step.to(text).remove("t", "k", key)
                    : Step.to(text).put("t", new Obedient.Row("k", order.from(), ""));
        }

        @Override
        public Map<String, Class<? extends Record>> tables() {
            return Map.of("t", Obedient.Row.class);
        }
    }

    @Test
    void a_row_is_removed_by_values_of_its_key_s_types_alone() {
        for (Object wrong : List.of(1.5, (short) 1, "1", "x", true, new BigDecimal("1e99"), List.of(1), "\ud800")) {
            StoredKey key = new StoredKey();
            StepFunction function =
                    StoredKey.function("\"class\":\"X\",\"order\":\"in-order\"" + TABLES, "", new Removing(wrong));
            key.fold(function, 1, order(1, 1, 0, 0));
            assertThat(key.fold(function, 2, order(1, 0, 0, 0)))
                    .as(wrong.toString())
                    .isEqualTo(Verdict.REJECTED);
            assertThat(key.rows).hasSize(1);
        }
        for (Object right : List.of(1, 1L, new BigDecimal("1.0"))) {
            StoredKey key = new StoredKey();
            StepFunction function =
                    StoredKey.function("\"class\":\"X\",\"order\":\"in-order\"" + TABLES, "", new Removing(right));
            key.fold(function, 1, order(1, 1, 0, 0));
            assertThat(key.fold(function, 2, order(1, 0, 0, 0))).isEqualTo(Verdict.ACCEPTED);
            assertThat(key.rows).isEmpty();
        }
    }
}
