package dev.onefold.tables;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.event.RecordEnds;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileRowsTest {
    @TempDir
    static Path folder;

    private static FileRows rows(String content, FileRows.Form form) throws IOException {
        return rows(Files.writeString(folder.resolve("rows"), content), form);
    }

    private static FileRows rows(Path file, FileRows.Form form) throws IOException {
        return new FileRows(FileRows.Content.of(file, new AtomicLong(), () -> Files.newInputStream(file)), form);
    }

    private static final FileRows.Form LINES = new FileRows.Form.Lines(false, RecordEnds.LINES);
    private static final FileRows.Form CSV = new FileRows.Form.Csv(',');

    @Test
    void lines_are_rows_also_the_last_one_without_an_end() throws Exception {
        assertThat(Taken.all(rows("{\"a\":1}\n{\"a\":2}", LINES)).lines).containsExactly("{\"a\":1}", "{\"a\":2}");
        assertThat(Taken.all(rows("", LINES)).lines).isEmpty();
        assertThat(Taken.all(rows("{\"a\":1}\n", LINES)).marks).isEqualTo(Map.of("0", RowSource.END));
    }

    @Test
    void a_reading_that_was_stopped_anywhere_goes_on_at_its_mark() throws Exception {
        List<String> lines = IntStream.range(0, 60)
                .mapToObj(i -> "{\"id\":" + i + ",\"text\":\"" + "x".repeat(i * 3_000) + "\"}")
                .toList();
        String content = String.join("\n", lines) + "\n";
        for (int takes = 1; takes < 6; takes++) {
            Taken first = Taken.some(rows(content, LINES), Map.of(), takes);
            Taken rest = Taken.some(rows(content, LINES), first.marks, Integer.MAX_VALUE);
            List<String> both = new ArrayList<>(first.lines);
            both.addAll(rest.lines);
            assertThat(both).isEqualTo(lines);
        }
    }

    private static void write(Path file, String content) {
        try {
            Files.writeString(file, content);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void a_file_that_is_cut_or_written_anew_while_it_is_read_is_not_read_to_its_end() throws Exception {
        for (FileRows.Form form : List.of(LINES, CSV)) {
            for (String after : List.of("1,2\n", "3,4\n".repeat(700_000))) {
                Path file = Files.writeString(folder.resolve("rows"), "a,b\n" + "1,2\n".repeat(700_000));
                Files.setLastModifiedTime(file, FileTime.fromMillis(1_000));
                FileRows begun = rows(file, form);
                assertThatThrownBy(() -> begun.read(Map.of(), some -> {
                            assertThat(some.mark()).isNotEqualTo(RowSource.END);
                            write(file, after);
                            return true;
                        }))
                        .isInstanceOf(IOException.class)
                        .hasMessageContaining("was cut, rewritten or still written while it was read");
            }
        }
    }

    @Test
    void a_header_stands_in_front_of_each_reading() throws Exception {
        String content = "id,v\n" + "1,2\n".repeat(400_000);
        FileRows.Form form = new FileRows.Form.Lines(true, RecordEnds.LINES);
        Taken first = Taken.some(rows(content, form), Map.of(), 1);
        Taken rest = Taken.some(rows(content, form), first.marks, Integer.MAX_VALUE);
        assertThat(rest.lines.getFirst()).isEqualTo("id,v");
        assertThat(first.lines.size() + rest.lines.size()).isEqualTo(400_002);
    }

    @Test
    void records_of_csv_become_json_with_quotes_line_ends_and_what_is_missing() throws Exception {
        String content = "\uFEFFid,\"the name\",note\r\n1,\"a \"\"b\"\"\nc\",\r\n\r\n2,,\"\"\n3,ü,x";
        assertThat(Taken.all(rows(content, CSV)).lines)
                .containsExactly(
                        "{\"id\":\"1\",\"the name\":\"a \\\"b\\\"\\u000ac\"}",
                        "{\"id\":\"2\",\"note\":\"\"}",
                        "{\"id\":\"3\",\"the name\":\"ü\",\"note\":\"x\"}");
    }

    @Test
    void csv_goes_on_at_its_mark_too() throws Exception {
        String content = "id,text\n" + "1,abcdefghijklmnopqrstuvwxyz\n".repeat(100_000);
        Taken first = Taken.some(rows(content, CSV), Map.of(), 1);
        Taken rest = Taken.some(rows(content, CSV), first.marks, Integer.MAX_VALUE);
        assertThat(first.lines).isNotEmpty().hasSizeLessThan(100_000);
        assertThat(first.lines.size() + rest.lines.size()).isEqualTo(100_000);
    }

    @Test
    void a_record_of_csv_that_cannot_be_read_is_a_row_that_says_why() throws Exception {
        assertThat(Taken.all(rows("a,b\n1,2\n3\n4,\uFFFD\n", CSV)).lines)
                .containsExactly(
                        "{\"a\":\"1\",\"b\":\"2\"}",
                        "\"Record 2 behind the header has 1 fields, and the header names 2: 3\"",
                        "{\"a\":\"4\",\"b\":\"\uFFFD\"}");
        assertThatThrownBy(() -> Taken.all(rows("a\n\"x\n", CSV))).hasMessageContaining("quoted field has no end");
    }

    @Test
    void a_last_line_without_an_end_is_no_row_in_a_file_that_grows() throws Exception {
        for (FileRows.Form form : List.of(LINES, CSV)) {
            Path file = Files.writeString(folder.resolve("rows"), "a,b\n1,2\n7,12");
            Files.setLastModifiedTime(file, FileTime.fromMillis(1_000));
            FileRows rows = new FileRows(
                    FileRows.Content.of(file, new AtomicLong(), () -> {
                        InputStream before = new ByteArrayInputStream(Files.readAllBytes(file));
                        Files.writeString(file, "34\n", StandardOpenOption.APPEND);
                        return before;
                    }),
                    form);
            List<String> taken = new ArrayList<>();
            assertThatThrownBy(() -> rows.read(Map.of(), some -> {
                        taken.add(new String(some.lines(), 0, some.length(), StandardCharsets.UTF_8));
                        return true;
                    }))
                    .hasMessageContaining("still written");
            assertThat(String.join("", taken)).doesNotContain("12");
        }
    }

    @Test
    void what_is_in_front_of_a_quote_without_an_end_is_read() throws Exception {
        List<String> taken = new ArrayList<>();
        assertThatThrownBy(() -> rows("a\n1\n2\n\"3\n4\n", CSV).read(Map.of(), some -> {
                    taken.add(some.mark() + " " + some.count());
                    return true;
                }))
                .hasMessageContaining("quoted field has no end");
        assertThat(taken).containsExactly("2 2");
    }

    @Test
    void a_return_in_quotes_belongs_to_its_field() throws Exception {
        assertThat(Taken.all(rows("a,b\r\n1,\"x\r\"\r\n2,\"y\r\"\n3,z\r\n", CSV)).lines)
                .containsExactly(
                        "{\"a\":\"1\",\"b\":\"x\\u000d\"}",
                        "{\"a\":\"2\",\"b\":\"y\\u000d\"}",
                        "{\"a\":\"3\",\"b\":\"z\"}");
    }

    /// Two texts of Latin-1 would become one.
    @Test
    void bytes_of_csv_that_are_not_utf_8_become_no_other_text() throws Exception {
        Path file = Files.write(folder.resolve("latin"), "a,b\nè,1\né,2\nb,3\n".getBytes(StandardCharsets.ISO_8859_1));
        assertThat(Taken.all(rows(file, CSV)).lines)
                .containsExactly(
                        "\"Record 1 behind the header is not valid UTF-8: \uFFFD | 1\"",
                        "\"Record 2 behind the header is not valid UTF-8: \uFFFD | 2\"",
                        "{\"a\":\"b\",\"b\":\"3\"}");
        Path header = Files.write(folder.resolve("latin"), "è,b\n1,2\n".getBytes(StandardCharsets.ISO_8859_1));
        assertThatThrownBy(() -> Taken.all(rows(header, CSV)))
                .hasMessage("the header is not valid UTF-8."
                        + " Convert the file: iconv -f WINDOWS-1252 -t UTF-8 FILE > NEW");
    }

    @Test
    void a_header_that_comes_again_is_passed_over_and_another_one_stops_the_reading() throws Exception {
        String twice = "id,qty,price\n1,2,10\nid,qty,price\n2,3,20\n";
        FileRows.Form lines = new FileRows.Form.Lines(
                true,
                RecordEnds.ofSource(PipelineBuilder.named("p")
                        .csv()
                        .rollup(rollup -> rollup.count("n"))
                        .build()));
        assertThat(Taken.all(rows(twice, CSV)).lines).hasSize(2).allMatch(line -> !line.contains("\"id\":\"id\""));
        assertThat(Taken.all(rows(twice, lines)).lines).hasSize(4);
        String other = twice + "id,price,qty\n3,30,4\n";
        List<String> taken = new ArrayList<>();
        assertThatThrownBy(() -> rows(other, CSV).read(Map.of(), some -> {
                    taken.add(some.mark() + " " + some.count());
                    return true;
                }))
                .hasMessage(
                        "record 4 behind the header is another header. Column 2 is 'price', and was 'qty'. Put it and"
                                + " the records behind it into a file of their own");
        assertThat(taken).containsExactly("4 2");
        assertThatThrownBy(() -> Taken.all(rows(other, lines))).hasMessageContaining("line 5 is another header");
    }

    @Test
    void lines_of_other_programs_in_front_of_a_header_are_refused_by_name() {
        assertThatThrownBy(() -> Taken.all(rows("sep=;\nid;town\n1;Bern\n", new FileRows.Form.Csv(';'))))
                .hasMessageContaining("the header is 'sep=;'.", "Delete the first line");
        assertThatThrownBy(() -> Taken.all(rows("id,town\r1,Bern\r", CSV)))
                .hasMessageContaining("has line ends that are CR alone", "tr '\\r' '\\n'");
    }
}
