package dev.onefold.simulator.keyed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.function.Metrics;
import dev.onefold.aws.function.StateFunction;
import dev.onefold.aws.letter.Places;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.upkeep.Upkeep;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.process.LoadedFunction;
import dev.onefold.oracle.KeyedOracle.Order;
import dev.onefold.simulator.deployment.Deployment;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/// What an update of a stack does to a user's function, in the middle of it and when it is rolled back.
class FunctionDeploymentsTest {
    private static final String DONE = "{\"batchItemFailures\":[]}";
    private static final Metrics SILENT =
            new Metrics(new PrintStream(OutputStream.nullOutputStream(), true, StandardCharsets.UTF_8), "it");

    private final Deployment deployment = Deployment.calm();

    private LoadedFunction first() {
        LoadedFunction function = new LifeCase(Order.LATEST, 1, true, 0, List.of()).loaded(1);
        deployment.makeTables(function);
        deployment.release(function);
        AwsEngine.open(process(), function.pipeline(), 2, 2);
        return function;
    }

    private Store process() {
        return deployment.process(deployment.dynamo.client("process"));
    }

    private static Arrival arrival(String key, int version, String what) {
        Trails.Event event = new Trails.Event(1, key, version, version * 10, what);
        return new Arrival(
                "s/shard",
                Integer.toString(version + 1),
                0,
                LifeCase.records(List.of(event)).getFirst());
    }

    private static byte[] event(Arrival... arrivals) {
        List<String> records = new ArrayList<>();
        for (Arrival each : arrivals) {
            records.add(
                    "{\"eventID\":\"shard:%s\",\"eventSourceARN\":\"%s\",\"kinesis\":{\"sequenceNumber\":\"%s\",\"data\":\"%s\"}}"
                            .formatted(
                                    each.sequence(),
                                    "arn:aws:kinesis:eu-central-1:000000000000:stream/s",
                                    each.sequence(),
                                    Base64.getEncoder().encodeToString(each.data())));
        }
        return ("{\"Records\":[" + String.join(",", records) + "]}").getBytes(StandardCharsets.UTF_8);
    }

    private StateFunction state(LoadedFunction function) {
        deployment.release(function);
        return new StateFunction(process(), function.pipeline(), SILENT);
    }

    @Test
    void a_function_that_is_deployed_folds_only_when_its_deployment_is_complete_so_a_rollback_finds_its_keys() {
        LoadedFunction one = first();
        assertThat(state(one).handle(event(arrival("a", 1, "put")))).asString().isEqualTo(DONE);
        LoadedFunction two = new LifeCase(Order.LATEST, 1, true, 0, List.of()).loaded(2);
        StateFunction second = state(two);
        Upkeep.step(process(), two.pipeline(), 0, () -> true, _ -> {}); // A tick in the middle of the update.
        assertThatThrownBy(() -> second.handle(event(arrival("a", 2, "put"))))
                .hasMessageContaining("does not serve yet");
        assertThat(state(one).handle(event(arrival("a", 2, "put")))).asString().isEqualTo(DONE); // Rolled back.
        deployment.release(two);
        assertThat(Upkeep.serve(process(), two.pipeline(), 2, 4)).isEmpty();
        assertThat(second.handle(event(arrival("a", 3, "put")))).asString().isEqualTo(DONE);
        StateFunction first = state(one);
        assertThatThrownBy(() -> first.handle(event(arrival("a", 4, "put"))))
                .hasMessageContaining("version 2 of the function serves, and this is version 1");
    }

    @Test
    void a_deployment_asks_the_new_function_before_anything_leads_to_it_and_is_told_why_it_may_not_serve()
            throws IOException {
        LoadedFunction one = first();
        StateFunction old = state(one);
        old.handle(event(arrival("a", 1, "put")));
        StateFunction other = state(new LifeCase(Order.EVERY, 1, true, 0, List.of()).loaded(2));
        String asked = "\"Input\":\"\"";
        assertThat(answer(other, asked, ""))
                .contains("\"Status\":\"FAILED\"", "its order is", "\"PhysicalResourceId\":\"before\"");
        assertThat(answer(state(one), asked, "")).contains("\"Status\":\"SUCCESS\"", "\"RequestId\":\"r\"");
        assertThat(old.handle(event(arrival("a", 2, "put")))).asString().isEqualTo(DONE);
    }

    @Test
    void a_first_record_that_the_function_of_before_takes_at_the_end_of_an_update_does_not_block_the_new_one() {
        LoadedFunction one = new LifeCase(Order.LATEST, 1, true, 0, List.of()).loaded(1);
        deployment.makeTables(one);
        LoadedFunction two = new LifeCase(Order.LATEST, 1, true, 0, List.of()).loaded(2);
        StateFunction old = state(one);
        deployment.release(two);
        assertThat(Upkeep.serve(process(), two.pipeline(), 2, 4)).isEmpty(); // No record has come yet.
        deployment.release(one);
        assertThatThrownBy(() -> old.handle(event(arrival("a", 1, "put")))) // It began before the update's end.
                .hasMessageContaining("version 2 of the function serves, and this is version 1");
        StateFunction second = state(two);
        assertThat(second.handle(event(arrival("a", 1, "put")))).asString().isEqualTo(DONE);
        assertThat(second.handle(event(arrival("a", 2, "put")))).asString().isEqualTo(DONE);
    }

    @Test
    void a_rollback_is_never_refused_because_the_stack_could_not_be_updated_any_more() throws IOException {
        state(first()).handle(event(arrival("a", 1, "put")));
        StateFunction other = state(new LifeCase(Order.EVERY, 1, true, 0, List.of()).loaded(2));
        String nine = "\"Version\":\"arn:aws:lambda:eu-central-1:1:function:s:9\"";
        String ten = "\"Version\":\"arn:aws:lambda:eu-central-1:1:function:s:10\"";
        assertThat(answer(other, nine, ten)).contains("\"Status\":\"SUCCESS\"");
        assertThat(answer(other, ten, nine)).contains("\"Status\":\"FAILED\"");
    }

    @Test
    void a_batch_of_which_a_part_comes_again_is_not_noted_as_the_place_of_its_shard() {
        StateFunction state = state(first());
        Places places = new Places(process());
        places.order(true);
        String order = places.order().orElseThrow();
        String stream = "arn:aws:kinesis:eu-central-1:000000000000:stream/s";
        state.handle(event(arrival("a", 1, "put")));
        assertThat(places.find(order, stream, "shard")).contains("2");
        deployment.release(new LifeCase(Order.LATEST, 1, true, 0, List.of()).loaded(2));
        StateAndMap.process(process(), List.of(arrival("a", 2, "put")));
        StateFunction other =
                state(new LifeCase(Order.LATEST, 1, true, 0, List.of()).loaded(1)); // It has noted nothing.
        byte[] batch = event(arrival("b", 3, "put"), arrival("a", 4, "put"));
        assertThat(other.handle(batch)).asString().contains("{\"itemIdentifier\":\"5\"}");
        assertThat(places.find(order, stream, "shard")).contains("2");
        assertThat(other.handle(event(arrival("b", 3, "put")))).asString().isEqualTo(DONE);
        assertThat(places.find(order, stream, "shard")).contains("4");
    }

    @Test
    void an_update_of_roll_ups_whose_file_names_no_edition_is_accepted() throws IOException {
        new StateFunction(process(), debezium("n"), SILENT).handle(event(change(1)));
        StateFunction changed = new StateFunction(process(), debezium("changes"), SILENT);
        assertThat(answer(changed, "", "")).contains("\"Status\":\"SUCCESS\"");
    }

    private static Pipeline debezium(String measure) {
        String text = "{\"pipeline\":\"drawn\",\"input\":{\"format\":\"debezium\",\"table\":\"t\",\"key\":\"k\"},"
                + "\"rollups\":{\"r\":{\"levels\":[\"what\"],\"measures\":{\"" + measure + "\":\"count()\"}}}}";
        return switch (PipelineText.read(text)) {
            case Reading.Read(Pipeline pipeline) -> pipeline;
            case Reading.Refused refused -> throw new IllegalStateException(refused.toString());
        };
    }

    private static Arrival change(int version) {
        String row = "{\"rank\":1,\"k\":\"a\",\"v\":%1$d,\"amount\":1,\"what\":\"put\"}".formatted(version);
        String place = "\\\"" + version + "\\\"";
        String record = "{\"key\":{\"k\":\"a\"},\"value\":{\"op\":\"u\",\"before\":null,\"after\":" + row
                + ",\"source\":{\"table\":\"t\",\"lsn\":" + version + ",\"sequence\":\"[" + place + "," + place
                + "]\"}}}";
        byte[] data = record.getBytes(StandardCharsets.UTF_8);
        return new Arrival("s/shard", Integer.toString(version + 1), 0, data);
    }

    /// What a function answers to the question of an update.
    private static String answer(StateFunction function, String now, String before) throws IOException {
        CompletableFuture<String> answer = new CompletableFuture<>();
        HttpServer place = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 10);
        place.createContext("/", exchange -> {
            answer.complete(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        place.start();
        try {
            function.handle(("{\"RequestType\":\"Update\",\"ResponseURL\":\"http://127.0.0.1:"
                            + place.getAddress().getPort() + "/\",\"PhysicalResourceId\":\"before\",\"StackId\":\"s\","
                            + "\"RequestId\":\"r\",\"LogicalResourceId\":\"StateReady\",\"ResourceProperties\":{" + now
                            + "},\"OldResourceProperties\":{" + before + "}}")
                    .getBytes(StandardCharsets.UTF_8));
            return answer.join();
        } finally {
            place.stop(0);
        }
    }
}
