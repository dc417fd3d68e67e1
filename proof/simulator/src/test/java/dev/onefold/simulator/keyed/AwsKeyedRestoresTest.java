package dev.onefold.simulator.keyed;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.upkeep.Restored;
import dev.onefold.core.Truth;
import dev.onefold.core.process.LoadedFunction;
import dev.onefold.fakes.aws.table.Backups;
import dev.onefold.fixtures.Seeds;
import dev.onefold.simulator.deployment.Deployment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Heads, kept events and bases that are restored from a backup which has lost and aged some of them.
class AwsKeyedRestoresTest {
    private static final int SHARE = 6;
    private static final int ALL = 100;
    private static final Duration BETWEEN_MAX = Duration.ofSeconds(8);

    @Test
    void when_all_events_have_come_again_after_a_restore_each_is_in_or_has_a_letter() {
        Seeds.forEachSeed(0, SHARE, AwsKeyedRestoresTest::run);
    }

    @Test
    @Tag("campaign")
    void in_many_restores_when_all_events_have_come_again_each_is_in_or_has_a_letter() {
        Seeds.forEachSeed(0, ALL, AwsKeyedRestoresTest::run);
    }

    static void run(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        LifeCase dealt = LifeCase.of(random);
        LoadedFunction function = dealt.loaded(1);
        Deployment deployment = Deployment.calm();
        deployment.makeTables(function);
        deployment.release(function);
        Store store = deployment.process(deployment.dynamo.client("process"));
        AwsEngine.open(store, function.pipeline(), 2, 2);
        Backups service = deployment.dynamo.backups();
        List<Arrival> all = new ArrayList<>();
        long between = random.nextLong(BETWEEN_MAX.toNanos()) + 1;
        for (byte[] record : LifeCase.records(dealt.events())) {
            all.add(new Arrival("s/shard", Integer.toString(all.size() + 1), 0, record));
            StateAndMap.process(store, List.of(all.getLast()));
            deployment.time.runFor(Duration.ofNanos(random.nextLong(between) + 1));
        }
        deployment.dynamo.restore(service.get(deployment.tables.rows()), Duration.ofMinutes(5));
        deployment.time.runFor(Duration.ofMinutes(6));
        Store after = deployment.process(deployment.dynamo.client("after"));
        Restored.takeOver(after);
        StateAndMap.process(after, all);
        TrailJudge judge = new TrailJudge(dealt);
        judge.noteRedrive();
        AwsEngine engine = AwsEngine.deployed(after);
        judge.requireNothingLost(engine);
        engine.verify(new Truth.Rows(1));
    }
}
