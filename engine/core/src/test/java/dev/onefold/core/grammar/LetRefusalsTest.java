package dev.onefold.core.grammar;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.pipeline.Let;
import dev.onefold.core.pipeline.Pipeline;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// The derived fields that the reader refuses, and the text of those that it reads.
class LetRefusalsTest {
    private static final String FIELD_ADVICE =
            "; a field whose name is not a plain word is written field(\"Unit Price\"), and a text has quotes";

    private static String let(String name, String term) {
        return Read.withInput("\"let\": {\n\"" + name + "\": \"" + term.replace("\"", "\\\"") + "\"}");
    }

    private static List<String> problems(String term) {
        return Read.problems(let("x", term));
    }

    @Test
    void a_term_has_one_text_whatever_its_spelling() {
        for (String[] each : List.of(
                new String[] {"a+b*2", "a + b * 2", "a + (b * 2)"},
                new String[] {"(a) - b - c", "(a - b) - c"},
                new String[] {"a - (b - c)", "a - (b - c)"},
                new String[] {
                    "if(a=1 or b is missing,'x',field(\"not\"))", "if(a = 1 or b is missing, \"x\", field(\"not\"))"
                },
                new String[] {"concat ( a , ' ' , b.\"c d\" )", "concat(a, \" \", b.\"c d\")"},
                new String[] {"divide(field(2a), -0.50, 02)", "divide(field(2a), -0.5, 2)"},
                new String[] {"coalesce(a, \"\")", "coalesce(a, \"\")"})) {
            String wanted = each[each.length - 1];
            String read = PipelineText.write(Read.pipeline(let("x", each[0])));
            assertThat(read)
                    .contains("\"let\":{\"x\":\"" + wanted.replace("\"", "\\\"").replace("field(\\\"not\\\")", "not")
                            + "\"}");
            Pipeline again = Read.pipeline(read);
            assertThat(again).isEqualTo(Read.pipeline(let("x", each[0])));
        }
    }

    @Test
    void a_wrong_term_is_refused_with_the_one_to_write() {
        assertThat(problems("a / b"))
                .containsExactly("4:9: input.let.x: '/' divides without a number of decimals; write it like"
                        + " divide(gross, rate, 2)");
        assertThat(problems("lowr(a)"))
                .containsExactly("4:7: input.let.x: 'lowr' is no function here; did you mean 'lower'?");
        assertThat(problems("lower(\"Unit Price\")"))
                .containsExactly("4:7: input.let.x: 'lower(\"Unit Price\")' has other arguments than lower takes;"
                        + " write it like lower(email)" + FIELD_ADVICE);
        assertThat(problems("a * \"2\""))
                .containsExactly("4:7: input.let.x: 'a * \"2\"' has other arguments than * takes; write numbers around"
                        + " it" + FIELD_ADVICE);
        assertThat(problems("divide(a, b)"))
                .containsExactly("4:7: input.let.x: 'divide(a, b)' has other arguments than divide takes; write it like"
                        + " divide(gross, rate, 2)" + FIELD_ADVICE);
        for (String wrong : List.of(
                "concat(a)",
                "coalesce(\"x\", a)",
                "substring(a, 0)",
                "substring(a, b)",
                "substring(a, 1, 1.5)",
                "replace(a, \"\", \"x\")",
                "replace(a, b, \"x\")",
                "split(a, \"\", 1)",
                "split(a, \",\", 0)",
                "divide(a, b, 29)",
                "divide(a, b, c)",
                "trim(a, b)")) {
            assertThat(problems(wrong)).as(wrong).singleElement().asString().contains("has other arguments than");
        }
        assertThat(problems("1 + 2"))
                .containsExactly("4:7: input.let.x: '1 + 2' reads no field; name a field in it" + FIELD_ADVICE);
        assertThat(problems("a b")).singleElement().asString().contains("'b' is unexpected; join terms");
        assertThat(problems("\"a\".b")).singleElement().asString().contains("'.b' is unexpected; join terms");
        assertThat(problems("if(a, b, c)")).singleElement().asString().contains("is no comparison");
        assertThat(problems("if(a = 1, b)")).singleElement().asString().contains("write what it is otherwise");
        assertThat(problems("a%b")).singleElement().asString().contains("derived fields have +, -, * and divide");
        assertThat(problems("a[0] + 1")).singleElement().asString().contains("arrays are not addressed");
        assertThat(problems("")).singleElement().asString().contains("is empty");
        assertThat(problems(String.join(" + ", Collections.nCopies(65, "a"))))
                .singleElement()
                .asString()
                .contains("is one term too many; at most 64 are possible");
        assertThat(problems("(".repeat(65) + "a" + ")".repeat(65)))
                .singleElement()
                .asString()
                .contains("is inside of one parenthesis too many");
    }

    @Test
    void each_example_of_a_function_can_be_read() {
        for (Let.Function function : Let.Function.values()) {
            if (!function.isOperator()) {
                assertThat(problems(function.example())).as(function.example()).isEmpty();
            }
        }
        assertThat(problems("if(paid = true, price, 0)")).isEmpty();
        assertThat(problems("field(\"Unit Price\")")).isEmpty();
    }

    @Test
    void a_derived_field_is_made_of_fields_of_the_record_and_of_those_above() {
        assertThat(problems("lower(x)"))
                .containsExactly(
                        "4:6: input.let.x: 'x' is made of itself; give it a name that no field of a record has");
        assertThat(Read.problems(Read.withInput("\"let\": {\"a\": \"b + 1\",\n\"b\": \"c\"}")))
                .containsExactly("3:14: input.let.a: 'b' is derived further down; write it above the fields that are"
                        + " made of it");
        assertThat(Read.problems(Read.withInput("\"let\": {\"b\": \"c\", \"a\": \"b + 1\"}")))
                .isEmpty();
        assertThat(Read.problems(Read.withInput("\"let\": {\"b\": \"c\"}, \"filter\": \"b.c = 1\"")))
                .singleElement()
                .asString()
                .contains("'b.c' leads into a derived field, which has no fields");
    }

    @Test
    void names_and_numbers_of_derived_fields_are_limited() {
        String right = "is not a name of a derived field; write letters, digits, '_' and (inside) '-', at most 64, a"
                + " letter or '_' first";
        assertThat(Read.problems(let("2x", "a"))).containsExactly("4:2: input.let.2x: '2x' " + right);
        assertThat(Read.problems(let("a.b", "a"))).containsExactly("4:2: input.let.a.b: 'a.b' " + right);
        assertThat(Read.problems(let("größe_1-a", "a"))).isEmpty();
        assertThat(Read.problems(Read.withInput("\"let\": {}")))
                .singleElement()
                .asString()
                .contains("write derived fields, each with a name: 'net: gross - tax'");
        assertThat(Read.problems(Read.withInput("\"let\": [\"a\"]"))).hasSize(1);
        String many =
                IntStream.range(0, 33).mapToObj(i -> "\"a" + i + "\": \"b\"").collect(Collectors.joining(","));
        assertThat(Read.problems(Read.withInput("\"let\": {" + many + "}")))
                .containsExactly("3:8: input.let: has 33 entries; at most 32 are possible");
        assertThat(Read.problems(Read.withInput(
                        "\"format\": \"csv\", \"columns\": [\"a\", \"b\"], \"let\": {\"a\": \"lower(b)\"}")))
                .singleElement()
                .asString()
                .contains("'a' is one of input.columns, too; give the derived field another name");
        assertThat(
                        Read.problems(
                                Read.withInput(
                                        "\"format\": \"csv\", \"columns\": [\"a\"], \"let\": {\"x\": \"lower(b)\"}, \"filter\": \"x = 1\"")))
                .singleElement()
                .asString()
                .contains("'b' is none of input.columns");
    }

    @Test
    void a_batch_inserts_fields_of_its_records() {
        String batch = """
                {"pipeline": "p", "input": {"let": {"mail": "lower(email)"}, "id": "mail"},
                "batch": {"size": 10, "deliver": {"jdbc": "jdbc:h2:x", "insert": "insert into t values (%s)"}}}""";
        assertThat(Read.problems(batch.formatted("lower(:email), :mail_id"))).isEmpty();
        assertThat(Read.problems(batch.formatted(":mail")))
                .singleElement()
                .asString()
                .contains("batch.deliver: inserts mail, which is derived, and a batch has the records as they are");
    }
}
