package dev.onefold.core.grammar;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.pipeline.Condition;
import dev.onefold.core.pipeline.Edition;
import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.core.pipeline.Figure;
import dev.onefold.core.pipeline.Level;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollups;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class PipelineTextTest {
    @Test
    void the_text_of_a_pipeline_is_one_line_of_json_without_defaults() {
        String text = PipelineText.write(Read.pipeline("""
                {"pipeline": "trades",
                 "input": {"format": "json", "key": "TradeID", "version": {"field": "Version", "type": "integer"},
                           "time": {"field": "at", "type": "auto"}, "delete": "op='d' or op in (true,\\"x\\")",
                           "filter": "not (\\"unit.price\\">=1.50 and note is not missing)"},
                 "rollup": {"levels": [{"field": "bucket(at,60m,auto)"}, {"field": "id", "name": "who", "missing": "?"}],
                            "measures": {"value": "sum( Value )decimal( 18 , 2 )missing 0.00", "trades": "count( )"}}}"""));
        assertThat(text)
                .isEqualTo(
                        "{\"pipeline\":\"trades\",\"input\":{\"key\":[\"TradeID\"],\"version\":\"Version\",\"time\":\"at\","
                                + "\"delete\":\"op = \\\"d\\\" or op in (\\\"true\\\", \\\"x\\\")\","
                                + "\"filter\":\"not (\\\"unit.price\\\" >= 1.5 and note is not missing)\"},"
                                + "\"rollups\":{\"main\":{\"levels\":[\"bucket(at, 1h)\","
                                + "{\"field\":\"id missing \\\"?\\\"\",\"name\":\"who\"}],"
                                + "\"measures\":{\"value\":\"sum(Value) decimal(18,2) missing 0\",\"trades\":\"count()\"}}}}");
    }

    /// A definition that was taken can be read again, whatever parentheses its text has.
    @Test
    void derived_fields_and_formulas_of_as_many_terms_as_are_possible_are_read_again_from_their_text() {
        Random random = new Random(8);
        for (int i = 0; i < 50; i++) {
            String term = joined(random, 64, List.of(" + ", " - ", " * "), "a");
            String formula = joined(random, 64, List.of(" + ", " - "), "s");
            Pipeline pipeline = Read.pipeline("{\"pipeline\":\"p\",\"input\":{\"let\":{\"x\":\"" + term
                    + "\"}},\"rollup\":{\"levels\":[],\"measures\":{\"s\":\"sum(x) decimal(18,2)\",\"f\":\"" + formula
                    + "\"}}}");
            assertThat(Read.pipeline(PipelineText.write(pipeline))).isEqualTo(pipeline);
        }
    }

    private static String joined(Random random, int terms, List<String> operators, String name) {
        if (terms == 1) {
            return name;
        }
        int left = 1 + (random.nextBoolean() ? terms - 2 : random.nextInt(terms - 1));
        String text = joined(random, left, operators, name)
                + operators.get(random.nextInt(operators.size()))
                + joined(random, terms - left, operators, name);
        return random.nextBoolean() ? "(" + text + ")" : text;
    }

    /// The file has a document and its text, line by line: the examples, what tests read, and random pipelines.
    /// A data directory and a deployment know their definition by its text.
    @Test
    void the_text_of_a_pipeline_is_what_it_was_in_earlier_versions() throws IOException {
        List<String> lines = Files.readAllLines(Path.of("src", "test", "resources", "canonical-texts.jsonl"));
        assertThat(lines).hasSizeGreaterThan(200);
        for (int i = 0; i < lines.size(); i += 2) {
            Pipeline before = Read.pipeline(lines.get(i)).inEdition(Edition.FIRST);
            assertThat(PipelineText.stored(before)).isEqualTo(lines.get(i + 1));
        }
    }

    @Test
    void the_encoding_of_a_topics_records_is_in_the_text() {
        String text =
                "{\"pipeline\":\"p\",\"input\":{\"key\":[\"k\"],\"version\":\"v\",%s,\"from\":{\"kafka\":{\"topic\":\"t\","
                        + "\"servers\":\"h:1\"}}},\"rollups\":{\"r\":{\"levels\":[],\"measures\":{\"n\":\"count()\"}}}}";
        for (String format : List.of(
                "\"format\":\"avro\",\"registry\":\"http://h:1\",\"key-format\":\"protobuf\"",
                "\"format\":\"avro\",\"schemas\":\"folder\"",
                "\"format\":\"protobuf\",\"descriptors\":\"a.desc\",\"message\":\"shop.Order\"",
                "\"format\":\"json-schema\"")) {
            assertThat(PipelineText.write(Read.pipeline(text.formatted(format))))
                    .isEqualTo(text.formatted(format));
        }
    }

    @Test
    void the_changes_of_a_table_are_in_the_text_without_defaults() {
        String text = "{\"pipeline\":\"p\",\"input\":{%s,\"key\":[\"k\"]},"
                + "\"rollups\":{\"r\":{\"levels\":[],\"measures\":{\"n\":\"count()\"}}}}";
        for (String format : List.of(
                "\"format\":\"dynamodb-stream\"",
                "\"format\":\"dynamodb-stream\",\"table\":\"Orders\",\"stream\":\"2026-11-01T00:00:00.123\",\"expired\":\"keep\"",
                "\"format\":\"debezium\",\"table\":\"public.t\"",
                "\"format\":\"debezium\",\"table\":\"t\",\"logs\":[\"grid\",\"grid-2\"]")) {
            assertThat(PipelineText.write(Read.pipeline(text.formatted(format))))
                    .isEqualTo(text.formatted(format));
        }
        String origins = text.formatted("\"format\":\"debezium\",\"table\":[\"a.t\",\"b.*\"]")
                .replace("[\"k\"]", "[{\"origin\":\"schema\"},{\"origin\":\"table\"},\"k\"]");
        assertThat(PipelineText.write(Read.pipeline(origins))).isEqualTo(origins);
        String fields = text.formatted("\"format\":\"debezium\",\"table\":\"public.t\"")
                .replace("[\"k\"]", "[{\"field\":\"\\\"origin: table\\\"\",\"missing\":\"\"},\"k\"]");
        assertThat(PipelineText.write(Read.pipeline(fields))).isEqualTo(fields);
        String json = text.formatted("\"version\":\"v\"")
                .replace("\"version\":\"v\",\"key\":[\"k\"]", "\"key\":[\"\\\"origin: table\\\"\"],\"version\":\"v\"");
        assertThat(PipelineText.write(Read.pipeline(json))).isEqualTo(json);
        String defaults = "\"format\":\"dynamodb-stream\",\"expired\":\"retract\"";
        assertThat(PipelineText.write(Read.pipeline(text.formatted(defaults))))
                .isEqualTo(text.formatted("\"format\":\"dynamodb-stream\""));
    }

    @Test
    void a_function_is_in_the_text_without_defaults_with_and_without_its_code() {
        String text = "{\"pipeline\":\"p\",\"input\":{\"key\":[\"k\"],\"version\":\"v\"},"
                + "\"process\":{\"class\":\"a.B\",\"jar\":\"b.jar\",\"version\":2,\"on-new-version\":\"continue\","
                + "\"order\":\"in-order\",\"keep\":7,\"tables\":{\"t\":[\"k\",\"n\"]}%s},"
                + "\"rollups\":{\"r\":{\"of\":\"t\",\"levels\":[],\"measures\":{\"n\":\"count()\"}}}}";
        String code = ",\"code\":{\"sha256\":\"ab\",\"context\":\"{at: time?}\",\"event\":\"{k: text}\","
                + "\"tables\":{\"t\":\"{k: text, n: int}\"}}";
        for (String each : List.of(text.formatted(""), text.formatted(code))) {
            assertThat(PipelineText.write(Read.pipeline(each))).isEqualTo(each);
        }
        String command = text.formatted(code)
                .replace("\"class\":\"a.B\",\"jar\":\"b.jar\"", "\"command\":[\"python3\",\"a b.py\"]");
        assertThat(PipelineText.write(Read.pipeline(command))).isEqualTo(command);
        String defaults = text.formatted("")
                .replace("\"version\":2,\"on-new-version\":\"continue\"", "\"version\":1,\"on-new-version\":\"refold\"")
                .replace("\"keep\":7", "\"keep\":100");
        assertThat(PipelineText.write(Read.pipeline(defaults)))
                .contains("\"jar\":\"b.jar\",\"order\":\"in-order\",\"tables\"");
    }

    @Test
    void csv_id_horizon_and_types_are_in_the_text() {
        assertThat(
                        PipelineText.write(
                                Read.pipeline(
                                        Read.withInput(
                                                "\"format\": \"csv\", \"columns\": [\"id\", \"a \\\"b\\\"\"], \"delimiter\": \"\\t\","
                                                        + " \"id\": \"id\", \"horizon\": \"48h\", \"time\": {\"field\": \"id\", \"type\": \"iso\"}"))))
                .isEqualTo("{\"pipeline\":\"p\",\"input\":{\"format\":\"csv\",\"columns\":[\"id\",\"a \\\"b\\\"\"],"
                        + "\"delimiter\":\"\\u0009\",\"id\":[\"id\"],\"horizon\":\"2d\","
                        + "\"time\":{\"field\":\"id\",\"type\":\"iso\"}},"
                        + "\"rollups\":{\"main\":{\"levels\":[],\"measures\":{\"n\":\"count()\"}}}}");
    }

    @Test
    void a_pipeline_is_read_back_from_its_text_as_it_was_and_no_two_share_a_text() {
        Map<String, Pipeline> seen = new HashMap<>();
        for (long seed = 0; seed < 1_000; seed++) {
            Pipeline pipeline = new RandomPipelines(new Random(seed)).pipeline();
            String text = PipelineText.write(pipeline);
            boolean same = PipelineText.read(text).equals(new Reading.Read(pipeline));
            assertThat(same)
                    .as("seed %d: %s is read back as it was", seed, text)
                    .isTrue();
            Pipeline other = seen.putIfAbsent(text, pipeline);
            assertThat(other == null || other.equals(pipeline))
                    .as("seed %d: %s is the text of no other", seed, text)
                    .isTrue();
        }
    }

    @Test
    void numbers_of_equal_value_have_equal_text() {
        assertThat(PipelineText.of(
                        new Condition.Number(FieldPath.of("a"), Condition.Comparison.EQUAL, new BigDecimal("1E+3"))))
                .isEqualTo("a = 1000");
        assertThat(PipelineText.of(new Level.Source.Step(FieldPath.of("a"), new BigDecimal("0.50"))))
                .isEqualTo("step(a, 0.5)");
    }

    @Test
    void a_formula_has_parentheses_where_it_needs_them_and_nowhere_else() {
        for (String formula : List.of(
                "n - n - 1",
                "n - (n - 1)",
                "n * (n + 1)",
                "n * n + 1",
                "n / (n * 2) decimal(9,4)",
                "n / n * 2 decimal(9,4)",
                "\"9\" * 9",
                "-0.5 * n - -1",
                "n",
                "n decimal(9,0)",
                "(count()) decimal(9,2)",
                "count() - distinct(a)",
                "(count() where a = \"x\") / count() decimal(9,4)",
                "(sum(a) decimal(9,2) missing 0) - sum(b * c) decimal(9,2)",
                "max(at, auto) decimal(19,9) - min(at, auto) decimal(19,9) decimal(12,0)")) {
            Pipeline pipeline = Read.pipeline(Read.withRollup("\"levels\": [], \"measures\": {\"f\": \""
                    + formula.replace("\"", "\\\"") + "\", \"n\": \"count()\", \"9\": \"count()\"}"));
            Figure figure = Rollups.of(pipeline).named("main").figures().getFirst();
            assertThat(PipelineText.of(figure)).isEqualTo(formula);
            assertThat(PipelineText.read(PipelineText.write(pipeline))).isEqualTo(new Reading.Read(pipeline));
        }
    }

    @Test
    void a_condition_has_parentheses_where_it_needs_them_and_nowhere_else() {
        for (String condition : List.of(
                "a is missing and b is missing or c is missing",
                "a is missing and (b is missing or c is missing)",
                "(a is missing or b is missing) or c is missing",
                "(a is missing and b is missing) and c is missing",
                "not not a is missing",
                "not (a is missing or b is missing)",
                "a is not missing and not a = \"x\"",
                "\"not\" is missing",
                "not.a is missing")) {
            assertThat(PipelineText.of(
                            Read.pipeline(Read.withFilter(condition)).input().filter()))
                    .isEqualTo(condition.replace("not not a is missing", "not a is not missing"));
        }
    }

    @Test
    void json_that_is_none_is_refused_with_line_and_column() {
        assertThat(Read.problems("")).containsExactly("1:1: The document ends too early; write a JSON value");
        assertThat(Read.problems("{\"pipeline\": \"p\",\n }"))
                .containsExactly("2:2: '}' is unexpected, expected a name; write a name in double quotes");
        assertThat(Read.problems("{\"a\":\r\n\r\n \"p"))
                .containsExactly("3:4: The document ends too early; end the string with \"");
        assertThat(Read.problems("{} {}"))
                .containsExactly("1:4: '{}' is too much; one JSON value is the whole document");
        assertThat(Read.problems("{\"a\" 1}")).containsExactly("1:6: '1}' is unexpected, expected ':'; write :");
        assertThat(Read.problems("{\"a\": [1, 2}")).containsExactly("1:12: '}' is unexpected, expected ']'; write ]");
        assertThat(Read.problems("{\"a\": \"b\nc\"}"))
                .containsExactly("1:9: '\\n' is not allowed in a string; write \\u000a");
        for (String escape : List.of("\\x", "\\u12", "\\u+123")) {
            assertThat(Read.problems("\"𝄞" + escape + "\""))
                    .singleElement()
                    .asString()
                    .startsWith("1:3: ")
                    .endsWith(
                            "is not a JSON escape; write \\\", \\\\, \\/, \\b, \\f, \\n, \\r, \\t or \\u and four hex digits");
        }
        for (String word :
                List.of("01", "+1", "1.", ".5", "1e", "nul", "True", "'a'", "NaN", "-", "\ufeff{}", "/**/")) {
            assertThat(Read.problems(word))
                    .singleElement()
                    .asString()
                    .startsWith("1:1: ")
                    .endsWith("is not a JSON value; write a string, number, object, array, true, false or null");
        }
    }

    @Test
    void json_is_nested_at_most_64_deep() {
        assertThat(Read.problems("[".repeat(65)))
                .containsExactly("1:65: '[' is nested too deep; at most 64 levels are possible");
        assertThat(Read.problems("{\"a\":".repeat(65) + "1" + "}".repeat(65)))
                .singleElement()
                .asString()
                .startsWith("1:321: ");
        assertThat(Read.problems("[".repeat(64) + "]".repeat(64)))
                .containsExactly("1:1: is a list; write settings, as in 'pipeline: …'");
    }
}
