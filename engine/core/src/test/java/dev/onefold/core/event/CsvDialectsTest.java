package dev.onefold.core.event;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Input.Format;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.fixtures.Seeds;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/// Files as databases, spreadsheets and libraries write them, with the settings that read them.
class CsvDialectsTest {
    private static final List<String> ROWS = List.of("1|a,b|1234.5", "2|-|-", "3||-7", "4|two\nlines \"x\"|0");

    /// Cuts a file in records and reads them: `id|text|number`, where a missing value is `-`.
    private static List<String> read(String file, UnaryOperator<PipelineBuilder> dialect) {
        Pipeline pipeline = dialect.apply(PipelineBuilder.named("p").csv())
                .rollup(r -> r.levels("id", "text missing \"-\"", "number missing \"-\"")
                        .measure("sum", "sum(number) decimal(9,2) missing ignore"))
                .build();
        byte[] bytes = file.getBytes(StandardCharsets.UTF_8);
        byte[] padded = Arrays.copyOf(bytes, bytes.length + Decoder.PADDING);
        RecordEnds ends = RecordEnds.of(pipeline);
        Decoder decoder = new Decoder(pipeline);
        List<String> rows = new ArrayList<>();
        boolean hasHeader = false;
        for (int from = 0; from < bytes.length; ) {
            int next = ends.endAnyhow(bytes, from, bytes.length);
            int to = next > from && bytes[next - 1] == '\n' ? next - 1 : next;
            if (!hasHeader) {
                assertThat(decoder.header(padded, from, to)).isNull();
                hasHeader = true;
            } else {
                assertThat(decoder.decode(padded, from, to)).isNull();
                Event event = decoder.event();
                if (event.silence == null) {
                    byte[] group = Arrays.copyOfRange(event.data, event.groupFrom[0], event.groupTo[0]);
                    rows.add(String.join("|", new Tuple(group).parts()));
                }
            }
            from = next;
        }
        return rows;
    }

    @Test
    void postgresql_copy_to_csv() {
        assertThat(read("id,text,number\n1,\"a,b\",1234.5\n2,,\n3,\"\",-7\n4,\"two\nlines \"\"x\"\"\",0\n", p -> p))
                .isEqualTo(ROWS);
    }

    @Test
    void nulls_in_words_count_only_without_quotes() {
        assertThat(read(
                        "id\ttext\tnumber\n1\ta,b\t1234.5\n2\t\\N\tNULL\n3\t\"\"\t-7\n4\t\"two\nlines \"\"x\"\"\"\t0\n",
                        p -> p.delimiter('\t').nulls("NULL", "\\N")))
                .isEqualTo(ROWS);
        assertThat(read("id,text,number\n1,\"NULL\",1\n2,NULLS,2\n", p -> p.nulls("NULL")))
                .containsExactly("1|NULL|1", "2|NULLS|2");
        assertThat(read("id,text,number\n1,NULL,1\n", p -> p)).containsExactly("1|NULL|1");
    }

    @Test
    void excel_with_semicolons_and_decimal_commas() {
        assertThat(read(
                        "\ufeffid;text;number\r\n1;a,b;1.234,5\r\n2;;\r\n3;\"\";-7\r\n4;\"two\nlines \"\"x\"\"\";0\r\n",
                        p -> p.delimiter(';').numbers(',', '.')))
                .extracting(row -> row.replace("1.234,5", "1234.5"))
                .isEqualTo(ROWS);
    }

    @Test
    void pandas_and_r_write_words_for_what_is_missing() {
        assertThat(read(
                        "id,text,number\n1,\"a,b\",1234.5\n2,NA,NaN\n3,\"\",-7\n4,\"two\nlines \"\"x\"\"\",0\n",
                        p -> p.nulls("NA", "NaN")))
                .isEqualTo(ROWS);
    }

    @Test
    void lines_of_comments_are_passed_over_whatever_is_in_them() {
        String file = "\ufeff# it's \"open, of 2024\n#\nid,text,number\n1,\"a,b\",1234.5\n# \"\r\n2,,\n"
                + "3,\"\",-7\n#4,x,1\n4,\"two\nlines \"\"x\"\"\",0\n# end,\"";
        assertThat(read(file, p -> p.comment('#'))).isEqualTo(ROWS);
        assertThat(read(file + "\n", p -> p.comment('#'))).isEqualTo(ROWS);
        assertThat(read(
                        "id,text,number\n1,\"\n# text\",#\n",
                        p -> p.comment('#').nulls("#")))
                .containsExactly("1|\n# text|-");
        assertThat(read(
                        "% c\nid|text|number\n1|\"x|2\n",
                        p -> p.comment('%').noQuote().delimiter('|')))
                .containsExactly("1|\"x|2");
    }

    @Test
    void backslashes_as_mysql_writes_them_without_quotes_and_others_in_quotes() {
        assertThat(read(
                        "id\ttext\tnumber\n1\ta,b\t1234.5\n2\t\\N\t\\N\n3\t\t-7\n4\ttwo\\\nlines \"x\"\t0\n5\tC:\\\\a\\\tb\t1",
                        p -> p.delimiter('\t').noQuote().escape('\\').nulls("\\N")))
                .containsExactly("1|a,b|1234.5", "2|-|-", "3|-|-7", "4|two\nlines \"x\"|0", "5|C:\\a\tb|1");
        assertThat(read(
                        "id,text,number\n1,\"a,b\",1234.5\n2,,\n3,\"\",-7\n4,\"two\nlines \\\"x\\\"\",0\n",
                        p -> p.escape('\\')))
                .isEqualTo(ROWS);
        Format.Csv format = (Format.Csv) PipelineBuilder.named("p")
                .csv()
                .escape('\\')
                .rollup(r -> r.count("n"))
                .build()
                .input()
                .format();
        byte[] header = "a\\,b,\"c\\\"\"".getBytes(StandardCharsets.UTF_8);
        CsvHeader read = CsvHeader.read(format, header, 0, header.length);
        assertThat(read).isNotNull();
        assertThat(read.columns).containsExactly("a,b", "c\"");
        assertThat(read.isAt(header, 0, header.length)).isTrue();
    }

    @Test
    void whatever_is_written_with_escapes_is_read_back() {
        Seeds.forAllSeeds(200, random -> {
            StringBuilder file = new StringBuilder("id,text,number\n");
            List<String> rows = new ArrayList<>();
            for (int id = 0; id < 20; id++) {
                boolean isQuoted = random.nextBoolean();
                String text = "x"
                        + random.ints(random.nextInt(6), 0, 7)
                                .mapToObj(i -> String.valueOf("a,\n\"\\é ".charAt(i)))
                                .collect(Collectors.joining());
                String escaped = text.replaceAll(isQuoted ? "[\"\\\\]" : "[,\n\\\\]", "\\\\$0");
                file.append(id)
                        .append(isQuoted ? ",\"" + escaped + "\"," : "," + escaped + ",")
                        .append("1\n");
                rows.add(id + "|" + text + "|1");
            }
            assertThat(read(file.toString(), p -> p.escape('\\'))).isEqualTo(rows);
        });
    }

    @Test
    void an_escape_in_front_of_another_character_is_refused() {
        Decoding escaped = Decoding.of(PipelineBuilder.named("p")
                .csv("a", "b")
                .escape('\\')
                .nulls("\\N")
                .rollup(r -> r.levels("a", "b missing \"-\"").count("n")));
        for (String wrong : List.of("x\\n,1", "\"x\\n\",1", "1,x\\", "\\Nx,1", "\"\\N\",1")) {
            assertThat(escaped.refusal(wrong).message())
                    .contains("An escape in the CSV line is in front of a character that needs none");
        }
        assertThat(escaped.group("\\\\N,\\N")).containsExactly("\\N", "-");
    }

    @Test
    void a_record_whose_last_line_end_is_escaped_is_not_whole() {
        RecordEnds ends = RecordEnds.of(PipelineBuilder.named("p")
                .csv("a", "b")
                .escape('\\')
                .rollup(r -> r.count("n"))
                .build());
        byte[] open = "1,x\n2,a\\\n".getBytes(StandardCharsets.UTF_8);
        assertThat(ends.lastEnd(open, 0, open.length)).isEqualTo(4);
        assertThat(ends.endOfLast(open, 4, open.length)).isEqualTo(RecordEnds.OPEN);
        assertThat(ends.areWhole(open, 0, open.length)).isFalse();
        assertThat(ends.fault(open, 0, open.length).message(0))
                .startsWith("the record that begins in line 2 ends with an escape: ")
                .endsWith("The rest of the record is missing. Write it, or delete the record");
        byte[] cut = "1,x\n2,a\\".getBytes(StandardCharsets.UTF_8);
        assertThat(ends.areWhole(cut, 0, cut.length)).isFalse();
        for (String text : List.of("2,a\\\nb\n", "2,a\\\r\nb\n", "2,a\\\rb\n", "2,a\\\\\n")) {
            byte[] whole = text.getBytes(StandardCharsets.UTF_8);
            assertThat(ends.end(whole, 0, whole.length)).as(text).isEqualTo(whole.length);
            for (int to = 0; to < whole.length; to++) {
                assertThat(ends.end(whole, 0, to)).as("%s to %s", text, to).isNegative();
            }
        }
        RecordEnds ofEdition2 = RecordEnds.of(PipelineBuilder.named("p")
                .csv("a", "b")
                .edition(2)
                .escape('\\')
                .rollup(r -> r.count("n"))
                .build());
        byte[] two = "2,a\\\nb\n".getBytes(StandardCharsets.UTF_8);
        assertThat(ofEdition2.end(two, 0, two.length)).isEqualTo(two.length);
    }
}
