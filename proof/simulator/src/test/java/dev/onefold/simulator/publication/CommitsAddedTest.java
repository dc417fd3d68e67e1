package dev.onefold.simulator.publication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.publication.Publication;
import dev.onefold.aws.publication.Publication.Outcome;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.upkeep.Restored;
import dev.onefold.fakes.aws.Fault;
import dev.onefold.fakes.aws.Faults;
import dev.onefold.fakes.aws.SimulatedClient;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.PutItemRequest;

/// A published table to which commits are added: what must hold for that, and what happens where it does not.
class CommitsAddedTest {
    private final PublicationLife life = new PublicationLife(1);

    private Outcome.Published published() {
        return (Outcome.Published) life.step();
    }

    private void begin() {
        life.take(life.trade("1", 1, "FX", "EMEA", "5"), life.trade("2", 1, "IR", "EMEA", "7"));
        published();
    }

    private void everyHeader(String update, Map<String, AttributeValue> values) {
        life.deployment.dynamo.backup(life.deployment.tables.totals()).items().stream()
                .filter(item -> item.get("p").s().equals("headers") && item.containsKey("n"))
                .forEach(header -> life.deployment.of(life.deployment
                        .dynamo
                        .client("person")
                        .updateItem(request -> request.tableName(life.deployment.tables.totals())
                                .key(Map.of("p", header.get("p"), "g", header.get("g")))
                                .updateExpression(update)
                                .expressionAttributeValues(values.isEmpty() ? null : values))));
    }

    private List<Map<String, AttributeValue>> log() {
        return life.deployment.dynamo.backup(life.deployment.tables.totals()).items().stream()
                .filter(item -> item.containsKey("ttl"))
                .toList();
    }

    @Test
    void a_cut_writes_the_groups_that_commits_touched_and_no_others() {
        begin();
        life.take(life.trade("1", 2, "FX", "EMEA", "6"));
        Outcome.Published second = published();
        // The leaf, its desk and the total; its region and the total of regions. No list has changed.
        assertThat(second.written()).isEqualTo(5);
        assertThat(second.items()).isEqualTo(5);
        assertThat(life.items().get("main/IR")).containsEntry("cut", AttributeValue.fromN("1"));
        assertThat(life.items().get("main/FX")).containsEntry("cut", AttributeValue.fromN("2"));
        life.requireRight();
        life.take(life.record("{\"id\":\"1\",\"v\":3,\"gone\":true}"));
        assertThat(published().removed()).isEqualTo(2);
        life.requireRight();
        life.take(life.trade("1", 4, "FX", "EMEA", "6"));
        assertThat(published().written()).isEqualTo(9); // Both top lists and reserves, too.
        life.requireRight();
        assertThat(life.step()).isInstanceOf(Outcome.Nothing.class);
    }

    @Test
    void a_commit_that_nobody_logged_is_noticed_and_all_items_are_compared() {
        begin();
        everyHeader("REMOVE v, y", Map.of()); // As code does that knows no log.
        life.take(life.trade("1", 2, "FX", "EMEA", "6"));
        assertThat(log()).isEmpty();
        assertThat(published().items()).isEqualTo(11);
        life.requireRight();
        life.take(life.trade("1", 3, "IR", "EMEA", "6"));
        assertThat(log()).hasSize(1);
        everyHeader("REMOVE v, y", Map.of());
        life.take(life.trade("2", 3, "IR", "EMEA", "6"));
        assertThat(published().items()).isEqualTo(9); // The last one is missing.
        life.requireRight();
    }

    @Test
    void a_log_that_nobody_reads_ends_and_is_begun_again() {
        begin();
        everyHeader("SET y = n", Map.of());
        life.take(life.trade("1", 2, "FX", "EMEA", "6"));
        assertThat(log()).isEmpty();
        published();
        life.requireRight();
        life.take(life.trade("1", 3, "FX", "EMEA", "7"));
        assertThat(log()).hasSize(1);
        assertThat(published().items()).isEqualTo(5);
        life.requireRight();
    }

    /// Headers are always in somebody's transaction, as with many busy lanes: no instant can be read of them.
    private Outcome stepAmongOthers() {
        Store busy = life.withoutInstants();
        return new Publication(busy, PublicationLife.PUBLISHING).step(PublicationLife.INVOCATION_MAX, false);
    }

    @Test
    void where_lanes_are_never_quiet_a_log_that_has_ended_or_expired_is_noticed_and_begun_again() {
        begin();
        life.take(life.trade("1", 2, "FX", "EMEA", "6"));
        assertThat(((Outcome.Published) stepAmongOthers()).items()).isEqualTo(5);
        life.requireRight();
        everyHeader("SET y = n", Map.of());
        life.take(life.trade("1", 3, "FX", "EMEA", "100"));
        stepAmongOthers();
        life.requireRight();
        life.take(life.trade("1", 4, "FX", "EMEA", "200"));
        assertThat(((Outcome.Published) stepAmongOthers()).items()).isEqualTo(5);
        life.requireRight();
        life.take(life.trade("1", 5, "FX", "EMEA", "300"), life.trade("2", 5, "IR", "EMEA", "300"));
        log().forEach(item -> life.deployment.of(life.deployment
                .dynamo
                .client("service")
                .deleteItem(request -> request.tableName(life.deployment.tables.totals())
                        .key(Map.of("p", item.get("p"), "g", item.get("g"))))));
        stepAmongOthers();
        life.requireRight();
        assertThat(stepAmongOthers()).isInstanceOf(Outcome.Nothing.class);
    }

    @Test
    void commits_that_have_expired_are_noticed_and_all_items_are_compared() {
        for (int lost = 0; lost < 3; lost++) {
            PublicationLife life = new PublicationLife(1);
            life.take(life.trade("1", 1, "FX", "EMEA", "5"));
            life.step();
            for (int version = 2; version <= 4; version++) {
                life.take(life.trade("1", version, "FX", "R" + version, "6"));
            }
            Map<String, AttributeValue> item =
                    life.deployment.dynamo.backup(life.deployment.tables.totals()).items().stream()
                            .filter(each -> each.containsKey("ttl"))
                            .toList()
                            .get(lost);
            life.deployment.of(life.deployment
                    .dynamo
                    .client("service")
                    .deleteItem(request -> request.tableName(life.deployment.tables.totals())
                            .key(Map.of("p", item.get("p"), "g", item.get("g")))));
            life.step();
            life.requireRight();
        }
    }

    @Test
    void hazard_82_a_writer_that_stops_after_any_of_its_writes_is_followed_by_one_that_goes_on_with_its_commits() {
        for (int writes = 1; writes < 16; writes++) {
            PublicationLife life = begun(2L * writes); // Each cut is judged.
            life.take(
                    life.trade("1", 2, "IR", "APAC", "6"),
                    life.trade("3", 1, "EQ", "EMEA", "8"),
                    life.record("{\"id\":\"2\",\"v\":2,\"gone\":true}"));
            publishKilledAfter(writes, life);
            life.take(life.trade("2", 3, "IR", "EMEA", "9"), life.trade("3", 2, "IR", "APAC", "9"));
            publishAll(life);
        }
    }

    // No group comes or goes, so nothing but the sums themselves would tell that commits were added twice.
    @Test
    void hazard_82_a_writer_that_goes_on_adds_no_commit_twice_to_groups_that_stay() {
        for (int writes = 1; writes < 12; writes++) {
            PublicationLife life = begun(2L * writes);
            life.take(life.trade("1", 2, "FX", "EMEA", "6"), life.trade("3", 1, "IR", "EMEA", "8"));
            publishKilledAfter(writes, life);
            assertThat(life.step())
                    .isInstanceOfSatisfying(
                            Outcome.Published.class,
                            gone -> assertThat(gone.cut())
                                    .isEqualTo(3)); // Of the claim's commits: a comparison would be the fourth.
            publishAll(life);
        }
    }

    private static PublicationLife begun(long seed) {
        PublicationLife life = new PublicationLife(seed);
        life.take(life.trade("1", 1, "FX", "EMEA", "5"), life.trade("2", 1, "IR", "EMEA", "7"));
        life.step();
        return life;
    }

    private static void publishKilledAfter(int writes, PublicationLife life) {
        SimulatedClient killed = life.deployment.dynamo.client("killed");
        int[] left = {writes};
        life.deployment.dynamo.inject(Faults.none().with(Faults.Timing.USUAL).with(Fault.DIES_WITH_CLIENT, 0.5));
        life.deployment.dynamo.onWrite(PublicationLife.TABLE, _ -> {
            if (--left[0] == 0) {
                killed.kill();
            }
        });
        Store store = life.deployment.process(killed);
        var _ = CompletableFuture.supplyAsync(
                () -> new Publication(store, PublicationLife.PUBLISHING).step(PublicationLife.INVOCATION_MAX, false),
                life.time::start);
        life.time.runFor(PublicationLife.INVOCATION_MAX.plusSeconds(10));
        life.deployment.dynamo.inject(Faults.none());
    }

    private static void publishAll(PublicationLife life) {
        Outcome last;
        do {
            last = life.step();
        } while (!(last instanceof Outcome.Nothing));
        life.requireRight();
        life.time.runFor(PublicationLife.AFTERWARDS);
        life.requireRight();
    }

    @Test
    void hazard_82_a_put_that_comes_late_changes_nothing_that_a_comparison_has_left_as_it_was() {
        begin();
        life.take(life.trade("1", 2, "FX", "EMEA", "6"));
        List<PutItemRequest> held = new ArrayList<>();
        Store late = life.holdingPuts(held);
        var _ = CompletableFuture.supplyAsync(
                () -> new Publication(late, PublicationLife.PUBLISHING).step(PublicationLife.INVOCATION_MAX, false),
                life.time::start);
        life.time.runFor(PublicationLife.INVOCATION_MAX.multipliedBy(2));
        assertThat(held).hasSize(5);
        life.take(life.trade("1", 3, "FX", "EMEA", "5")); // As it was in the last whole cut.
        life.publish(life.store());
        life.requireRight();
        Map<String, Map<String, AttributeValue>> before = life.items();
        for (PutItemRequest put : held) {
            assertThatThrownBy(() -> life.deployment.of(
                            life.deployment.dynamo.client("late").putItem(put)))
                    .isInstanceOf(ConditionalCheckFailedException.class);
        }
        assertThat(life.items()).isEqualTo(before);
    }

    @Test
    void a_top_list_whose_reserve_is_empty_is_made_of_all_groups_again() {
        int groups = 140;
        life.take(IntStream.range(0, groups)
                .mapToObj(i -> life.trade("k" + i, 1, "D" + i, "EMEA", "1"))
                .toArray(Arrival[]::new));
        life.take(IntStream.range(0, groups)
                .mapToObj(i -> life.trade("m" + i, 1, "D" + i, "EMEA", "1"))
                .toArray(Arrival[]::new));
        published();
        life.requireRight();
        long compared = 0;
        for (int i = 0; i < 110; i += 10) {
            int from = i;
            life.take(IntStream.range(from, from + 10)
                    .mapToObj(each -> life.record("{\"id\":\"" + order().get(each) + "\",\"v\":2,\"gone\":true}"))
                    .toArray(Arrival[]::new));
            compared += published().items() > groups ? 1 : 0;
            life.requireRight();
        }
        assertThat(compared).isEqualTo(1);
    }

    /// The second trade of each desk, in the order of the desks in the list.
    private static List<String> order() {
        return IntStream.range(0, 140)
                .boxed()
                .sorted((a, b) -> ("D" + a).compareTo("D" + b))
                .map(i -> "m" + i)
                .toList();
    }

    @Test
    void more_groups_than_a_transaction_holds_come_and_go_in_one_cut() {
        begin();
        Arrival[] come = IntStream.range(0, 300)
                .mapToObj(i -> life.trade("k" + i, 1, "D" + i, "R" + i % 3, "1"))
                .toArray(Arrival[]::new);
        life.take(come);
        assertThat(published().written()).isGreaterThan(600);
        life.requireRight();
        life.take(IntStream.range(0, 300)
                .mapToObj(i -> life.record("{\"id\":\"k" + i + "\",\"v\":2,\"gone\":true}"))
                .toArray(Arrival[]::new));
        published();
        life.requireRight();
    }

    @Test
    void a_rebuild_and_a_recovery_are_other_totals_and_all_items_are_compared() {
        begin();
        life.engine.rebuild();
        life.take(life.trade("1", 2, "FX", "EMEA", "6"));
        assertThat(published().items()).isEqualTo(11);
        life.requireRight();
        life.take(life.trade("1", 3, "FX", "EMEA", "7"));
        assertThat(published().items()).isEqualTo(5);
        life.requireRight();
        Restored.takeOver(life.store());
        life.take(life.trade("1", 4, "FX", "APAC", "8"));
        assertThat(published().items()).isGreaterThan(10);
        life.requireRight();
        life.take(life.trade("1", 5, "FX", "EMEA", "9"));
        assertThat(published().items()).isLessThan(8);
        life.requireRight();
        assertThat(Objects.requireNonNull(life.items().get(":onefold"))
                        .get("cut")
                        .n())
                .isEqualTo("5");
    }
}
