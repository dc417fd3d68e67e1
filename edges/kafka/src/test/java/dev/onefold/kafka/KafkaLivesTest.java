package dev.onefold.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.fixtures.Seeds;
import dev.onefold.kafka.SimulatedTopic.Fault;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Lives of engines that read a topic which misbehaves in each way that Kafka knows, through Kafka's own interfaces.
/// No total is wrong, and no partition stops without a reason.
@Timeout(300)
class KafkaLivesTest {
    private static final int GIVEN_TIMES = 3;
    private static final int LIVES_AT_ONCE = 12; // They wait most of the time: a run needs 0.2 s to end.

    /// Those that are given befall a topic more often than the others.
    private static List<Fault> drawn(RandomGenerator random, List<Fault> given) {
        List<Fault> faults = new ArrayList<>(List.of(Fault.CRASHES));
        for (int i = 0; i < GIVEN_TIMES; i++) {
            faults.addAll(given);
        }
        for (Fault fault : Fault.values()) {
            if (random.nextInt(3) == 0) {
                faults.add(fault);
            }
        }
        return faults;
    }

    private static void live(long seed, List<Fault> given) {
        RandomGenerator random = new SplittableRandom(seed);
        new KafkaLife(random, drawn(random, given)).live();
    }

    /// @param given that befall each of these lives, beside those that are drawn
    private static void lives(int count, Fault... given) {
        long from =
                given.length == 0 ? 0 : 1_000L * (1 + List.of(Fault.values()).indexOf(given[0]));
        Map<Long, Future<?>> lives = new HashMap<>();
        try (ExecutorService threads = Executors.newFixedThreadPool(LIVES_AT_ONCE)) {
            Seeds.forEachSeed(from, count, seed -> lives.put(seed, threads.submit(() -> live(seed, List.of(given)))));
            Seeds.forEachSeed(from, count, seed -> {
                try {
                    lives.get(seed).get();
                } catch (ExecutionException e) {
                    throw new AssertionError(e.getCause().toString(), e.getCause());
                }
            });
        }
    }

    /// The log may have grown beyond the position before the next record is fetched: nobody would notice then.
    @Test
    void hazard_96_a_partition_that_was_restored_and_ends_before_the_last_record_is_another_one() {
        RandomGenerator random = new SplittableRandom(1);
        SimulatedTopic topic = new SimulatedTopic(random, List.of(Fault.RESTORED));
        SimulatedPartition partition = topic.partitions().getFirst();
        for (int i = 0; i < 10; i++) {
            partition.append(new SimulatedPartition.Sent("0-0", i, SimulatedPartition.Kind.TRADE), null);
        }
        partition.restore(4);
        topic.heal();
        TopicLook look = new TopicLook(
                new SimulatedAdmin(topic).client(), SimulatedTopic.NAME, Duration.ofSeconds(1), () -> false);
        SimulatedConsumer consumer =
                new SimulatedConsumer(topic, new KafkaLife(random, List.of(Fault.RESTORED)), random);
        assertThat(new LastRecords(SimulatedTopic.NAME, consumer, look)
                        .with(Map.of(
                                0, TopicMark.read("c t 9 of-the-record - -").orElseThrow()))
                        .differing())
                .containsOnlyKeys(0);
    }

    @Test
    void in_a_few_lives_of_a_topic_that_misbehaves_no_total_is_wrong() {
        lives(20);
    }

    @Test
    @Tag("campaign")
    void hazard_95_a_topic_that_is_recreated_at_any_step_is_never_read_as_the_old_one() {
        lives(15, Fault.RECREATED);
    }

    @Test
    @Tag("campaign")
    void hazard_96_another_cluster_that_answers_at_any_step_is_never_read() {
        lives(15, Fault.OTHER_CLUSTER);
    }

    @Test
    @Tag("campaign")
    void hazard_96_a_partition_that_was_restored_at_any_step_stops_if_more_was_folded() {
        lives(40, Fault.RESTORED);
    }

    @Test
    @Tag("campaign")
    void a_partition_whose_new_leader_lacks_records_stops_if_they_were_folded() {
        lives(80, Fault.CUT, Fault.TRANSACTIONS);
    }

    @Test
    @Tag("campaign")
    void hazard_97_a_partition_stops_if_retention_overruns_it_at_any_step() {
        lives(15, Fault.RETENTION);
    }

    @Test
    @Tag("campaign")
    void a_compacted_topic_gives_the_totals_of_its_last_records() {
        lives(15, Fault.COMPACTED);
    }

    @Test
    @Tag("campaign")
    void hazard_98_transactions_count_if_they_are_committed_and_only_then() {
        lives(15, Fault.TRANSACTIONS);
    }

    @Test
    @Tag("campaign")
    void hazard_99_a_partition_that_is_added_at_any_step_is_read_from_its_beginning() {
        lives(15, Fault.PARTITION_ADDED);
    }

    @Test
    @Tag("campaign")
    void hazard_100_a_group_is_never_told_of_more_than_a_crash_leaves() {
        lives(15, Fault.CRASHES);
    }

    @Test
    @Tag("campaign")
    void hazard_101_poison_at_any_offset_is_a_dead_letter_once() {
        lives(15, Fault.POISON);
    }

    @Test
    @Tag("campaign")
    void answers_that_are_lost_or_old_change_nothing() {
        lives(15, Fault.LOST_ANSWERS, Fault.OLD_ANSWERS);
    }
}
