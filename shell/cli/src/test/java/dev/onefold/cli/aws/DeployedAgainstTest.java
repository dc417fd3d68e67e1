package dev.onefold.cli.aws;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.resync.ResyncTurn;
import dev.onefold.aws.resync.SeedLease;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Store;
import dev.onefold.cli.Cli;
import dev.onefold.cli.Cli.Result;
import dev.onefold.cli.Onefold;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;
import software.amazon.awssdk.services.dynamodb.model.StreamViewType;

/// `onefold aws verify --against`, on DynamoDB Local.
class DeployedAgainstTest {
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
    }

    private void deploy(String input) {
        deployed.deploy("shops.yaml", "pipeline: shops\ninput: " + input + """

                rollup:
                  levels: [shop]
                  measures: {saves: count()}
                """);
    }

    private Result aws(String... arguments) {
        return deployed.aws(arguments);
    }

    private Result verify(String... more) {
        List<String> all = new ArrayList<>(List.of("verify", "shops.yaml", "--lag", "1ms", "--progress", "none"));
        all.addAll(List.of(more));
        return aws(all.toArray(new String[0]));
    }

    private void live(String... records) {
        for (String record : records) {
            StateAndMap.process(
                    store, List.of(new Arrival("stream", "1", 0, record.getBytes(StandardCharsets.UTF_8), 1)));
        }
    }

    private String totals() {
        AwsEngine.deployed(store).reduce();
        return aws("query", "shops", "--format", "csv").out();
    }

    private static String row(String id, int version, String shop) {
        return "{\"id\":\"%s\",\"v\":%d,\"shop\":\"%s\"}\n".formatted(id, version, shop);
    }

    /// Rows with versions of their own: b is older here than in the file, c is missing, d is gone, e waits as a letter.
    private void drift() {
        deploy("{key: id, version: v, delete: gone = true}");
        live(row("a", 1, "Ulm"), row("b", 1, "Ulm"), row("d", 4, "Bonn"), row("e", 1, "Bonn"));
        live("{\"id\":\"e\",\"v\":2,\"shop\":{\"name\":\"Trier\"}}");
        cli.write("rows.ndjson", row("a", 1, "Ulm") + row("b", 2, "Bonn") + row("c", 1, "Ulm") + row("e", 2, "Trier"));
    }

    @Test
    @Tag("campaign")
    void what_differs_is_found_and_repaired_and_what_a_letter_explains_is_left() {
        drift();
        Result found = verify("--against", "rows.ndjson");
        assertThat(found.exitCode()).as(found.err()).isEqualTo(1);
        assertThat(found.err())
                .contains(
                        "Reads the table of rows, too: ",
                        "on demand), at most 6,000 a second",
                        "there is none to be read here",
                        "the retry queue is not looked for");
        assertThat(found.out())
                .contains(
                        "  missing here             1\n",
                        "  different                2\n    dead letters wait      1\n",
                        "  gone from the source     1\n",
                        "The same command with --repair");
        assertThat(totals()).contains("Bonn,2", "Ulm,2");
        Result repaired = verify("--against", "rows.ndjson", "--repair", "--at-rest");
        assertThat(repaired.exitCode()).as(repaired.out() + repaired.err()).isZero();
        assertThat(repaired.out())
                .contains(
                        "  missing here             1\n    repaired               1\n",
                        "  different                2\n    dead letters wait      1\n    repaired               1\n",
                        "  gone from the source     1\n    repaired               1\n");
        assertThat(totals()).contains("Bonn,2", "Ulm,2");
        assertThat(aws("get", "shops", "b").out()).contains("Bonn");
        assertThat(verify("--against", "rows.ndjson", "--format", "json").out())
                .contains("\"equal\":true", "\"missing\":{\"count\":0", "\"ghost\":{\"count\":0", "\"explained\":1");
        assertThat(aws("verify", "shops").exitCode()).isZero();
    }

    @Test
    @Tag("campaign")
    void one_re_sync_repairs_at_a_time_whatever_machine_it_runs_on() {
        drift();
        ResyncTurn other = ResyncTurn.take(store).orElseThrow();
        Result busy = verify("--against", "rows.ndjson", "--repair", "--at-rest");
        assertThat(busy.exitCode()).isEqualTo(3);
        assertThat(busy.err()).contains("one repairs at a time");
        assertThat(verify("--against", "rows.ndjson").out()).contains("  missing here             1\n");
        other.release();
        assertThat(verify("--against", "rows.ndjson", "--repair", "--at-rest").exitCode())
                .isZero();
    }

    @Test
    void a_seeding_that_runs_on_another_machine_is_waited_for() {
        drift();
        cli.write("rows.ndjson", row("a", 1, "Ulm") + row("b", 1, "Ulm") + row("d", 4, "Bonn") + row("e", 1, "Bonn"));
        SeedLease lease = SeedLease.begin(store, 1);
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        CompletableFuture<Integer> comparing = CompletableFuture.supplyAsync(() -> Onefold.execute(
                cli.caller(InputStream.nullInputStream(), new ByteArrayOutputStream(), err),
                List.of(deployed.command("verify", "shops.yaml", "--against", "rows.ndjson", "--lag", "1ms"))));
        while (!err.toString(StandardCharsets.UTF_8).contains("Waits for a seeding")) {
            assertThat(comparing).as(() -> err.toString(StandardCharsets.UTF_8)).isNotDone();
            Thread.onSpinWait();
        }
        lease.close();
        assertThat(comparing.join())
                .as(() -> err.toString(StandardCharsets.UTF_8))
                .isZero();
    }

    @Test
    @Tag("campaign")
    void a_record_that_waits_in_the_retry_queue_is_no_difference() throws Exception {
        deploy("{key: id, version: v}");
        live(row("a", 1, "Ulm"));
        cli.write("rows.ndjson", row("a", 1, "Ulm") + row("b", 1, "Bonn"));
        try (HttpQueue retries = new HttpQueue(1, () -> live(row("b", 1, "Bonn")))) {
            Result result = verify("--against", "rows.ndjson", "--retries", retries.url());
            assertThat(result.exitCode()).as(result.out() + result.err()).isZero();
        }
        assertThat(verify("--against", "rows.ndjson", "--retries", "nonsense").err())
                .contains("--retries: 'nonsense' is not the URL of a queue");
    }

    /// Makes the table, whose stream is on from the beginning.
    private String table(String table) {
        return store.client()
                .createTable(request -> request.tableName(table)
                        .billingMode(BillingMode.PAY_PER_REQUEST)
                        .attributeDefinitions(
                                List.of(software.amazon.awssdk.services.dynamodb.model.AttributeDefinition.builder()
                                        .attributeName("id")
                                        .attributeType(ScalarAttributeType.S)
                                        .build()))
                        .keySchema(List.of(software.amazon.awssdk.services.dynamodb.model.KeySchemaElement.builder()
                                .attributeName("id")
                                .keyType(KeyType.HASH)
                                .build()))
                        .streamSpecification(
                                view -> view.streamEnabled(true).streamViewType(StreamViewType.NEW_AND_OLD_IMAGES)))
                .join()
                .tableDescription()
                .latestStreamArn();
    }

    private void put(String table, String id, String shop) {
        store.client()
                .putItem(request -> request.tableName(table)
                        .item(Map.of("id", AttributeValue.fromS(id), "shop", AttributeValue.fromS(shop))))
                .join();
    }

    /// What State would have taken of a change, which the stream has not: the place is in front of it.
    private static String change(String stream, String kind, String id, String shop) {
        return "{\"eventName\":\"%s\",\"SequenceNumber\":\"1\",\"eventSourceARN\":\"%s\",\"Keys\":{\"id\":\"%s\"},\"NewImage\":{\"id\":\"%s\",\"shop\":\"%s\"}}"
                .formatted(kind, stream, id, id, shop);
    }

    @Tag("campaign")
    @Test
    void hazard_79_ghosts_are_removed_and_what_is_in_the_stream_alone_is_no_difference() {
        String saves = "Saves-" + deployed.name();
        deploy("{format: dynamodb-stream, table: " + saves + ", key: id}");
        String stream = table(saves);
        live(change(stream, "INSERT", "ghost", "Bonn"));
        put(saves, "behind", "Ulm"); // State has not taken it, and it is no difference.
        Result repaired = verify("--against", "dynamodb:" + saves, "--repair");
        assertThat(repaired.exitCode()).as(repaired.out() + repaired.err()).isZero();
        assertThat(repaired.out())
                .contains("  gone from the source     1\n    repaired               1\n")
                .doesNotContain("missing", "different");
        assertThat(totals()).contains("Ulm,1").doesNotContain("Bonn");
        assertThat(aws("get", "shops", "ghost").out()).containsPattern("/1/[0-9]{13}");
    }
}
