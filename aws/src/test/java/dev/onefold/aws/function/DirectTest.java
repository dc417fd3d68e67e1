package dev.onefold.aws.function;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.LocalDynamoDb;
import dev.onefold.aws.batch.AwsBatches;
import dev.onefold.aws.batch.BatchDefinition;
import dev.onefold.aws.batch.Collect;
import dev.onefold.aws.batch.Deliver;
import dev.onefold.aws.store.Store;
import dev.onefold.core.SealedBatches;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.seal.DeliveryRules;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// Records that the function Collect hands over, on DynamoDB Local.
class DirectTest {
    private static final LocalDynamoDb DYNAMO = new LocalDynamoDb();
    private static final String DONE = "{\"batchItemFailures\":[]}";

    private final List<String> got = new CopyOnWriteArrayList<>();

    private static Pipeline pipeline() {
        String text = "{\"pipeline\":\"orders\",\"input\":{\"format\":\"json\",\"id\":\"id\"},\"batch\":{\"size\":1,"
                + "\"direct\":true,\"deliver\":{\"http\":\"http://host/x\",\"timeout\":\"2s\"},\"receiver\":\"once\","
                + "\"retry\":{\"delays\":[\"1m\"],\"for\":\"1h\"}}}";
        return ((Reading.Read) PipelineText.read(text)).pipeline();
    }

    private static String message(int number, String body) {
        return "{\"messageId\":\"m%d\",\"body\":\"%s\",\"eventSource\":\"aws:sqs\",\"attributes\":{\"SentTimestamp\":\"1545084650987\"},\"eventSourceARN\":\"arn:aws:sqs:eu-central-1:000000000000:orders\",\"awsRegion\":\"eu-central-1\"}"
                .formatted(number, body.replace("\"", "\\\""));
    }

    private String handle(Store store, Function<String, Outcome> receiver, String... messages) {
        Metrics metrics =
                new Metrics(new PrintStream(new ByteArrayOutputStream(), true, StandardCharsets.UTF_8), "stack");
        CollectFunction collect = new CollectFunction(
                store,
                pipeline(),
                2,
                metrics,
                new CollectFunction.Source(
                        Collect.REDELIVERY_OF_QUEUES, Optional.empty(), Optional.of(receiver(receiver))));
        byte[] event = ("{\"Records\":[" + String.join(",", messages) + "]}").getBytes(StandardCharsets.UTF_8);
        return new String(collect.handle(event), StandardCharsets.UTF_8);
    }

    private Deliver.Receiver receiver(Function<String, Outcome> receiver) {
        return new Deliver.Receiver(new DeliveryRules((Batching) pipeline().fold(), null), handover -> {
            try (var content = handover.content().get()) {
                String line = new String(content.readAllBytes(), StandardCharsets.UTF_8).strip();
                got.add(handover.manifest().id() + " " + line);
                return receiver.apply(line);
            } catch (java.io.IOException e) {
                throw new java.io.UncheckedIOException(e);
            }
        });
    }

    private static List<Map<String, AttributeValue>> claims(Store store) {
        List<Map<String, AttributeValue>> claims = new ArrayList<>();
        for (var item : store.client()
                .scan(request -> request.tableName(store.tables().rows()))
                .join()
                .items()) {
            if (item.containsKey("h")) {
                claims.add(item);
            }
        }
        return claims;
    }

    @Test
    void the_claim_of_a_record_that_is_handed_over_says_that_it_is_done_and_nothing_is_listed() {
        Store store = DYNAMO.store("direct-done");
        String[] messages = {message(1, "{\"id\":\"a\"}"), message(2, "{\"id\":\"b\"}"), message(3, "{\"id\":\"a\"}")};
        assertThat(handle(store, _ -> new Outcome.Done(), messages)).isEqualTo(DONE);
        assertThat(handle(store, _ -> new Outcome.Done(), messages)).isEqualTo(DONE);
        assertThat(got).hasSize(2);
        assertThat(claims(store)).hasSize(2).allSatisfy(claim -> {
            assertThat(claim.get("l")).isEqualTo(AttributeValue.fromN("-2"));
            assertThat(claim).doesNotContainKeys("o", "u");
        });
        AwsBatches batches = new AwsBatches(store, BatchDefinition.find(store).orElseThrow());
        assertThat(batches.seal()).isFalse();
    }

    @Test
    void what_is_not_done_moves_to_a_lane_with_its_state_and_its_key_and_is_delivered_from_there() {
        Store store = DYNAMO.store("direct-moved");
        String[] messages = {message(1, "{\"id\":\"a\"}"), message(2, "{\"id\":\"b\"}")};
        Function<String, Outcome> answers =
                line -> line.contains("a") ? new Outcome.NotNow("busy", null) : new Outcome.Unknown("no answer");
        assertThat(handle(store, answers, messages[0])).isEqualTo(DONE);
        assertThat(handle(store, answers, messages[1])).isEqualTo(DONE);
        assertThat(claims(store))
                .hasSize(2)
                .allSatisfy(claim -> assertThat(claim).containsKeys("l", "c").doesNotContainKey("o"));
        AwsBatches batches = new AwsBatches(store, BatchDefinition.find(store).orElseThrow());
        batches.seal();
        List<SealedBatches.Line> lines = batches.list(BatchNumber.of(1), 10, false);
        assertThat(lines.stream().map(SealedBatches.Line::state)).containsExactlyInAnyOrder("waiting", "in doubt");
        Deliver deliver = new Deliver(
                store,
                pipeline(),
                receiver(_ -> new Outcome.Done()),
                new Deliver.Limits(Duration.ZERO, Duration.ofMinutes(1)));
        assertThat(deliver.run(() -> Duration.ofMinutes(10)))
                .as("its delay is a minute")
                .isZero();
        lines.stream().filter(line -> line.state().equals("waiting")).forEach(line -> batches.release(line.number()));
        assertThat(deliver.run(() -> Duration.ofMinutes(10))).isOne();
        assertThat(got).hasSize(3);
        assertThat(got.getLast()).isEqualTo(got.getFirst());
        assertThat(lines.stream().map(SealedBatches.Line::id))
                .containsExactlyInAnyOrderElementsOf(got.subList(0, 2).stream()
                        .map(each -> each.substring(0, each.indexOf(' ')))
                        .toList());
    }

    @Test
    void a_start_mark_of_somebody_else_has_the_message_come_again() {
        Store store = DYNAMO.store("direct-begun");
        String[] messages = {message(1, "{\"id\":\"a\"}"), message(2, "{\"id\":\"b\"}")};
        // The process is killed between the start mark and the end: what follows is as it is after that.
        assertThat(handle(store, _ -> new Outcome.Done(), messages)).isEqualTo(DONE);
        Map<String, AttributeValue> done = claims(store).getFirst();
        Map<String, AttributeValue> begun = new java.util.TreeMap<>(done);
        begun.remove("l");
        begun.remove("c");
        begun.put("o", AttributeValue.fromS("another"));
        begun.put("s", AttributeValue.fromN("1"));
        begun.put("u", AttributeValue.fromN(Long.toString(Long.MAX_VALUE)));
        begun.put("d", AttributeValue.fromB(software.amazon.awssdk.core.SdkBytes.fromByteArray(new byte[32])));
        store.client()
                .putItem(request -> request.tableName(store.tables().rows()).item(begun))
                .join();
        String answer = handle(store, _ -> new Outcome.Done(), messages);
        assertThat(Arrays.stream(messages).filter(message -> answer.contains(message.substring(14, 16))))
                .hasSize(1);
        assertThat(got).hasSize(2);
    }
}
