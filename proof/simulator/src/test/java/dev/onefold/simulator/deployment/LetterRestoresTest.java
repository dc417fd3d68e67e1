package dev.onefold.simulator.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.upkeep.Restored;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import dev.onefold.fakes.aws.table.Tables.Backup;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// Dead letters of which a backup holds a part.
class LetterRestoresTest {
    private final Deployment deployment = Deployment.calm();
    private final AwsEngine engine = deployment.engine(TradeFixtures.VALUES, 3, 4);
    private final DeadLetters letters = engine.deadLetters();

    private void process(int... sequences) {
        for (int sequence : sequences) {
            byte[] data = ("no JSON " + sequence).getBytes(StandardCharsets.UTF_8);
            StateAndMap.process(
                    deployment.function(), List.of(new Arrival("s/shard", Integer.toString(sequence), 0, data)));
        }
    }

    private List<Long> ids() {
        return letters.list(0, 10).stream().map(DeadLetter::id).toList();
    }

    private static boolean isLetter(Map<String, AttributeValue> item, long id) {
        return item.get("p").s().startsWith("letter/")
                && ByteBuffer.wrap(item.get("i").b().asByteArray()).getLong() == id;
    }

    @Test
    void a_letter_that_a_backup_has_lost_is_kept_again_and_one_that_was_removed_long_before_is_not() {
        process(7);
        letters.purge(ids());
        deployment.time.runFor(Duration.ofHours(1));
        process(8, 9);
        deployment.time.runFor(Duration.ofMinutes(1));
        loseFirst();
        Restored.begin(deployment.function());
        engine.rebuild();
        process(7, 8, 9, 8);
        assertThat(letters.list(0, 10))
                .extracting(letter -> letter.place().source())
                .containsExactlyInAnyOrder("s/shard:8", "s/shard:9");
    }

    /// The backup lacks the first letter.
    private void loseFirst() {
        long lost = ids().getFirst();
        Backup whole = deployment.dynamo.backup(deployment.tables.letters());
        Backup part = new Backup(
                whole.table(),
                whole.items().stream().filter(item -> !isLetter(item, lost)).toList());
        assertThat(part.items()).hasSize(whole.items().size() - 1);
        deployment.dynamo.restore(part, Duration.ofMinutes(5));
        deployment.time.runFor(Duration.ofMinutes(5));
    }

    @Test
    void a_letter_whose_time_was_made_long_before_the_last_one_is_kept_again_and_counted() {
        process(8);
        deployment.time.runFor(Duration.ofMinutes(19));
        process(9);
        loseFirst();
        assertThat(Restored.takeOver(deployment.function()).letters()).isOne();
        process(8, 9);
        assertThat(letters.list(0, 10))
                .extracting(letter -> letter.place().source())
                .containsExactlyInAnyOrder("s/shard:8", "s/shard:9");
    }
}
