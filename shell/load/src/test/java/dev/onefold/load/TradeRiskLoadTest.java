package dev.onefold.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class TradeRiskLoadTest {
    private static final TradeRiskMix ALL_KINDS = new TradeRiskMix(200_000, 50_000, 80_000, 50_000, 20_000);
    private static final Pattern TRADE = Pattern.compile("\\{\"TradeID\":\"([0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}"
            + "-[89ab][0-9a-f]{3}-[0-9a-f]{12})\",\"Value\":(\\d+\\.\\d\\d),\"Version\":(\\d+),"
            + "\"Timestamp\":(\\d{10}\\.\\d{7}),\"Hierarchy\":\\{\"RiskType\":\"(PV|Delta)\","
            + "\"Region\":\"(EMEA|APAC|AMER)\",\"TradeDesk\":\"(FXSpot|FXOptions)\"}}");
    private static final Pattern DELETE = Pattern.compile("\\{\"TradeID\":\"([0-9a-f-]{36})\",\"Version\":(\\d+),"
            + "\"Timestamp\":\\d{10}\\.\\d{7},\"Deleted\":true}");

    @Test
    void equal_seeds_give_equal_bytes_however_they_are_fetched() throws IOException {
        byte[] whole = bytes(new TradeRiskLoad(ALL_KINDS, 20_000, 7), 20_000);

        assertThat(bytes(new TradeRiskLoad(ALL_KINDS, 20_000, 7), 1)).isEqualTo(whole);
        assertThat(bytes(new TradeRiskLoad(ALL_KINDS, 20_000, 7), 333)).isEqualTo(whole);
        assertThat(bytes(new TradeRiskLoad(ALL_KINDS, 20_000, 8), 333)).isNotEqualTo(whole);
    }

    @Test
    void a_shorter_load_is_the_beginning_of_a_longer_one() throws IOException {
        String longer = text(new TradeRiskLoad(ALL_KINDS, 2_000, 7));

        assertThat(longer).startsWith(text(new TradeRiskLoad(ALL_KINDS, 1_500, 7)));
    }

    @Test
    void each_message_is_one_line_and_a_healthy_one_has_the_promised_shape() throws IOException {
        TradeRiskLoad load = new TradeRiskLoad(ALL_KINDS, 20_000, 1);
        List<String> lines = text(load).lines().toList();

        assertThat(lines).hasSize(20_000);
        assertThat(lines.stream().filter(line -> !isHealthy(line)))
                .hasSize((int) load.totals().made().malformed());
    }

    @Test
    void the_kinds_come_in_the_shares_that_are_asked_for() throws IOException {
        TradeRiskTotals.Made made = made(ALL_KINDS, 300_000);

        assertThat(made.messages()).isEqualTo(300_000);
        assertThat(percent(made.newTrades(), made)).isCloseTo(60, within(0.5));
        assertThat(percent(made.corrections() + made.reinserts(), made)).isCloseTo(20, within(0.5));
        assertThat(percent(made.duplicates(), made)).isCloseTo(5, within(0.5));
        assertThat(percent(made.late(), made)).isCloseTo(8, within(0.5));
        assertThat(percent(made.deletes(), made)).isCloseTo(5, within(0.5));
        assertThat(percent(made.malformed(), made)).isCloseTo(2, within(0.5));
        assertThat(made.reinserts()).isPositive();
    }

    @Test
    void the_benchmark_is_70_new_20_corrections_5_duplicates_5_late_and_181_bytes_a_line() throws IOException {
        TradeRiskLoad load = new TradeRiskLoad(TradeRiskMix.BENCHMARK, 300_000, 42);
        long bytes = text(load).length();
        TradeRiskTotals totals = load.totals();
        TradeRiskTotals.Made made = totals.made();

        assertThat(percent(made.newTrades(), made)).isCloseTo(70, within(0.5));
        assertThat(percent(made.corrections(), made)).isCloseTo(20, within(0.5));
        assertThat(percent(made.duplicates(), made)).isCloseTo(5, within(0.2));
        assertThat(percent(made.late(), made)).isCloseTo(5, within(0.2));
        assertThat(made.deletes() + made.reinserts() + made.malformed()).isZero();
        assertThat(totals.bytes()).isEqualTo(bytes);
        assertThat(bytes / 300_000.0).isCloseTo(181, within(1.0));
    }

    @Test
    void late_messages_alone_with_new_trades_come_too() throws IOException {
        TradeRiskTotals.Made made = made(new TradeRiskMix(0, 0, 500_000, 0, 0), 100_000);

        assertThat(percent(made.late(), made)).isCloseTo(50, within(1.0));
    }

    @Test
    void versions_start_at_0_and_a_late_one_is_older_than_one_before_it() throws IOException {
        TradeRiskLoad load = new TradeRiskLoad(TradeRiskMix.BENCHMARK, 50_000, 3);
        Map<String, Integer> newest = new HashMap<>();
        Set<String> seen = new HashSet<>();
        long late = 0;
        for (String line : text(load).lines().toList()) {
            Matcher trade = TRADE.matcher(line);
            assertThat(trade.matches()).isTrue();
            int version = Integer.parseInt(trade.group(3));
            if (!newest.containsKey(trade.group(1))) {
                assertThat(version).isZero();
            } else if (seen.add(line) && version < newest.get(trade.group(1))) {
                late++;
            }
            seen.add(line);
            newest.merge(trade.group(1), version, Math::max);
        }

        assertThat(late).isEqualTo(load.totals().made().late());
    }

    @Test
    void a_duplicate_is_one_of_the_last_1000_messages() throws IOException {
        TradeRiskLoad load = new TradeRiskLoad(TradeRiskMix.BENCHMARK, 30_000, 3);
        Deque<String> recent = new ArrayDeque<>();
        Set<String> ever = new HashSet<>();
        long duplicates = 0;
        for (String line : text(load).lines().toList()) {
            if (!ever.add(line)) {
                duplicates++;
                assertThat(recent).contains(line);
            }
            recent.addLast(line);
            if (recent.size() > 1_000) {
                recent.removeFirst();
            }
        }

        assertThat(duplicates).isEqualTo(load.totals().made().duplicates());
    }

    @Test
    void the_totals_are_those_of_the_newest_versions() throws IOException {
        TradeRiskLoad load = new TradeRiskLoad(ALL_KINDS, 100_000, 11);
        String text = text(load);

        assertThat(render(load.totals())).isEqualTo(foldByHand(text));
    }

    @Test
    void the_totals_can_be_asked_for_on_the_way() throws IOException {
        TradeRiskLoad load = new TradeRiskLoad(ALL_KINDS, 10_000, 11);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        load.write(out, 4_321);

        assertThat(render(load.totals())).isEqualTo(foldByHand(out.toString(StandardCharsets.US_ASCII)));
        assertThat(load.remaining()).isEqualTo(10_000 - 4_321);
    }

    @Test
    void what_each_message_is_in_order_is_counted() throws IOException {
        TradeRiskLoad load = new TradeRiskLoad(ALL_KINDS, 50_000, 5);
        Map<String, Integer> newest = new HashMap<>();
        long changes = 0;
        long duplicates = 0;
        long stale = 0;
        long malformed = 0;
        for (String line : text(load).lines().toList()) {
            Matcher trade = TRADE.matcher(line);
            Matcher delete = DELETE.matcher(line);
            if (!trade.matches() && !delete.matches()) {
                malformed++;
                continue;
            }
            String id = trade.matches() ? trade.group(1) : delete.group(1);
            int version = Integer.parseInt(trade.matches() ? trade.group(3) : delete.group(2));
            int before = newest.getOrDefault(id, -1);
            if (version > before) {
                changes++;
                newest.put(id, version);
            } else if (version == before) {
                duplicates++;
            } else {
                stale++;
            }
        }

        assertThat(load.totals().inOrder())
                .isEqualTo(new TradeRiskTotals.InOrder(changes, duplicates, stale, malformed));
    }

    @Test
    void a_load_of_nothing_has_no_groups() throws IOException {
        TradeRiskLoad load = new TradeRiskLoad(ALL_KINDS, 0, 11);

        assertThat(text(load)).isEmpty();
        assertThat(load.totals().groups()).isEmpty();
        assertThat(load.totals().toJson()).contains("\"groups\": []");
    }

    @Test
    void impossible_numbers_of_messages_are_refused() {
        assertThatThrownBy(() -> new TradeRiskLoad(ALL_KINDS, -1, 0)).hasMessageContaining("-1 messages");
        assertThatThrownBy(() -> new TradeRiskLoad(ALL_KINDS, Long.MAX_VALUE, 0))
                .hasMessageContaining("from 0 to 2,000,000,000");
    }

    private static boolean isHealthy(String line) {
        return TRADE.matcher(line).matches() || DELETE.matcher(line).matches();
    }

    /// Path to value and count, from the text alone.
    private static Map<String, String> foldByHand(String text) {
        Map<String, Integer> newest = new HashMap<>();
        Map<String, Matcher> rows = new HashMap<>();
        for (String line : text.lines().toList()) {
            Matcher trade = TRADE.matcher(line);
            Matcher delete = DELETE.matcher(line);
            if (trade.matches() && Integer.parseInt(trade.group(3)) > newest.getOrDefault(trade.group(1), -1)) {
                newest.put(trade.group(1), Integer.parseInt(trade.group(3)));
                rows.put(trade.group(1), trade);
            } else if (delete.matches()
                    && Integer.parseInt(delete.group(2)) > newest.getOrDefault(delete.group(1), -1)) {
                newest.put(delete.group(1), Integer.parseInt(delete.group(2)));
                rows.remove(delete.group(1));
            }
        }
        Map<String, BigDecimal> sums = new TreeMap<>();
        Map<String, Integer> counts = new TreeMap<>();
        for (Matcher row : rows.values()) {
            List<String> path = List.of(row.group(5), row.group(7), row.group(6));
            for (int depth = 0; depth <= 3; depth++) {
                String node = String.join("/", path.subList(0, depth));
                sums.merge(node, new BigDecimal(row.group(2)), BigDecimal::add);
                counts.merge(node, 1, Integer::sum);
            }
        }
        Map<String, String> rendered = new TreeMap<>();
        sums.forEach((node, sum) -> rendered.put(node, sum + " of " + counts.get(node)));
        return rendered;
    }

    private static Map<String, String> render(TradeRiskTotals totals) {
        List<String> order = new ArrayList<>();
        Map<String, String> rendered = new TreeMap<>();
        for (TradeRiskTotals.Group group : totals.groups()) {
            String node = String.join("/", group.path());
            order.add(node);
            rendered.put(node, group.value() + " of " + group.trades());
        }
        assertThat(order).isSorted();
        return rendered;
    }

    private static TradeRiskTotals.Made made(TradeRiskMix mix, long messages) throws IOException {
        TradeRiskLoad load = new TradeRiskLoad(mix, messages, 42);
        load.write(OutputStream.nullOutputStream(), messages);
        return load.totals().made();
    }

    private static double percent(long kind, TradeRiskTotals.Made made) {
        return 100.0 * kind / made.messages();
    }

    private static String text(TradeRiskLoad load) throws IOException {
        return new String(bytes(load, 1_000), StandardCharsets.US_ASCII);
    }

    private static byte[] bytes(TradeRiskLoad load, int batch) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        long written = 0;
        for (long wrote = load.write(out, batch); wrote > 0; wrote = load.write(out, batch)) {
            written += wrote;
        }
        assertThat(load.remaining()).isZero();
        assertThat(written).isEqualTo(load.totals().made().messages());
        return out.toByteArray();
    }
}
