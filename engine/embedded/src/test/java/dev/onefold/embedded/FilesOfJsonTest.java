package dev.onefold.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.DefinitionChange;
import dev.onefold.core.EngineException;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.bytes.Utf8;
import dev.onefold.core.pipeline.Input.Records;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Query;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.FoldListener;
import dev.onefold.embedded.source.FoldReport;
import dev.onefold.fixtures.Seeds;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Files whose records of JSON are not one a line.
class FilesOfJsonTest {
    private static final Settings SETTINGS = Settings.defaults().withShards(2);

    @TempDir
    Path folder;

    private static Pipeline pipeline(Records records, int edition) {
        return PipelineBuilder.named("items")
                .records(records)
                .edition(edition)
                .rollup(rollup -> rollup.levels("text missing \"-\"").count("n"))
                .build();
    }

    private EmbeddedEngine open(String name, Records records) {
        return EmbeddedEngine.open(folder.resolve(name), pipeline(records, 3), SETTINGS);
    }

    private static FileSource file(String content, boolean growing) {
        byte[] bytes = Utf8.encode("The file", content);
        return new FileSource("items.json", () -> new ByteArrayInputStream(bytes), growing);
    }

    private static void fold(EmbeddedEngine engine, String content) {
        engine.fold(file(content, false), FoldListener.silent());
    }

    /// Each group with its count, as in `a=1 b=2`.
    private static String totals(EmbeddedEngine engine) {
        return engine.query(
                Query.all("main"),
                answer -> answer.lines().stream()
                        .filter(line -> line.group().size() == 1)
                        .map(line ->
                                line.group().getFirst() + "=" + line.values().getFirst())
                        .sorted()
                        .collect(Collectors.joining(" ")));
    }

    private static List<String> letters(EmbeddedEngine engine) {
        return engine.deadLetters().list(0, 10).stream()
                .map(letter -> new String(engine.deadLetters().record(letter.id()), StandardCharsets.UTF_8))
                .toList();
    }

    @Test
    void objects_side_by_side_and_over_several_lines_count_each() {
        try (EmbeddedEngine engine = open("objects", Records.OBJECTS)) {
            fold(
                    engine,
                    "\ufeff{\"text\":\"a\"}{\"text\":\"}{\\\"\"}\n{\r\n  \"text\":\n  \"a\"\n},\n{\"text\":\"c\"}");
            assertThat(totals(engine)).isEqualTo("a=2 c=1 }{\"=1");
            assertThat(engine.counts().rejected()).isZero();
        }
    }

    @Test
    void elements_of_arrays_count_each_and_one_that_is_no_object_is_a_letter() {
        try (EmbeddedEngine engine = open("array", Records.ARRAY)) {
            fold(
                    engine,
                    "[\n  {\"text\": \"a\"},\n  7, \"x,]\",\n  {\"text\": tru},\n {\"text\":\n\"b\"}\n]\n[{\"text\":\"a\"}]\n[]");
            assertThat(totals(engine)).isEqualTo("a=2 b=1");
            assertThat(letters(engine)).containsExactly("7", "\"x,]\"", "{\"text\": tru}");
        }
    }

    @Test
    void a_file_that_is_not_of_lines_is_refused_at_its_first_record_and_says_what_to_write() {
        record Wrong(String content, Records right) {}
        for (Wrong wrong : List.of(
                new Wrong("{\"text\":\"a\"}{\"text\":\"b\"}", Records.OBJECTS),
                new Wrong("{\n \"text\": \"a\"\n}\n{\n \"text\": \"b\"\n}", Records.OBJECTS),
                new Wrong("[{\"text\":\"a\"},{\"text\":\"b\"}]", Records.ARRAY),
                new Wrong("[\n {\n \"text\": \"a\"\n },\n {\"text\": \"b\"}\n]\n", Records.ARRAY))) {
            String name = "wrong-" + Integer.toHexString(wrong.content.hashCode());
            try (EmbeddedEngine engine = open(name, Records.LINES)) {
                assertThatThrownBy(() -> fold(engine, wrong.content))
                        .isInstanceOf(EngineException.class)
                        .hasMessageContaining("Write 'records: " + wrong.right.word() + "' under input");
                assertThatThrownBy(() -> new LineIntake(engine, "in", 1, _ -> {})
                                .run(new ByteArrayInputStream((wrong.content + "\n").getBytes(StandardCharsets.UTF_8))))
                        .hasMessageContaining("Write 'records: " + wrong.right.word() + "' under input");
                assertThat(engine.counts().records()).isZero();
            }
            try (EmbeddedEngine engine = open(name, wrong.right)) {
                engine.fillView(_ -> file(wrong.content, false), false);
                fold(engine, wrong.content);
                assertThat(totals(engine)).isEqualTo("a=1 b=1");
            }
        }
    }

    @Test
    void before_edition_3_such_a_file_has_its_letters() {
        try (EmbeddedEngine engine = EmbeddedEngine.open(folder.resolve("old"), pipeline(Records.LINES, 1), SETTINGS)) {
            fold(
                    engine,
                    "{\"text\":\"a\"}{\"text\":\"b\"}\n[{\"text\":\"c\"}]\n{\n\"text\":\"d\"}\n{\"text\":\"e\"}\n");
            assertThat(totals(engine)).isEqualTo("e=1");
            assertThat(engine.counts().rejected()).isEqualTo(4);
        }
    }

    @Test
    void a_damaged_line_among_lines_is_one_letter_also_as_the_first_line() {
        for (String damaged : List.of(
                "{\"text\":",
                "{",
                "{\"text\":{\"a\":1}",
                "\"text\":\"a\"}",
                "{\"text\":\"a\"}x",
                "[",
                "{\"text\":\"c\"}{\"text\":\"d\"}",
                "[{\"text\":\"c\"}]")) {
            String name = "lines-" + Integer.toHexString(damaged.hashCode());
            try (EmbeddedEngine engine = open(name, Records.LINES)) {
                fold(engine, damaged + "\n{\"text\":\"a\"}\n" + damaged + "\n{\"text\":\"b\"}\n");
                assertThat(totals(engine)).isEqualTo("a=1 b=1");
                assertThat(letters(engine)).hasSize(2);
            }
        }
    }

    @Test
    void a_record_without_an_end_stops_the_file_behind_those_in_front_of_it() {
        String begin = "[{\"text\":\"a\"},\n{\"text\":\"b\"},\n";
        try (EmbeddedEngine engine = open("cut", Records.ARRAY)) {
            assertThatThrownBy(() -> fold(engine, begin + "{\"text\":"))
                    .hasMessageContaining("the record that begins in line 3 has no end");
            assertThat(totals(engine)).isEqualTo("a=1 b=1");
            assertThatThrownBy(() -> fold(engine, begin))
                    .hasMessageContaining("the array that begins in line 1 has no end");
            fold(engine, begin + "{\"text\":\"a\"}]");
            assertThat(totals(engine)).isEqualTo("a=2 b=1");
            assertThat(engine.fold(file(begin + "{\"text\":\"a\"}]", false), FoldListener.silent()))
                    .isInstanceOf(FoldReport.Folded.class);
            assertThat(engine.counts().records()).isEqualTo(3);
        }
        try (EmbeddedEngine engine = open("garbage", Records.OBJECTS)) {
            assertThatThrownBy(() -> fold(engine, "{\"text\":\"a\"} \"b\":1}"))
                    .hasMessageContaining("an object is expected in line 1, and it has '\"'");
            assertThatThrownBy(() -> new LineIntake(engine, "in", 1, _ -> {})
                            .run(new ByteArrayInputStream(
                                    "{\"text\":\"b\"}{\"text\":\"a\n\"}".getBytes(StandardCharsets.UTF_8))))
                    .hasMessageContaining("read up to record 1: the record that begins in line 1 has a line break");
            assertThat(totals(engine)).isEqualTo("a=1 b=1");
        }
    }

    @Test
    void a_growing_file_is_refused() {
        try (EmbeddedEngine engine = open("growing", Records.ARRAY)) {
            assertThatThrownBy(() -> engine.fold(file("[{\"text\":\"a\"}]", true), FoldListener.silent()))
                    .hasMessageContaining("cannot be followed");
        }
    }

    @Test
    void files_that_were_read_as_other_records_are_not_read_again() {
        try (EmbeddedEngine engine = open("changed", Records.OBJECTS)) {
            fold(engine, "{\"text\":\"a\"}\n");
        }
        try (EmbeddedEngine engine = open("changed", Records.LINES)) {
            assertThat(engine.change(engine.wanted().orElseThrow(), _ -> file("{\"text\":\"a\"}\n", false)))
                    .isInstanceOfSatisfying(
                            DefinitionChange.Impossible.class,
                            change -> assertThat(change.reason()).contains("'records' has changed"));
        }
    }

    @Test
    void stored_rows_are_no_way_to_read_files_as_other_records() {
        PipelineBuilder keyed =
                PipelineBuilder.named("items").records(Records.LINES).id("text");
        Path directory = folder.resolve("keyed");
        String content = " {\"text\":\"a\"}\n";
        try (EmbeddedEngine engine = EmbeddedEngine.open(
                directory, keyed.rollup(rollup -> rollup.count("n")).build(), SETTINGS)) {
            fold(engine, content);
        }
        Pipeline other = PipelineBuilder.named("items")
                .records(Records.OBJECTS)
                .id("text")
                .rollup(rollup -> rollup.count("n"))
                .build();
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, other, SETTINGS)) {
            assertThatThrownBy(() -> engine.fillView(_ -> file(content, false), false))
                    .hasMessageContaining("'records' has changed, so items.json has other records now");
        }
    }

    @Test
    void empty_lines_in_front_of_lines_show_no_other_way() {
        try (EmbeddedEngine engine = open("blank", Records.LINES)) {
            fold(engine, "\n \r\n{\"text\":\"a\"}\n\n{\"text\":\"b\"}\n");
            assertThat(totals(engine)).isEqualTo("a=1 b=1");
        }
    }

    @Test
    void however_records_are_written_and_wherever_reading_stops_each_counts_once() {
        Seeds.forAllSeeds(5, random -> {
            List<String> records = new ArrayList<>();
            for (int i = random.nextInt(40); i > 0; i--) {
                records.add("{\"text\":\"" + "a}]{[, \\\\\\\"".substring(0, random.nextInt(7)) + "\",\"n\":[1,{\"m\":"
                        + i + "}]}");
            }
            Records form = random.nextBoolean() ? Records.ARRAY : Records.OBJECTS;
            String right;
            try (EmbeddedEngine engine = open("lines-" + random.nextLong(), Records.LINES)) {
                fold(engine, records.stream().map(record -> record + "\n").collect(Collectors.joining()));
                right = totals(engine);
            }
            String name = "form-" + random.nextLong();
            String content = written(records, form, random);
            int cut = random.nextInt(content.length() + 1);
            try (EmbeddedEngine engine = open(name, form)) {
                fold(engine, content.substring(0, cut));
            } catch (EngineException cutOff) {
                assertThat(cutOff.kind()).isEqualTo(EngineException.Kind.SOURCE_UNREADABLE);
            }
            try (EmbeddedEngine engine = open(name, form)) {
                fold(engine, content);
                assertThat(totals(engine)).isEqualTo(right);
                assertThat(engine.counts().accepted()).isEqualTo(records.size());
            }
        });
    }

    private static String written(List<String> records, Records form, RandomGenerator random) {
        StringBuilder text = new StringBuilder(form == Records.ARRAY ? "[" : "");
        for (String record : records) {
            boolean isFirst = record.equals(records.getFirst());
            text.append(form == Records.ARRAY && !isFirst ? "," : "").append(space(random));
            text.append(record.replace("\"n\":[", "\"n\":" + space(random) + "[" + space(random)));
        }
        return text.append(space(random))
                .append(form == Records.ARRAY ? "]" : "")
                .append(space(random))
                .toString();
    }

    private static String space(RandomGenerator random) {
        return List.of("", "", "\n", "\r\n  ", "\t").get(random.nextInt(5));
    }
}
