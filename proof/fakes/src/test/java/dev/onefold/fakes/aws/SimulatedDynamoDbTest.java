package dev.onefold.fakes.aws;

import static dev.onefold.fakes.aws.Service.add;
import static dev.onefold.fakes.aws.Service.item;
import static dev.onefold.fakes.aws.Service.key;
import static dev.onefold.fakes.aws.Service.number;
import static dev.onefold.fakes.aws.Service.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.onefold.fakes.aws.Faults.Timing;
import dev.onefold.fakes.aws.Tally.Operation;
import dev.onefold.fakes.aws.table.Change;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.CancellationReason;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbException;
import software.amazon.awssdk.services.dynamodb.model.IdempotentParameterMismatchException;
import software.amazon.awssdk.services.dynamodb.model.QueryResponse;
import software.amazon.awssdk.services.dynamodb.model.ResourceNotFoundException;
import software.amazon.awssdk.services.dynamodb.model.ReturnValue;
import software.amazon.awssdk.services.dynamodb.model.ReturnValuesOnConditionCheckFailure;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;
import software.amazon.awssdk.services.dynamodb.model.TableStatus;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;
import software.amazon.awssdk.services.dynamodb.model.TransactionCanceledException;

/// The service when nothing goes wrong.
class SimulatedDynamoDbTest {
    private final Service service = new Service(1);

    @Test
    void what_is_put_is_read() {
        service.put(item("a", "n", AttributeValue.fromN("01.50")));
        assertThat(service.get("a")).containsEntry("n", AttributeValue.fromN("1.5"));
    }

    @Test
    void a_callback_finds_its_failure_in_a_completion_exception() {
        AtomicReference<Throwable> seen = new AtomicReference<>();
        CompletableFuture<Object> future = service.client
                .getItem(request -> request.tableName("missing").key(key("a")))
                .handle((_, failure) -> {
                    seen.set(failure);
                    return "handled";
                });
        service.time.runUntil(future);
        assertThat(seen.get())
                .isInstanceOf(CompletionException.class)
                .hasCauseInstanceOf(ResourceNotFoundException.class);
    }

    @Test
    void a_failed_condition_shows_the_item_if_asked_to() {
        service.put(item("a", "n", number(1)));
        assertThatThrownBy(() -> service.run(it -> it.putItem(request -> request.tableName("Table")
                        .item(key("a"))
                        .conditionExpression("attribute_not_exists(pk)")
                        .returnValuesOnConditionCheckFailure(ReturnValuesOnConditionCheckFailure.ALL_OLD))))
                .isInstanceOfSatisfying(
                        ConditionalCheckFailedException.class,
                        failure -> assertThat(failure.item()).containsEntry("n", number(1)));
    }

    @Test
    void an_update_adds_and_sets_and_says_what_is_new() {
        service.put(item("a", "n", number(40)));
        assertThat(service.run(it -> it.updateItem(request -> request.tableName("Table")
                                .key(key("a"))
                                .updateExpression("SET d = if_not_exists(d, :z) + :z ADD n :two")
                                .expressionAttributeValues(Map.of(":two", number(2), ":z", number(0)))
                                .returnValues(ReturnValue.UPDATED_NEW)))
                        .attributes())
                .isEqualTo(Map.of("n", number(42), "d", number(0)));
    }

    @Test
    void a_transaction_tells_the_reason_of_every_item_in_their_order_and_changes_nothing() {
        service.put(item("b", "n", number(1)));
        assertThatThrownBy(() -> transact("x", put("a", 1), putNew("b", 2), put("c", 3)))
                .isInstanceOfSatisfying(TransactionCanceledException.class, failure -> {
                    assertThat(failure.cancellationReasons())
                            .extracting(CancellationReason::code)
                            .containsExactly("None", "ConditionalCheckFailed", "None");
                    assertThat(failure.cancellationReasons().get(1).item()).containsEntry("n", number(1));
                });
        assertThat(service.get("a")).isEmpty();
    }

    @Test
    void a_table_with_a_limit_takes_so_many_units_in_each_second() {
        service.dynamo.limit("Table", 1_000);
        for (int second = 1; second <= 3; second++) {
            int taken = 0;
            try {
                for (; taken < 10_000; taken++) {
                    transact(second + "-" + taken, put("a" + taken, taken));
                }
            } catch (TransactionCanceledException throttled) {
                assertThat(throttled.cancellationReasons().getFirst().code()).isEqualTo("ThrottlingError");
            }
            assertThat(taken).isEqualTo(500); // Of two units each.
            service.time.runFor(Duration.ofSeconds(1));
        }
    }

    @Test
    void a_token_is_known_for_ten_minutes_after_the_transaction_and_then_forgotten() {
        transact("token", add("a"));
        service.time.runFor(Duration.ofMinutes(9));
        transact("token", add("a"));
        assertThat(service.get("a")).containsEntry("n", number(1));
        service.time.runFor(Duration.ofMinutes(1));
        transact("token", add("a"));
        assertThat(service.get("a")).containsEntry("n", number(2));
    }

    @Test
    void a_token_with_other_items_is_refused_and_the_token_of_a_cancelled_transaction_is_free() {
        transact("token", add("a"));
        assertThatThrownBy(() -> transact("token", add("b"))).isInstanceOf(IdempotentParameterMismatchException.class);
        assertThatThrownBy(() -> transact("other", putNew("a", 1))).isInstanceOf(TransactionCanceledException.class);
        transact("other", add("b"));
        assertThat(service.get("b")).containsEntry("n", number(1));
    }

    @Test
    void a_transaction_has_at_most_100_items_each_once() {
        TransactWriteItem[] many =
                IntStream.rangeClosed(0, 100).mapToObj(i -> put("k" + i, i)).toArray(TransactWriteItem[]::new);
        assertInvalid(() -> transact("x", many), "between 1 and 100");
        assertInvalid(() -> transact("x", put("a", 1), put("a", 2)), "multiple operations on one item");
    }

    @Test
    void a_transaction_over_4_MB_is_refused() {
        AttributeValue large = text("x".repeat(390_000));
        TransactWriteItem[] items = IntStream.range(0, 11)
                .mapToObj(i -> TransactWriteItem.builder()
                        .put(put -> put.tableName("Table").item(item("k" + i, "s", large)))
                        .build())
                .toArray(TransactWriteItem[]::new);
        assertInvalid(() -> transact("x", items), "4 MB");
    }

    @Test
    void keys_and_items_have_their_limits() {
        assertInvalid(() -> service.put(key("")), "empty value");
        assertInvalid(() -> service.put(key("p".repeat(2_049))), "2048 bytes");
        assertInvalid(() -> service.put(key("p", "s".repeat(1_025))), "1024 bytes");
        assertInvalid(() -> service.put(item("a", "s", text("x".repeat(400 * 1024)))), "maximum allowed size");
        assertInvalid(() -> service.put(item("a", "n", AttributeValue.fromN("1".repeat(39)))), "38 significant");
    }

    @Test
    void a_query_is_in_the_order_of_the_sort_key_and_goes_on_where_the_page_ended() {
        for (String sk : List.of("b", "a", "é", "C", "aa")) {
            service.put(key("p", sk));
        }
        service.put(key("other"));
        List<String> forward = new ArrayList<>();
        Map<String, AttributeValue> start = Map.of();
        do {
            Map<String, AttributeValue> from = start;
            QueryResponse page = service.run(it -> it.query(request -> request.tableName("Table")
                    .keyConditionExpression("pk = :p")
                    .expressionAttributeValues(Map.of(":p", text("p")))
                    .limit(2)
                    .exclusiveStartKey(from.isEmpty() ? null : from)));
            page.items().forEach(item -> forward.add(item.get("sk").s()));
            start = page.lastEvaluatedKey();
        } while (!start.isEmpty());
        assertThat(forward).containsExactly("C", "a", "aa", "b", "é");
    }

    @Test
    void the_segments_of_a_scan_are_all_items_once() {
        IntStream.range(0, 100).forEach(i -> service.put(key("k" + i)));
        List<String> found = new ArrayList<>();
        for (int segment = 0; segment < 7; segment++) {
            int part = segment;
            service.run(it -> it.scan(
                            request -> request.tableName("Table").segment(part).totalSegments(7)))
                    .items()
                    .forEach(item -> found.add(item.get("pk").s()));
        }
        assertThat(found).hasSize(100).doesNotHaveDuplicates();
    }

    @Test
    void a_table_takes_its_time_to_be_there() {
        service.dynamo.inject(Faults.none().with(Timing.USUAL));
        service.run(it -> it.createTable(Service.table("Other", ScalarAttributeType.N, null)));
        assertThat(service.run(it -> it.describeTable(request -> request.tableName("Other")))
                        .table()
                        .tableStatus())
                .isEqualTo(TableStatus.CREATING);
        service.time.runFor(Duration.ofSeconds(10));
        assertThat(service.run(it -> it.describeTable(request -> request.tableName("Other")))
                        .table()
                        .tableStatus())
                .isEqualTo(TableStatus.ACTIVE);
    }

    @Test
    void a_stream_tells_the_images_of_what_changed_and_forgets_after_24_hours() {
        ChangeStream stream = service.dynamo.stream("Table", 1);
        service.put(item("a", "n", number(1)));
        service.put(item("a", "n", number(1)));
        service.run(it -> it.deleteItem(request -> request.tableName("Table").key(key("a"))));
        assertThat(stream.read(0, 0, 10))
                .extracting(Change::before, Change::after)
                .containsExactly(tuple(null, item("a", "n", number(1))), tuple(item("a", "n", number(1)), null));
        service.time.runFor(Duration.ofHours(25));
        assertThat(stream.read(0, 0, 10)).isEmpty();
    }

    @Test
    void requests_and_units_are_counted_and_a_transaction_costs_double() {
        service.put(item("a", "s", text("x".repeat(2_000))));
        transact("t", put("b", 1));
        service.get("a");
        assertThat(service.dynamo.tally().requests())
                .containsEntry(Operation.PUT_ITEM, 1L)
                .containsEntry(Operation.TRANSACT_WRITE_ITEMS, 1L);
        assertThat(service.dynamo.tally().writeUnits()).isEqualTo(2 + 2);
        assertThat(service.dynamo.tally().readUnits()).isEqualTo(1);
    }

    private void transact(String token, TransactWriteItem... items) {
        service.run(it -> it.transactWriteItems(
                request -> request.clientRequestToken(token).transactItems(items)));
    }

    private static TransactWriteItem put(String pk, int n) {
        return TransactWriteItem.builder()
                .put(put -> put.tableName("Table").item(item(pk, "n", number(n))))
                .build();
    }

    private static TransactWriteItem putNew(String pk, int n) {
        return TransactWriteItem.builder()
                .put(put -> put.tableName("Table")
                        .item(item(pk, "n", number(n)))
                        .conditionExpression("attribute_not_exists(pk)")
                        .returnValuesOnConditionCheckFailure(ReturnValuesOnConditionCheckFailure.ALL_OLD))
                .build();
    }

    private static void assertInvalid(Runnable call, String message) {
        assertThatThrownBy(call::run)
                .isInstanceOfSatisfying(
                        DynamoDbException.class,
                        failure -> assertThat(failure.awsErrorDetails().errorCode())
                                .isEqualTo("ValidationException"))
                .hasMessageContaining(message);
    }
}
