package dev.onefold.simulator.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.letter.LetterTable;
import dev.onefold.core.Causes;
import dev.onefold.core.Counts;
import dev.onefold.core.Fates;
import dev.onefold.fakes.aws.Fault;
import dev.onefold.fakes.aws.Faults;
import dev.onefold.fakes.aws.SimulatedDynamoDb;
import dev.onefold.fakes.aws.Tally;
import dev.onefold.fakes.aws.VirtualTime;
import dev.onefold.fixtures.Seeds;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// The causes for which records are silent, which processes of State count in one item.
class SilentRecordsTest {
    private static Fates silent(int records, String... causes) {
        Causes all = Causes.NONE;
        for (String cause : causes) {
            all = all.plus(new Causes(Map.of("silent: " + cause, (long) records)));
        }
        return new Fates(new Counts(0, 0, 0, 0, 0, (long) records * causes.length), all);
    }

    private static String[] tables(int from, int to) {
        return IntStream.range(from, to)
                .mapToObj(number -> "of public.orders_" + number)
                .toArray(String[]::new);
    }

    @Test
    void causes_cost_no_more_requests_or_units_than_the_sum_alone_unless_a_table_is_new() {
        Deployment deployment = Deployment.calm();
        Tally tally = deployment.dynamo.tally();
        LetterTable letters = new LetterTable(deployment.function());
        letters.count(silent(1, tables(10, 26)));
        letters.count(silent(1, "tombstone", "heartbeat", "of public.another"));
        long updates = tally.requests().get(Tally.Operation.UPDATE_ITEM);
        long units = tally.writeUnits();
        letters.count(silent(2, "tombstone", "heartbeat", "of public.orders_10", "of public.new", "of public.newer"));
        assertThat(tally.requests()).containsOnlyKeys(Tally.Operation.CREATE_TABLE, Tally.Operation.UPDATE_ITEM);
        assertThat(tally.requests().get(Tally.Operation.UPDATE_ITEM)).isEqualTo(updates + 1);
        assertThat(tally.writeUnits()).isEqualTo(units + 1);
        Map<String, Long> counts = letters.fates().causes().counts();
        assertThat(counts)
                .hasSize(19)
                .containsEntry("silent: of public.orders_10", 3L)
                .containsEntry("silent: of further tables", 5L)
                .containsEntry("silent: tombstone", 3L);
    }

    @Test
    void however_processes_count_the_causes_are_as_many_as_the_silent_records_and_few_tables_are_named() {
        Seeds.forEachSeed(0, 100, seed -> {
            SplittableRandom random = new SplittableRandom(seed);
            VirtualTime time = new VirtualTime(Instant.parse("2030-01-01T00:00:00Z"));
            Deployment deployment =
                    new Deployment(time, new SimulatedDynamoDb(time, random.nextLong()), random.split());
            deployment.dynamo.inject(Faults.none()
                    .with(Faults.Timing.USUAL)
                    .with(Fault.REPLY_LOST, 0.05)
                    .with(Fault.THROTTLED, 0.05));
            List<CompletableFuture<Void>> processes = new ArrayList<>();
            for (int process = 0; process < 4; process++) {
                SplittableRandom own = random.split();
                processes.add(deployment.start(() -> {
                    LetterTable letters = new LetterTable(deployment.function());
                    for (int count = 0; count < 10; count++) {
                        int from = own.nextInt(40);
                        letters.count(silent(1 + own.nextInt(3), tables(from, from + own.nextInt(5))));
                        letters.count(silent(1, "tombstone"));
                    }
                }));
            }
            processes.forEach(deployment::of);
            deployment.dynamo.inject(Faults.none());
            Fates fates = new LetterTable(deployment.function()).fates();
            Map<String, Long> causes = fates.causes().counts();
            assertThat(causes.values().stream().mapToLong(Long::longValue).sum())
                    .isPositive()
                    .isEqualTo(fates.counts().silent());
            assertThat(causes.keySet().stream().filter(Causes::isOfNamedTable))
                    .hasSizeLessThanOrEqualTo(16)
                    .hasSizeGreaterThan(10);
        });
    }
}
