package dev.onefold.cli.trial;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// What a producer knows of the records that it has put: the faults of the load, and what it finds wrong in
/// batches.
class BatchOracleTest {
    private static final FaultyLines.Shares SHARES = new FaultyLines.Shares(100_000, 200_000, 50_000);

    private static Pipeline pipeline(String more) {
        return ((Reading.Read) PipelineText.read("{\"pipeline\":\"orders\",\"input\":{\"format\":\"json\",\"id\":\"id\""
                        + more + "},\"batch\":{\"size\":10,\"deliver\":{\"s3\":\"s3://bucket/{number}.ndjson\"}}}"))
                .pipeline();
    }

    private static Lines lines(List<String> texts) {
        List<String> left = new ArrayList<>(texts);
        return new Lines() {
            @Override
            public byte @Nullable [] next() {
                return left.isEmpty() ? null : left.removeFirst().getBytes(StandardCharsets.UTF_8);
            }

            @Override
            public void close() {}
        };
    }

    private static List<String> all(Lines lines) throws IOException {
        List<String> all = new ArrayList<>();
        for (byte[] line = lines.next(); line != null; line = lines.next()) {
            all.add(new String(line, StandardCharsets.UTF_8));
        }
        return all;
    }

    private static List<String> orders(int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> "{\"id\":\"o" + i + "\",\"n\":" + i + "}")
                .toList();
    }

    private static BatchOracle put(List<String> records, String more) {
        BatchOracle oracle = new BatchOracle(pipeline(more));
        oracle.note(records.stream()
                .map(each -> each.getBytes(StandardCharsets.UTF_8))
                .toList());
        assertThat(oracle.right().totals()).isEmpty();
        return oracle;
    }

    private static long strange(BatchOracle oracle, List<String> received) {
        return received.stream()
                .filter(record -> !oracle.strike(record.getBytes(StandardCharsets.UTF_8), Instant.now()))
                .count();
    }

    @Test
    void an_unreliable_producer_sends_every_record_some_twice_some_late_and_poison_between_them() throws IOException {
        for (long seed = 1; seed <= 20; seed++) {
            List<String> orders = orders(3_000);
            List<String> sent = all(new FaultyLines(lines(orders), SHARES, seed));
            assertThat(all(new FaultyLines(lines(orders), SHARES, seed))).isEqualTo(sent);
            Map<String, Integer> times = new HashMap<>();
            sent.forEach(each -> times.merge(each, 1, Integer::sum));
            List<String> poison = sent.stream()
                    .filter(each -> each.startsWith("onefold trial"))
                    .toList();
            assertThat(poison).hasSizeBetween(100, 250).doesNotHaveDuplicates();
            times.keySet().removeAll(poison);
            assertThat(times.keySet()).containsExactlyInAnyOrderElementsOf(orders);
            assertThat(sent.size() - poison.size() - orders.size()).isBetween(200, 500);
            List<String> first = new ArrayList<>(sent.stream().distinct().toList());
            first.removeAll(poison);
            Map<String, Integer> turns = new HashMap<>();
            orders.forEach(each -> turns.put(each, turns.size()));
            assertThat(IntStream.range(0, first.size()).filter(i -> turns.get(first.get(i)) < i))
                    .hasSizeBetween(400, 800);
        }
    }

    @Test
    void records_that_are_each_in_one_batch_are_struck_off_whatever_their_order() throws IOException {
        List<String> orders = orders(500);
        List<String> sent = all(new FaultyLines(lines(orders), SHARES, 42));
        BatchOracle oracle = put(sent, "");
        assertThat(oracle.right().members()).isEqualTo(500);
        assertThat(oracle.rejected())
                .isEqualTo(
                        sent.stream().filter(each -> each.startsWith("onefold")).count());
        List<String> received = new ArrayList<>(orders);
        Collections.shuffle(received, new Random(1));
        assertThat(strange(oracle, received)).isZero();
        assertThat(oracle.struck()).isEqualTo(new BatchOracle.Struck(0, 0));
    }

    @Test
    void a_record_that_is_missing_doubled_changed_or_of_nobody_is_found() {
        List<String> orders = orders(10);
        BatchOracle oracle = put(orders, "");
        List<String> received = new ArrayList<>(orders.subList(0, 7));
        received.add(orders.get(3));
        received.add("{\"id\":\"o7\",\"n\":8}");
        received.add("{\"id\":\"x\",\"n\":1}");
        received.add("no event");
        assertThat(strange(oracle, received)).isEqualTo(3);
        assertThat(oracle.struck()).isEqualTo(new BatchOracle.Struck(3, 1));
    }

    @Test
    void of_several_contents_of_an_id_any_is_right_and_one_alone_is() {
        List<String> orders = List.of("{\"id\":\"o\",\"n\":1}", "{\"id\":\"o\",\"n\":2}");
        BatchOracle oracle = put(orders, "");
        assertThat(oracle.right().members()).isOne();
        assertThat(strange(oracle, orders.subList(1, 2))).isZero();
        assertThat(oracle.struck()).isEqualTo(new BatchOracle.Struck(0, 0));
        assertThat(strange(oracle, orders.subList(0, 1))).isZero();
        assertThat(oracle.struck()).isEqualTo(new BatchOracle.Struck(0, 1));
    }

    @Test
    void what_the_filter_leaves_out_is_in_no_batch_and_need_not_be_with_another_content() {
        List<String> orders = List.of(
                "{\"id\":\"a\",\"n\":1}", "{\"id\":\"b\",\"n\":9}", "{\"id\":\"c\",\"n\":1}", "{\"id\":\"c\",\"n\":9}");
        BatchOracle oracle = put(orders, ",\"filter\":\"n = 1\"");
        assertThat(oracle.right().members()).isOne();
        assertThat(oracle.rejections()).isEqualTo(new TreeSet<>());
        assertThat(strange(oracle, orders.subList(0, 3))).isOne();
        assertThat(oracle.struck()).isEqualTo(new BatchOracle.Struck(0, 0));
    }
}
