package dev.onefold.cli.aws;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.Connection;
import dev.onefold.aws.batch.BatchDefinition;
import dev.onefold.aws.batch.Collect;
import dev.onefold.aws.batch.Cutter;
import dev.onefold.aws.batch.Deliver;
import dev.onefold.aws.batch.FunctionReceivers;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.function.DeployedFunction;
import dev.onefold.aws.item.KeyItem;
import dev.onefold.aws.item.OutputTable;
import dev.onefold.aws.letter.LetterTable;
import dev.onefold.aws.state.Fate;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Store;
import dev.onefold.cli.Cli;
import dev.onefold.cli.Cli.Result;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.process.LoadedFunction;
import dev.onefold.core.seal.DeliveryRules;
import dev.onefold.yaml.PipelineFunction;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;
import software.amazon.awssdk.services.dynamodb.model.ShardIteratorType;
import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsAsyncClient;

/// The verbs over HTTP, on DynamoDB Local. It is one idea: the verbs of the command line on one deployment.
class AwsCommandTest {
    private static final String BATCHES =
            "{\"pipeline\":\"orders\",\"input\":{\"format\":\"json\",\"id\":\"id\"},\"batch\":"
                    + "{\"size\":2,\"wait\":\"1h\",\"deliver\":{\"http\":\"http://host/x\"},\"receiver\":\"idempotent\"}}";

    @RegisterExtension
    static final LocalServices SERVICES = new LocalServices();

    private Deployed deployed;
    private Cli cli;
    private Store store;

    @BeforeEach
    void begin(@TempDir Path folder) {
        deployed = Deployed.in(folder, SERVICES);
        cli = deployed.cli();
        store = deployed.store();
        cli.write("trades.yaml", Cli.TRADES);
    }

    /// Makes the tables, and brings these records into them.
    private void fold(String... records) {
        deployed.deploy("trades.yaml", Cli.TRADES);
        deployed.fold(records);
    }

    private Result aws(String... arguments) {
        return deployed.aws(arguments);
    }

    private static String trade(String id, int version, String desk, String value) {
        return "{\"id\":\"%s\",\"v\":%d,\"desk\":\"%s\",\"region\":\"EMEA\",\"value\":%s}"
                .formatted(id, version, desk, value);
    }

    @Test
    void batches_that_are_deployed_are_listed_sealed_exported_and_decided_about() {
        cli.write("orders.yaml", BATCHES);
        SERVICES.tables(deployed.name());
        Pipeline orders = ((Reading.Read) PipelineText.read(BATCHES)).pipeline();
        BatchDefinition.openOrCreate(store, orders, 2);
        List<Arrival> arrivals = Stream.of("1", "2", "3", "4,")
                .map(id -> new Arrival("q", id, 0, ("{\"id\":" + id + "}").getBytes(StandardCharsets.UTF_8)))
                .toList();
        new Collect(store, orders, 2).collect(arrivals);
        Batching batching = (Batching) orders.fold();
        assertThat(new Cutter(store, batching, 2).run()).isOne();
        assertThat(aws("batches", "orders.yaml", "list").out())
                .startsWith("1 sealed batch, 1 of them not delivered; 1 record in the open batch, since ");
        assertThat(aws("batches", "orders.yaml", "seal").out()).isEqualTo("Sealed batch 2.\n");
        assertThat(aws("batches", "orders.yaml", "seal").out()).isEqualTo("The open batch is empty.\n");
        Deliver.Receiver refuses =
                new Deliver.Receiver(new DeliveryRules(batching, null), _ -> new Outcome.Refused("It is too old"));
        new Deliver(store, orders, refuses, FunctionReceivers.limits(batching)).run(() -> Duration.ofMinutes(14));
        assertThat(aws("batches", "orders", "list").out())
                .contains("2 sealed batches, 2 of them not delivered, 2 put aside; 0 records in the open batch.")
                .contains("000001: It is too old");
        assertThat(aws("batches", "orders.yaml", "show", "1", "--json").out())
                .contains("\"batch\":\"orders-000001\"", "\"records\":2", "\"state\":\"put aside\"");
        assertThat(aws("batches", "orders.yaml", "export", "1").out().lines()).hasSize(2);
        assertThat(aws("batches", "orders.yaml", "release", "1").out()).contains("within a minute or two");
        assertThat(aws("batches", "orders.yaml", "release", "2", "--discard").out())
                .isEqualTo("Batch 000002 is discarded.\n");
        assertThat(aws("batches", "orders.yaml", "list", "--all").out()).contains("waiting", "discarded");
        cli.write("mended.json", "{\"id\":4}");
        Result redriven = aws("dead-letters", "orders.yaml", "redrive", "1", "--file", "mended.json");
        assertThat(redriven.exitCode()).as(redriven.err()).isZero();
        assertThat(aws("dead-letters", "orders.yaml", "list").out()).doesNotContain("malformed");
        assertThat(aws("batches", "orders.yaml", "list").out()).contains("1 record in the open batch");
        assertThat(aws("query", "orders.yaml").err()).contains("Pipeline orders makes batches");
    }

    @Test
    void the_status_of_a_deployment_names_the_causes_of_silence_in_the_words_of_an_engine_here() {
        String log = """
                pipeline: log
                input: {format: debezium, table: public.orders, key: id}
                rollup: {levels: [], measures: {n: count()}}
                """;
        String crew = "{\"op\":\"u\",\"after\":{\"id\":1},\"source\":{\"schema\":\"public\",\"table\":\"crew\"}}";
        deployed.deploy("log.yaml", log);
        List<Arrival> arrivals = Stream.of(crew, "null", crew)
                .map(record -> new Arrival("s", "1", 0, record.getBytes(StandardCharsets.UTF_8)))
                .toList();
        new LetterTable(store).count(Fate.sum(StateAndMap.process(store, arrivals)));
        cli.write("records", crew + "\nnull\n" + crew + "\n");
        cli.run("run", "log.yaml", "--input", "records");
        String lines =
                cli.run("status", "log.yaml").out().lines().skip(2).limit(9).collect(Collectors.joining("\n"));
        assertThat(lines).containsPattern("  silent +3\n    of public.crew +2\n    tombstone +1");
        Result status = aws("status", "log.yaml");
        assertThat(status.exitCode()).as(status.err()).isZero();
        assertThat(status.out().replaceAll(" +", " ")).isEqualTo("log in AWS\n\n" + lines.replaceAll(" +", " ") + "\n");
        assertThat(status.err()).contains("CloudWatch");
        assertThat(aws("status", "log.yaml", "--format", "json").out())
                .isEqualTo("{\"records\":3,\"accepted\":0,\"duplicate\":0,\"stale\":0,"
                        + "\"conflicting\":0,\"rejected\":0,\"silent\":3,"
                        + "\"causes\":{\"silent: of public.crew\":2,\"silent: tombstone\":1}}\n");
        assertThat(at("status log.yaml").out()).isEqualTo(status.out());
    }

    @Test
    void a_deployment_that_is_not_there_is_said_without_the_words_of_the_service() {
        for (String[] arguments : List.of(
                new String[] {"query", "trades.yaml"},
                new String[] {"reset", "trades.yaml", "--yes"},
                new String[] {"dead-letters", "trades.yaml", "list"})) {
            Result gone = aws(arguments);
            assertThat(gone.exitCode()).as(gone.err()).isEqualTo(3);
            assertThat(gone.err())
                    .contains("Deployment " + deployed.name() + " is not there: ", "--region")
                    .doesNotContain("Service:", "Request ID", "credentials");
        }
    }

    @Test
    void a_verb_at_a_deployment_says_the_same_as_the_verb_of_aws() {
        fold(trade("a", 1, "FX", "1.5"), trade("b", 1, "Rates", "4"), "poison");
        for (String command : List.of(
                "query trades.yaml --format csv",
                "query trades --group nobody",
                "get trades.yaml a",
                "dead-letters trades.yaml list")) {
            Result expected = aws(command.split(" "));
            assertThat(timeless(at(command))).as(command).isEqualTo(timeless(expected));
        }
        Map.of(
                        "journal trades", "On AWS there is no journal",
                        "verify trades --from-sources", "On AWS the stream forgets",
                        "verify trades --published", "'onefold aws publish --again'")
                .forEach((command, reason) -> {
                    Result refused = at(command);
                    assertThat(refused.exitCode()).as(refused.err()).isEqualTo(2);
                    assertThat(refused.err()).contains(reason);
                });
    }

    @Test
    void rows_are_seeded_and_compared_at_a_deployment() {
        cli.write("rows.ndjson", trade("a", 1, "FX", "1.5") + "\n" + trade("b", 1, "Rates", "4") + "\n");
        fold(trade("a", 1, "FX", "1.5"));
        String compare = "verify trades --against rows.ndjson --lag 1ms --progress none";
        assertThat(at(compare).out()).contains("  missing here             1\n");
        Result seeded = at("seed trades.yaml --from rows.ndjson --progress none");
        assertThat(seeded.exitCode()).as(seeded.err()).isZero();
        assertThat(seeded.err()).contains("at 4,000 units a second");
        assertThat(seeded.out()).contains("  new                      1\n", "  already there            1\n");
        Result equal = at(compare + " --repair --at-rest");
        assertThat(equal.exitCode()).as(equal.out() + equal.err()).isZero();
        assertThat(at("seed orders --from rows.ndjson --at aws:nowhere").exitCode())
                .isEqualTo(2);
    }

    private static String timeless(Result result) {
        return result.exitCode() + result.out().replaceAll("At 20.* UTC", "") + result.err();
    }

    private Result at(String command) {
        List<String> all = new ArrayList<>(List.of(command.split(" ")));
        String region = String.valueOf(SERVICES.place().region());
        String[] place = {"--at", "aws:" + deployed.name(), "--region", region, "--endpoint", SERVICES.endpoint()};
        all.addAll(List.of(place));
        return cli.run(all.toArray(String[]::new));
    }

    @Test
    @Tag("campaign")
    void the_verbs_of_the_embedded_engine_work_on_deployed_tables() {
        fold(trade("a", 1, "FX", "1.5"), trade("a", 2, "FX", "2.5"), trade("b", 1, "Rates", "4"), "poison");
        Result query = aws("query", "trades.yaml", "--format", "csv", "--depth", "1");
        assertThat(query.exitCode()).as(query.err()).isZero();
        assertThat(query.out()).contains("0,,,6.50,2").contains("FX").contains("Rates");
        assertThat(aws("get", "trades.yaml", "a").out()).contains("version", "2", "FX");
        assertThat(aws("get", "trades.yaml", "nobody").exitCode()).isEqualTo(1);
        Result verify = aws("verify", "trades.yaml");
        assertThat(verify.exitCode()).as(verify.out() + verify.err()).isZero();
        Result sample = aws("verify", "trades.yaml", "--sample", "2");
        assertThat(sample.exitCode()).as(sample.out() + sample.err()).isZero();
        assertThat(sample.out()).contains("2 rows, for one leaf group in 2");
        assertThat(aws("verify", "trades.yaml", "--sample", "0").exitCode()).isEqualTo(2);
        assertThat(aws("verify", "trades.yaml", "--from-sources").err())
                .contains("There is no option --from-sources here");
        assertThat(aws("rebuild", "trades.yaml").exitCode()).isZero();
        assertThat(aws("query", "trades.yaml", "--group", "FX", "--depth", "0").out())
                .contains("2.50");
        assertThat(aws("query", "trades", "--group", "FX", "--depth", "0").out())
                .as("The tables know the pipeline; its name is enough.")
                .contains("2.50");
        Result letters = aws("dead-letters", "trades.yaml", "list");
        assertThat(letters.out()).as(letters.err()).contains("malformed");
        assertThat(SERVICES.bucket().objects.keySet())
                .filteredOn(path -> path.startsWith("/letters-" + deployed.name() + "/"))
                .singleElement()
                .satisfies(path -> assertThat(SERVICES.bucket().objects.get(path))
                        .asString(StandardCharsets.UTF_8)
                        .isEqualTo("poison"));
        assertThat(aws("dead-letters", "trades.yaml", "show", "1").out()).contains("poison");
        cli.write("fixed.json", trade("c", 1, "FX", "1"));
        Result redriven = aws("dead-letters", "trades.yaml", "redrive", "1", "--file", "fixed.json");
        assertThat(redriven.exitCode()).as(redriven.err()).isZero();
        assertThat(SERVICES.bucket().objects.keySet())
                .noneMatch(path -> path.startsWith("/letters-" + deployed.name() + "/"));
        assertThat(aws("query", "trades.yaml", "--depth", "0").out()).contains("7.50", "3");
    }

    private static final String SUMS = """
            pipeline: sums
            input: {key: user, version: n}
            process: {class: dev.onefold.cli.verbs.Adding, version: 1, order: in-order, tables: {totals: user}}
            rollups:
              by-team: {of: totals, levels: [team], measures: {total: "sum(total) decimal(18,0)"}}
            """;

    private static byte[] amount(String user, int version, int amount) {
        return "{\"user\":\"%s\",\"n\":%d,\"team\":\"FX\",\"amount\":%d}"
                .formatted(user, version, amount)
                .getBytes(StandardCharsets.UTF_8);
    }

    /// Makes the tables of a function, and folds an event at which it throws between others.
    private void foldByFunction() {
        Path file = cli.write("sums.yaml", SUMS);
        LoadedFunction function = PipelineFunction.load(file).function();
        deployed.deploy(function.pipeline());
        Store folding = DeployedFunction.with(store, () -> function, System.err);
        LocalTables.create(store, store.tables().output("totals"), ScalarAttributeType.S, "user");
        StateAndMap.process(
                folding,
                List.of(
                        new Arrival("s/shard", "1", 0, amount("u1", 2, 5)),
                        new Arrival("s/shard", "2", 0, amount("u1", 1, 3)),
                        new Arrival("s/shard", "3", 0, amount("u2", 1, -1))));
    }

    private void breakRow() {
        Map<String, AttributeValue> key = Map.of("user", AttributeValue.fromS("u1"));
        String table = store.tables().output("totals");
        byte[] row = OutputTable.content(store.get(table, key));
        String text = new String(row, StandardCharsets.ISO_8859_1).replace("a,b", "a;b");
        store.client()
                .updateItem(update -> update.tableName(table)
                        .key(key)
                        .updateExpression("SET onefold = :o")
                        .expressionAttributeValues(Map.of(
                                ":o",
                                AttributeValue.fromB(
                                        SdkBytes.fromByteArray(text.getBytes(StandardCharsets.ISO_8859_1))))))
                .join();
    }

    @Test
    @Tag("campaign")
    void verbs_call_the_function_beside_the_pipeline_file() {
        foldByFunction();
        Result verify = aws("verify", "sums.yaml");
        assertThat(verify.exitCode()).as(verify.out() + verify.err()).isZero();
        assertThat(verify.out()).contains("Equal: 2 keys folded again and 1 group recomputed from 1 rows of tables");
        assertThat(verify.err()).doesNotContain("Note:");
        Result redriven = aws("dead-letters", "sums.yaml", "redrive", "1");
        assertThat(redriven.out() + redriven.err()).contains("rejected again", "the amount is negative");
        assertThat(aws("dead-letters", "sums", "redrive", "1").err())
                .contains("this process was given no jar that has it")
                .doesNotContain("\tat ");
        Result byName = aws("verify", "sums");
        assertThat(byName.exitCode()).isEqualTo(2);
        assertThat(byName.err()).contains("name the pipeline file");
        breakRow();
        Result different = aws("verify", "sums.yaml");
        assertThat(different.exitCode()).isEqualTo(1);
        assertThat(different.out())
                .contains("Different: 2 values of keys", "key u1, totals u1", "a;b", "stack of its own");
        cli.write("sums.yaml", SUMS.replace("version: 1", "version: 2"));
        Result newer = aws("dead-letters", "sums.yaml", "redrive", "1");
        assertThat(newer.exitCode()).isEqualTo(1);
        assertThat(newer.err()).contains("Version 1 of the function is deployed, and the pipeline file has version 2");
    }

    private void restoreRows() {
        List<Map<String, AttributeValue>> items = store.client()
                .scan(all -> all.tableName(store.tables().rows()))
                .join()
                .items();
        store.client()
                .deleteTable(table -> table.tableName(store.tables().rows()))
                .join();
        LocalTables.create(store, store.tables().rows(), ScalarAttributeType.B, "k");
        items.forEach(item -> store.client()
                .putItem(put -> put.tableName(store.tables().rows()).item(item))
                .join());
    }

    private void loseKeptEvents() {
        store.client().scan(all -> all.tableName(store.tables().rows())).join().items().stream()
                .filter(KeyItem::isHead)
                .map(item -> KeyItem.of(item).key())
                .flatMap(key -> Stream.of(KeyItem.keptOf(key, 0), KeyItem.keptOf(key, 1), KeyItem.baseOf(key)))
                .forEach(lost -> store.client()
                        .deleteItem(delete ->
                                delete.tableName(store.tables().rows()).key(lost))
                        .join());
    }

    @Test
    @Tag("campaign")
    void a_restore_says_which_keys_of_a_function_lack_kept_events() throws IOException {
        foldByFunction();
        loseKeptEvents();
        restoreRows();
        Path jar = cli.write("sums.yaml", SUMS.replace("process: {", "process: {jar: none.jar, "));
        assertThat(aws("restored", "sums.yaml").err()).contains("none.jar");
        assertThat(aws("query", "sums.yaml").err()).contains("-rows was restored");
        Files.writeString(jar, SUMS);
        Result restored = aws("restored", "sums.yaml");
        assertThat(restored.exitCode()).as(restored.out() + restored.err()).isZero();
        assertThat(aws("dead-letters", "sums.yaml").out()).contains("kept");
    }

    @Test
    void a_table_that_was_restored_is_refused_and_the_message_says_what_to_do() {
        fold(trade("a", 1, "FX", "1.5"));
        Result same = aws("restored", "trades.yaml");
        assertThat(same.exitCode()).as(same.err()).isZero();
        assertThat(same.out()).contains("-totals is the same as before", "nothing was changed");
        restoreRows();
        Result query = aws("query", "trades.yaml");
        assertThat(query.exitCode()).isEqualTo(1);
        assertThat(query.err()).contains("-rows was restored", "'onefold aws restored'");
    }

    @Test
    void totals_are_published_to_a_table_and_compared_again() {
        fold(trade("a", 1, "FX", "1.5"));
        assertThat(aws("publish", "trades.yaml").err()).contains("publish: {table: NAME}");
        LocalTables.create(store, "counts-" + deployed.name(), ScalarAttributeType.S, "id");
        cli.write("trades.yaml", Cli.TRADES + "publish: {table: counts-" + deployed.name() + "}\n");
        assertThat(aws("publish", "trades.yaml").out()).contains("Cut 1 is published. Of 3 items 3 were different");
        assertThat(aws("publish", "trades.yaml").out()).contains("There is nothing new for the table");
        assertThat(aws("publish", "trades.yaml", "--again").out()).contains("Of 3 items 0 were different");
    }

    @Test
    @Tag("campaign")
    void a_table_that_was_restored_is_taken_over() {
        fold(trade("a", 1, "FX", "1.5"));
        restoreRows();
        Result restored = aws("restored", "trades.yaml");
        assertThat(restored.exitCode()).as(restored.err()).isZero();
        assertThat(restored.out())
                .contains("-rows was restored", "-totals is the same as before", "onefold aws replay");
        assertThat(aws("query", "trades.yaml", "--depth", "0").out()).contains("1.50");
        assertThat(aws("restored", "trades.yaml").out()).contains("nothing was changed");
    }

    @Test
    void what_was_produced_is_folded_by_a_replay_and_a_second_one_changes_nothing() throws IOException {
        fold();
        System.setProperty("aws.cborEnabled", "false");
        try (HttpKinesis kinesis = new HttpKinesis(deployed.name() + "-input")) {
            String at = String.valueOf(kinesis.endpoint());
            StringBuilder lines = new StringBuilder("poison\n");
            for (int i = 0; i < 250; i++) {
                lines.append(trade("t" + i, 1, "FX", "1")).append('\n');
            }
            cli.write("trades.ndjson", lines.toString());
            assertThat(aws("produce", "trades.yaml", "trades.ndjson", "--kinesis-endpoint", at)
                            .exitCode())
                    .isZero();
            String hourAgo = Instant.now().minusSeconds(3_600).toString();
            Result first = aws("replay", "trades.yaml", "--from", hourAgo, "--kinesis-endpoint", at);
            assertThat(first.exitCode()).as(first.err()).isZero();
            assertThat(first.out())
                    .startsWith("Replayed 251 records of 1 shard of " + deployed.name() + "-input")
                    .containsPattern("new +250\n")
                    .containsPattern("rejected +1\n");
            assertThat(aws("query", "trades.yaml", "--depth", "0").out()).contains("250.00");
            Result again = aws("replay", "trades.yaml", "--from", hourAgo, "--kinesis-endpoint", at);
            assertThat(again.out()).containsPattern("new +0\n").containsPattern("duplicate +250\n");
            assertThat(aws("query", "trades.yaml", "--depth", "0").out()).contains("250.00");
            Result older =
                    aws("replay", "trades.yaml", "--from", "2020-01-01T00:00:00+01:00", "--kinesis-endpoint", at);
            assertThat(older.exitCode()).isEqualTo(1);
            assertThat(older.err()).contains("The stream keeps 24 hours", "onefold aws produce");
            Result nowhere = aws(
                    "replay", "trades.yaml", "--from", hourAgo, "--kinesis-endpoint", at, "--stream", "nobody-made-it");
            assertThat(nowhere.exitCode()).isEqualTo(1);
            assertThat(nowhere.err()).contains("Stream not found", "--stream").doesNotContain("\tat ");
        } finally {
            System.clearProperty("aws.cborEnabled");
        }
        assertThat(aws("replay", "trades.yaml", "--from", "yesterday").err())
                .contains("--from is a sequence number or a time", "not 'yesterday'");
    }

    /// A table of somebody's own with three changes, and its stream.
    @SuppressWarnings("unchecked") // The SDK takes generic varargs.
    private String changedTable() {
        String arn = store.client()
                .createTable(request -> request.tableName("favourites")
                        .billingMode(BillingMode.PAY_PER_REQUEST)
                        .attributeDefinitions(id -> id.attributeName("id").attributeType(ScalarAttributeType.S))
                        .keySchema(id -> id.attributeName("id").keyType(KeyType.HASH))
                        .streamSpecification(
                                stream -> stream.streamEnabled(true).streamViewType("NEW_IMAGE")))
                .join()
                .tableDescription()
                .latestStreamArn();
        for (String id : List.of("a", "b", "c")) {
            Map<String, AttributeValue> item =
                    Map.of("id", AttributeValue.fromS(id), "restaurant", AttributeValue.fromS("Roma"));
            store.client()
                    .putItem(request -> request.tableName("favourites").item(item))
                    .join();
        }
        return arn;
    }

    private static List<String> sequences(String arn) {
        try (DynamoDbStreamsAsyncClient changes = Connection.changes(SERVICES.place())) {
            return changes
                    .describeStream(request -> request.streamArn(arn))
                    .thenCompose(stream -> changes.getShardIterator(request -> request.streamArn(arn)
                            .shardId(stream.streamDescription()
                                    .shards()
                                    .getFirst()
                                    .shardId())
                            .shardIteratorType(ShardIteratorType.TRIM_HORIZON)))
                    .thenCompose(begin -> changes.getRecords(request -> request.shardIterator(begin.shardIterator())))
                    .join()
                    .records()
                    .stream()
                    .map(change -> change.dynamodb().sequenceNumber())
                    .toList();
        }
    }

    @Test
    void a_table_s_change_stream_is_replayed_and_the_deployment_says_which_one_it_is() {
        deployed.deploy("favourites.yaml", """
                pipeline: favourites
                input: {key: Keys.id, version: SequenceNumber, delete: 'eventName = "REMOVE"'}
                rollup: {levels: [NewImage.restaurant], measures: {favourites: count()}}
                """);
        String arn = changedTable();
        List<String> sequences = sequences(arn);
        String first = sequences.get(0);
        String second = sequences.get(1);
        String hourAgo = Instant.now().minusSeconds(3_600).toString();
        Result unknown = aws("replay", "favourites.yaml", "--from", hourAgo, "--to", hourAgo, "--stream", arn + "0");
        assertThat(unknown.exitCode()).isEqualTo(1);
        assertThat(unknown.err()).contains("not found", "--stream").doesNotContain("\tat ");
        new LetterTable(store).useInput(arn);
        Result two = aws("replay", "favourites.yaml", "--from", first, "--to", second);
        assertThat(two.exitCode()).as(two.err()).isZero();
        assertThat(two.out())
                .startsWith("Replayed 2 records of 1 shard of " + arn)
                .containsPattern("new +2\n");
        assertThat(two.err()).doesNotContain("open shard");
        assertThat(aws("query", "favourites.yaml", "--depth", "0").out()).contains("2");
        assertThat(aws("replay", "favourites.yaml", "--from", first, "--to", second)
                        .out())
                .containsPattern("new +0\n")
                .containsPattern("duplicate +2\n");
        Result older = aws("replay", "favourites.yaml", "--from", "2020-01-01T00:00:00Z", "--to", hourAgo);
        assertThat(older.exitCode()).isEqualTo(1);
        assertThat(older.err()).contains("The stream keeps 24 hours", "must come from the table");
        assertThat(aws("produce", "favourites.yaml", "--stream", arn).err())
                .contains("--stream is the change stream of a table");
    }

    @Test
    void what_is_not_deployed_is_said_in_one_line_without_a_stack_trace() {
        Result result = aws("query", "trades.yaml");
        assertThat(result.exitCode()).isEqualTo(3);
        assertThat(result.err()).contains("Deployment " + deployed.name()).doesNotContain("\tat ");
    }

    @Test
    void a_template_is_written_for_a_pipeline_that_can_be_on_aws_and_refused_for_another() {
        Result template = cli.run("aws", "template", "trades.yaml");
        assertThat(template.exitCode()).as(template.err()).isZero();
        assertThat(template.out()).startsWith("AWSTemplateFormatVersion");
        cli.write("places.yaml", "pipeline: places\ninput: {}\nrollup: {levels: [], measures: {n: count()}}\n");
        Result refused = cli.run("aws", "template", "places.yaml");
        assertThat(refused.exitCode()).isEqualTo(1);
        assertThat(refused.err()).contains("places").doesNotContain("\tat ");
    }
}
