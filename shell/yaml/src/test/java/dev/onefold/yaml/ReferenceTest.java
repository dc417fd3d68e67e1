package dev.onefold.yaml;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// The examples of `docs/pipelines.md` can be read.
class ReferenceTest {
    private static final Path REFERENCE = Path.of("../..", "docs", "pipelines.md");
    private static final Path PROCESS = Path.of("../..", "docs", "process.md");
    private static final Pattern CODE = Pattern.compile("`([^`]+)`");

    @Test
    void every_yaml_example_is_read_without_problems() throws IOException {
        Matcher example = Pattern.compile("(?s)```yaml\n(.*?)```").matcher(Files.readString(REFERENCE));
        int count = 0;
        while (example.find()) {
            count++;
            String text = example.group(1);
            read(text.startsWith("pipeline:") ? text : "pipeline: p\ninput: {}\n" + text);
        }
        assertThat(count).isGreaterThanOrEqualTo(2);
    }

    @Test
    void the_yaml_examples_of_the_page_on_functions_are_read_without_problems() throws IOException {
        Matcher example = Pattern.compile("(?s)```yaml\n(.*?)```").matcher(Files.readString(PROCESS));
        StringBuilder pipeline = new StringBuilder();
        while (example.find()) {
            pipeline.append(example.group(1));
        }
        assertThat(pipeline).contains("pipeline:", "\nrollups:");
        read(pipeline.toString());
    }

    @Test
    void every_condition_of_the_reference_is_read() throws IOException {
        List<String> conditions = codes("## Conditions")
                .filter(code -> code.matches("\\w+ (=|!=|<|>=|in|not in|is) .*"))
                .toList();
        assertThat(conditions).hasSizeGreaterThanOrEqualTo(7);
        conditions.forEach(condition ->
                read("pipeline: p\ninput:\n  filter: " + condition + "\nrollup: {levels: [], measures: {n: count()}}"));
    }

    @Test
    void every_level_and_measure_of_the_reference_is_read() throws IOException {
        List<String> codes = codes("## `rollup`, `rollups`").toList();
        List<String> levels = codes.stream()
                .filter(code -> code.matches("(bucket|prefix|step)\\(.*") || code.matches("\\w+ missing \".*\""))
                .toList();
        List<String> measures = codes.stream()
                .filter(code ->
                        code.matches("(count|sum|average|min|max|distinct)\\([^…]*") && !code.matches("max\\(at\\)"))
                .map(code -> code.replace("(p,s)", "(18,2)").replace(", T)", ", iso)"))
                .toList();
        assertThat(levels).hasSizeGreaterThanOrEqualTo(5);
        assertThat(measures).hasSizeGreaterThanOrEqualTo(6);
        levels.forEach(level ->
                read("pipeline: p\ninput: {}\nrollup:\n  levels:\n  - " + level + "\n  measures: {n: count()}"));
        measures.forEach(measure ->
                read("pipeline: p\ninput: {time: at}\nrollup:\n  levels: []\n  measures:\n    m: " + measure));
    }

    /// The texts in backquotes in a section.
    private static Stream<String> codes(String heading) throws IOException {
        String reference = Files.readString(REFERENCE);
        int start = reference.indexOf(heading) + heading.length();
        int end = reference.indexOf("\n## ", start);
        return CODE.matcher(reference
                        .substring(start, end)
                        .replaceAll("(?s)```.*?```", "")
                        .replace('\n', ' '))
                .results()
                .map(code -> code.group(1));
    }

    private static Pipeline read(String yaml) {
        PipelineFile file = PipelineFile.of(yaml.getBytes(StandardCharsets.UTF_8));
        return switch (file.reading()) {
            case Reading.Read(Pipeline pipeline) -> pipeline;
            case Reading.Refused _ -> throw new AssertionError(file.problems("docs/pipelines.md") + "\n" + yaml);
        };
    }
}
