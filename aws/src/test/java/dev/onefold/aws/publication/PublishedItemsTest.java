package dev.onefold.aws.publication;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.aggregate.Aggregate;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.map.Delta;
import dev.onefold.core.pipeline.Publishing.TopList;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.totals.Totals;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// Totals as items of a published table, at the limits of the service.
class PublishedItemsTest {
    private static final int ITEM_BYTES_MAX = 400 * 1024;

    private static Rollup rollup(String... levels) {
        var pipeline = PipelineBuilder.named("p")
                .key("id")
                .version("v")
                .rollup(rollup ->
                        rollup.levels(levels).sum("value", "value", 28, 0).count("trades"))
                .build();
        return Rollups.of(pipeline).all().getFirst();
    }

    private static void add(Totals totals, List<String> group, String value) {
        Aggregate aggregate = totals.empty();
        aggregate.add(new Delta.Sums(1, List.of(new BigInteger(value)), List.of(1L)));
        totals.add(Tuple.of(group), aggregate);
    }

    private static final Optional<TopList> TOP = Optional.of(new TopList(100, "trades"));

    private static Map<String, Map<String, AttributeValue>> items(Totals totals) {
        PublishedItems of = PublishedItems.of(List.of(totals.rollup()), TOP).getFirst();
        Map<String, Map<String, AttributeValue>> items = new TreeMap<>();
        of.groups(totals).forEach((group, aggregate) -> items.put(of.id(group), of.content(group, aggregate)));
        return items;
    }

    private static Ranking ranking(PublishedItems of, Totals totals) {
        return Ranking.of(
                totals.leaves().entrySet().stream()
                        .map(leaf -> of.entry(leaf.getKey(), leaf.getValue()))
                        .toList(),
                100);
    }

    private static int size(AttributeValue value) {
        return switch (value.type()) {
            case S -> value.s().getBytes(StandardCharsets.UTF_8).length;
            case N -> 21;
            case L -> 3 + value.l().stream().mapToInt(each -> 1 + size(each)).sum();
            case M ->
                3
                        + value.m().entrySet().stream()
                                .mapToInt(each -> 1 + each.getKey().length() + size(each.getValue()))
                                .sum();
            default -> throw new AssertionError(value);
        };
    }

    @Test
    void a_top_list_of_the_longest_groups_under_the_longest_names_is_one_item() {
        List<String> levels = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            levels.add("f" + i + "_" + "x".repeat(300));
        }
        Totals totals = new Totals(rollup(levels.toArray(String[]::new)));
        for (int i = 0; i < 300; i++) {
            List<String> group = new ArrayList<>(
                    List.of(i + "y".repeat(1_950 - String.valueOf(i).length())));
            while (group.size() < 16) {
                group.add("z");
            }
            add(totals, group, "1");
        }
        PublishedItems of = PublishedItems.of(List.of(totals.rollup()), TOP).getFirst();
        Ranking ranking = ranking(of, totals);
        Map<String, AttributeValue> top = of.top(ranking.first(100));
        assertThat(top.get("groups").l()).hasSize(100);
        assertThat(size(AttributeValue.fromM(top))).isLessThan(ITEM_BYTES_MAX);
        assertThat(ranking.isAll()).isFalse();
        assertThat(ranking.bytes().length).isLessThan(ITEM_BYTES_MAX);
        assertThat(Ranking.of(ranking.bytes())).isEqualTo(ranking);
    }

    @Test
    void an_id_that_is_too_long_is_cut_and_stays_its_own() {
        Totals totals = new Totals(rollup("a"));
        add(totals, List.of("/".repeat(1_900) + "1"), "1");
        add(totals, List.of("/".repeat(1_900) + "2"), "1");
        Map<String, Map<String, AttributeValue>> items = items(totals);
        assertThat(items).hasSize(3);
        assertThat(items.keySet()).allMatch(id -> id.getBytes(StandardCharsets.UTF_8).length <= 2_048);
    }

    @Test
    void a_sum_of_more_digits_than_a_number_may_have_is_a_text() {
        Totals totals = new Totals(rollup("a"));
        String most = "9".repeat(38);
        add(totals, List.of(""), most);
        assertThat(items(totals).get("main/")).containsEntry("value", AttributeValue.fromN(most));
        add(totals, List.of(""), "7");
        assertThat(items(totals).get("main/")).containsEntry("value", AttributeValue.fromS("1" + "0".repeat(37) + "6"));
    }
}
