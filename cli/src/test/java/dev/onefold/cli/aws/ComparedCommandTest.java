package dev.onefold.cli.aws;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.Connection;
import dev.onefold.aws.comparison.Comparing;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.function.CompareFunction;
import dev.onefold.aws.function.Metrics;
import dev.onefold.aws.resync.DeployedPassing;
import dev.onefold.aws.resync.SeedLease;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Store;
import dev.onefold.cli.Cli;
import dev.onefold.cli.Cli.Result;
import dev.onefold.yaml.PipelineFile;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.dynamodb.model.AttributeDefinition;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.KeySchemaElement;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;

/// `onefold aws compared`, and the options of `aws template` that make the function which it tells of.
class ComparedCommandTest {
    @RegisterExtension
    static final LocalServices SERVICES = new LocalServices();

    @TempDir
    Path folder;

    private static Store deployed(Cli cli, String name) {
        cli.write("shops.yaml", "pipeline: " + name + """

                input: {key: id, version: v, delete: gone = true}
                rollup:
                  levels: [shop]
                  measures: {saves: count()}
                """);
        Store store = SERVICES.deploy(name, PipelineFile.pipeline(cli.folder().resolve("shops.yaml")));
        store.client()
                .createTable(request -> request.tableName("Of-" + name)
                        .billingMode(BillingMode.PAY_PER_REQUEST)
                        .attributeDefinitions(List.of(AttributeDefinition.builder()
                                .attributeName("id")
                                .attributeType(ScalarAttributeType.S)
                                .build()))
                        .keySchema(List.of(KeySchemaElement.builder()
                                .attributeName("id")
                                .keyType(KeyType.HASH)
                                .build())))
                .join();
        return store;
    }

    private static void live(Store store, String record) {
        StateAndMap.process(store, List.of(new Arrival("stream", "1", 0, record.getBytes(StandardCharsets.UTF_8), 1)));
    }

    private static void put(Store store, String table, String id) {
        store.client()
                .putItem(request -> request.tableName(table)
                        .item(Map.of(
                                "id", AttributeValue.fromS(id),
                                "v", AttributeValue.fromN("1"),
                                "shop", AttributeValue.fromS("Bonn"))))
                .join();
    }

    private static void compare(Store store, String table, boolean repairs) {
        new CompareFunction(
                        store,
                        new Comparing.Settings(table, repairs, Duration.ofHours(24), 10_000, Duration.ofMillis(1)),
                        new DeployedPassing.Input(
                                null,
                                () -> Connection.kinesis(new Connection.Place("eu-central-1", null, null)),
                                () -> Connection.changes(new Connection.Place("eu-central-1", null, null)),
                                Optional.empty()),
                        new Metrics(
                                new PrintStream(new ByteArrayOutputStream(), true, StandardCharsets.UTF_8), "stack"))
                .handle("{}".getBytes(StandardCharsets.UTF_8), () -> 800_000);
    }

    @Test
    void what_the_function_has_found_is_told_and_another_comparison_can_be_asked_for() {
        Cli cli = Cli.in(folder);
        Store store = deployed(cli, "compared");
        String[] compared = SERVICES.command("compared", "shops.yaml");
        Result nothing = cli.run(compared);
        assertThat(nothing.exitCode()).isEqualTo(3);
        assertThat(nothing.err()).contains("No function compares the rows of deployment compared");
        live(store, "{\"id\":\"ghost\",\"v\":1,\"shop\":\"Ulm\"}");
        put(store, "Of-compared", "a");
        compare(store, "Of-compared", false);
        Result differs = cli.run(compared);
        assertThat(differs.exitCode()).as(differs.err()).isEqualTo(1);
        assertThat(differs.out())
                .contains(
                        "Compared with dynamodb:Of-compared until ",
                        ": 1 row, read 2 times.\n  missing: 1 reported\n  ghost: 1 reported\n",
                        "The next one begins at ",
                        "'onefold aws verify shops.yaml --against dynamodb:Of-compared' names the rows");
        compare(store, "Of-compared", true);
        Result repaired = cli.run(SERVICES.command("compared", "compared", "--again"));
        assertThat(repaired.exitCode()).as(repaired.err()).isZero();
        assertThat(repaired.out())
                .contains(
                        "  missing: 1 repaired\n  ghost: 1 repaired\n",
                        "The next one begins when the function is woken next.\n");
        compare(store, "Of-compared", true);
        assertThat(cli.run(compared).out()).contains("All rows were equal.\n");
    }

    /// As if the next comparison had been due at a time.
    private static void due(Store store, Instant at) {
        store.client()
                .updateItem(request -> request.tableName(store.tables().rows())
                        .key(Map.of("k", AttributeValue.fromB(SdkBytes.fromUtf8String("\0comparison"))))
                        .updateExpression("SET x = :x")
                        .expressionAttributeValues(
                                Map.of(":x", AttributeValue.fromN(String.valueOf(at.toEpochMilli())))))
                .join();
    }

    @Test
    void rows_are_not_said_to_be_equal_that_a_letter_explains_and_a_comparison_that_does_not_come_is_not_well() {
        Cli cli = Cli.in(folder);
        Store store = deployed(cli, "explained");
        live(store, "{\"id\":\"a\",\"v\":1,\"shop\":\"Bonn\"}");
        live(store, "{\"id\":\"b\",\"v\":1,\"shop\":{\"name\":\"Ulm\"}}");
        put(store, "Of-explained", "a");
        put(store, "Of-explained", "b");
        String[] compared = SERVICES.command("compared", "explained");
        try (SeedLease _ = SeedLease.begin(store, 1)) {
            compare(store, "Of-explained", false);
        }
        Result none = cli.run(compared);
        assertThat(none.exitCode()).as(none.err()).isEqualTo(1);
        assertThat(none.out())
                .startsWith("No comparison with dynamodb:Of-explained has come to its end since ")
                .contains("The next one begins when the function is woken next.");
        compare(store, "Of-explained", false);
        Result explained = cli.run(compared);
        assertThat(explained.exitCode()).as(explained.err()).isZero();
        assertThat(explained.out())
                .contains(
                        ": 2 rows, read 2 times.\nAll rows were equal, but for these:\n  missing: 1 explained\n",
                        "Rows that are explained differ because a dead letter of their key waits: redrive it"
                                + " ('onefold aws dead-letters explained'),\nand compare again.\n")
                .doesNotContain("All rows were equal.");
        due(store, Instant.now().minus(Duration.ofHours(3)));
        Result late = cli.run(compared);
        assertThat(late.exitCode()).as(late.out()).isEqualTo(1);
        assertThat(late.out()).contains("The next one was due at ", ", and has not begun. Look at the log of Compare");
    }

    @Test
    void a_template_has_the_function_if_it_is_asked_for() {
        Cli cli = Cli.in(folder);
        cli.write("shops.yaml", """
                pipeline: shops
                input: {format: dynamodb-stream, key: id}
                rollup: {levels: [shop], measures: {saves: count()}}
                publish: {table: shop-counts}
                """);
        Result with =
                cli.run("aws", "template", "shops.yaml", "--input", "table", "--compare", "dynamodb:Shops", "--repair");
        assertThat(with.exitCode()).as(with.err()).isZero();
        assertThat(with.out()).contains("table/Shops'", "ONEFOLD_REPAIRS: 'true'");
        assertThat(with.err()).contains("only from a bucket: add '--s3-bucket BUCKET'");
        assertThat(cli.run("aws", "template", "shops.yaml", "--repair").err())
                .contains("--repair is a part of --compare");
        assertThat(cli.run("aws", "template", "shops.yaml", "--compare", "rows.ndjson")
                        .err())
                .contains("--compare takes a table of DynamoDB, as in dynamodb:Favourites, not 'rows.ndjson'");
        assertThat(cli.run("aws", "template", "shops.yaml", "--compare", "dynamodb:a/b")
                        .err())
                .contains("--compare: 'a/b' is not the name of a table");
        cli.write(
                "orders.yaml",
                "pipeline: orders\ninput: {id: id}\nbatch: {size: 10, deliver: {command: cat}, receiver: idempotent}\n");
        assertThat(cli.run("aws", "template", "orders.yaml", "--compare", "dynamodb:Orders")
                        .err())
                .contains("a batch pipeline keeps no rows");
    }
}
