package dev.onefold.aws.function;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.LocalDynamoDb;
import dev.onefold.aws.batch.AwsBatches;
import dev.onefold.aws.batch.BatchDefinition;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.stream.Streams;
import dev.onefold.core.SealedBatches;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Edition;
import dev.onefold.core.pipeline.Pipeline;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/// Records of a Kinesis stream through the function Collect, on DynamoDB Local.
class CollectFunctionTest {
    private static final LocalDynamoDb DYNAMO = new LocalDynamoDb();
    private static final String DONE = "{\"batchItemFailures\":[]}";
    private static final Instant ARRIVED = Instant.ofEpochMilli(1_545_084_650_987L);

    private static Pipeline pipeline(String id) {
        String text = "{\"pipeline\":\"orders\",\"input\":{\"format\":\"json\",\"id\":\"" + id + "\"},"
                + "\"batch\":{\"size\":100,\"deliver\":{\"http\":\"http://host/x\"},\"receiver\":\"once\"}}";
        return ((Reading.Read) PipelineText.read(text)).pipeline();
    }

    private static String record(String sequence, String body) {
        return """
                {"kinesis":{"kinesisSchemaVersion":"1.0","partitionKey":"k","sequenceNumber":"%s","data":"%s",\
                "approximateArrivalTimestamp":1545084650.987},"eventSource":"aws:kinesis","eventVersion":"1.0",\
                "eventID":"shardId-000000000000:%s","eventName":"aws:kinesis:record",\
                "invokeIdentityArn":"arn:aws:iam::000000000000:role/r","awsRegion":"eu-central-1",\
                "eventSourceARN":"arn:aws:kinesis:eu-central-1:000000000000:stream/orders"}""".formatted(
                        sequence, Base64.getEncoder().encodeToString(body.getBytes(StandardCharsets.UTF_8)), sequence);
    }

    private static String handle(Store store, Pipeline pipeline, String... records) {
        return handle(store, pipeline, new ByteArrayOutputStream(), records);
    }

    private static String handle(Store store, Pipeline pipeline, ByteArrayOutputStream log, String... records) {
        Metrics metrics = new Metrics(new PrintStream(log, true, StandardCharsets.UTF_8), "stack");
        Supplier<Streams> none = () -> {
            throw new AssertionError("Nothing is read again");
        };
        CollectFunction collect = new CollectFunction(
                store,
                pipeline,
                2,
                metrics,
                new CollectFunction.Source(Duration.ofDays(7), Optional.of(none), Optional.empty()));
        byte[] event = ("{\"Records\":[" + String.join(",", records) + "]}").getBytes(StandardCharsets.UTF_8);
        return new String(collect.handle(event), StandardCharsets.UTF_8);
    }

    private static List<String> sealed(Store store) {
        AwsBatches batches = new AwsBatches(store, BatchDefinition.find(store).orElseThrow());
        assertThat(batches.summary().openSince()).isEqualTo(ARRIVED);
        batches.seal();
        List<String> lines = new ArrayList<>();
        for (SealedBatches.Line line : batches.list(BatchNumber.of(1), 10, false)) {
            batches.export(
                    line.number(),
                    bytes -> new String(bytes, StandardCharsets.UTF_8).lines().forEach(lines::add));
        }
        return lines;
    }

    @Test
    void records_of_a_stream_come_again_from_the_first_one_that_failed_and_each_is_in_one_batch() {
        Store store = DYNAMO.store("partial");
        Pipeline pipeline = pipeline("id");
        String[] records = {
            record("1", "{\"id\":\"a\"}"),
            record("2", "no event"),
            record("3", "{\"id\":\"b\"}"),
            record("4", "nor this")
        };
        Store withoutBucket = new Store(store.client(), store.tables(), store.threads(), store.random(), store.clock());
        assertThat(handle(withoutBucket, pipeline, records))
                .as("letters cannot be kept")
                .isEqualTo("{\"batchItemFailures\":[{\"itemIdentifier\":\"2\"}]}");
        assertThat(handle(store, pipeline, records)).isEqualTo(DONE);
        assertThat(handle(store, pipeline, records)).isEqualTo(DONE);
        assertThat(sealed(store)).containsExactlyInAnyOrder("{\"id\":\"a\"}", "{\"id\":\"b\"}");
    }

    @Test
    void a_record_of_a_stream_is_known_by_its_sequence_number_where_messages_are_counted() {
        Store store = DYNAMO.store("messages");
        Pipeline pipeline = pipeline("message");
        String[] records = {record("1", "{}"), record("2", "{}"), record("1", "{}")};
        assertThat(handle(store, pipeline, records)).isEqualTo(DONE);
        assertThat(handle(store, pipeline, records)).isEqualTo(DONE);
        assertThat(sealed(store)).containsExactly("{}", "{}");
    }

    @Test
    void the_log_names_the_shard_and_the_first_and_last_record_of_a_batch_and_nothing_that_is_in_them() {
        ByteArrayOutputStream log = new ByteArrayOutputStream();
        String[] records = {record("11", "{\"id\":\"secret\"}"), record("12", "none"), record("14", "{\"id\":\"b\"}")};
        handle(DYNAMO.store("logged"), pipeline("id"), log, records);
        assertThat(log.toString(StandardCharsets.UTF_8))
                .contains("INFO Batch of 3 records of orders/shardId-000000000000 from 11 to 14")
                .doesNotContain("secret", "none");
    }

    @Test
    void the_stored_pipeline_is_parsed_once_however_often_it_is_loaded() {
        Store store = DYNAMO.store("parsed-once");
        assertThat(handle(store, pipeline("once"), record("1", "{}"))).isEqualTo(DONE);
        Pipeline parsed = BatchDefinition.find(store).orElseThrow().pipeline();
        assertThat(parsed).isEqualTo(pipeline("once").inEdition(Edition.NEWEST));
        assertThat(BatchDefinition.find(store).orElseThrow().pipeline()).isSameAs(parsed);
    }
}
