package dev.onefold.fakes.aws;

import static dev.onefold.fakes.aws.Service.add;
import static dev.onefold.fakes.aws.Service.item;
import static dev.onefold.fakes.aws.Service.key;
import static dev.onefold.fakes.aws.Service.number;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.fakes.aws.Faults.Timing;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.core.exception.ApiCallTimeoutException;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.CancellationReason;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbException;
import software.amazon.awssdk.services.dynamodb.model.InternalServerErrorException;
import software.amazon.awssdk.services.dynamodb.model.KeysAndAttributes;
import software.amazon.awssdk.services.dynamodb.model.PutItemResponse;
import software.amazon.awssdk.services.dynamodb.model.TransactGetItem;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItemsResponse;
import software.amazon.awssdk.services.dynamodb.model.TransactionCanceledException;
import software.amazon.awssdk.services.dynamodb.model.TransactionConflictException;
import software.amazon.awssdk.services.dynamodb.model.TransactionInProgressException;
import software.amazon.awssdk.services.dynamodb.model.WriteRequest;

/// Each thing that goes wrong, alone.
class DynamoDbFaultsTest {
    private static final Timing SLOW_TRANSACTIONS = new Timing(
            Duration.ZERO,
            Duration.ofSeconds(1),
            Duration.ZERO,
            Duration.ofSeconds(5),
            Duration.ofMinutes(5),
            1,
            Duration.ZERO);

    private final Service service = new Service(7);

    @Test
    void a_request_that_is_lost_is_not_done_and_the_client_hears_nothing_or_a_broken_connection() {
        assertThat(failuresOf(Fault.REQUEST_LOST)).containsExactly("ApiCallTimeoutException", "SdkClientException");
        assertThat(service.get("a")).isEmpty();
    }

    @Test
    void a_request_whose_reply_is_lost_is_done() {
        assertThat(failuresOf(Fault.REPLY_LOST)).containsExactly("ApiCallTimeoutException", "SdkClientException");
        assertThat(service.get("a")).isNotEmpty();
    }

    @Test
    void a_zombie_is_done_minutes_after_the_client_gave_up() {
        service.dynamo.inject(Faults.none().with(Fault.ZOMBIE, 1));
        Instant sent = service.time.instant();
        assertThatThrownBy(() -> service.put(key("a"))).isInstanceOf(ApiCallTimeoutException.class);
        service.dynamo.inject(Faults.none());
        assertThat(service.time.instant()).isEqualTo(sent.plusSeconds(2));
        assertThat(service.get("a")).isEmpty();
        service.time.runUntilIdle();
        assertThat(service.time.instant()).isAfter(sent.plusSeconds(60));
        assertThat(service.get("a")).isNotEmpty();
    }

    @Test
    void an_internal_error_leaves_open_whether_the_request_was_done() {
        service.dynamo.inject(Faults.none().with(Fault.ERROR_BEFORE, 1));
        assertThatThrownBy(() -> service.put(key("a"))).isInstanceOf(InternalServerErrorException.class);
        service.dynamo.inject(Faults.none().with(Fault.ERROR_AFTER, 1));
        assertThatThrownBy(() -> service.put(key("b"))).isInstanceOf(InternalServerErrorException.class);
        service.dynamo.inject(Faults.none());
        assertThat(service.get("a")).isEmpty();
        assertThat(service.get("b")).isNotEmpty();
    }

    @Test
    void throttling_has_several_forms_and_does_nothing() {
        assertThat(failuresOf(Fault.THROTTLED))
                .containsExactly(
                        "ProvisionedThroughputExceededException",
                        "RequestLimitExceededException",
                        "ThrottlingException");
        service.dynamo.inject(Faults.none().with(Fault.THROTTLED, 1));
        Set<String> codes = new TreeSet<>();
        for (int i = 0; i < 30; i++) {
            try {
                service.time.runUntil(transact(service.client, "t" + i, add("a"), add("b")));
            } catch (TransactionCanceledException cancelled) {
                cancelled.cancellationReasons().forEach(reason -> codes.add(reason.code()));
            } catch (DynamoDbException throttled) {
                assertThat(throttled).isNotInstanceOf(InternalServerErrorException.class);
            }
        }
        assertThat(codes).containsExactly("None", "ProvisionedThroughputExceeded", "ThrottlingError");
        service.dynamo.inject(Faults.none());
        assertThat(service.get("a")).isEmpty();
    }

    @Test
    void two_transactions_on_one_item_conflict_and_the_first_goes_through() {
        service.dynamo.inject(Faults.none().with(SLOW_TRANSACTIONS));
        CompletableFuture<TransactWriteItemsResponse> first = transact(service.client, "1", add("a"), add("b"));
        assertThatThrownBy(() -> service.time.runUntil(transact(service.client, "2", add("c"), add("b"))))
                .isInstanceOfSatisfying(
                        TransactionCanceledException.class,
                        failure -> assertThat(failure.cancellationReasons())
                                .extracting(CancellationReason::code)
                                .containsExactly("None", "TransactionConflict"));
        assertThatThrownBy(() -> service.put(key("a"))).isInstanceOf(TransactionConflictException.class);
        assertThatThrownBy(() ->
                        service.run(it -> it.transactGetItems(request -> request.transactItems(TransactGetItem.builder()
                                .get(get -> get.tableName("Table").key(key("a")))
                                .build()))))
                .isInstanceOf(TransactionCanceledException.class);
        service.time.runUntil(first);
        service.time.runUntil(transact(service.client, "2", add("c"), add("b")));
        assertThat(service.get("b")).containsEntry("n", number(2));
    }

    @Test
    void a_token_whose_transaction_is_not_done_yet_is_in_progress() {
        service.dynamo.inject(Faults.none().with(SLOW_TRANSACTIONS));
        CompletableFuture<TransactWriteItemsResponse> first = transact(service.client, "1", add("a"));
        assertThatThrownBy(() -> service.time.runUntil(transact(service.client, "1", add("a"))))
                .isInstanceOf(TransactionInProgressException.class);
        service.time.runUntil(first);
        service.time.runUntil(transact(service.client, "1", add("a")));
        assertThat(service.get("a")).containsEntry("n", number(1));
    }

    @Test
    void a_plain_read_during_a_transaction_sees_some_items_before_and_some_after() {
        service.dynamo.inject(Faults.none().with(SLOW_TRANSACTIONS));
        List<String> seen = new ArrayList<>();
        for (int round = 0; round < 20; round++) {
            String sk = "-" + round;
            TransactWriteItem[] items = IntStream.range(0, 4)
                    .mapToObj(i -> TransactWriteItem.builder()
                            .put(put -> put.tableName("Table").item(key("p" + sk, "" + i)))
                            .build())
                    .toArray(TransactWriteItem[]::new);
            CompletableFuture<TransactWriteItemsResponse> writing = transact(service.client, "t" + sk, items);
            service.time.runFor(Duration.ofMillis(300));
            seen.add("" + count("p" + sk));
            service.time.runUntil(writing);
            assertThat(count("p" + sk)).isEqualTo(4);
        }
        assertThat(seen).contains("0").containsAnyOf("1", "2", "3");
    }

    @Test
    void an_eventually_consistent_read_may_be_old_but_not_older_than_the_lag() {
        Timing lagging = new Timing(
                Duration.ZERO,
                Duration.ZERO,
                Duration.ofMillis(500),
                Duration.ofSeconds(5),
                Duration.ofMinutes(5),
                1,
                Duration.ZERO);
        service.put(item("a", "n", number(0)));
        service.dynamo.inject(Faults.none().with(lagging));
        Set<Boolean> fresh = new TreeSet<>();
        for (int n = 1; n < 40; n++) {
            service.time.runFor(Duration.ofSeconds(1));
            service.put(item("a", "n", number(n)));
            service.time.runFor(Duration.ofMillis(250));
            AttributeValue seen = service.run(it ->
                            it.getItem(request -> request.tableName("Table").key(key("a"))))
                    .item()
                    .get("n");
            assertThat(seen).isIn(number(n - 1), number(n));
            fresh.add(seen.equals(number(n)));
            assertThat(service.get("a")).containsEntry("n", number(n));
        }
        assertThat(fresh).containsExactly(false, true);
    }

    @Test
    void a_batch_is_done_in_part_and_what_is_left_is_told() {
        service.dynamo.inject(Faults.none().with(Fault.UNPROCESSED, 0.5));
        List<WriteRequest> writes = IntStream.range(0, 20)
                .mapToObj(i -> WriteRequest.builder()
                        .putRequest(put -> put.item(key("k" + i)))
                        .build())
                .toList();
        List<WriteRequest> left = service.run(
                        it -> it.batchWriteItem(request -> request.requestItems(Map.of("Table", writes))))
                .unprocessedItems()
                .get("Table");
        assertThat(left).hasSizeBetween(1, 19);
        KeysAndAttributes wanted = KeysAndAttributes.builder()
                .consistentRead(true)
                .keys(IntStream.range(0, 20).mapToObj(i -> key("k" + i)).toList())
                .build();
        service.dynamo.inject(Faults.none());
        assertThat(service.run(it -> it.batchGetItem(request -> request.requestItems(Map.of("Table", wanted))))
                        .responses()
                        .get("Table"))
                .hasSize(20 - left.size());
    }

    @Test
    void a_conflict_with_somebody_else_cancels_a_transaction_and_refuses_a_write() {
        assertThat(failuresOf(Fault.CONFLICT)).containsExactly("TransactionConflictException");
        service.dynamo.inject(Faults.none().with(Fault.CONFLICT, 1));
        assertThatThrownBy(() -> service.time.runUntil(transact(service.client, "t", add("a"), add("b"))))
                .isInstanceOf(TransactionCanceledException.class)
                .hasMessageContaining("TransactionConflict");
    }

    @Test
    void a_client_that_retries_by_itself_is_refused_by_its_own_write() {
        service.dynamo.inject(Faults.none().with(Timing.NONE.withAttemptsMax(3)).with(Fault.REPLY_LOST, 0.5));
        Set<String> outcomes = new TreeSet<>();
        for (int i = 0; i < 30; i++) {
            String pk = "k" + i;
            try {
                service.run(it -> it.putItem(request ->
                        request.tableName("Table").item(key(pk)).conditionExpression("attribute_not_exists(pk)")));
                outcomes.add("done");
            } catch (ConditionalCheckFailedException _) {
                outcomes.add("refused by itself");
            } catch (SdkClientException _) {
                outcomes.add("unknown");
            }
        }
        assertThat(outcomes).contains("done", "refused by itself");
    }

    @Test
    void a_killed_client_hears_nothing_more_and_what_it_sent_may_still_be_done() {
        Timing network = new Timing(
                Duration.ofMillis(50),
                Duration.ZERO,
                Duration.ZERO,
                Duration.ofSeconds(5),
                Duration.ofMinutes(5),
                1,
                Duration.ZERO);
        service.dynamo.inject(Faults.none().with(network).with(Fault.DIES_WITH_CLIENT, 0.5));
        List<CompletableFuture<?>> waiting = new ArrayList<>();
        SimulatedClient doomed = service.dynamo.client("doomed");
        for (int i = 0; i < 20; i++) {
            Map<String, AttributeValue> item = key("p", "" + i);
            CompletableFuture<PutItemResponse> put =
                    doomed.putItem(request -> request.tableName("Table").item(item));
            waiting.add(put);
        }
        waiting.add(doomed.after(Duration.ofSeconds(1)));
        doomed.kill();
        waiting.add(doomed.putItem(request -> request.tableName("Table").item(key("p", "late"))));
        service.time.runUntilIdle();
        assertThat(waiting).noneMatch(CompletableFuture::isDone);
        service.dynamo.inject(Faults.none());
        assertThat(count("p")).isBetween(1, 19);
    }

    @Test
    void equal_seeds_are_equal_schedules_and_others_are_not() {
        assertThat(schedule(3)).isEqualTo(schedule(3)).isNotEqualTo(schedule(4));
    }

    /// What happened when, with everything going wrong now and then.
    private static String schedule(long seed) {
        Service service = new Service(seed);
        Faults faults = Faults.none().with(Timing.USUAL);
        for (Fault fault : Fault.values()) {
            faults = faults.with(fault, 0.05);
        }
        service.dynamo.inject(faults);
        List<String> story = new ArrayList<>();
        service.dynamo.onWrite("Table", change -> story.add(change.at() + " " + change.after()));
        for (int i = 0; i < 200; i++) {
            int number = i;
            var _ = transact(service.client, "t" + i, add("k" + i % 7), add("j" + i % 5))
                    .whenComplete((_, failure) -> story.add(service.time.instant() + " " + number + " " + failure));
            service.time.runFor(Duration.ofMillis(20));
        }
        service.time.runUntilIdle();
        return String.join("\n", story);
    }

    private Set<String> failuresOf(Fault fault) {
        service.dynamo.inject(Faults.none().with(fault, 1));
        Set<String> failures = new TreeSet<>();
        for (int i = 0; i < 20; i++) {
            try {
                service.put(key("a"));
                failures.add("none");
            } catch (DynamoDbException | SdkClientException failure) {
                failures.add(failure.getClass().getSimpleName());
            }
        }
        service.dynamo.inject(Faults.none());
        return failures;
    }

    private int count(String pk) {
        return service.run(it -> it.query(request -> request.tableName("Table")
                        .keyConditionExpression("pk = :p")
                        .consistentRead(true)
                        .expressionAttributeValues(Map.of(":p", Service.text(pk)))))
                .count();
    }

    private static CompletableFuture<TransactWriteItemsResponse> transact(
            SimulatedClient client, String token, TransactWriteItem... items) {
        return client.transactWriteItems(
                request -> request.clientRequestToken(token).transactItems(items));
    }
}
