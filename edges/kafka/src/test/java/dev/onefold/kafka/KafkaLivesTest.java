package dev.onefold.kafka;

import dev.onefold.fixtures.Seeds;
import dev.onefold.kafka.SimulatedTopic.Fault;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
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
@Timeout(120)
class KafkaLivesTest {
    private static final int LIVES_AT_ONCE = 24; // They wait most of the time: a run needs 0.2 s to end.

    private static Set<Fault> drawn(RandomGenerator random, Set<Fault> given) {
        Set<Fault> faults = EnumSet.of(Fault.CRASHES);
        faults.addAll(given);
        for (Fault fault : Fault.values()) {
            if (random.nextInt(3) == 0) {
                faults.add(fault);
            }
        }
        return faults;
    }

    private static void live(long seed, Set<Fault> given) {
        RandomGenerator random = new SplittableRandom(seed);
        new KafkaLife(random, drawn(random, given)).live();
    }

    private static void lives(int count, Fault... given) {
        Map<Long, Future<?>> lives = new ConcurrentHashMap<>();
        try (ExecutorService threads = Executors.newFixedThreadPool(LIVES_AT_ONCE)) {
            Set<Fault> faults = EnumSet.noneOf(Fault.class);
            faults.addAll(List.of(given));
            Seeds.forEachSeed(0, count, seed -> lives.put(seed, threads.submit(() -> live(seed, faults))));
            List<AssertionError> failures = new ArrayList<>();
            Seeds.forEachSeed(0, count, seed -> {
                try {
                    lives.get(seed).get();
                } catch (ExecutionException e) {
                    throw new AssertionError(e.getCause().toString(), e.getCause());
                }
            });
        }
    }

    @Test
    void in_a_few_lives_of_a_topic_that_misbehaves_no_total_is_wrong() {
        lives(20);
    }

    @Test
    @Tag("campaign")
    void hazard_95_a_topic_that_is_recreated_at_any_step_is_never_read_as_the_old_one() {
        lives(30, Fault.RECREATED);
    }
}
