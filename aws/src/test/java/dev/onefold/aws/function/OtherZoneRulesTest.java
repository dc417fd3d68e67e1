package dev.onefold.aws.function;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.aws.AwsBatchEngine;
import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.Connection;
import dev.onefold.aws.LocalDynamoDb;
import dev.onefold.aws.batch.BatchDefinition;
import dev.onefold.aws.item.Definition;
import dev.onefold.aws.item.RowItem;
import dev.onefold.aws.state.Definitions;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.template.Layout;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Query;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// Definitions that a Java with other rules of Europe/Madrid has stored: the tests change the hash by hand.
class OtherZoneRulesTest {
    private static final LocalDynamoDb DYNAMO = new LocalDynamoDb();
    private static final String ZONE = "Europe/Madrid";
    private static final String OTHER = "0123456789abcdef";
    private static final String OTHER_RULES = "this Java has other rules for zone " + ZONE;

    private final ByteArrayOutputStream log = new ByteArrayOutputStream();
    private final Metrics metrics = new Metrics(new PrintStream(log, true, StandardCharsets.UTF_8), "stack");

    private static Pipeline pipeline(String fold) {
        String text = "{\"pipeline\":\"days\",\"input\":{\"id\":\"id\",\"time\":\"at\",\"zone\":\"" + ZONE + "\"},"
                + fold + "}";
        return ((Reading.Read) PipelineText.read(text)).pipeline();
    }

    private static Pipeline days(String measure) {
        return pipeline("\"rollup\":{\"levels\":[\"bucket(at, 1d)\"],\"measures\":{\"" + measure + "\":\"count()\"}}");
    }

    private static byte[] event(String sequence, String record) {
        return """
                {"Records":[{"kinesis":{"kinesisSchemaVersion":"1.0","partitionKey":"p","sequenceNumber":"%1$s",\
                "data":"%2$s","approximateArrivalTimestamp":1545084650.987},"eventSource":"aws:kinesis",\
                "eventVersion":"1.0","eventID":"shardId-000000000006:%1$s","eventName":"aws:kinesis:record",\
                "awsRegion":"us-east-2","invokeIdentityArn":"arn:aws:iam::123456789012:role/r",\
                "eventSourceARN":"arn:aws:kinesis:us-east-2:123456789012:stream/days"}]}""".formatted(sequence, Base64.getEncoder().encodeToString(record.getBytes(StandardCharsets.UTF_8)))
                .getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] event(int id) {
        return event(String.valueOf(id), "{\"id\":%d,\"at\":\"2026-03-31 23:30:00\"}".formatted(id));
    }

    private StateFunction state(Store store) {
        return new StateFunction(
                store, days("n"), metrics, Connection.streams(), new StateFunction.Setup(new Layout(8, 64), 0));
    }

    private CollectFunction collect(Store store, Pipeline pipeline) {
        return new CollectFunction(
                store,
                pipeline,
                2,
                metrics,
                new CollectFunction.Source(Duration.ofDays(7), Optional.empty(), Optional.empty()));
    }

    private static List<String> totals(Store store) {
        AwsEngine.deployed(store).reduce();
        return AwsEngine.deployed(store).query(Query.all("main")).lines().stream()
                .map(line -> String.join("/", line.group()) + "=" + line.values())
                .toList();
    }

    private static void keep(Store store, Pipeline pipeline) {
        Definitions definitions = new Definitions(store);
        Definition next = definitions.load().withPipeline(pipeline);
        assertThat(definitions.replace(next)).isEqualTo(next);
    }

    @Test
    void a_function_with_other_rules_folds_nothing_and_the_totals_answer_until_it_has_those_rules_again() {
        Store store = DYNAMO.store("zones");
        state(store).handle(event(1));
        StateFunction before = state(store);
        before.handle(event(2));
        keep(store, days("n").withZones(new TreeMap<>(Map.of(ZONE, OTHER))));
        for (StateFunction each : List.of(before, state(store))) {
            assertThatThrownBy(() -> each.handle(event(3)))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("Nothing is taken into pipeline days: " + OTHER_RULES)
                    .hasMessageContaining("Records wait, and come again; answers go on.");
        }
        assertThat(totals(store)).containsExactly("=[2]", "2026-03-31=[2]");
        for (String measure : List.of("n", "other")) {
            log.reset();
            new UpkeepFunction(store, days(measure), metrics).handle("{}".getBytes(StandardCharsets.UTF_8), () -> true);
            assertThat(log.toString(StandardCharsets.UTF_8)).contains("\"PipelineRefused\":1", OTHER_RULES);
        }
        keep(store, days("n"));
        before.handle(event(3));
        assertThat(totals(store)).containsExactly("=[3]", "2026-03-31=[3]");
    }

    private static String text(Store store) {
        return store.get(store.tables().rows(), RowItem.other("batches"))
                .get("t")
                .s();
    }

    private static void keepText(Store store, String text) {
        store.client()
                .updateItem(request -> request.tableName(store.tables().rows())
                        .key(RowItem.other("batches"))
                        .updateExpression("SET t = :t")
                        .expressionAttributeValues(Map.of(":t", AttributeValue.fromS(text))))
                .join();
    }

    @Test
    void batches_are_collected_by_the_rules_that_they_were_begun_with() {
        Store store = DYNAMO.store("zones-of-batches");
        Pipeline pipeline =
                pipeline("\"batch\":{\"size\":100,\"deliver\":{\"http\":\"http://host/x\"},\"receiver\":\"once\"}");
        collect(store, pipeline).handle(event("1", "{\"id\":1}")); // It has no time, so it is a dead letter.
        String hash = pipeline.zones().get(ZONE);
        String first = text(store);
        assertThat(first).endsWith(",\"zones\":{\"" + ZONE + "\":\"" + hash + "\"}}");
        keepText(store, first.replace(hash, OTHER));
        assertThatThrownBy(() -> collect(store, pipeline).handle(event(2)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(OTHER_RULES);
        DeadLetters letters = AwsBatchEngine.at(store).deadLetters();
        assertThat(letters.size()).isEqualTo(1);
        assertThatThrownBy(() -> letters.redrive(letters.list(0, 1).getFirst().id(), null, DeadLetters.Keys.SAME))
                .hasMessageContaining(OTHER_RULES);
        keepText(store, first.replaceFirst(",\"zones\".*", "}")); // As earlier versions have stored it.
        assertThat(BatchDefinition.find(store).orElseThrow().pipeline().zones()).isEqualTo(pipeline.zones());
        collect(store, pipeline).handle(event(2));
        assertThat(text(store)).isEqualTo(first);
    }
}
