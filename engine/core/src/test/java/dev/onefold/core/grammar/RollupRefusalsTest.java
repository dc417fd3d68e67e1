package dev.onefold.core.grammar;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/// The roll-ups, levels and measures that the reader refuses: line, column and message.
class RollupRefusalsTest {
    private static final String COUNT = "\"measures\": {\"n\": \"count()\"}";
    private static final String TYPE_ADVICE =
            "write decimal(precision,scale): digits in all, 1 to 38, and digits after the point, 0 to precision";

    @Test
    void one_rollup_and_several_exclude_each_other() {
        String rollup = "{\"levels\": [], " + COUNT + "}";
        assertThat(Read.problems("{\"pipeline\": \"p\", \"input\": {}, \"rollup\": " + rollup
                        + ",\n\"rollups\": {\"a\": " + rollup + "}}"))
                .containsExactly(
                        "2:1: rollups: stands beside rollup; write all roll-ups under rollups, each with a name");
    }

    @Test
    void rollups_have_different_names_like_those_of_pipelines() {
        String rollup = "{\"levels\": [], " + COUNT + "}";
        assertRollups(
                "\"a\": " + rollup + ",\n\"a\": " + rollup + ",\n\"A b\": " + rollup,
                "3:1: rollups.a: 'a' is set twice, first in line 2; keep one of them",
                "4:2: rollups.A b: 'A b' is not a name;"
                        + " write letters a-z, digits and hyphens, at most 64, no hyphen first or last");
        assertRollups("", "1:43: rollups: has no roll-up; write at least one, with a name");
    }

    @Test
    void there_are_at_most_16_rollups() {
        assertRollups(
                PipelineReaderTest.list(17, "\"r%d\": {\"levels\": [], " + COUNT + "}"),
                "1:43: rollups: has 17 entries; at most 16 are possible");
    }

    @Test
    void a_record_touches_at_most_90_groups() {
        String levels = "{\"levels\": [" + PipelineReaderTest.list(12, "\"f%d\"") + "], " + COUNT + "}";
        assertRollups(
                PipelineReaderTest.list(7, "\"r%d\": " + levels),
                "1:32: rollups: make one record touch 91 groups (levels + 1 over all roll-ups);"
                        + " at most 90 are possible");
    }

    @Test
    void levels_and_measures_must_be_there() {
        assertThat(Read.problems(Read.withRollup("")))
                .containsExactly(
                        "2:11: rollup.levels: is not set;"
                                + " write the fields to group by, outermost first; [] for a grand total alone",
                        "2:11: rollup.measures: is not set; write at least one, like 'trades: count()'");
        assertRollup(
                "\"levels\": \"a\", " + COUNT,
                "3:11: rollup.levels: 'a' is a text; write a list: levels: [field, field]");
        assertRollup(
                "\"levels\": [], \"measures\": [\"count()\"]",
                "3:27: rollup.measures: is a list; write measures, each with a name: 'trades: count()'");
        assertRollup(
                "\"levels\": [], \"measures\": {}",
                "3:27: rollup.measures: has no measure; write at least one, like 'trades: count()'");
    }

    @Test
    void there_are_at_most_16_levels_and_32_measures() {
        assertRollup(
                COUNT + ", \"levels\":\n[" + PipelineReaderTest.list(17, "\"f%d\"") + "]",
                "4:1: rollup.levels: has 17 entries; at most 16 are possible");
        assertRollup(
                "\"levels\": [], \"measures\":\n{" + PipelineReaderTest.list(33, "\"m%d\": \"count()\"") + "}",
                "4:1: rollup.measures: has 33 entries; at most 32 are possible");
    }

    @Test
    void levels_have_different_names() {
        assertRollup(
                COUNT + ", \"levels\":\n[\"a\", \"b\", \"a missing 'x'\"]",
                "4:12: rollup.levels[2]: 'a' is also the name of rollup.levels[0];"
                        + " give one of them another: {field: …, name: …}");
        assertRollup(
                COUNT + ", \"levels\":\n[\"prefix(a,2)\", {\"field\": \"b\", \"name\": \"prefix(a, 2)\"}]",
                "4:17: rollup.levels[1]: 'prefix(a, 2)' is also the name of rollup.levels[0];"
                        + " give one of them another: {field: …, name: …}");
    }

    @Test
    void a_named_level_has_a_field_a_name_and_one_default() {
        String advice = "; write 1 to 64 characters, without line breaks or tabs";
        assertNamedLevel(
                "\"name\": \"x\"", "4:1: rollup.levels[0].field: is not set; write the field, or a function of it");
        assertNamedLevel("\"field\": \"b\", \"name\": \" \"", "4:25: rollup.levels[0].name: ' ' is empty" + advice);
        assertNamedLevel(
                "\"field\": \"b\", \"name\": \"a\\tb\"", "4:25: rollup.levels[0].name: 'a\\tb' is not a name" + advice);
        assertNamedLevel(
                "\"field\": \"b\", \"name\": \"" + "x".repeat(65) + "\"",
                "4:25: rollup.levels[0].name: '" + "x".repeat(60) + "…' is not a name" + advice);
        assertNamedLevel(
                "\"field\": \"c missing 'x'\", \"missing\": \"y\"",
                "4:28: rollup.levels[0].missing: is also said in field; say it once");
        assertNamedLevel(
                "\"field\": \"c\", \"missing\": null", "4:27: rollup.levels[0].missing: has no value; write one text");
        assertNamedLevel(
                "\"field\": \"c\", \"key\": 1",
                "4:16: rollup.levels[0].key: 'key' is not a setting of a level; it belongs to input");
        assertRollup(COUNT + ", \"levels\":\n[[]]", "4:2: rollup.levels[0]: is a list; write one text");
        assertRollup(COUNT + ", \"levels\":\n[null]", "4:2: rollup.levels[0]: has no value; write one text");
    }

    @Test
    void arithmetic_is_refused_as_what_it_is() {
        String none = NO_ARITHMETIC;
        assertLevel("a * b", "4:4: rollup.levels[0]: '*' is arithmetic; " + none);
        assertLevel(
                "a*b",
                "4:2: rollup.levels[0]: 'a*b' is not a field name; " + none
                        + "; a field that has just this name: '\"a*b\"'");
    }

    @Test
    void a_level_is_a_field_or_one_function_of_it() {
        String end = "a level is a field or one function of it, and may end with: missing \"text\"";
        assertLevel(
                "a b",
                "4:4: rollup.levels[0]: 'b' is unexpected; " + end
                        + "; a name with a space is in double quotes, inside those of YAML: '\"a b\"'");
        assertLevel("a.b(c)", "4:5: rollup.levels[0]: '(' is unexpected; " + end);
        assertLevel("buckt(a, 1h)", "4:2: rollup.levels[0]: 'buckt' is no function here; did you mean 'bucket'?");
        assertLevel("lower(a)", "4:2: rollup.levels[0]: 'lower' is no function here; write bucket, prefix or step");
        assertLevel("", "4:2: rollup.levels[0]: is empty; write the name of a field");
        assertLevel(
                String.join(".", "a".repeat(65).split("")),
                "4:2: rollup.levels[0]: '" + "a.".repeat(30) + "…' has 65 names; a record is nested at most 64 deep");
    }

    @Test
    void the_default_of_a_level_is_a_text_in_quotes() {
        String right = "write what stands in for a missing value, in quotes: missing \"unknown\"";
        assertLevel("a missing", "4:11: rollup.levels[0]: 'a missing' ends too early; " + right);
        assertLevel("a missing unknown", "4:12: rollup.levels[0]: 'unknown' is no text; " + right);
        assertLevel(
                "a missing \"x\" y", // The columns of the JSON text, in which each of these quotes is escaped.
                "4:18: rollup.levels[0]: 'y' is unexpected;"
                        + " a level is a field or one function of it, and may end with: missing \"text\"");
    }

    @Test
    void a_bucket_has_a_size_and_may_have_a_type_of_time() {
        String right = "write bucket(field, 1h) or bucket(field, 1h, epoch-millis)";
        String span = "write a number and s, m, h or d, like 15m, from 1s to 36500d";
        assertLevel("bucket(a)", "4:10: rollup.levels[0]: ')' is unexpected, expected ','; " + right);
        assertLevel("bucket(a, 1h", "4:14: rollup.levels[0]: 'bucket(a, 1h' ends too early; " + right);
        assertLevel("bucket(a, 1h, iso, x)", "4:21: rollup.levels[0]: 'x' is unexpected, expected ')'; " + right);
        assertLevel("bucket(a, 1w)", "4:12: rollup.levels[0]: '1w' is not a time span; " + span);
        assertLevel("bucket(a, 0h)", "4:12: rollup.levels[0]: '0h' is not possible; " + span);
        assertLevel("bucket(a, )", "4:12: rollup.levels[0]: ')' is not a time span; " + span);
        assertLevel(
                "bucket(a, 1h, epoch-second)",
                "4:16: rollup.levels[0]: 'epoch-second' is not a type of time; did you mean 'epoch-seconds'?");
        assertLevel(
                "bucket(a, 1h, )",
                "4:16: rollup.levels[0]: ')' is not a type of time; write auto, iso, epoch-days, epoch-seconds, epoch-millis, epoch-micros, epoch-nanos, hlc, uuid7, ulid, dmy or mdy");
        assertLevel(
                "bucket(, 1h)",
                "4:9: rollup.levels[0]: ',' is unexpected, expected the name of a field;"
                        + " write a path like Order.Total or \"unit.price\"");
    }

    @Test
    void a_prefix_has_1_to_1000_characters() {
        for (String wrong : new String[] {"0", "1001", "-1", "1.5", "99999999999"}) {
            assertLevel(
                    "prefix(a, " + wrong + ")",
                    "4:12: rollup.levels[0]: '" + wrong
                            + "' is not possible here; write a whole number from 1 to 1,000");
        }
        assertLevel(
                "prefix(a, x)", "4:12: rollup.levels[0]: 'x' is not a number; write a whole number from 1 to 1,000");
    }

    @Test
    void a_step_is_above_zero() {
        assertLevel("step(a, 0.0)", "4:10: rollup.levels[0]: '0.0' is no step; a step is above zero");
        assertLevel("step(a, -1)", "4:10: rollup.levels[0]: '-1' is no step; a step is above zero");
        assertLevel("step(a, x)", "4:10: rollup.levels[0]: 'x' is not a number; write step(field, 0.5)");
        assertLevel("step(a)", "4:8: rollup.levels[0]: ')' is unexpected, expected ','; write step(field, 0.5)");
    }

    @Test
    void measures_have_different_names_of_letters_digits_hyphens_and_underscores() {
        String advice = "; write letters A-Z and a-z, digits, '_' and '-', at most 64, '-' not first";
        assertRollup(
                "\"levels\": [], \"measures\": {\"n\": \"count()\",\n\"n\": \"count()\",\n\"a b\": \"count()\",\n\"\": \"count()\"}",
                "4:1: rollup.measures.n: 'n' is set twice, first in line 3; keep one of them",
                "5:2: rollup.measures.a b: 'a b' is not a name of a measure" + advice,
                "6:2: rollup.measures.: is empty" + advice);
    }

    @Test
    void a_measure_is_one_function() {
        String all = "write count, sum, average, min, max or distinct";
        assertMeasure("", "is empty; write one like count() or sum(Value) decimal(18,2)", 2);
        assertMeasure("(a)", "'a' is no measure of this roll-up; it has no other", 3);
        assertMeasure(")", "')' is no measure; write one like count() or sum(Value) decimal(18,2)", 2);
        assertMeasure("total(a)", "'total' is no function here; " + all, 2);
        assertMeasure("Sum(a) decimal(18,2)", "'Sum' is no function here; did you mean 'sum'?", 2);
        assertMeasure("count", "'count' ends too early; write count()", 7);
        assertMeasure(
                "count(a)", "'a' is unexpected, expected ')'; count counts rows and takes no field: write count()", 8);
        assertMeasure("count() x", "'x' is unexpected; write count() or count() where …", 10);
        assertMeasure("sum a", "'a' is unexpected, expected '('; write sum(field)", 6);
        assertMeasure(
                "sum(a b) decimal(18,2)",
                "'b' is unexpected, expected ')';"
                        + " close the parenthesis after the field; a name with other characters is in double quotes",
                8);
        assertMeasure(
                "distinct(a) decimal(18,2)",
                "'decimal' is unexpected; it may end with: missing ignore, or missing \"text\", then where …",
                14);
        assertMeasure(
                "sum(a) decimal(18,2) ignore",
                "'ignore' is unexpected; it may end with: missing ignore, or missing 0, then where …",
                23);
    }

    @Test
    void numbers_of_a_record_are_multiplied_only() {
        String alone =
                "numbers are multiplied only here, as in sum(price * quantity); derive others with 'let' under input,"
                        + " as in 'net: gross - tax'";
        assertMeasure("sum(a + b) decimal(9,2)", "'+' is arithmetic; " + alone, 8);
        assertMeasure("sum(a * b - c) decimal(9,2)", "'-' is arithmetic; " + alone, 12);
        assertMeasure(
                "sum(a/b) decimal(9,2)",
                "'a/b' is not a field name; " + alone + "; a field that has just this name: '\"a/b\"'",
                6);
        assertMeasure("distinct(a * b)", "'*' is arithmetic; " + NO_ARITHMETIC, 13);
        assertMeasure(
                "sum(a * ) decimal(9,2)",
                "')' is unexpected, expected the name of a field; write a path like Order.Total or \"unit.price\"",
                10);
        assertMeasure(
                "sum(a*a*a*a*a*a*a*a*a) decimal(9,2)", "'a*a*a*a*a*a*a*a*a' has 9 factors; at most 8 are possible", 6);
    }

    @Test
    void times_have_a_least_and_a_greatest_one_alone() {
        assertMeasure(
                "sum(a, iso)",
                "',' is unexpected, expected ')';"
                        + " close the parenthesis after the field; a name with other characters is in double quotes",
                7);
        assertMeasure("max(a, is)", "'is' is not a type of time; did you mean 'iso'?", 9);
        assertMeasure("max(a)", "'max(a)' ends too early; " + TYPE_ADVICE, 8);
    }

    @Test
    void a_formula_joins_measures_and_numbers() {
        String type =
                "write decimal(precision,scale): digits in all, 1 to 38, and digits after the point, 0 to precision";
        String end = "a formula has +, -, *, / and parentheses, and may end with decimal(precision,scale)";
        assertMeasure("count() / 2", "'count() / 2' ends too early; " + type, 13);
        assertMeasure("count() / 2 x", "'x' needs a type, because a quotient may have no end; " + type, 14);
        assertMeasure("count() + 2 x", "'x' is unexpected; " + end, 14);
        assertMeasure(
                "count() +",
                "'count() +' ends too early; write a measure, the name of one, a number or a parenthesis",
                11);
        assertMeasure(
                "count() * * 2", "'*' is no operand; write a measure, the name of one, a number or a parenthesis", 12);
        assertMeasure(
                "(count() + 2", "'(count() + 2' ends too early; close the parenthesis, or go on with an operator", 14);
        assertMeasure("1 + 2", "'1 + 2' is no measure; a formula has a measure in it, or the name of one", 2);
        assertMeasure("count() + nothing", "'nothing' is no measure of this roll-up; it has no other", 12);
        assertMeasure("count() + m", "'m' is no measure of this roll-up; it has no other", 12);
        assertMeasure(
                "count() + 1.5.2",
                "'1.5.2' is not a plain number; write it with digits, '-' and '.' alone, like -12.50, at most 28 digits",
                12);
        assertMeasure(
                "max(at, iso) - min(at) decimal(12,0)",
                "'min(at) decimal(12,0)' reads a number where the formula also reads a time;"
                        + " put a formula in parentheses before its type: (max(at) - min(at)) decimal(12,0)",
                17);
    }

    @Test
    void a_formula_has_at_most_64_operands_and_64_parentheses() {
        assertThat(Read.problems(Read.withMeasure("count()" + " + 1".repeat(63))))
                .isEmpty();
        assertMeasure("count()" + " + 1".repeat(64), "'1' is one operand too many; at most 64 are possible", 264);
        assertThat(Read.problems(Read.withMeasure("(".repeat(64) + "count()" + ")".repeat(64))))
                .isEmpty();
        assertMeasure("(".repeat(65) + "count()", "'(' is nested too deep; at most 64 levels are possible", 66);
    }

    @Test
    void formulas_may_name_each_other_but_not_in_a_circle() {
        assertRollup(
                "\"levels\": [], \"measures\": {\"a\":\n\"b + 1\", \"b\":\n\"c * 2\", \"c\":\n\"a - n\", \"n\": \"count()\"}",
                "4:1: rollup.measures.a: 'a' needs its own value; a formula names measures that do not name it",
                "5:1: rollup.measures.b: 'b' needs its own value; a formula names measures that do not name it",
                "6:1: rollup.measures.c: 'c' needs its own value; a formula names measures that do not name it");
        assertRollup(
                "\"levels\": [], \"measures\": {\"n\": \"count()\", \"a\":\n\"n" + " * n".repeat(7) + "\", \"b\":\n\"a"
                        + " * a".repeat(7) + "\", \"c\":\n\"b + 1\"}",
                "6:1: rollup.measures.c: 'c' has too many operands, with those of the formulas that it names;"
                        + " at most 64 are possible");
        assertRollup(
                "\"levels\": [], \"measures\": {\"n\": \"count()\",\n\"a\": \"n - cuont\", \"b-c\": \"n\",\n\"d\": \"n-b\", \"count\": \"count()\"}",
                "4:11: rollup.measures.a: 'cuont' is no measure of this roll-up; did you mean 'count'?",
                "5:7: rollup.measures.d: 'n-b' is no function here; write count, sum, average, min, max or distinct");
    }

    @Test
    void measures_inside_of_formulas_count_towards_the_limit_once() {
        assertThat(Read.problems(Read.withRollup("\"levels\": [], \"measures\": {\"s\": \"sum(a) decimal(9,0)\", "
                        + PipelineReaderTest.list(30, FORMULA) + "}")))
                .isEmpty();
        assertRollup(
                "\"levels\": [], \"measures\":\n{\"s\": \"sum(a) decimal(9,0)\", "
                        + PipelineReaderTest.list(31, FORMULA) + "}",
                "4:1: rollup.measures: has 33 measures, with those inside of formulas; at most 32 are possible");
    }

    @Test
    void a_measure_may_have_a_condition_at_its_end() {
        String comparisons =
                "write a comparison: =, !=, <, <=, >, >=, in (…), not in (…), is missing or is not missing";
        assertMeasure("count() where", "'count() where' ends too early; write the name of a field", 15);
        assertMeasure("count() where a", "'count() where a' ends too early; " + comparisons, 17);
        assertMeasure(
                "count() where a = 1 b",
                "'b' is unexpected; join comparisons with 'and' or 'or', in small letters",
                22);
        assertMeasure(
                "sum(a) decimal(9,2) where a = 1 missing 0",
                "'missing' is unexpected; join comparisons with 'and' or 'or', in small letters",
                34);
    }

    @Test
    void a_measure_of_numbers_has_a_type() {
        assertMeasure("sum(a)", "'sum(a)' ends too early; " + TYPE_ADVICE, 8);
        assertMeasure(
                "max(a) decmal(18,2)", "'decmal' is unexpected, expected the type of the number; " + TYPE_ADVICE, 9);
        assertMeasure("sum(a) decimal", "'sum(a) decimal' ends too early; " + TYPE_ADVICE, 16);
        assertMeasure("sum(a) decimal(18)", "')' is unexpected, expected ','; " + TYPE_ADVICE, 19);
        assertMeasure("sum(a) decimal(18,2", "'sum(a) decimal(18,2' ends too early; " + TYPE_ADVICE, 21);
        assertMeasure("sum(a) decimal(39,2)", "'39' is not possible here; write a whole number from 1 to 38", 17);
        assertMeasure("sum(a) decimal(0,0)", "'0' is not possible here; write a whole number from 1 to 38", 17);
        assertMeasure("sum(a) decimal(5,6)", "'6' is not possible here; write a whole number from 0 to 5", 19);
    }

    @Test
    void what_stands_in_for_a_missing_value_is_ignore_or_a_value_of_the_type() {
        String number = "; write missing ignore, or a number: missing 0";
        assertMeasure("sum(a) decimal(18,2) missing", "'sum(a) decimal(18,2) missing' ends too early" + number, 30);
        assertMeasure("sum(a) decimal(18,2) missing '0'", "''0'' cannot stand in for a missing value" + number, 31);
        assertMeasure(
                "sum(a) decimal(18,2) missing 0.005",
                "'missing 0.005' is no decimal(18,2);"
                        + " at most 16 digits before the point, 2 after it, and 18 in all are possible",
                23);
        assertMeasure(
                "sum(a) decimal(4,2) missing 100",
                "'missing 100' is no decimal(4,2);"
                        + " at most 2 digits before the point, 2 after it, and 4 in all are possible",
                22);
        assertMeasure(
                "sum(a) decimal(38,2) missing 12345678901234567890123456789",
                "'12345678901234567890123456789' has too many digits; at most 28 are possible",
                31);
        assertMeasure(
                "distinct(a) missing 0",
                "'0' cannot stand in for a missing value; write missing ignore, or a text in quotes: missing \"none\"",
                22);
    }

    private static final String FORMULA = "\"f%d\": \"count() + distinct(a%d)\"";
    private static final String NO_ARITHMETIC =
            "there is no arithmetic here: name one field, which 'let' under input may derive, as in 'net: gross - tax'";

    private static void assertRollups(String rollups, String... problems) {
        assertThat(Read.problems("{\"pipeline\": \"p\", \"input\": {}, \"rollups\": {\n" + rollups + "}}"))
                .containsExactly(problems);
    }

    private static void assertRollup(String settings, String... problems) {
        assertThat(Read.problems(Read.withRollup(settings))).containsExactly(problems);
    }

    private static void assertNamedLevel(String settings, String problem) {
        assertThat(Read.problems(Read.withRollup(COUNT + ", \"levels\": [\n{" + settings + "}]")))
                .containsExactly(problem);
    }

    private static void assertLevel(String level, String problem) {
        assertThat(Read.problems(Read.withLevel(level))).containsExactly(problem);
    }

    private static void assertMeasure(String measure, String problem, int column) {
        assertThat(Read.problems(Read.withMeasure(measure)))
                .containsExactly("4:" + column + ": rollup.measures.m: " + problem);
    }

    @Test
    void groups_end_with_the_time_bucket_of_the_event_alone() {
        String input = "{\"pipeline\": \"p\",\n\"input\": {\"id\": \"i\", \"time\": \"t\"},\n";
        String kept = "\"keep\": \"1d\", " + COUNT;
        String first =
                ": rollup.keep: frees a time bucket with all groups in it, and the first level is not a bucket of the"
                        + " event's time, with its type; begin with bucket(t, 1d) or another size, without a default;"
                        + " or leave keep out";
        for (String levels : new String[] {
            "",
            "\"a\", \"bucket(t, 1h)\"",
            "\"bucket(u, 1h)\"",
            "\"bucket(t, 1h, iso)\"",
            "\"bucket(t, 1h) missing 'x'\""
        }) {
            assertThat(Read.problems(input + "\"rollup\": {\"levels\": [" + levels + "],\n" + kept + "}}"))
                    .containsExactly("4:1" + first);
        }
        String rollup = "\"rollup\": {\"levels\": [\"bucket(t, 1h)\"],\n" + kept + "}";
        assertThat(Read.problems(input.replace(", \"time\": \"t\"", "") + rollup + "}"))
                .containsExactly("4:1: rollup.keep: needs to know the time of a record; write time: FIELD under input");
        assertThat(Read.problems(input + rollup.replace("1d", "1w") + "}"))
                .containsExactly(
                        "4:10: rollup.keep: '1w' is not a time span; write a number and s, m, h or d, like 15m, from 1s to"
                                + " 36500d");
    }

    @Test
    void keep_stands_alone() {
        String rollup = "{\"levels\": [\"bucket(t, 1h)\"], \"keep\": \"1d\", " + COUNT + "}";
        String file = "{\"pipeline\": \"p\", \"input\": {\"id\": \"i\", \"time\": \"t\"},\n\"rollup\": " + rollup + "}";
        assertThat(Read.problems(file)).isEmpty();
        assertThat(Read.problems(file.replace("\"id\": \"i\", ", "")))
                .containsExactly(
                        "2:1: rollup: has keep, which frees groups with the rows in them, and records that count by"
                                + " their place leave no rows; write key and version, or id, under input; or leave keep out");
        assertThat(Read.problems(file.replace("\"t\"}", "\"t\", \"horizon\": \"7d\"}")))
                .containsExactly("1:19: input: has a horizon, and keep frees ids with their groups; leave horizon out");
        assertThat(Read.problems(file.replace(
                        "\"rollup\": " + rollup,
                        "\"rollups\": {\"a\": " + rollup + ", \"b\": {\"levels\": [], " + COUNT + "}}")))
                .containsExactly(
                        "2:1: rollups: have keep in some and not in others, and a row is freed when no roll-up needs"
                                + " it any more; write keep in each, or put the others into a pipeline of their own");
    }
}
