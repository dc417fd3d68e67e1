package dev.onefold.aws.stream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.fixtures.Seeds;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.Test;

/// What makes such systems count wrong, as far as streams are written and read again.
class HazardsOfStreamsTest {
    @Test
    void hazard_30_entries_that_a_request_leaves_out_are_put_again_alone_and_all_versions_of_a_key_lie_on_one_shard() {
        Seeds.forAllSeeds(100, random -> {
            Turns turns = new Turns(random);
            FakeKinesis kinesis = new FakeKinesis(turns, random, 0.3);
            Producer producer = new Producer(kinesis, "s", turns, random, (_, _) -> {});
            List<String> all = new ArrayList<>();
            for (int i = 0; i < 2_000; i++) {
                String record = "k" + i % 40 + ":" + i;
                all.add(record);
                producer.add(new StreamRecord(i, "k" + i % 40, record.getBytes(StandardCharsets.UTF_8)));
            }
            producer.finish();
            List<String> stored = new ArrayList<>();
            kinesis.shards.values().forEach(stored::addAll);
            assertThat(kinesis.refusedEntries).isPositive();
            // Nothing of a request that was half done is there twice, unless its answer was lost.
            assertThat(new HashSet<>(stored)).isEqualTo(new HashSet<>(all));
            assertThat(stored).hasSizeLessThanOrEqualTo(all.size() + (int) kinesis.lostEntries);
            assertThat(kinesis.shardsOfKeys)
                    .hasSize(40)
                    .allSatisfy((_, shards) -> assertThat(shards).hasSize(1));
        });
    }
}
