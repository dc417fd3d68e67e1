package dev.onefold.aws.resync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.LocalDynamoDb;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.letter.LetterTable;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Store;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.bytes.RecordKind;
import dev.onefold.core.event.RecordEnds;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Query;
import dev.onefold.tables.Rate;
import dev.onefold.tables.RowForm;
import dev.onefold.tables.SourceTable;
import dev.onefold.tables.TableRows;
import dev.onefold.tables.compare.Difference.Kind;
import dev.onefold.tables.compare.Difference.Outcome;
import dev.onefold.tables.compare.Report;
import dev.onefold.tables.compare.SourceComparison;
import dev.onefold.tables.compare.SourceComparison.Passing;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.DescribeTableResponse;

/// Changes that come while a comparison repairs.
class RepairRacesTest {
    private static final Pipeline PIPELINE = PipelineBuilder.named("shops")
            .key("id")
            .version("v")
            .delete("gone = true")
            .rollup(rollup -> rollup.levels("shop").count("saves"))
            .build();
    private static final LocalDynamoDb DYNAMO = new LocalDynamoDb();

    /// A deployment and a table with an older b, without c, and with d beside them.
    private static Store drifted(String name) {
        Store store = DYNAMO.store(name);
        AwsEngine.open(store, PIPELINE, 2, 4);
        new LetterTable(store).useBucket();
        DYNAMO.sourceTable("Of-" + name);
        live(store, row("a", 1, "Ulm"), row("b", 1, "Ulm"), row("d", 4, "Bonn"));
        put("Of-" + name, "a", 1, "Ulm");
        put("Of-" + name, "b", 2, "Bonn");
        put("Of-" + name, "c", 1, "Ulm");
        return store;
    }

    private static String row(String id, int version, String shop) {
        return "{\"id\":\"%s\",\"v\":%d,\"shop\":\"%s\"}".formatted(id, version, shop);
    }

    private static void live(Store store, String... records) {
        for (String record : records) {
            StateAndMap.process(
                    store, List.of(new Arrival("stream", "1", 0, record.getBytes(StandardCharsets.UTF_8), 1)));
        }
    }

    private static void put(String table, String id, int version, String shop) {
        DYNAMO.client
                .putItem(request -> request.tableName(table)
                        .item(Map.of(
                                "id", AttributeValue.fromS(id),
                                "v", AttributeValue.fromN(Integer.toString(version)),
                                "shop", AttributeValue.fromS(shop))))
                .join();
    }

    /// @param passing is waited for after each reading
    /// @param before happens when repairs are made, and before they are in
    private static Report repair(
            Store store, DynamoDbAsyncClient client, String table, Passing passing, Runnable before)
            throws IOException, InterruptedException {
        ResyncTurn turn = ResyncTurn.take(store).orElseThrow();
        RowIntake intake = RowIntake.ofRepair(store, turn, RecordEnds.LINES);
        return new SourceComparison(
                        AwsEngine.deployed(store),
                        new SourceComparison.Side(
                                new TableRows(client, SourceTable.describe(client, table), 2, Rate.of(0)),
                                RowForm.plain(),
                                Rate.of(0),
                                passing),
                        Optional.of(new SourceComparison.Repairing(0, turn.number(), false, (lines, length) -> {
                            before.run();
                            return intake.append(RecordKind.ROW, lines, length);
                        })),
                        new Quiet())
                .run();
    }

    /// A client that says the ids of tables, which DynamoDB Local does not.
    private static DynamoDbAsyncClient numbered(AtomicInteger id) {
        return (DynamoDbAsyncClient) Proxy.newProxyInstance(
                RepairRacesTest.class.getClassLoader(),
                new Class<?>[] {DynamoDbAsyncClient.class},
                (_, method, arguments) -> {
                    Object answer = method.invoke(DYNAMO.client, arguments);
                    return method.getName().equals("describeTable")
                            ? ((CompletableFuture<?>) answer)
                                    .thenApply(table -> numbered((DescribeTableResponse) table, id.toString()))
                            : answer;
                });
    }

    private static DescribeTableResponse numbered(DescribeTableResponse response, String id) {
        return response.toBuilder()
                .table(response.table().toBuilder().tableId(id).build())
                .build();
    }

    private static final class Quiet implements SourceComparison.Listener {
        @Override
        public void begins(long nth) {}

        @Override
        public void at(long done, long rows) {}

        @Override
        public boolean stop() {
            return false;
        }
    }

    private static List<String> totals(Store store) {
        AwsEngine engine = AwsEngine.deployed(store);
        engine.reduce();
        return engine.query(Query.all("main")).lines().stream()
                .map(line -> String.join("/", line.group()) + "=" + line.values())
                .toList();
    }

    @Test
    void a_live_change_that_comes_before_the_repair_stays() throws Exception {
        Store store = drifted("raced");
        Report report = repair(
                store,
                DYNAMO.client,
                "Of-raced",
                () -> {},
                () -> live(store, row("b", 3, "Trier"), "{\"id\":\"c\",\"v\":2,\"gone\":true}", row("d", 5, "Trier")));
        assertThat(report.count(Kind.DIFFERENT, Outcome.OVERTAKEN)).isOne();
        assertThat(report.count(Kind.MISSING, Outcome.OVERTAKEN)).isOne();
        assertThat(report.count(Kind.GHOST, Outcome.OVERTAKEN)).isOne();
        assertThat(totals(store)).containsExactly("=[3]", "Trier=[2]", "Ulm=[1]");
    }

    @Test
    void nothing_is_repaired_by_a_table_that_replaces_the_one_that_is_compared() {
        Store store = drifted("replaced");
        AtomicInteger tables = new AtomicInteger(1);
        assertThatThrownBy(() -> repair(
                        store,
                        numbered(tables),
                        "Of-replaced",
                        () -> {
                            DYNAMO.client
                                    .deleteTable(request -> request.tableName("Of-replaced"))
                                    .join();
                            DYNAMO.sourceTable("Of-replaced");
                            tables.incrementAndGet();
                            put("Of-replaced", "b", 1, "Ulm"); // The others are still to come.
                        },
                        () -> {}))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("was replaced by another one of its name");
        assertThat(totals(store)).containsExactly("=[3]", "Bonn=[1]", "Ulm=[2]");
    }
}
