package dev.onefold.cli.aws;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onefold.aws.letter.LetterTable;
import dev.onefold.aws.resync.ResyncTurn;
import dev.onefold.aws.store.Store;
import dev.onefold.cli.Cli.Result;
import dev.onefold.yaml.PipelineFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;
import software.amazon.awssdk.services.dynamodb.model.StreamViewType;

/// The command that docs/tables.md gives for each day, as it is written there, and the alarms that are made of its exit
/// codes and reports.
class DailyComparisonTest {
    private static final String TABLE = "Favourites";
    private static final Pattern COMMAND = Pattern.compile("(?m)^onefold ((?:.*\\\\\n)*.*) >> compared\\.ndjson");
    private static final Pattern FIELD = Pattern.compile("\\$\\.([a-z_.]+)");

    @RegisterExtension
    static final LocalServices SERVICES = new LocalServices();

    private Deployed deployed;
    private Store store;
    private Path file;

    @BeforeEach
    void begin(@TempDir Path folder) {
        deployed = Deployed.in(folder, SERVICES);
        store = deployed.store();
        makeTable();
        file = deployed.cli().write("favourites.yaml", """
                pipeline: favourites
                input: {key: id, version: v, delete: gone = true}
                rollup:
                  levels: [restaurant]
                  measures: {favourites: count()}
                """);
    }

    @AfterEach
    void end() {
        store.client().deleteTable(request -> request.tableName(TABLE)).join();
    }

    @SuppressWarnings("unchecked") // The SDK takes generic varargs.
    private void makeTable() {
        store.client()
                .createTable(request -> request.tableName(TABLE)
                        .billingMode(BillingMode.PAY_PER_REQUEST)
                        .attributeDefinitions(id -> id.attributeName("id").attributeType(ScalarAttributeType.S))
                        .keySchema(id -> id.attributeName("id").keyType(KeyType.HASH))
                        .streamSpecification(
                                view -> view.streamEnabled(true).streamViewType(StreamViewType.NEW_AND_OLD_IMAGES)))
                .join();
    }

    private void deploy() {
        deployed.deploy(PipelineFile.pipeline(file));
    }

    private void put(String id, int version) {
        store.client()
                .putItem(request -> request.tableName(TABLE)
                        .item(Map.of(
                                "id", AttributeValue.fromS(id),
                                "v", AttributeValue.fromN(Integer.toString(version)),
                                "restaurant", AttributeValue.fromS("Sushi Bar"))))
                .join();
    }

    private void fold(String id) {
        deployed.fold("{\"id\":\"" + id + "\",\"v\":1,\"restaurant\":\"Sushi Bar\"}");
    }

    private static String page() throws IOException {
        return Files.readString(Path.of("../..", "docs", "tables.md"));
    }

    /// Runs the command of the page. No stream is waited for, because DynamoDB Local takes half a minute to end one.
    private Result compare(String... more) throws IOException {
        List<MatchResult> found = COMMAND.matcher(page()).results().toList();
        assertThat(found).hasSize(1);
        String[] words = found.getFirst().group(1).replace("\\\n", " ").strip().split("\\s+", -1);
        assertThat(words[0]).isEqualTo("aws");
        List<String> arguments = new ArrayList<>(List.of(words).subList(1, words.length));
        arguments.addAll(List.of("--lag", "1ms"));
        arguments.addAll(List.of(more));
        return deployed.aws(arguments.toArray(String[]::new));
    }

    private static JsonNode report(Result result) throws IOException {
        assertThat(result.out().lines()).as(result.err()).hasSize(1); // A line of a log is a report.
        return new ObjectMapper().readTree(result.out());
    }

    @Test
    void it_repairs_lost_changes_and_says_once_that_there_were_some() throws IOException {
        deploy();
        fold("a");
        fold("ghost");
        put("a", 1);
        put("missing", 1);
        Result first = compare("--no-stream");
        assertThat(first.exitCode()).as(first.err()).isZero();
        JsonNode repaired = report(first);
        assertThat(repaired.at("/equal").booleanValue()).isTrue();
        assertThat(repaired.at("/missing/repaired").intValue()).isOne();
        assertThat(repaired.at("/ghost/repaired").intValue()).isOne();
        assertThat(fields())
                .isNotEmpty()
                .allSatisfy(field -> assertThat(
                                repaired.at("/" + field.replace('.', '/')).isMissingNode())
                        .as(field)
                        .isFalse());
        JsonNode equal = report(compare("--no-stream"));
        assertThat(equal.at("/missing/repaired").intValue()
                        + equal.at("/ghost/repaired").intValue())
                .isZero();
    }

    /// The fields that the page's filters of a log look at.
    private static Set<String> fields() throws IOException {
        return FIELD.matcher(page())
                .results()
                .map(field -> field.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void its_exit_code_is_1_while_rows_differ_and_3_where_it_cannot_compare() throws IOException {
        Result none = compare("--no-stream");
        assertThat(none.exitCode()).as(none.err()).isEqualTo(3);
        assertThat(none.out()).isEmpty();
        deploy();
        fold("ghost"); // The table is empty, so nothing is removed.
        Result differs = compare("--no-stream");
        assertThat(differs.exitCode()).as(differs.err()).isEqualTo(1);
        assertThat(report(differs).at("/equal").booleanValue()).isFalse();
        ResyncTurn other = ResyncTurn.take(store).orElseThrow();
        Result busy = compare("--no-stream");
        assertThat(busy.exitCode()).isEqualTo(3);
        assertThat(busy.out()).isEmpty();
        other.release();
    }

    @Test
    void rows_are_not_compared_with_a_table_whose_stream_the_deployment_does_not_read() throws IOException {
        deploy();
        fold("a");
        put("a", 1);
        new LetterTable(store).useInput("arn:aws:dynamodb:eu-central-1:1:table/Shops/stream/2026-01-01T00:00:00.000");
        Result refused = compare();
        assertThat(refused.exitCode()).as(refused.err()).isEqualTo(1);
        assertThat(refused.err())
                .contains(
                        "reads the change stream Shops/2026-01-01T00:00:00.000, which is not one of table Favourites");
        assertThat(refused.out()).isEmpty();
    }
}
