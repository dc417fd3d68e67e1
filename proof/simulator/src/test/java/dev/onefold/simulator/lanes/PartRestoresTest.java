package dev.onefold.simulator.lanes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.aws.batch.BatchDefinition;
import dev.onefold.aws.batch.BatchesRestored;
import dev.onefold.aws.batch.Decisions;
import dev.onefold.aws.store.Store;
import dev.onefold.core.batch.Manifest;
import dev.onefold.core.batch.Outcome;
import dev.onefold.fakes.aws.SimulatedClient;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// A batch that was divided into parts, in a table that is taken over: an item of it is missing, or is from before.
class PartRestoresTest {
    private static final String BISECTING = "\"receiver\":\"idempotent\",\"bisect\":true";
    private static final String WHOLE = "batch/000001";

    private static DeliveriesAtWork sealed(int records) {
        DeliveriesAtWork work = new DeliveriesAtWork(records, BISECTING);
        work.in(store -> BatchDefinition.openOrCreate(store, work.pipeline, DeliveriesAtWork.LANES));
        work.seal(records);
        return work;
    }

    /// A receiver refuses some batches and parts, which are divided, and takes none of the others yet.
    private static void divide(DeliveriesAtWork work, Predicate<Manifest> refused) {
        work.receiver = attempt -> refused.test(attempt.handover().manifest())
                ? new Outcome.Refused("no")
                : new Outcome.NotNow("later", null);
        work.deliver();
        work.receiver = _ -> new Outcome.Done();
        work.lines.clear();
    }

    private static DeliveriesAtWork divided(String... refused) {
        DeliveriesAtWork work = sealed(5);
        divide(work, manifest -> List.of(refused).contains(manifest.number().toString()));
        return work;
    }

    private static List<String> takenOver(DeliveriesAtWork work) {
        return work.in(PartRestoresTest::takeOver).lost();
    }

    private static BatchesRestored.Report takeOver(Store store) {
        return BatchesRestored.takeOver(store, BatchesRestored.look(store).orElseThrow());
    }

    /// Each record of before, and each one that comes now, is delivered once, and nothing is left of the batch.
    private static void requireAllOnce(DeliveriesAtWork work, int records, String life) {
        work.seal(records);
        work.passed(Duration.ofHours(1));
        work.cut();
        work.in(PartRestoresTest::release);
        work.deliver();
        assertThat(work.lines)
                .as(life)
                .containsExactlyInAnyOrderElementsOf(IntStream.range(0, 2 * records)
                        .mapToObj(i -> "{\"id\":" + i + "}")
                        .toList());
        assertThat(work.keys()).as(life).noneMatch(key -> key.startsWith(WHOLE));
    }

    /// A person who has looked at the receiver.
    private static boolean release(Store store) {
        Decisions decisions = new Decisions(store);
        decisions
                .held()
                .forEach(held ->
                        decisions.release(held.number(), held.delivery().tries().generation()));
        return true;
    }

    private static Map<String, AttributeValue> item(DeliveriesAtWork work, String key) {
        Map<String, AttributeValue> item = work.hide(key);
        work.show(item);
        return item;
    }

    @Test
    void parts_whose_batch_is_missing_are_removed_and_their_records_are_delivered_once() {
        DeliveriesAtWork work = divided("000001");
        work.hide(WHOLE);
        assertThat(takenOver(work)).anyMatch(lost -> lost.contains("only parts of it are there"));
        requireAllOnce(work, 5, "");
    }

    @Test
    void a_batch_that_is_missing_and_has_parts_is_an_error_that_says_what_to_do() {
        DeliveriesAtWork work = divided("000001");
        work.hide(WHOLE);
        work.passed(Duration.ofHours(1));
        assertThatThrownBy(work::deliver)
                .hasMessageContaining("Batch 000001 is not in table")
                .hasMessageContaining("run 'onefold aws restored --anyway'");
    }

    @Test
    void parts_of_a_part_that_is_missing_do_not_come_back() {
        DeliveriesAtWork work = divided("000001", "000001.1");
        work.hide(WHOLE + ".1");
        assertThat(takenOver(work)).singleElement().asString().contains("its part 000001.1 is not there");
        assertThat(takenOver(work)).isEmpty();
        requireAllOnce(work, 5, "");
    }

    @Test
    void parts_of_a_batch_that_is_from_before_it_was_divided_do_not_come_back() {
        DeliveriesAtWork work = sealed(5);
        Map<String, AttributeValue> before = item(work, WHOLE);
        divide(work, manifest -> manifest.number().isWhole());
        work.show(before);
        assertThat(takenOver(work)).singleElement().asString().contains("is from before it was divided");
        assertThat(takenOver(work)).isEmpty();
        requireAllOnce(work, 5, "");
    }

    /// As an earlier version leaves it that is stopped when the records are in a batch again.
    @Test
    void parts_of_a_batch_that_was_being_removed_are_removed() {
        DeliveriesAtWork work = divided("000001");
        Map<String, AttributeValue> removed = new HashMap<>(item(work, WHOLE));
        removed.put("rm", AttributeValue.fromBool(true));
        Map<String, AttributeValue> part = item(work, WHOLE + ".1");
        work.hide(WHOLE + ".2");
        takenOver(work);
        work.show(removed);
        work.show(part);
        assertThat(takenOver(work)).singleElement().asString().contains("it was being removed");
        requireAllOnce(work, 5, "");
    }

    /// A life in which the command is stopped at a write, and is run again.
    ///
    /// @return whether it was stopped
    private static boolean stopped(boolean isMissing, int write) {
        String life = (isMissing ? "missing" : "older") + ", stopped at write " + write;
        DeliveriesAtWork work = sealed(60);
        Map<String, AttributeValue> before = item(work, WHOLE);
        divide(work, manifest -> manifest.records() > 1);
        if (isMissing) {
            work.hide(WHOLE);
        } else {
            work.show(before);
        }
        SimulatedClient client = work.deployment.dynamo.client("stopped");
        Store store = work.deployment.process(client);
        int[] writes = new int[1];
        work.deployment.dynamo.throttle(_ -> {
            if (++writes[0] == write) {
                client.kill();
            }
            return writes[0] >= write;
        });
        var _ = work.deployment.start(() -> {
            BatchesRestored.Report _ = takeOver(store);
        });
        work.passed(Duration.ofMinutes(10));
        work.deployment.dynamo.throttle(_ -> false);
        takenOver(work);
        requireAllOnce(work, 60, life);
        return !client.isAlive();
    }

    @Test
    void wherever_the_command_is_stopped_among_many_parts_its_next_run_ends_what_it_began() {
        int write = 1;
        while (stopped(write % 2 == 0, write)) {
            write += 19;
        }
        assertThat(write).isGreaterThan(2 * 60); // It was stopped between the transactions that delete parts, too.
    }
}
