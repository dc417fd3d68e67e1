package dev.onefold.cli.seed;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.Connection;
import dev.onefold.cli.Cli;
import dev.onefold.cli.Cli.Result;
import dev.onefold.cli.aws.LocalServices;
import dev.onefold.tables.ItemJson;
import dev.onefold.tables.Rate;
import dev.onefold.tables.RowSource;
import dev.onefold.tables.SourceTable;
import dev.onefold.tables.TableRows;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeDefinition;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.KeySchemaElement;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;
import software.amazon.awssdk.services.dynamodb.model.ScanRequest;
import software.amazon.awssdk.services.dynamodb.model.StreamViewType;

/// Seeding from tables of DynamoDB Local.
class SeedTableTest {
    private static final String PIPELINE = """
            pipeline: favourites
            input:
              key: [customer, raw]
              version: v
            rollup:
              levels: [city]
              measures:
                saves: count()
                value: sum(value) decimal(18,2)
            """;

    @RegisterExtension
    static final LocalServices SERVICES = new LocalServices();

    private static DynamoDbAsyncClient client;
    private static int tables;

    @TempDir
    Path folder;

    private Cli cli;
    private String table;

    @BeforeAll
    static void open() {
        client = Connection.tables(SERVICES.place());
    }

    @AfterAll
    static void close() {
        client.close();
    }

    @BeforeEach
    void write() {
        cli = Cli.in(folder);
        cli.write("favourites.yaml", PIPELINE);
        table = "Favourites-" + ++tables;
    }

    private void create(boolean stream) {
        client.createTable(request -> {
                    request.tableName(table)
                            .billingMode(BillingMode.PAY_PER_REQUEST)
                            .attributeDefinitions(
                                    attribute("customer", ScalarAttributeType.S),
                                    attribute("raw", ScalarAttributeType.B))
                            .keySchema(key("customer", KeyType.HASH), key("raw", KeyType.RANGE));
                    if (stream) {
                        request.streamSpecification(
                                spec -> spec.streamEnabled(true).streamViewType(StreamViewType.NEW_AND_OLD_IMAGES));
                    }
                })
                .join();
    }

    private static AttributeDefinition attribute(String name, ScalarAttributeType type) {
        return AttributeDefinition.builder()
                .attributeName(name)
                .attributeType(type)
                .build();
    }

    private static KeySchemaElement key(String name, KeyType type) {
        return KeySchemaElement.builder().attributeName(name).keyType(type).build();
    }

    private void put(int i) {
        client.putItem(request -> request.tableName(table)
                        .item(Map.of(
                                "customer", AttributeValue.fromS("c" + i / 3),
                                "raw", AttributeValue.fromB(SdkBytes.fromByteArray(new byte[] {(byte) i, -1, 0})),
                                "v", AttributeValue.fromN("1"),
                                "city", AttributeValue.fromS("city" + i % 2),
                                "value", AttributeValue.fromN("1.10"),
                                "note", AttributeValue.fromS("x".repeat(20_000)))))
                .join();
    }

    private Result seed(String... more) {
        List<String> arguments = new ArrayList<>(List.of(
                "seed",
                "favourites.yaml",
                "--from",
                "dynamodb:" + table,
                "--region",
                "eu-central-1",
                "--endpoint",
                SERVICES.endpoint()));
        arguments.addAll(List.of(more));
        return cli.run(arguments.toArray(new String[0]));
    }

    @Test
    @Tag("campaign")
    void items_with_a_binary_part_of_the_key_are_seeded_by_several_segments() {
        create(true);
        for (int i = 0; i < 150; i++) {
            put(i);
        }
        Result result = seed("--segments", "3");
        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.err()).contains("table " + table, "read units", "on demand");
        assertThat(result.out()).contains("Seeded 150 rows", "  new                    150");
        assertThat(cli.run("query", "favourites", "--depth", "0", "--format", "csv")
                        .out())
                .contains("150,165.00");
        assertThat(seed().out()).contains("  already there          150");
    }

    /// A row is here alone, another one in the table alone.
    private void requireRepair() {
        client.deleteItem(request -> request.tableName(table)
                        .key(Map.of(
                                "customer", AttributeValue.fromS("c0"),
                                "raw", AttributeValue.fromB(SdkBytes.fromByteArray(new byte[] {0, -1, 0})))))
                .join();
        List<String> verify = List.of(
                "verify",
                "favourites.yaml",
                "--against",
                "dynamodb:" + table,
                "--region",
                "eu-central-1",
                "--lag",
                "1ms",
                "--endpoint",
                SERVICES.endpoint(),
                "--repair");
        Result repaired = cli.run(verify.toArray(new String[0]));
        assertThat(repaired.out())
                .as(repaired.err())
                .contains(
                        "  missing here             1\n    repaired               1\n",
                        "  gone from the source     1\n    repaired               1\n");
        assertThat(cli.run(verify.toArray(new String[0])).out()).contains("4 rows, read once", "All rows are equal.");
    }

    @Test
    void items_are_below_every_change_that_the_table_s_stream_tells() {
        create(true);
        for (int i = 0; i < 5; i++) {
            put(i);
        }
        cli.write("favourites.yaml", PIPELINE.replace("version: v", "format: dynamodb-stream\n  table: " + table));
        String stream = SourceTable.describe(client, table).stream();
        cli.write(
                "live.ndjson",
                "{\"eventName\":\"REMOVE\",\"eventSourceARN\":\"%s\",\"dynamodb\":".formatted(stream)
                        + "{\"SequenceNumber\":\"1\",\"Keys\":{\"customer\":{\"S\":\"c1\"},\"raw\":{\"B\":\"BP8A\"}}}}\n");
        assertThat(cli.run("run", "favourites.yaml", "--input", "live.ndjson").exitCode())
                .isZero();
        Result result = seed();
        assertThat(result.out())
                .as(result.err())
                .contains("  new                      4", "  newer live               1");
        assertThat(cli.run("get", "favourites", "c1", "BP8A").out()).contains("/1/0");

        requireRepair();

        cli.write(
                "favourites.yaml",
                PIPELINE.replace("version: v", "format: dynamodb-stream\n  table: " + table)
                        .replace("raw", "note"));
        assertThat(cli.run(
                                "seed",
                                "favourites.yaml",
                                "--data",
                                "other",
                                "--from",
                                "dynamodb:" + table,
                                "--region",
                                "eu-central-1",
                                "--endpoint",
                                SERVICES.endpoint())
                        .err())
                .contains("The key of table " + table
                        + " is customer, raw, and the key of pipeline favourites is customer, note");
    }

    @Test
    void a_scan_that_was_stopped_at_any_page_goes_on_at_the_keys_of_its_segments() throws Exception {
        create(true);
        for (int i = 0; i < 200; i++) {
            put(i);
        }
        SourceTable described = SourceTable.describe(client, table);
        assertThat(described.key()).containsExactly("customer", "raw");
        TreeSet<String> all = new TreeSet<>();
        Map<String, String> marks = new HashMap<>();
        for (int readings = 0; !isRead(marks); readings++) {
            assertThat(readings).isLessThan(50);
            new TableRows(client, described, 2, Rate.of(0)).read(Map.copyOf(marks), rows -> {
                synchronized (marks) {
                    new String(rows.lines(), 0, rows.length(), StandardCharsets.UTF_8)
                            .lines()
                            .forEach(all::add);
                    marks.put(rows.part(), rows.mark());
                }
                return false;
            });
        }
        assertThat(all).hasSize(200);
    }

    private static boolean isRead(Map<String, String> marks) {
        return marks.size() == 2 && marks.values().stream().allMatch(RowSource.END::equals);
    }

    @Test
    @Tag("campaign")
    void hazard_78_every_page_of_the_scan_is_read_strongly() throws Exception {
        create(true);
        for (int i = 0; i < 120; i++) {
            put(i);
        }
        List<Boolean> strong = Collections.synchronizedList(new ArrayList<>());
        try (DynamoDbAsyncClient watched = DynamoDbAsyncClient.builder()
                .region(Region.EU_CENTRAL_1)
                .endpointOverride(SERVICES.place().endpoint())
                .overrideConfiguration(override -> override.addExecutionInterceptor(new ExecutionInterceptor() {
                    @Override
                    public void beforeExecution(Context.BeforeExecution context, ExecutionAttributes attributes) {
                        if (context.request() instanceof ScanRequest scan) {
                            strong.add(scan.consistentRead());
                        }
                    }
                }))
                .build()) {
            new TableRows(watched, SourceTable.describe(client, table), 2, Rate.of(0)).read(Map.of(), _ -> true);
        }
        assertThat(strong).hasSizeGreaterThan(2).containsOnly(true);
    }

    @Test
    void a_table_without_a_stream_is_refused_unless_live_records_come_from_elsewhere() {
        create(false);
        put(1);
        Result refused = seed();
        assertThat(refused.exitCode()).isEqualTo(1);
        assertThat(refused.err()).contains("The change stream of table " + table + " is off");
        assertThat(folder.resolve("onefold-data")).doesNotExist();
        assertThat(seed("--no-stream").out()).contains("Seeded 1 row ");
    }

    @Test
    void a_stream_of_kinesis_is_refused_where_the_pipeline_names_the_table_s_own() {
        create(true);
        cli.write("kinesis.yaml", """
                pipeline: kinesis
                input:
                  format: dynamodb-stream
                  key: [customer, raw]
                  stream: arn:aws:dynamodb:eu-central-1:1:table/X/stream/2026-01-01T00:00:00.000
                rollup: {levels: [city], measures: {saves: count()}}
                """);
        cli.write("rows.ndjson", "{\"customer\":\"c\",\"raw\":\"AQ==\",\"city\":\"x\"}\n");
        Result refused = cli.run(
                "seed", "kinesis.yaml", "--from", "rows.ndjson", "--stream", "arn:aws:kinesis:eu-central-1:1:stream/s");
        assertThat(refused.exitCode()).isEqualTo(1);
        assertThat(refused.err()).contains("reads the table's own change stream", "is a stream of Kinesis");
    }

    @Test
    void another_stream_than_the_pipeline_reads_is_noticed() {
        create(true);
        Result refused = seed("--stream", "arn:aws:dynamodb:eu-central-1:1:table/X/stream/2026-01-01T00:00:00.000");
        assertThat(refused.err()).contains("has another change stream now");
        assertThat(refused.exitCode()).isEqualTo(1);
    }

    @Test
    void hazard_78_an_export_must_be_younger_than_the_stream() throws Exception {
        create(true);
        SourceTable described = SourceTable.describe(client, table);
        Instant on = SourceTable.begin(String.valueOf(described.stream()));
        for (Duration later : List.of(Duration.ofMinutes(-1), Duration.ofMinutes(4), Duration.ofMinutes(6))) {
            cli.write("manifest-files.json", "");
            cli.write("manifest-summary.json", """
                    {"tableArn":"arn:aws:dynamodb:eu-central-1:1:table/%s","tableId":"%s","exportTime":"%s","itemCount":0,
                    "outputFormat":"DYNAMODB_JSON"}
                    """.formatted(table, described.id(), on.plus(later)));
            Result result = cli.run(
                    "seed",
                    "favourites.yaml",
                    "--from",
                    "export:.",
                    "--region",
                    "eu-central-1",
                    "--endpoint",
                    SERVICES.endpoint());
            if (later.toMinutes() > 5) {
                assertThat(result.out()).as(result.err()).contains("Seeded 0 rows");
            } else {
                assertThat(result.exitCode()).isEqualTo(1);
                assertThat(result.err()).contains("what changed in between may be in neither");
            }
        }
    }

    @Test
    void a_table_that_is_not_there_is_named() {
        assertThat(seed().err()).contains("There is no table " + table + " in this account and region");
    }

    @Test
    void attribute_values_become_plain_json() {
        assertThat(new String(
                        ItemJson.of(Map.of(
                                "l",
                                AttributeValue.fromL(List.of(
                                        AttributeValue.fromN("7.50"),
                                        AttributeValue.fromNul(true),
                                        AttributeValue.fromNs(List.of("1", "2")))))),
                        StandardCharsets.UTF_8))
                .isEqualTo("{\"l\":[7.50,null,[1,2]]}");
    }
}
