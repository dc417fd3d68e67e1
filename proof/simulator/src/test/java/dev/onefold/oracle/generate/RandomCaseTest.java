package dev.onefold.oracle.generate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.grammar.Reading;
import dev.onefold.oracle.Oracle;
import dev.onefold.oracle.Oracle.Outcome;
import dev.onefold.yaml.PipelineFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RandomCaseTest {
    private static final int SEEDS = 300;

    @Test
    void equal_seeds_give_equal_cases() {
        for (long seed = 0; seed < 50; seed++) {
            RandomCase once = RandomCase.of(new SplittableRandom(seed));
            RandomCase again = RandomCase.of(new SplittableRandom(seed));

            assertThat(again.pipeline()).isEqualTo(once.pipeline());
            assertThat(again.lines()).usingRecursiveComparison().isEqualTo(once.lines());
            assertThat(again).hasToString(once.toString());
        }
    }

    @Test
    void every_pipeline_is_valid_to_the_product(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("pipeline.yaml");
        for (long seed = 0; seed < SEEDS; seed++) {
            RandomCase random = RandomCase.of(new SplittableRandom(seed));
            Files.writeString(file, random.pipeline());

            assertThat(PipelineFile.load(file).reading())
                    .describedAs("seed %d%n%s", seed, random.pipeline())
                    .isInstanceOf(Reading.Read.class);
        }
    }

    @Test
    void every_feature_of_the_reference_comes() {
        Map<String, Integer> wanted = new TreeMap<>();
        for (String feature : List.of(
                "format: csv",
                "columns: [",
                "delimiter: \"",
                "  key: \"",
                "  key: [",
                "  id: ",
                "derived-key: ",
                "input:\n  format: json\nrollup",
                "horizon: ",
                "keep: ",
                "time: {",
                "version: \"",
                "type: iso",
                "type: epoch-seconds",
                "type: epoch-millis",
                "delete: ",
                "filter: ",
                " and ",
                " or ",
                "not (",
                " is missing",
                " is not missing",
                " in (",
                " not in (",
                " >= ",
                "!=",
                "rollups:",
                "levels: []",
                "bucket(",
                "prefix(",
                "step(",
                ", name: ",
                "missing: ",
                "missing ignore",
                "missing 0",
                "missing '",
                "count()",
                "sum(",
                "average(",
                "min(",
                "max(",
                "distinct(",
                " where ",
                "count() where ",
                ") decimal(9,4)",
                " * ",
                ", iso)",
                ", epoch-millis)")) {
            wanted.put(feature, 0);
        }
        for (long seed = 0; seed < SEEDS; seed++) {
            String pipeline = RandomCase.of(new SplittableRandom(seed)).pipeline();
            wanted.replaceAll((feature, seen) -> pipeline.contains(feature) ? seen + 1 : seen);
        }
        assertThat(wanted).allSatisfy((feature, seen) -> assertThat(seen).isGreaterThanOrEqualTo(3));
    }

    @Test
    void every_outcome_comes_often_and_most_records_are_events() {
        Map<Outcome, Long> outcomes = new EnumMap<>(Outcome.class);
        for (long seed = 0; seed < SEEDS; seed++) {
            Oracle oracle = feed(RandomCase.of(new SplittableRandom(seed)));
            for (Outcome outcome : Outcome.values()) {
                outcomes.merge(outcome, oracle.count(outcome), Long::sum);
            }
        }
        long records = outcomes.values().stream().mapToLong(Long::longValue).sum();

        assertThat(outcomes).allSatisfy((outcome, count) -> assertThat(count).isGreaterThan(30));
        assertThat(outcomes.get(Outcome.MALFORMED)).isLessThan(records / 3);
        assertThat(outcomes.get(Outcome.ACCEPTED)).isGreaterThan(records / 5);
    }

    @Test
    void in_any_order_and_read_twice_the_totals_are_the_same() {
        for (long seed = 0; seed < SEEDS; seed++) {
            RandomCase random = RandomCase.of(new SplittableRandom(seed));
            Oracle shuffled = Oracle.of(random.pipeline());
            int first = random.hasHeader() ? 1 : 0;
            if (random.hasHeader()) {
                shuffled.accept("lines", 1, random.lines().getFirst());
            }
            List<Integer> order = new ArrayList<>();
            for (int index = first; index < random.lines().size(); index++) {
                order.add(index);
                order.add(index);
            }
            Chance chance = new Chance(new SplittableRandom(seed));
            for (int index : chance.shuffled(order)) {
                shuffled.accept("lines", index + 1, random.lines().get(index), arrivedMs(random));
            }

            assertThat(totals(shuffled))
                    .describedAs("seed %d%n%s", seed, random)
                    .isEqualTo(totals(feed(random)));
        }
    }

    private static Oracle feed(RandomCase random) {
        Oracle oracle = Oracle.of(random.pipeline());
        for (int index = 0; index < random.lines().size(); index++) {
            oracle.accept("lines", index + 1, random.lines().get(index), arrivedMs(random));
        }
        return oracle;
    }

    private static long arrivedMs(RandomCase random) {
        return random.firstTime().plus(RandomCase.TIMES.dividedBy(2)).toEpochMilli();
    }

    private static Map<String, Object> totals(Oracle oracle) {
        Map<String, Object> totals = new LinkedHashMap<>();
        oracle.rollups().forEach(rollup -> totals.put(rollup, oracle.totals(rollup)));
        return totals;
    }
}
