package dev.onefold.simulator.publication;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.item.DeltaItem;
import dev.onefold.core.map.Delta;
import dev.onefold.fakes.aws.table.Change;
import dev.onefold.simulator.deployment.Deployment;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// What all items have to be when the mark says that a cut is whole: the sum of the deltas that were deleted by
/// the commits of that cut. A commit deletes one delta, so the n-th deletion in a lane is of its n-th commit.
final class CutJudge {
    private final Map<Integer, List<Delta>> deltas = new HashMap<>();
    private final Map<Integer, List<Long>> commits = new HashMap<>();
    private final Supplier<Map<String, Map<String, AttributeValue>>> items;
    private final int lanes;
    private @Nullable AssertionError failure;
    private long cut;
    private int judged;

    CutJudge(Deployment deployment, int lanes, Supplier<Map<String, Map<String, AttributeValue>>> items) {
        this.items = items;
        this.lanes = lanes;
        for (int lane = 0; lane < lanes; lane++) {
            deltas.put(lane, new ArrayList<>());
            commits.put(lane, new ArrayList<>());
        }
        deployment.dynamo.onWrite(deployment.tables.deltas(), this::delta);
        deployment.dynamo.onWrite(deployment.tables.totals(), this::header);
        deployment.dynamo.onWrite(PublicationLife.TABLE, this::mark);
    }

    /// Chance for a deployment that comes to commits of one delta.
    static SplittableRandom oneDeltaInACommit(SplittableRandom random) {
        while (true) {
            long seed = random.nextLong();
            SplittableRandom first = new SplittableRandom(seed);
            if (!first.nextBoolean() && first.nextInt(4) == 0) {
                return new SplittableRandom(seed);
            }
        }
    }

    private void delta(Change change) {
        if (change.after() == null && change.before() != null) {
            DeltaItem item = DeltaItem.of(change.before());
            Delta sum = Delta.NOTHING;
            for (Delta each : item.delta().deltas().byView().values()) {
                sum = sum.plus(each);
            }
            deltas.get(item.id().lane()).add(sum);
        }
    }

    private static long number(Map<String, AttributeValue> item, String name) {
        return new BigDecimal(item.get(name).n()).longValueExact();
    }

    private void header(Change change) {
        Map<String, AttributeValue> after = change.after();
        if (after == null || !after.get("p").s().equals("headers") || !after.containsKey("c")) {
            return;
        }
        int lane = after.get("g").b().asByteArray()[1];
        long last = number(after, "c");
        List<Long> known = commits.get(lane);
        if (last > 0 && (known.isEmpty() || known.getLast() != last)) {
            known.add(last);
        }
    }

    private void mark(Change change) {
        Map<String, AttributeValue> mark = change.after();
        if (mark == null || !mark.get("id").s().equals(":onefold") || !mark.containsKey("cut")) {
            return;
        }
        if (number(mark, "cut") > cut && failure == null) {
            cut = number(mark, "cut");
            try {
                judge(mark.get("reached").s().split(",", -1));
            } catch (AssertionError wrong) {
                failure = new AssertionError("Cut " + cut + " of " + mark + ": " + wrong.getMessage(), wrong);
            }
        }
    }

    private void judge(String[] reached) {
        judged++;
        Delta sum = Delta.NOTHING;
        for (int lane = 0; lane < lanes; lane++) {
            long last = Long.parseLong(reached[lane]);
            long count =
                    commits.get(lane).stream().filter(commit -> commit <= last).count();
            for (Delta each : deltas.get(lane).subList(0, (int) count)) {
                sum = sum.plus(each);
            }
        }
        Map<String, List<BigDecimal>> expected = new TreeMap<>();
        Map<String, List<String>> leaves = new HashMap<>();
        expected.put("main", sums(new Delta.Sums(0, List.of(), List.of())));
        expected.put("regions", expected.get("main"));
        Map<String, Delta.Sums> groups = new HashMap<>();
        sum.cells().forEach((cell, sums) -> {
            List<String> parts = cell.leaf().parts();
            for (int depth = 0; depth <= parts.size(); depth++) {
                groups.merge(id(cell.rollup(), parts.subList(0, depth)), sums, Delta.Sums::plus);
            }
            if (cell.rollup() == 0 && sums.rows() != 0) {
                leaves.put(id(0, parts), parts);
            }
        });
        groups.forEach((id, sums) -> {
            if (sums.rows() != 0 || !id.contains("/")) {
                expected.put(id, sums(sums));
            }
        });
        Map<String, Map<String, AttributeValue>> stored = items.get();
        Map<String, List<BigDecimal>> found = new TreeMap<>();
        stored.forEach((id, item) -> {
            if (item.containsKey("depth")) {
                BigDecimal trades = new BigDecimal(item.get("trades").n());
                BigDecimal value = new BigDecimal(item.get("value").n());
                found.put(id, List.of(trades.setScale(0), value.setScale(2)));
                if (item.containsKey("mean")) {
                    assertThat(new BigDecimal(item.get("mean").n()).setScale(2))
                            .isEqualTo(value.divide(trades, 2, RoundingMode.HALF_EVEN));
                }
            }
        });
        assertThat(found).isEqualTo(expected);
        assertThat(stored.get("main:top").get("groups").l().stream()
                        .map(group -> id(
                                0,
                                List.of(
                                        group.m().get("desk").s(),
                                        group.m().get("region").s())))
                        .toList())
                .isEqualTo(top(expected, leaves));
    }

    private static List<String> top(Map<String, List<BigDecimal>> groups, Map<String, List<String>> leaves) {
        Comparator<String> order = Comparator.comparing(
                        (String id) -> groups.get(id).getFirst())
                .reversed()
                .thenComparing(id -> leaves.get(id).get(0))
                .thenComparing(id -> leaves.get(id).get(1));
        return leaves.keySet().stream().sorted(order).limit(2).toList();
    }

    private static List<BigDecimal> sums(Delta.Sums sums) {
        return List.of(
                BigDecimal.valueOf(sums.rows()),
                new BigDecimal(
                        sums.sums().isEmpty() ? BigInteger.ZERO : sums.sums().getFirst(), 2));
    }

    private static String id(int rollup, List<String> parts) {
        return (rollup == 0 ? "main" : "regions")
                + parts.stream()
                        .map(part -> "/" + part.replace("~", "~0").replace("/", "~1"))
                        .collect(Collectors.joining());
    }

    void requireRight() {
        if (failure != null) {
            throw failure;
        }
        assertThat(judged).isPositive();
    }
}
