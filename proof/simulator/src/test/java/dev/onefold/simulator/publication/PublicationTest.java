package dev.onefold.simulator.publication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.aws.publication.Publication;
import dev.onefold.aws.publication.Publication.Outcome;
import dev.onefold.aws.store.Store;
import dev.onefold.fakes.aws.Fault;
import dev.onefold.fakes.aws.Faults;
import dev.onefold.fakes.aws.SimulatedClient;
import dev.onefold.fakes.aws.table.Tables.Backup;
import dev.onefold.fixtures.Seeds;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbException;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItemsRequest;
import software.amazon.awssdk.services.dynamodb.model.TransactionCanceledException;

/// Totals as items of a table that other programs read, on the simulated service: writers that are killed, late and
/// several at once, judged by the oracle.
class PublicationTest {
    private final PublicationLife life = new PublicationLife(1);

    @Test
    void each_group_is_one_item_with_plain_names_and_goes_with_its_group() {
        life.take(life.trade("1", 1, "FX", "EMEA", "5.50"), life.trade("2", 1, "a/b~c", "", "7"));
        assertThat(life.publish(life.store()).written()).isEqualTo(12);
        assertThat(life.items().get("main/FX/EMEA"))
                .containsEntry("desk", AttributeValue.fromS("FX"))
                .containsEntry("value", AttributeValue.fromN("5.5"))
                .containsEntry("trades", AttributeValue.fromN("1"))
                .containsEntry("cut", AttributeValue.fromN("1"));
        assertThat(life.items()).containsKeys("main", "main/a~1b~0c", "main/a~1b~0c/", "regions/EMEA", "main:top");
        life.requireRight();
        life.take(life.record("{\"id\":\"1\",\"v\":2,\"gone\":true}"), life.trade("3", 1, "a/b~c", "", "1"));
        Outcome.Published second = life.publish(life.store());
        assertThat(second.removed()).isEqualTo(3);
        assertThat(life.items()).doesNotContainKeys("main/FX", "main/FX/EMEA", "regions/EMEA");
        life.requireRight();
        assertThat(life.publish(life.store()).written()).isZero();
    }

    @Test
    void a_table_that_has_all_is_left_alone_and_one_that_was_emptied_is_made_again() {
        life.take(life.trade("1", 1, "FX", "EMEA", "5.50"));
        Publication publication = new Publication(life.store(), PublicationLife.PUBLISHING);
        assertThat(publication.step(PublicationLife.INVOCATION_MAX, false)).isInstanceOf(Outcome.Published.class);
        assertThat(publication.step(PublicationLife.INVOCATION_MAX, false)).isInstanceOf(Outcome.Nothing.class);
        assertThat(new Publication(life.store(), PublicationLife.PUBLISHING)
                        .step(PublicationLife.INVOCATION_MAX, false))
                .isInstanceOf(Outcome.Nothing.class);
        Store person = life.store();
        life.items()
                .keySet()
                .forEach(id -> life.deployment.of(person.client()
                        .deleteItem(
                                d -> d.tableName(PublicationLife.TABLE).key(Map.of("id", AttributeValue.fromS(id))))));
        life.cuts.clear();
        assertThat(publication.step(PublicationLife.INVOCATION_MAX, false)).isInstanceOf(Outcome.Published.class);
        life.requireRight();
        life.deployment.of(person.client()
                .deleteItem(
                        d -> d.tableName(PublicationLife.TABLE).key(Map.of("id", AttributeValue.fromS("main/FX")))));
        assertThat(publication.step(PublicationLife.INVOCATION_MAX, false)).isInstanceOf(Outcome.Nothing.class);
        assertThat(publication.step(PublicationLife.INVOCATION_MAX, true)).isInstanceOf(Outcome.Published.class);
        life.requireRight();
    }

    @Test
    void hazard_82_a_writer_that_wakes_up_late_brings_back_no_item_and_no_earlier_value() {
        life.take(life.trade("1", 1, "FX", "EMEA", "5"), life.trade("2", 1, "IR", "EMEA", "7"));
        life.publish(life.store());
        life.take(life.trade("1", 2, "IR", "APAC", "6"), life.trade("2", 2, "EQ", "EMEA", "8"));
        List<TransactWriteItemsRequest> held = new ArrayList<>();
        Store late = life.holding(held);
        CompletableFuture<Object> writer = CompletableFuture.supplyAsync(
                () -> new Publication(late, PublicationLife.PUBLISHING).step(PublicationLife.INVOCATION_MAX, true),
                life.time::start);
        life.time.runFor(Duration.ofSeconds(1));
        assertThat(held).hasSize(1);
        life.take(life.record("{\"id\":\"1\",\"v\":3,\"gone\":true}"), life.trade("2", 3, "FX", "EMEA", "9"));
        life.publish(life.store());
        life.requireRight();
        Map<String, Map<String, AttributeValue>> before = life.items();
        assertThatThrownBy(() ->
                        life.deployment.of(life.deployment.dynamo.client("late").transactWriteItems(held.getFirst())))
                .isInstanceOf(TransactionCanceledException.class);
        assertThat(life.items()).isEqualTo(before);
        assertThat(writer).isNotDone();
    }

    @Test
    void hazard_82_a_writer_that_stops_after_any_of_its_writes_leaves_what_the_next_one_mends() {
        for (int writes = 1; writes < 14; writes++) {
            PublicationLife life = new PublicationLife(writes);
            life.take(life.trade("1", 1, "FX", "EMEA", "5"), life.trade("2", 1, "IR", "EMEA", "7"));
            life.publish(life.store());
            life.take(
                    life.trade("1", 2, "IR", "APAC", "6"),
                    life.trade("3", 1, "EQ", "EMEA", "8"),
                    life.record("{\"id\":\"2\",\"v\":2,\"gone\":true}"));
            SimulatedClient killed = life.deployment.dynamo.client("killed");
            int[] left = {writes};
            life.deployment.dynamo.inject(
                    Faults.none().with(Faults.Timing.USUAL).with(Fault.DIES_WITH_CLIENT, 0.5));
            life.deployment.dynamo.onWrite(PublicationLife.TABLE, _ -> {
                if (--left[0] == 0) {
                    killed.kill();
                }
            });
            Store store = life.deployment.process(killed);
            var _ = CompletableFuture.supplyAsync(
                    () -> new Publication(store, PublicationLife.PUBLISHING).step(PublicationLife.INVOCATION_MAX, true),
                    life.time::start);
            life.time.runFor(Duration.ofSeconds(10));
            life.deployment.dynamo.inject(Faults.none());
            life.take(life.trade("3", 2, "IR", "APAC", "9"));
            life.publish(life.store());
            life.requireRight();
            life.time.runFor(PublicationLife.AFTERWARDS);
            life.requireRight();
        }
    }

    @Test
    void hazard_83_a_published_table_that_was_restored_is_brought_forward_from_where_it_is() {
        life.take(life.trade("1", 1, "FX", "EMEA", "5"));
        Publication publication = new Publication(life.store(), PublicationLife.PUBLISHING);
        publication.step(PublicationLife.INVOCATION_MAX, false);
        Backup backup = life.deployment.dynamo.backup(PublicationLife.TABLE);
        life.take(life.trade("1", 2, "IR", "EMEA", "6"));
        publication.step(PublicationLife.INVOCATION_MAX, false);
        life.deployment.dynamo.restore(backup, Duration.ofSeconds(1));
        life.time.runFor(Duration.ofSeconds(2));
        life.cuts.clear();
        publication.step(PublicationLife.INVOCATION_MAX, false);
        life.requireRight();
        life.take(life.trade("1", 3, "FX", "EMEA", "7"));
        publication.step(PublicationLife.INVOCATION_MAX, false);
        life.requireRight();
    }

    private void put(Map<String, AttributeValue> item) {
        life.deployment.of(life.deployment
                .dynamo
                .client("person")
                .putItem(put -> put.tableName(PublicationLife.TABLE).item(item)));
    }

    private static Map<String, AttributeValue> item(String id) {
        return Map.of("id", AttributeValue.fromS(id), "name", AttributeValue.fromS("somebody's own"));
    }

    @Test
    void a_table_that_something_else_is_kept_in_is_refused_and_left_as_it_is() {
        life.take(life.trade("1", 1, "FX", "EMEA", "5.50"));
        put(item("user-1"));
        for (boolean isAgain : List.of(false, true)) {
            Publication publication = new Publication(life.store(), PublicationLife.PUBLISHING);
            assertThatThrownBy(() -> publication.step(PublicationLife.INVOCATION_MAX, isAgain))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContainingAll("holds items that are not published totals", "user-1");
            assertThat(life.items()).containsOnly(Map.entry("user-1", item("user-1")));
        }
    }

    @Test
    void an_item_that_somebody_adds_to_a_published_table_is_left_alone() {
        life.take(life.trade("1", 1, "FX", "EMEA", "5.50"));
        life.publish(life.store());
        put(item("user-1"));
        assertThat(life.publish(life.store()).removed()).isZero();
        assertThat(life.items()).containsEntry("user-1", item("user-1"));
    }

    @Test
    void a_table_with_the_totals_of_another_deployment_is_refused_and_left_as_it_is() {
        life.take(life.trade("1", 1, "FX", "EMEA", "5.50"));
        life.publish(life.store());
        Map<String, AttributeValue> mark = new TreeMap<>(life.items().get(":onefold"));
        mark.put("totals", AttributeValue.fromS("other-totals"));
        put(mark);
        life.take(life.trade("1", 2, "FX", "APAC", "5.50"));
        Map<String, Map<String, AttributeValue>> before = life.items();
        for (boolean isAgain : List.of(false, true)) {
            Publication publication = new Publication(life.store(), PublicationLife.PUBLISHING);
            assertThatThrownBy(() -> publication.step(PublicationLife.INVOCATION_MAX, isAgain))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("has the totals of other-totals");
        }
        assertThat(life.items()).isEqualTo(before);
    }

    @Test
    void more_groups_than_a_table_takes_are_refused_with_the_reason_and_read_once_in_a_while() {
        PublicationLife life = new PublicationLife(1, false);
        life.take(life.trade("1", 1, "FX", "EMEA", "5"));
        life.publish(life.store());
        Map<String, AttributeValue> item = life.items().get("main");
        life.take(life.trade("2", 1, "IR", "EMEA", "7"));
        Publication small = new Publication(life.store(), PublicationLife.PUBLISHING, 6);
        for (int i = 0; i < 10; i++) {
            assertThatThrownBy(() -> small.step(PublicationLife.INVOCATION_MAX, false))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("more than 6 items");
            assertThat(life.items().get(":onefold").get("claimed").n()).isEqualTo("2"); // It is not read again.
            assertThat(life.items()).containsEntry("main", item);
        }
        life.take(life.record("{\"id\":\"2\",\"v\":2,\"gone\":true}"));
        life.time.runFor(Duration.ofMinutes(16));
        assertThat(small.step(PublicationLife.INVOCATION_MAX, false)).isInstanceOf(Outcome.Published.class);
        life.requireRight();
    }

    @Test
    void a_writer_that_fails_leaves_the_next_one_its_turn_at_once() {
        life.take(life.trade("1", 1, "FX", "EMEA", "5"));
        Store failing = life.transacting(_ -> CompletableFuture.failedFuture(
                DynamoDbException.builder().message("No").statusCode(400).build()));
        assertThatThrownBy(
                        () -> new Publication(failing, PublicationLife.PUBLISHING).step(Duration.ofMinutes(15), false))
                .isInstanceOf(DynamoDbException.class);
        assertThat(new Publication(life.store(), PublicationLife.PUBLISHING)
                        .step(PublicationLife.INVOCATION_MAX, false))
                .isInstanceOf(Outcome.Published.class);
        life.requireRight();
    }

    @Test
    void writers_that_are_stopped_again_and_again_are_started_less_often() {
        life.take(life.trade("1", 1, "FX", "EMEA", "5"));
        for (int i = 0; i < 5; i++) {
            Store stopped = life.holding(new ArrayList<>());
            var _ = CompletableFuture.supplyAsync(
                    () -> new Publication(stopped, PublicationLife.PUBLISHING)
                            .step(PublicationLife.INVOCATION_MAX, false),
                    life.time::start);
            life.time.runFor(Duration.ofSeconds(70));
        }
        Publication next = new Publication(life.store(), PublicationLife.PUBLISHING);
        assertThatThrownBy(() -> next.step(PublicationLife.INVOCATION_MAX, false))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContainingAll("The last 5 writers", "Raise PublishTimeout and PublishMemory");
        life.time.runFor(Duration.ofMinutes(1));
        assertThat(next.step(PublicationLife.INVOCATION_MAX, false)).isInstanceOf(Outcome.Published.class);
        life.requireRight();
    }

    @Test
    void whatever_is_killed_late_or_lost_the_items_become_the_totals() {
        Seeds.forEachSeed(0, 12, seed -> new PublicationLife(seed).live(40));
        Seeds.forEachSeed(0, 4, seed -> new PublicationLife(seed, false).live(40));
    }

    @Test
    @Tag("campaign")
    void whatever_is_killed_late_or_lost_in_many_lives_the_items_become_the_totals() {
        Seeds.forEachSeed(0, 120, seed -> new PublicationLife(seed).live(120));
        Seeds.forEachSeed(0, 30, seed -> new PublicationLife(seed, false).live(120));
    }
}
