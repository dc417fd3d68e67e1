package dev.onefold.aws.comparison;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.aws.LocalDynamoDb;
import dev.onefold.aws.store.Store;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.PutItemRequest;

/// What an invocation writes of a comparison, and what becomes of requests that arrive late or whose answers are lost.
class ComparisonTest {
    private static final LocalDynamoDb DYNAMO = new LocalDynamoDb();
    private static final Comparison.Of OF = new Comparison.Of("dynamodb:Shops", true, "1/1");

    private final AtomicReference<PutItemRequest> lost = new AtomicReference<>();

    /// What becomes of the next request to put an item.
    private enum Fate {
        /// It is written, and its answer is lost.
        UNHEARD,
        /// It is under way for longer than anybody waits.
        LATE
    }

    private static Comparison taken(Store store) {
        return Comparison.of(store, OF).take(store).orElseThrow();
    }

    private static Comparison.Work work(int done) {
        BitSet ranges = new BitSet();
        ranges.set(7);
        Slicing slicing = new Slicing(10, List.of(ranges), done, 0, Slicing.Begun.NOTHING);
        return new Comparison.Work(Instant.ofEpochMilli(1), "table", slicing, Tally.NONE);
    }

    private static Comparison.Result result() {
        return new Comparison.Result(Instant.ofEpochSecond(2, 345), Tally.NONE); // A clock has nanoseconds.
    }

    /// The same tables by a network that does so once, when it is next asked to put an item.
    private Store by(Store store, Fate fate) {
        InvocationHandler handler = (proxy, method, arguments) -> {
            if (method.isDefault() && arguments != null && arguments[0] instanceof Consumer) {
                return InvocationHandler.invokeDefault(proxy, method, arguments);
            }
            if (arguments != null
                    && arguments[0] instanceof PutItemRequest request
                    && lost.compareAndSet(null, request)) {
                if (fate == Fate.UNHEARD) {
                    store.client().putItem(request).join();
                }
                return CompletableFuture.failedFuture(SdkClientException.create("No answer"));
            }
            try {
                return method.invoke(store.client(), arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        };
        DynamoDbAsyncClient client = (DynamoDbAsyncClient) Proxy.newProxyInstance(
                ComparisonTest.class.getClassLoader(), new Class<?>[] {DynamoDbAsyncClient.class}, handler);
        return new Store(client, store.tables(), store.threads(), store.random(), store.clock());
    }

    @Test
    void a_request_that_arrives_after_it_was_sent_again_changes_nothing() {
        Store store = DYNAMO.store("comparison-late");
        Comparison begun = taken(store).with(work(0)).save(by(store, Fate.LATE));
        Comparison complete = begun.complete(result(), Instant.ofEpochMilli(3)).save(store);
        assertThatThrownBy(() -> store.client().putItem(lost.get()).join())
                .isInstanceOf(CompletionException.class)
                .hasCauseInstanceOf(ConditionalCheckFailedException.class);
        assertThat(Comparison.find(store).orElseThrow().isUnderWay()).isFalse();
        assertThat(complete.isUnderWay()).isFalse();
    }

    @Test
    void what_is_written_and_not_answered_is_written_once() {
        Store store = DYNAMO.store("comparison-unheard");
        Comparison begun = taken(store).with(work(0)).save(by(store, Fate.UNHEARD));
        assertThat(Comparison.find(store)).contains(begun);
        lost.set(null);
        begun.complete(result(), Instant.ofEpochSecond(3, 456)).save(by(store, Fate.UNHEARD));
        assertThat(Comparison.find(store).orElseThrow().last()).isNotNull();
    }

    @Test
    void an_older_state_of_the_same_holder_does_not_overwrite_a_newer_one() {
        Store store = DYNAMO.store("comparison-older");
        Comparison first = taken(store);
        Comparison second = first.with(work(0)).save(store);
        assertThatThrownBy(() -> first.released(0).save(store)).isInstanceOf(IllegalStateException.class);
        assertThat(Comparison.find(store)).contains(second);
    }

    @Test
    void one_that_was_taken_for_dead_writes_nothing_after_another_was_asked_for() {
        Store store = DYNAMO.store("comparison-dead");
        Comparison dead = taken(store);
        Store late = new Store(
                store.client(),
                store.tables(),
                store.threads(),
                store.random(),
                () -> Instant.now().plus(Comparison.HELD).plus(Duration.ofSeconds(1)));
        assertThat(Comparison.begin(store)).isFalse();
        assertThat(Comparison.begin(late)).isTrue();
        assertThatThrownBy(() -> dead.with(work(0)).save(store))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("nothing was heard of this one");
        Comparison other = Comparison.of(store, OF).take(late).orElseThrow();
        assertThat(other.save(late).held().token()).isNotEqualTo(dead.held().token());
        assertThatThrownBy(() -> dead.renew(store)).hasMessageContaining("nothing was heard of this one");
    }
}
