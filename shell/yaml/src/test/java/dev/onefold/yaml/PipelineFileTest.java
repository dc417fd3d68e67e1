package dev.onefold.yaml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.document.Problem;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollups;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PipelineFileTest {
    private static final String ROLLUP = "rollup: {levels: [], measures: {n: count()}}\n";

    @Test
    void a_file_is_read_from_disk(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("p.yaml");
        Files.writeString(file, "pipeline: p\ninput: {key: K, version: V}\n" + ROLLUP);
        assertThat(PipelineFile.read(file))
                .isEqualTo(new Reading.Read(PipelineBuilder.named("p")
                        .key("K")
                        .version("V")
                        .rollup(rollup -> rollup.count("n"))
                        .build()));
        assertThat(PipelineFile.load(file).problems("p.yaml")).isEmpty();
        assertThatThrownBy(() -> PipelineFile.read(folder.resolve("none")))
                .isInstanceOf(UncheckedIOException.class)
                .hasCauseInstanceOf(NoSuchFileException.class);
    }

    @Test
    void yaml_and_json_say_the_same() {
        Pipeline pipeline = pipeline("""
                # A comment.
                pipeline: 'p'
                input: &input
                  key: ['"unit.price"', Order."Ship to"]
                  version: {field: V, type: epoch-millis}
                  filter: >-
                    a = "x"
                    and b = 'y'
                rollups:
                  one: &rollup
                    levels:
                    - "bucket(at, 1h)"
                    - region missing "unknown"
                    measures:
                      value: sum(Value) decimal(18,2)
                  two: *rollup
                """);
        assertThat(pipeline(PipelineText.write(pipeline))).isEqualTo(pipeline);
        assertThat(Rollups.of(pipeline).all().get(1).levels())
                .isEqualTo(Rollups.of(pipeline).all().getFirst().levels());
    }

    @Test
    void the_quotes_of_yaml_are_not_those_of_a_field() {
        assertThat(pipeline("pipeline: p\ninput: {id: \"unit.price\"}\n" + ROLLUP)
                        .input()
                        .identity())
                .isEqualTo(Identity.ById.of(List.of(FieldPath.of("unit", "price")), null));
        assertThat(pipeline("pipeline: p\ninput: {id: '\"unit.price\"'}\n" + ROLLUP)
                        .input()
                        .identity())
                .isEqualTo(Identity.ById.of(List.of(FieldPath.of("unit.price")), null));
    }

    @Test
    void a_comma_within_brackets_ends_a_text_and_the_message_says_so() {
        assertThat(problems("pipeline: p\ninput: {}\nrollup: {levels: [], measures: {m: sum(a) decimal(18,2)}}"))
                .containsExactly(
                        "3:53: rollup.measures.m: 'sum(a) decimal(18' ends too early; write decimal(precision,scale):"
                                + " digits in all, 1 to 38, and digits after the point, 0 to precision"
                                + " (within [ ] and { } a comma ends a text: put the whole text in quotes)",
                        "3:54: rollup.measures.2): '2)' is not a name of a measure;"
                                + " write letters A-Z and a-z, digits, '_' and '-', at most 64, '-' not first",
                        "3:56: rollup.measures.2): has no value; write one text");
    }

    @Test
    void null_is_no_value_and_quoted_null_is_a_field() {
        assertThat(problems("pipeline: p\ninput: {id: null, filter: }\n" + ROLLUP))
                .containsExactly(
                        "2:13: input.id: has no value; write one text",
                        "2:26: input.filter: has no value; write one text");
        assertThat(problems("pipeline: p\ninput: {id: 'null'}\n" + ROLLUP)).isEmpty();
    }

    @Test
    void the_column_is_exact_in_every_style_of_scalar() {
        assertFilter("filter: a = 'x' AND b", "3:19: 'AND'");
        assertFilter("filter: \"a = 'x' AND b\"", "3:20: 'AND'");
        assertFilter("filter: \"\\u0061\\x20= \\\"x\\\" AND b\"", "3:30: 'AND'");
        assertFilter("filter: 'a = ''x'' AND b'", "3:22: 'AND'");
        assertFilter("filter: a\n    = 'x'\n\n      AND b", "6:7: 'AND'");
        assertFilter("filter: \"a \\\n     = 'x'\n   AND b\"", "5:4: 'AND'");
        assertFilter("filter: >-  # folded\n    a =\n    'x'\n    AND b", "6:5: 'AND'");
        assertFilter("filter: |\n     a = 'x'\n       AND b\n", "5:8: 'AND'");
        assertFilter("filter: &f a = 'x' AND b", "3:22: 'AND'");
        assertFilter("filter: a = '𝄞漢' AND b", "3:20: 'AND'");
        assertFilter("filter: a =\r\n   'x' AND b\r\n", "4:8: 'AND'");
        assertThat(problems("pipeline: p\ninput:\n  filter: \"a = \\\n    \"\n" + ROLLUP))
                .containsExactly("4:5: input.filter: 'a = ' ends too early; write a text in quotes, like \"EMEA\"");
    }

    @Test
    void a_duplicate_key_is_refused() {
        assertThat(problems("pipeline: p\ninput: {}\npipeline: q\n" + ROLLUP))
                .containsExactly("3:1: pipeline: 'pipeline' is set twice, first in line 1; keep one of them");
    }

    @Test
    void broken_yaml_is_refused_with_line_and_column() {
        String signs =
                "; put a text that holds ': ' or begins with a sign in quotes, and indent what belongs together alike";
        String close = "; close every quote, [ and {";
        assertThat(problems("a: b: c"))
                .containsExactly("1:5: This is no YAML: mapping values are not allowed here" + signs);
        assertThat(problems("a:\n\t- b"))
                .singleElement()
                .asString()
                .startsWith("2:1: This is no YAML: found character")
                .endsWith("; indent with spaces");
        assertThat(problems("a: @x"))
                .singleElement()
                .asString()
                .startsWith("1:4: ")
                .endsWith(signs);
        assertThat(problems("a: [1, 2"))
                .singleElement()
                .asString()
                .startsWith("1:9: ")
                .endsWith(close);
        assertThat(problems("\"abc"))
                .singleElement()
                .asString()
                .startsWith("1:5: ")
                .endsWith(close);
        assertThat(problems("- a\nb: 1"))
                .containsExactly("2:1: This is no YAML: expected <block end>, but found '?';"
                        + " indent what belongs together alike, and put a text with signs in quotes");
        assertThat(problems("%YAML 2.0\n---\na: 1")).singleElement().asString().startsWith("1:1: This is no YAML: ");
        assertThat(problems("a: 1\r\nb: x\u0001"))
                .containsExactly("2:5: '\\u0001' is a character that YAML does not allow; leave it out");
    }

    @Test
    void a_file_is_one_document_of_plain_values() {
        assertThat(problems(""))
                .containsExactly("1:1: The file is empty; write a pipeline, as docs/pipelines.md shows");
        assertThat(problems("# nothing\n"))
                .containsExactly("2:1: The file is empty; write a pipeline, as docs/pipelines.md shows");
        assertThat(problems("a: 1\n---\nb: 2"))
                .containsExactly("2:1: A second document begins here; one file is one pipeline");
        assertThat(problems("a: !!java.lang.Runtime x"))
                .containsExactly("1:4: A pipeline file has no tags like tag:yaml.org,2002:java.lang.Runtime;"
                        + " write the value alone; a text may be in quotes");
        assertThat(problems("? [a]\n: b"))
                .containsExactly(
                        "1:3: A list or map is unexpected, expected a name; write a name, a colon and the value");
        assertThat(problems("---\n%pipeline: p\n...\n")).isNotEmpty();
    }

    @Test
    void aliases_are_known_and_do_not_grow_without_bound() {
        assertThat(problems("a: *x"))
                .containsExactly("1:4: The alias *x stands for nothing; mark what it stands for with &x before it");
        assertThat(problems("&x [*x]"))
                .containsExactly("1:5: The alias *x stands for nothing; mark what it stands for with &x before it");
        StringBuilder laughs = new StringBuilder("a0: &a0 [" + "lol,".repeat(10) + "]\n");
        for (int i = 1; i < 40; i++) {
            laughs.append("a")
                    .append(i)
                    .append(": &a")
                    .append(i)
                    .append(" [")
                    .append(("*a" + (i - 1) + ",").repeat(10))
                    .append("]\n");
        }
        assertThat(problems(laughs.toString()))
                .singleElement()
                .asString()
                .endsWith("Aliases make the file too large; write out what differs, and alias less");
    }

    @Test
    void nesting_is_at_most_64_deep() {
        assertThat(problems("[".repeat(65)))
                .containsExactly("1:65: This is nested too deep; at most 64 levels are possible");
        assertThat(problems("- ".repeat(65)))
                .containsExactly("1:129: This is nested too deep; at most 64 levels are possible");
        assertThat(problems("[".repeat(64) + "]".repeat(64)))
                .containsExactly("1:1: is a list; write settings, as in 'pipeline: …'");
    }

    @Test
    void a_byte_order_mark_is_passed_over() {
        assertThat(problems("\ufeffpipeline: p\ninput: {}\n" + ROLLUP)).isEmpty();
    }

    @Test
    void bytes_that_are_not_utf_8_are_refused_where_they_stand() {
        byte[] bytes = "pipeline: p\ninput: {id: ä}".getBytes(StandardCharsets.ISO_8859_1);
        assertThat(problems(PipelineFile.of(bytes).reading()))
                .containsExactly("2:13: The file holds a byte here that is not UTF-8; save it as UTF-8");
    }

    @Test
    void a_file_has_at_most_a_mebibyte() {
        String pipeline = "pipeline: p\ninput: {}\n" + ROLLUP + "#";
        String full = pipeline + "x".repeat(PipelineFile.FILE_BYTES_MAX - pipeline.length());
        assertThat(problems(full)).isEmpty();
        assertThat(problems(full + "x"))
                .containsExactly("1:1: The file is larger than 1048576 bytes; one file is one pipeline");
    }

    private static void assertFilter(String filter, String problem) {
        String text = "pipeline: p\ninput:\n  " + filter + "\n" + ROLLUP;
        String expected = problem.replaceFirst(": ", ": input.filter: ")
                + " is unexpected; join comparisons with 'and' or 'or', in small letters";
        assertThat(problems(text)).as(filter).containsExactly(expected);
    }

    private static Pipeline pipeline(String yaml) {
        PipelineFile file = PipelineFile.of(yaml.getBytes(StandardCharsets.UTF_8));
        return switch (file.reading()) {
            case Reading.Read(Pipeline pipeline) -> pipeline;
            case Reading.Refused _ -> throw new AssertionError(file.problems("test"));
        };
    }

    private static List<String> problems(String yaml) {
        return problems(PipelineFile.of(yaml.getBytes(StandardCharsets.UTF_8)).reading());
    }

    private static List<String> problems(Reading reading) {
        return switch (reading) {
            case Reading.Read _ -> List.of();
            case Reading.Refused(List<Problem> problems) ->
                problems.stream().map(Problem::toString).toList();
        };
    }

    @Test
    void a_program_gets_the_pipeline_of_a_file_or_one_exception_with_all_problems(@TempDir Path folder)
            throws IOException {
        Path file = folder.resolve("p.yaml");
        Files.writeString(file, "pipeline: p\ninput: {id: a}\nrollup: {levels: [], measures: {n: count()}}\n");
        assertThat(PipelineFile.pipeline(file).name()).isEqualTo("p");
        Files.writeString(file, "pipeline: P\ninput: {id: a}\nrollup: {levels: [], measures: {n: cuont()}}\n");
        assertThatThrownBy(() -> PipelineFile.pipeline(file))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("p.yaml:1:")
                .hasMessageContaining("did you mean 'count'?");
    }
}
