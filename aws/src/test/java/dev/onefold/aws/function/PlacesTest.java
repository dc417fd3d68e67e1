package dev.onefold.aws.function;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.aws.Connection;
import dev.onefold.aws.LocalDynamoDb;
import dev.onefold.aws.letter.Places;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.template.Layout;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Pipeline;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/// When State notes how far it has taken a shard.
class PlacesTest {
    private static final Pipeline PIPELINE = PipelineBuilder.named("trades")
            .key("id")
            .version("v")
            .rollup(r -> r.count("trades"))
            .build();
    private static final String STREAM = "arn:aws:kinesis:us-east-2:123456789012:stream/trades";
    private static final String SHARD = "shardId-000000000006";
    private static final Metrics SILENT =
            new Metrics(new PrintStream(OutputStream.nullOutputStream(), true, StandardCharsets.UTF_8), "it");

    private static final LocalDynamoDb DYNAMO = new LocalDynamoDb();

    private static StateFunction state(Store store) {
        return new StateFunction(
                store, PIPELINE, SILENT, Connection.streams(), new StateFunction.Setup(new Layout(2, 64), 0));
    }

    private static byte[] batch(int sequence, String id) {
        String data = Base64.getEncoder()
                .encodeToString("{\"id\":\"%s\",\"v\":1}".formatted(id).getBytes(StandardCharsets.UTF_8));
        return """
                {"Records":[{"kinesis":{"sequenceNumber":"%1$d","data":"%2$s"},"eventID":"%3$s:%1$d",\
                "eventSourceARN":"%4$s/consumer/fan-out:1"}]}""".formatted(sequence, data, SHARD, STREAM).getBytes(StandardCharsets.UTF_8);
    }

    private static Optional<String> place(Store store) {
        Places places = new Places(store);
        return places.order().flatMap(order -> places.find(order, STREAM, SHARD));
    }

    /// Asks as CloudFormation does.
    ///
    /// @param before a factor; empty when the stack is made
    private static String ask(StateFunction state, String factor, String before) throws IOException {
        String same = "\"Input\":\"" + STREAM + "\",\"From\":\"0\",\"Factor\":";
        String old = before.isEmpty() ? "" : ",\"OldResourceProperties\":{" + same + "\"" + before + "\"}";
        return Questions.ask(
                state::handle,
                "\"RequestType\":\"" + (before.isEmpty() ? "Create" : "Update") + "\",\"ResourceProperties\":{" + same
                        + "\"" + factor + "\"}" + old);
    }

    @Test
    void the_last_record_of_a_batch_is_noted_when_all_of_it_is_in_and_once_a_minute() throws IOException {
        Store store = DYNAMO.store("places-noted");
        StateFunction state = state(store);
        assertThat(ask(state, "1", "")).contains("SUCCESS");
        state.handle(batch(7, "a"));
        assertThat(place(store)).contains("7");
        state.handle(batch(8, "b"));
        assertThat(place(store)).contains("7");
        state(store).handle(batch(9, "c"));
        assertThat(place(store)).contains("9");
        state(store).handle(batch(8, "b")); // Another process, a retry.
        assertThat(place(store)).contains("9");
    }

    @Test
    void nothing_is_noted_where_batches_of_a_shard_may_end_in_any_order_or_did_a_moment_ago() throws IOException {
        Store store = DYNAMO.store("places-parallel");
        StateFunction state = state(store);
        ask(state, "2", "");
        state.handle(batch(7, "a"));
        ask(state, "1", "2"); // The mapping changes after the answer.
        state(store).handle(batch(8, "b"));
        assertThat(place(store)).isEmpty();
        ask(state, "1", "1");
        assertThat(place(store)).isEmpty();
        state(store).handle(batch(9, "c"));
        assertThat(place(store)).contains("9");
        ask(state, "1", "1");
        assertThat(place(store)).contains("9");
        ask(state, "2", "1");
        assertThat(new Places(store).order()).isEmpty();
    }

    @Test
    void a_stack_that_is_made_around_tables_that_were_in_use_begins_no_order() throws IOException {
        Store store = DYNAMO.store("places-adopted");
        state(store).handle(batch(7, "a"));
        ask(state(store), "1", "");
        assertThat(new Places(store).order()).isEmpty();
    }

    @Test
    void a_batch_that_fails_is_not_noted() throws IOException {
        Store store = DYNAMO.store("places-failed");
        ask(state(store), "1", "");
        Store.Tables tables = store.tables();
        Store lost = new Store(
                        store.client(),
                        new Store.Tables(tables.rows(), "places-no-such-table", tables.totals(), tables.letters()),
                        store.threads(),
                        store.random(),
                        store.clock())
                .with(store.bucket());
        assertThatThrownBy(() -> state(lost).handle(batch(7, "a"))).isInstanceOf(RuntimeException.class);
        assertThat(place(store)).isEmpty();
        assertThat(new Places(store).order()).isPresent();
    }
}
