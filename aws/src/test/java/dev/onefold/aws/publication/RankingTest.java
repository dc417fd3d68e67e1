package dev.onefold.aws.publication;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.event.Tuple;
import dev.onefold.fixtures.Seeds;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/// A top list that is kept by changes, beside one that is made of all groups.
class RankingTest {
    private static List<String> top(Map<String, BigDecimal> groups, int count) {
        return groups.entrySet().stream()
                .sorted(Map.Entry.<String, BigDecimal>comparingByValue(Comparator.nullsLast(Comparator.reverseOrder()))
                        .thenComparing(Map.Entry.comparingByKey()))
                .limit(count)
                .map(Map.Entry::getKey)
                .toList();
    }

    private static Ranking of(Map<String, BigDecimal> groups, int count) {
        return Ranking.of(entries(groups), count);
    }

    private static List<Ranking.Entry> entries(Map<String, BigDecimal> groups) {
        List<Ranking.Entry> entries = new ArrayList<>();
        groups.forEach((group, value) -> entries.add(new Ranking.Entry(Tuple.of(List.of(group)), value)));
        return entries;
    }

    @Test
    void whatever_changes_the_list_is_that_of_all_groups_and_they_are_read_again_only_when_the_reserve_is_empty() {
        int[] readAgain = {0};
        Seeds.forEachSeed(0, 40, seed -> readAgain[0] += life(new SplittableRandom(seed)));
        assertThat(readAgain[0]).isBetween(10, 2_000); // Of 16,000 changes.
    }

    private static int life(SplittableRandom random) {
        int count = 1 + random.nextInt(20);
        int groupsMax = 1 + random.nextInt(500);
        int valuesMax = 1 + random.nextInt(300);
        Map<String, BigDecimal> groups = new TreeMap<>();
        Ranking ranking = of(groups, count);
        int readAgain = 0;
        for (int step = 0; step < 400; step++) {
            boolean isShrinking = step % 200 >= 100;
            Map<String, BigDecimal> now = new TreeMap<>();
            Set<Tuple> changed = new TreeSet<>();
            for (int i = 0; i < 1 + random.nextInt(20); i++) {
                String group = isShrinking && !groups.isEmpty()
                        ? top(groups, 20).get(random.nextInt(Math.min(20, groups.size())))
                        : "g" + random.nextInt(groupsMax);
                changed.add(Tuple.of(List.of(group)));
                now.remove(group);
                groups.remove(group);
                if (random.nextInt(isShrinking ? 5 : 2) == 0) {
                    BigDecimal value = random.nextInt(20) == 0 ? null : BigDecimal.valueOf(random.nextInt(valuesMax));
                    groups.put(group, value);
                    now.put(group, value);
                }
            }
            Optional<Ranking> next = ranking.with(changed, entries(now), count);
            readAgain += next.isEmpty() ? 1 : 0;
            ranking = Ranking.of(next.orElse(of(groups, count)).bytes());
            assertThat(ranking.first(count).stream()
                            .map(entry -> entry.group().parts().getFirst())
                            .toList())
                    .isEqualTo(top(groups, count));
            assertThat(ranking.with(changed, entries(now), count)).contains(ranking); // Done twice is done once.
        }
        return readAgain;
    }
}
