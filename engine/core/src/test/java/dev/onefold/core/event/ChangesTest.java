package dev.onefold.core.event;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.bytes.RecordKind;
import dev.onefold.core.form.RowLine;
import dev.onefold.core.pipeline.Edition;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.state.Key;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// It is one idea: each rule is tried on the same changes, in the forms that they come in.
class ChangesTest {
    private static final Pattern TEXTS = Pattern.compile("\"((?:[^\"\\\\]|\\\\.)*+)\"( *:)?");
    private static final Pattern CHARACTERS = Pattern.compile("\\\\u....|\\\\.|.");

    private static final String ARN =
            "arn:aws:dynamodb:eu-west-1:123456789012:table/Favourites/stream/2026-11-01T00:00:00.123";
    private static final long GENERATION = 1_793_491_200;

    private final Pipeline favourites = favourites(
                    PipelineBuilder.named("f").dynamoDbStream().table("Favourites"))
            .build();
    private final Pipeline outages =
            outages(PipelineBuilder.named("o").debezium("public.outage")).build();

    private static PipelineBuilder favourites(PipelineBuilder builder) {
        return builder.key("user", "restaurant")
                .rollup(rollup -> rollup.levels("address.city")
                        .sum("stars", "stars", 18, 2)
                        .count("n"));
    }

    private static PipelineBuilder outages(PipelineBuilder builder) {
        return builder.key("id").rollup(rollup -> rollup.levels("town").sum("customers", "customers", 18, 0));
    }

    private static String said(Pipeline pipeline, String record) {
        return said(pipeline, RecordKind.SENT, record);
    }

    /// A change says the same if all its texts are escaped, as some writers escape what is not ASCII.
    private static String said(Pipeline pipeline, RecordKind kind, String record) {
        String said = saidOf(pipeline, kind, record);
        String escaped = escaped(record);
        if (!said.contains(": ") && escaped.length() < 100_000) {
            assertThat(saidOf(pipeline, kind, escaped)).as(record).isEqualTo(said);
        }
        return said;
    }

    /// All values that are texts; names of fields are left as they are.
    private static String escaped(String record) {
        return TEXTS.matcher(record).replaceAll(text -> {
            if (text.group(2) != null || text.group(1).matches("[-0-9.eE]*")) {
                return Matcher.quoteReplacement(text.group());
            }
            StringBuilder escaped = new StringBuilder("\"");
            Matcher characters = CHARACTERS.matcher(text.group(1));
            while (characters.find()) {
                String one = characters.group();
                escaped.append(one.length() > 1 ? one : "\\u%04x".formatted((int) one.charAt(0)));
            }
            return Matcher.quoteReplacement(escaped.append('"').toString());
        });
    }

    private static String saidOf(Pipeline pipeline, RecordKind kind, String record) {
        Decoder decoder = new Decoder(pipeline);
        byte[] bytes = record.getBytes(StandardCharsets.UTF_8);
        Malformed malformed =
                decoder.decode(kind, Arrays.copyOf(bytes, bytes.length + Decoder.PADDING), 0, bytes.length);
        Event event = decoder.event();
        if (malformed != null) {
            return malformed.reason() + ": " + malformed.message();
        }
        if (event.silence != null) {
            return "silent";
        }
        byte[] key = Arrays.copyOfRange(event.data, event.keyFrom, event.keyTo);
        String keys = Key.parts(pipeline, key) + " ";
        Version version = Version.of(pipeline, Arrays.copyOfRange(event.data, event.versionFrom, event.versionTo));
        return keys + version + " " + event.kind
                + (event.kind == Event.Kind.COUNTED
                        ? " " + new Tuple(Arrays.copyOfRange(event.data, event.groupFrom[0], event.groupTo[0])).parts()
                                + " " + event.lo[0]
                        : "");
    }

    private static String lambda(String name, String body) {
        return "{\"eventID\":\"1\",\"eventName\":\"" + name + "\",\"eventVersion\":\"1.1\",\"dynamodb\":{" + body
                + ",\"SequenceNumber\":\"4421584500000000017450439092\",\"SizeBytes\":59},\"eventSourceARN\":\"" + ARN
                + "\"}";
    }

    private static final String KEYS = "\"Keys\":{\"restaurant\":{\"S\":\"r-1\"},\"user\":{\"N\":\"7\"}}";
    private static final String IMAGE =
            "{\"restaurant\":{\"S\":\"r-1\"},\"user\":{\"N\":\"7\"},\"stars\":{\"N\":\"4.5\"},"
                    + "\"tags\":{\"SS\":[\"a\",\"b\"]},\"old\":{\"NULL\":true},\"list\":{\"L\":[{\"M\":{\"x\":{\"B\":\"AAEC\"}}}]},"
                    + "\"address\":{\"M\":{\"zip\":{\"S\":\"1\"},\"city\":{\"S\":\"K\\u00f6ln\"}}}}";

    @Test
    void a_change_as_lambda_gives_it_has_the_fields_of_the_table() {
        assertThat(said(favourites, lambda("MODIFY", KEYS + ",\"NewImage\":" + IMAGE + ",\"OldImage\":{}")))
                .isEqualTo("[7, r-1] " + GENERATION + "/4421584500000000017450439092/0 COUNTED [Köln] 450");
        assertThat(said(favourites, lambda("REMOVE", KEYS + ",\"OldImage\":" + IMAGE)))
                .isEqualTo("[7, r-1] " + GENERATION + "/4421584500000000017450439092/0 DELETE");
    }

    @Test
    void a_change_is_refused_if_the_key_of_its_table_is_not_the_pipelines_because_rows_would_be_one() {
        PipelineBuilder builder =
                PipelineBuilder.named("f").dynamoDbStream().table("Favourites").key("user");
        Pipeline byUser = builder.rollup(rollup -> rollup.count("n")).build();
        assertThat(said(byUser, lambda("REMOVE", KEYS + ",\"OldImage\":" + IMAGE)))
                .startsWith("REFUSED: Keys has 2 fields, and the pipeline's key 1");
        String change = "\"value\":{\"after\":{\"id\":1,\"town\":\"A\",\"customers\":2},\"op\":\"c\",\"source\":{"
                + "\"schema\":\"public\",\"table\":\"outage\",\"lsn\":5,\"sequence\":\"[\\\"0\\\",\\\"5\\\"]\"}}}";
        assertThat(said(outages, "{\"key\":{\"id\":1,\"site\":\"a:\\\"}{\"}," + change))
                .startsWith("REFUSED: The key of the change has 2 fields");
        assertThat(said(outages, "{\"key\":{\"id\":\"a:\\\"}{,\"}," + change)).startsWith("[a:\"}{,] 0/5/0 COUNTED");
    }

    @Test
    void a_change_is_refused_if_its_key_lacks_a_field_of_the_pipelines_key_though_a_text_stands_for_it() {
        List<Object> key = List.of("id", Map.of("field", "regoin", "missing", ""));
        Pipeline mistyped = PipelineBuilder.named("o")
                .debezium("public.outage")
                .identity("key", key)
                .rollup(rollup -> rollup.levels("town").sum("customers", "customers", 18, 0))
                .build();
        String change = change("u", "null", row(1, "A", 5), 123);
        for (String form : forms("{\"id\":1,\"region\":\"eu\"}", change)) {
            if (!form.equals(change) && form.contains("\"key\"")) {
                assertThat(said(mistyped, form))
                        .isEqualTo("REFUSED: The key of the change has no field regoin, which is in the pipeline's key;"
                                + " write the table's whole key under 'key', and nothing else");
            }
        }
        String isNull = "{\"topic\":\"t\",\"key\":{\"id\":1,\"regoin\":null},\"value\":" + change + "}";
        assertThat(said(mistyped, isNull)).startsWith("[1, ] 0/123/0");
        Pipeline favourite = PipelineBuilder.named("f")
                .dynamoDbStream()
                .table("Favourites")
                .identity("key", List.of("user", Map.of("field", "place", "missing", "")))
                .rollup(rollup -> rollup.count("n"))
                .build();
        assertThat(said(favourite, lambda("INSERT", KEYS + ",\"NewImage\":" + IMAGE)))
                .startsWith("REFUSED: Keys has no field place");
    }

    @Test
    void the_plain_form_that_runs_on_aws_is_the_same_change() {
        String plain =
                "{\"eventName\":\"INSERT\",\"SequenceNumber\":\"4421584500000000017450439092\",\"eventSourceARN\":\""
                        + ARN
                        + "\",\"Keys\":{\"user\":7,\"restaurant\":\"r-1\"},\"NewImage\":{\"user\":7,\"restaurant\":\"r-1\","
                        + "\"stars\":4.5,\"address\":{\"city\":\"Köln\"}}}";
        assertThat(said(favourites, plain))
                .isEqualTo(said(favourites, lambda("INSERT", KEYS + ",\"NewImage\":" + IMAGE)));
    }

    @Test
    void a_record_that_does_not_name_its_stream_is_refused_unless_the_pipeline_does() {
        String api =
                lambda("INSERT", KEYS + ",\"NewImage\":" + IMAGE).replace(",\"eventSourceARN\":\"" + ARN + "\"", "");
        assertThat(said(favourites, api)).startsWith("REFUSED").contains("which stream it is of");
        Pipeline named = favourites(
                        PipelineBuilder.named("f").dynamoDbStream(ARN).table("Favourites"))
                .build();
        assertThat(said(named, api)).startsWith("[7, r-1] " + GENERATION + "/4421584500000000017450439092/0 COUNTED");
    }

    @Test
    void the_kinesis_stream_of_a_table_has_the_time_of_the_change_as_its_place() {
        String change =
                "{\"eventName\":\"INSERT\",\"recordFormat\":\"application/json\",\"tableName\":\"Favourites\",\"dynamodb\":{"
                        + "\"ApproximateCreationDateTime\":1700000000123456,%s" + KEYS + ",\"NewImage\":" + IMAGE
                        + "}}";
        assertThat(said(favourites, change.formatted("\"ApproximateCreationDateTimePrecision\":\"MICROSECOND\",")))
                .startsWith("[7, r-1] 8589934591/1700000000123456/0 COUNTED");
        assertThat(said(favourites, change.replace("123456", "123").formatted("")))
                .startsWith("[7, r-1] 8589934591/1700000000123000/0 COUNTED");
    }

    @Test
    void a_removal_by_expiry_retracts_or_keeps_what_the_row_was() {
        String removal = lambda("REMOVE", KEYS + ",\"OldImage\":" + IMAGE)
                .replace(
                        "\"eventVersion\"",
                        "\"userIdentity\":{\"type\":\"Service\",\"principalId\":\"dynamodb.amazonaws.com\"},\"eventVersion\"");
        Pipeline keeping = favourites(PipelineBuilder.named("f")
                        .dynamoDbStream()
                        .table("Favourites")
                        .keepExpired())
                .build();
        assertThat(said(favourites, removal)).endsWith("DELETE");
        assertThat(said(keeping, removal)).endsWith("COUNTED [Köln] 450");
        assertThat(said(keeping, lambda("REMOVE", KEYS + ",\"OldImage\":" + IMAGE)))
                .endsWith("DELETE");
        assertThat(said(keeping, removal.replace("OldImage", "Other")))
                .startsWith("REFUSED")
                .contains("no OldImage");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"S\":\"x\",\"N\":\"1\"}",
                "{\"N\":\"1e\"}",
                "{\"N\":7}",
                "{\"S\":7}",
                "{\"M\":[]}",
                "{\"X\":1}",
                "{}",
                "\"x\"",
                "{\"BOOL\":\"true\"}",
                "{\"NULL\":false}",
                "{\"S\":\"x\"",
                "7"
            })
    void an_attribute_that_is_none_is_malformed(String attribute) {
        String record = lambda("INSERT", KEYS + ",\"NewImage\":{\"stars\":" + attribute + "}");
        assertThat(said(favourites, record)).startsWith("MALFORMED");
    }

    private static String change(String op, String before, String after, long lsn) {
        return "{\"before\":" + before + ",\"after\":" + after + ","
                + "\"source\":{\"connector\":\"postgresql\",\"schema\":\"public\",\"table\":\"outage\",\"ts_ms\":1700000000000,\"lsn\":"
                + lsn + ",\"sequence\":\"[\\\"0\\\",\\\"" + lsn + "\\\"]\"},\"op\":\"" + op
                + "\",\"ts_ms\":1}";
    }

    private static String row(int id, String town, int customers) {
        return "{\"id\":" + id + ",\"town\":\"" + town + "\",\"customers\":" + customers + "}";
    }

    private static List<String> forms(String key, String change) {
        List<String> forms = new ArrayList<>();
        String schema = "{\"schema\":{\"type\":\"struct\",\"fields\":[]},\"payload\":";
        forms.add(change);
        forms.add(schema + change + "}");
        forms.add("{\"topic\":\"t\",\"key\":" + key + ",\"value\":" + change + "}");
        forms.add("{\"topic\":\"t\",\"key\":" + schema + key + "},\"value\":" + schema + change + "}}");
        return forms;
    }

    @Test
    void a_change_of_debezium_is_read_with_key_and_schema_or_without() {
        for (String form : forms("{\"id\":1}", change("u", "null", row(1, "A", 5), 123))) {
            assertThat(said(outages, form)).as(form).isEqualTo("[1] 0/123/0 COUNTED [A] 5");
        }
        for (String form : forms("{\"id\":1}", change("d", row(1, "A", 5), "null", 124))) {
            assertThat(said(outages, form)).as(form).isEqualTo("[1] 0/124/0 DELETE");
        }
        for (String form : forms("{\"id\":1}", change("r", "null", row(1, "A", 5), 100))) {
            assertThat(said(outages, form)).as(form).isEqualTo("[1] 0/0/1700000000000 COUNTED [A] 5");
        }
    }

    @Test
    void tombstones_and_marks_tell_of_no_row() {
        assertThat(said(outages, "{\"topic\":\"t\",\"key\":{\"id\":1},\"value\":null}"))
                .isEqualTo("silent");
        assertThat(
                        said(
                                outages,
                                "{\"key\":{\"schema\":{},\"payload\":{\"id\":1}},\"value\":{\"schema\":null,\"payload\":null}}"))
                .isEqualTo("silent");
        for (String form :
                forms("{\"id\":\"1:2\"}", "{\"status\":\"BEGIN\",\"id\":\"1:2\",\"event_count\":null,\"ts_ms\":1}")) {
            assertThat(said(outages, form)).as(form).isEqualTo("silent");
        }
        assertThat(said(outages, "{\"ts_ms\":1}")).isEqualTo("silent");
        assertThat(said(outages, "null")).isEqualTo("silent");
        assertThat(said(favourites, "null")).startsWith("MALFORMED");
        assertThat(said(outages, change("m", "null", "null", 1))).isEqualTo("silent");
    }

    @Test
    void a_row_without_an_envelope_is_no_mark_whatever_its_fields_are_called() {
        for (String row : List.of(
                "{\"id\":1,\"status\":\"open\",\"town\":\"A\"}",
                "{\"id\":1,\"ts_ms\":7,\"town\":\"A\"}",
                "{\"id\":1,\"ddl\":\"x\",\"town\":\"A\"}",
                "{\"ts_ms\":7,\"town\":\"A\"}",
                "{\"id\":1,\"status\":\"BEGIN\",\"town\":\"A\"}")) {
            for (String form : forms("{\"id\":1}", row)) {
                assertThat(said(outages, form)).as(form).startsWith("MALFORMED");
            }
        }
    }

    @Test
    void changes_of_another_table_tell_of_no_row() {
        String other = change("u", "null", row(1, "A", 5), 123).replace("\"outage\"", "\"crew\"");
        assertThat(said(outages, other)).isEqualTo("silent");
        String right = change("u", "null", row(1, "A", 5), 123);
        assertThat(said(outages, right)).startsWith("[1] 0/123/0");
        assertThat(said(outages, right.replace("\"public\"", "\"old\""))).isEqualTo("silent");
        assertThat(said(outages, right.replace("\"table\":\"outage\",", "")))
                .startsWith("MALFORMED")
                .contains("table");
    }

    private static Pipeline ofTables(String... tables) {
        return PipelineBuilder.named("o")
                .debezium(List.of(tables))
                .key("\"origin: schema\"", "\"origin: table\"", "id")
                .rollup(rollup -> rollup.levels("town").sum("customers", "customers", 18, 0))
                .build();
    }

    @Test
    void a_change_whose_schema_or_database_the_file_leaves_open_is_refused_with_the_line_to_write_since_edition_3() {
        String change = change("u", "null", row(1, "A", 5), 123);
        String inMySql = change.replace("\"schema\":\"public\"", "\"db\":\"shop\"");
        String inServer = change.replace("\"connector\":\"postgresql\"", "\"connector\":\"sqlserver\",\"db\":\"shop\"");
        List<List<String>> cases = List.of(
                List.of("outage", change, "public.outage"),
                List.of("out*", change, "public.out*"),
                List.of("outage", inMySql, "shop.outage"),
                List.of("public.outage", inServer, "shop.public.outage"),
                List.of("shop.outage", inServer, "shop.public.outage"));
        for (List<String> each : cases) {
            PipelineBuilder open =
                    outages(PipelineBuilder.named("o").debezium(each.getFirst()).version("customers"));
            String refused = said(open.build(), each.get(1));
            assertThat(refused).startsWith("REFUSED").contains("Write under input: 'table: " + each.get(2) + "'");
            String line = refused.replaceAll(".*'table: ([^']*)'[.].*", "$1");
            Pipeline right = outages(PipelineBuilder.named("o").debezium(line).version("customers"))
                    .build();
            assertThat(said(right, each.get(1))).startsWith("[1] 5 COUNTED");
        }
        for (int edition = 1; edition <= 2; edition++) {
            PipelineBuilder before =
                    outages(PipelineBuilder.named("o").debezium("outage").edition(edition));
            assertThat(said(before.build(), change)).startsWith("[1] 0/123/0");
            Pipeline dotted = outages(PipelineBuilder.named("o")
                            .debezium("my.grid.outage")
                            .edition(edition))
                    .build();
            assertThat(said(dotted, change.replace("\"public\"", "\"my.grid\"")))
                    .startsWith("[1] 0/123/0");
            assertThat(said(dotted, inMySql.replace("\"shop\"", "\"my.grid\""))).startsWith("[1] 0/123/0");
            assertThat(said(dotted, inMySql.replace("\"shop\"", "\"grid\""))).isEqualTo("silent");
        }
        String unnamed = change.replace("\"schema\":\"public\",", "");
        assertThat(said(outages(PipelineBuilder.named("o").debezium("outage")).build(), unnamed))
                .startsWith("[1] 0/123/0");
    }

    @Test
    void a_record_of_dynamodb_names_the_table_of_the_file_or_another_one_or_is_refused_since_edition_3() {
        String change = lambda("INSERT", KEYS + ",\"NewImage\":" + IMAGE);
        String ofKinesis = change.replace("\"eventSourceARN\":\"" + ARN + "\"", "\"tableName\":\"Favourites\"")
                .replace("\"SequenceNumber\":\"4421584500000000017450439092\",", "\"ApproximateCreationDateTime\":7,");
        String prefix = ARN.substring(0, ARN.indexOf("/stream/"));
        for (String record : List.of(change, ofKinesis)) {
            PipelineBuilder open = favourites(PipelineBuilder.named("f").dynamoDbStream());
            String refused = said(open.build(), record);
            assertThat(refused).startsWith("REFUSED").contains("Write under input: 'table: Favourites'");
            String table = refused.replaceAll(".*'table: (.*)'", "$1");
            for (String name : List.of(table, prefix)) {
                Pipeline right = favourites(
                                PipelineBuilder.named("f").dynamoDbStream().table(name))
                        .build();
                assertThat(said(right, record)).as(name).startsWith("[7, r-1]");
            }
            for (String name : List.of("Other", "favourites", prefix + "-2")) {
                Pipeline other = favourites(
                                PipelineBuilder.named("f").dynamoDbStream().table(name))
                        .build();
                assertThat(said(other, record)).as(name).isEqualTo("silent");
            }
            PipelineBuilder before =
                    favourites(PipelineBuilder.named("f").dynamoDbStream().edition(2));
            assertThat(said(before.build(), record)).startsWith("[7, r-1]");
        }
    }

    @Test
    void tables_of_a_list_or_a_pattern_count_with_their_origin_in_the_key() {
        String change = change("u", "null", row(1, "A", 5), 123);
        Pipeline tenants = ofTables("tenant_*.outage", "public.outage");
        for (String form : forms("{\"id\":1}", change.replace("\"public\"", "\"tenant_a\""))) {
            assertThat(said(tenants, form)).startsWith("[tenant_a, outage, 1] 0/123/0");
        }
        assertThat(said(tenants, change)).startsWith("[public, outage, 1] 0/123/0");
        assertThat(said(tenants, change.replace("\"outage\"", "\"crew\""))).isEqualTo("silent");
        assertThat(said(tenants, change.replace("\"public\"", "\"tenant\""))).isEqualTo("silent");
        Pipeline parts = outages(PipelineBuilder.named("o").debezium("public.outage_*_eu"))
                .build();
        assertThat(said(parts, change.replace("\"outage\"", "\"outage_2024_eu\"")))
                .startsWith("[1] 0/123/0");
        assertThat(said(parts, change.replace("\"outage\"", "\"outage_eu\""))).isEqualTo("silent");
    }

    @Test
    void a_database_in_the_key_does_not_tell_schemas_apart() {
        Pipeline byDatabase = PipelineBuilder.named("o")
                .debezium(List.of("a.outage", "public.outage"))
                .key("\"origin: database\"", "id")
                .rollup(rollup -> rollup.levels("town").sum("customers", "customers", 18, 0))
                .build();
        String change = change("u", "null", row(1, "A", 5), 123);
        assertThat(said(byDatabase, change)).startsWith("REFUSED").contains("[{origin: schema}, …]");
        assertThat(said(
                        byDatabase,
                        change.replace("\"schema\":\"public\"", "\"db\":\"a\"").replace("postgresql", "x")))
                .startsWith("[a, 1] 0/123/0");
    }

    @Test
    void a_refused_change_states_its_key_and_its_place() {
        byte[] left = change("u", "null", row(1, "__debezium_unavailable_value", 5), 123)
                .getBytes(StandardCharsets.UTF_8);
        Decoder.RecordIdentity stated = new Decoder(outages).identity(left);
        assertThat(stated.key()).isEqualTo(new byte[] {'1'});
    }

    @Test
    void a_version_of_a_repair_has_a_limit() {
        Pipeline own = outages(PipelineBuilder.named("o").json().version("v")).build();
        String line = "{\"$onefold\":{\"version\":\"" + "9".repeat(65) + "\",\"removed\":true},\"row\":{\"id\":1}}";
        assertThat(said(own, RecordKind.ROW, line)).startsWith("TOO_LARGE");
    }

    @Test
    void what_is_no_change_is_refused() {
        assertThat(said(outages, "{\"id\":1,\"town\":\"A\"}"))
                .startsWith("MALFORMED")
                .contains("no change of Debezium");
        assertThat(said(outages, change("t", "null", "null", 1)))
                .startsWith("REFUSED")
                .contains("emptied at once");
        assertThat(said(outages, change("u", "null", row(1, "__debezium_unavailable_value", 1), 1)))
                .startsWith("REFUSED")
                .contains("REPLICA IDENTITY");
        assertThat(said(outages, change("u", "null", row(1, "X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ==", 1), 1)))
                .startsWith("REFUSED");
        assertThat(said(outages, change("u", "null", row(1, "A", 1), 1).replace("lsn", "scn")))
                .startsWith("REFUSED")
                .contains("no position");
        assertThat(said(favourites, "{\"eventName\":\"UPSERT\"}")).startsWith("MALFORMED");
    }

    @Test
    void a_log_that_began_anew_is_above_the_one_before_and_an_unknown_one_is_refused() {
        Pipeline logs = outages(PipelineBuilder.named("o").debezium("public.outage", "grid", "grid-2"))
                .build();
        String change = change("u", "null", row(1, "A", 5), 123).replace("\"lsn\"", "\"name\":\"%s\",\"lsn\"");
        assertThat(said(logs, change.formatted("grid"))).startsWith("[1] 0/123/0");
        assertThat(said(logs, change.formatted("grid-2"))).startsWith("[1] 1/123/0");
        assertThat(said(logs, change.formatted("other"))).startsWith("REFUSED").contains("none of input.logs");
    }

    @Test
    void places_in_other_logs_order_as_their_changes_do() {
        String mysql =
                "{\"after\":{\"id\":1,\"town\":\"A\",\"customers\":5},\"op\":\"u\",\"source\":{\"connector\":\"mysql\",\"db\":\"public\",\"table\":\"outage\","
                        + "\"file\":\"mysql-bin.%06d\",\"pos\":%d,\"row\":%d}}";
        assertThat(List.of(
                        place(mysql.formatted(3, 4, 0)),
                        place(mysql.formatted(3, 4, 1)),
                        place(mysql.formatted(3, 1 << 30, 0)),
                        place(mysql.formatted(10, 4, 0))))
                .isSorted();
        String server =
                "{\"after\":{\"id\":1,\"town\":\"A\",\"customers\":5},\"op\":\"u\",\"source\":{\"schema\":\"public\",\"table\":\"outage\",\"commit_lsn\":"
                        + "\"00000027:0000%s:0002\",\"change_lsn\":\"00000027:0000%s:0005\",\"event_serial_no\":%d}}";
        assertThat(List.of(
                        place(server.formatted("0100", "00ff", 1)),
                        place(server.formatted("0100", "00ff", 2)),
                        place(server.formatted("0100", "0100", 1)),
                        place(server.formatted("0101", "00fe", 1)),
                        place(server.formatted("0102", "00fe", 1))))
                .isSorted();
        assertThat(said(outages, server.formatted("0100", "00ff", 128))).startsWith("REFUSED");
        assertThat(said(outages, server.formatted("0100", "00ff", 1).replace("commit_lsn", "commit")))
                .startsWith("REFUSED")
                .contains("version: FIELD");
    }

    /// Debezium 3.6.1 and PostgreSQL 15 said this when an insert waited at a unique index while its key was
    /// deleted.
    @Test
    void a_transaction_that_logged_its_change_before_another_and_committed_after_it_is_above_it() {
        String event = "{\"op\":\"%s\",\"%s\":" + row(1, "A", 5)
                + ",\"source\":{\"connector\":\"postgresql\",\"schema\":\"public\",\"table\":\"outage\",\"lsn\":%s,\"sequence\":\"[%s,\\\"%3$s\\\"]\"}}";
        BigInteger removal = place(event.formatted("d", "before", "22472424", "null"));
        BigInteger other = place(event.formatted("d", "before", "22472288", "\\\"22472544\\\""));
        BigInteger insert = place(event.formatted("c", "after", "22472360", "\\\"22472592\\\""));
        BigInteger next = place(event.formatted("u", "after", "22473920", "\\\"22473808\\\""));
        BigInteger second = place(event.formatted("u", "after", "22474136", "\\\"22473808\\\""));
        assertThat(List.of(removal, other, insert, next, second)).isSorted();
    }

    @Test
    void a_change_of_postgresql_without_its_sequence_is_refused_with_the_line_to_write() {
        String without = change("u", "null", row(1, "A", 5), 123).replace("sequence", "other");
        assertThat(said(outages, without)).startsWith("REFUSED").contains("source.sequence", "'version: FIELD'");
        assertThat(said(outages, change("u", "null", row(1, "A", 5), 123).replace("[", "(")))
                .startsWith("REFUSED");
        assertThat(said(outages.inEdition(Edition.FIRST), without)).startsWith("[1] 0/123/0");
    }

    private BigInteger place(String record) {
        String said = said(outages, record);
        return new BigInteger(said.split("/", -1)[1]);
    }

    @Test
    void a_row_that_was_seeded_is_below_each_live_change_and_a_repair_is_above_the_one_it_stands_on() {
        byte[] row = row(1, "A", 5).getBytes(StandardCharsets.UTF_8);
        Version seed = Version.of(0, BigInteger.ZERO, 1_700_000_000_001L);
        assertThat(line(outages, RowLine.of(seed, row))).isEqualTo("[1] 0/0/1700000000001 COUNTED [A] 5");
        Version repair = Version.of(0, BigInteger.valueOf(123), 1);
        assertThat(line(outages, RowLine.removed(repair, "{\"id\":1}".getBytes(StandardCharsets.UTF_8))))
                .isEqualTo("[1] 0/123/1 DELETE");
        Version live = Version.of(0, BigInteger.valueOf(123), 0);
        Version next = Version.of(0, BigInteger.valueOf(124), 0);
        Version another = Version.of(1, BigInteger.ZERO, 1);
        assertThat(List.of(seed, live, repair, next, another)).isSorted();
    }

    @Test
    void a_pipeline_with_versions_of_its_own_takes_rows_and_removals_too() {
        Pipeline own = outages(PipelineBuilder.named("o").json().version("v")).build();
        assertThat(line(
                        own,
                        RowLine.removedAt(
                                new Version(BigInteger.TEN, Version.Kind.NUMBER),
                                "{\"id\":1}".getBytes(StandardCharsets.UTF_8))))
                .isEqualTo("[1] 10 DELETE");
        assertThat(said(
                        own,
                        RecordKind.ROW,
                        "{\"$onefold\":{},\"row\":{\"id\":1,\"v\":3,\"town\":\"A\",\"customers\":2}}"))
                .isEqualTo("[1] 3 COUNTED [A] 2");
    }

    private static String line(Pipeline pipeline, byte[] line) {
        return said(pipeline, RecordKind.ROW, new String(line, StandardCharsets.UTF_8));
    }

    @Test
    void a_record_that_was_sent_is_no_removal_and_no_repair_whatever_it_says() {
        Pipeline own = outages(PipelineBuilder.named("o").json().version("v")).build();
        String removal = "{\"$onefold\":{\"removed\":true,\"version\":\"9\"},\"row\":{\"id\":1}}";
        assertThat(said(own, RecordKind.ROW, removal)).isEqualTo("[1] 9 DELETE");
        assertThat(said(own, removal)).startsWith("REFUSED: Field id is missing");
        assertThat(said(own, removal.replace("}}", "},\"id\":1,\"v\":3,\"town\":\"A\",\"customers\":2}")))
                .isEqualTo("[1] 3 COUNTED [A] 2");
        assertThat(said(
                        outages,
                        "{\"$onefold\":{\"generation\":1,\"position\":\"0\",\"number\":1},\"row\":{\"id\":1}}"))
                .startsWith("MALFORMED");
        assertThat(said(own, RecordKind.UNMARKED, removal)).isEqualTo("[1] 9 DELETE");
        assertThat(said(own, RecordKind.UNMARKED, "{\"id\":1,\"v\":3,\"town\":\"A\",\"customers\":2}"))
                .isEqualTo("[1] 3 COUNTED [A] 2");
    }

    @Test
    void no_bytes_bring_the_decoders_down() {
        SplittableRandom random = new SplittableRandom(7);
        List<String> records = List.of(
                lambda("MODIFY", KEYS + ",\"NewImage\":" + IMAGE),
                forms("{\"id\":1}", change("u", "null", row(1, "A", 5), 123)).getLast(),
                "{\"$onefold\":{\"generation\":1,\"position\":\"0\",\"number\":1},\"row\":{\"id\":1}}");
        Decoder[] decoders = {new Decoder(favourites), new Decoder(outages)};
        for (int i = 0; i < 60_000; i++) {
            byte[] bytes = records.get(random.nextInt(records.size())).getBytes(StandardCharsets.UTF_8);
            for (int changes = random.nextInt(4); changes > 0; changes--) {
                bytes[random.nextInt(bytes.length)] = (byte) "{}[]\":,0123nulltrueSNMe\\".charAt(random.nextInt(24));
            }
            int length = random.nextInt(3) > 0 ? bytes.length : random.nextInt(bytes.length);
            for (Decoder decoder : decoders) {
                RecordKind kind = RecordKind.of(random.nextInt(3));
                Malformed malformed = decoder.decode(kind, Arrays.copyOf(bytes, length + Decoder.PADDING), 0, length);
                if (malformed != null) {
                    assertThat(malformed.message()).isNotEmpty();
                }
            }
        }
    }

    @Test
    void a_record_that_is_no_change_is_refused_with_what_it_is() {
        assertThat(said(favourites, " {\"Records\":[{\"eventName\":\"INSERT\"}]}"))
                .isEqualTo(
                        "MALFORMED: The record is no change of a DynamoDB table: it is an event of Lambda, which holds"
                                + " many. Make each a line: jq -c '.Records[]'");
        assertThat(said(favourites, "{\"id\":1}"))
                .isEqualTo("MALFORMED: The record is no change of a DynamoDB table: it has no eventName");
        assertThat(said(favourites, lambda("INSERT", "\"Keys\":{\"user\":{\"N\":\"abc\"}}")))
                .contains("A number is expected in the quotes");
        assertThat(said(favourites, lambda("INSERT", "\"Keys\":{\"user\":{\"N\":\"\"}}")))
                .contains("A number is expected in the quotes");
    }
}
