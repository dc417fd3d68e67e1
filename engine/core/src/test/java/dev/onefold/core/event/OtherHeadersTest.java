package dev.onefold.core.event;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Input.Format;
import dev.onefold.core.pipeline.Pipeline;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Lines of CSV that are no records: other headers, and what other programs write in front of a header.
class OtherHeadersTest {
    private static final List<String> COLUMNS = List.of("id", "qty", "price", "2024", "", "a \"b\"");

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static boolean isOther(String record) {
        CsvHeader header = new CsvHeader(new Format.Csv(',', COLUMNS), COLUMNS);
        return header.isOtherAt(bytes(record), 0, bytes(record).length);
    }

    private static Pipeline orders(int edition, String... columns) {
        PipelineBuilder orders = PipelineBuilder.named("p");
        return (columns.length == 0 ? orders.csv() : orders.csv(columns))
                .edition(edition)
                .rollup(r -> r.sum("q", "qty", 9, 2))
                .build();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "id,price,qty",
                "\"id\",\"price\",\"qty\"",
                "price,qty,id\r",
                "qty,id",
                "id,qty,price,2024,,a \"b\",more",
                "\"a \"\"b\"\"\",id",
                "id,qty,note",
                "price,2024",
                "idx,price,qty",
                "2024,price,qty",
                ",price,qty",
                "\"x\",\"price\",qty",
                "\"x, y\",price,qty",
                "5\" x,price,qty",
                "\"x \"\", y\",\"price\",qty,z",
                "ID,QTY,PRICE,2024,,\"A \"\"B\"\"\"",
                "id,qty,3,4"
            })
    void a_record_is_another_header_if_most_of_its_values_are_names_of_columns(String record) {
        assertThat(isOther(record)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "1,2,3,4,5,6",
                "id",
                "id,id",
                "id,1",
                "id,qty,3,4,5",
                "x,y,price,qty,id",
                "x,2024,7",
                "2024,,x",
                "\"id,price,qty",
                "id,qty,price,2024,,\"a \"\"b\"\"\""
            })
    void a_record_is_no_other_header_if_fewer_are_or_if_it_is_the_header(String record) {
        assertThat(isOther(record)).isFalse();
    }

    @Test
    void a_record_that_is_another_header_is_refused_from_edition_3_on() {
        byte[] record = bytes("id,price,qty" + " ".repeat(Decoder.PADDING));
        Decoder decoder = new Decoder(orders(3, "id", "qty", "price"));
        assertThat(Objects.requireNonNull(decoder.decode(record, 0, 12)).message())
                .isEqualTo("The record is another header. Column 2 is 'price', and was 'qty'. Send it and the records"
                        + " behind it as a source of their own. If it is a record, write under input header: first");
        assertThat(decoder.identity(bytes("id,price,qty"))).isEqualTo(Decoder.RecordIdentity.NONE);
        assertThat(Objects.requireNonNull(new Decoder(orders(2, "id", "qty", "price")).decode(record, 0, 12))
                        .message())
                .startsWith("Field qty");
    }

    @Test
    void the_ends_of_a_source_stop_in_front_of_another_header() {
        byte[] all = bytes("id,qty,price\n1,2,3\nid,qty,price\n\uFEFFid,price,qty\n");
        RecordEnds ends = RecordEnds.ofSource(orders(3));
        assertThat(ends.awaitsHeader()).isTrue();
        assertThat(ends.lastEnd(all, 0, all.length)).isEqualTo(all.length);
        RecordEnds behind = ends.behind(all, 13);
        assertThat(behind.lastEnd(all, 0, all.length)).isEqualTo(32);
        assertThat(behind.end(all, 32, all.length)).isEqualTo(RecordEnds.OTHER_HEADER);
        assertThat(behind.end(all, 32, all.length - 1)).isEqualTo(RecordEnds.UNENDED);
        assertThat(behind.endOfLast(all, 32, all.length - 1)).isEqualTo(RecordEnds.OTHER_HEADER);
        assertThat(behind.fault(all, 0, all.length).message(10))
                .contains(
                        "in line 14 is another header: '",
                        "id,price,qty'. The columns are 'id,qty,price'. Column 2 is 'price', and was 'qty'.",
                        "into a file of their own");
        assertThat(RecordEnds.ofSource(orders(3, "id", "qty", "price")).lastEnd(all, 0, all.length))
                .isEqualTo(32);
        for (RecordEnds none : List.of(
                RecordEnds.ofSource(orders(2)).behind(all, 13),
                RecordEnds.of(orders(3)).behind(all, 13),
                ends.behind(bytes("\"id\n"), 4))) {
            assertThat(none.seesHeaders()).isFalse();
            assertThat(none.lastEnd(all, 0, all.length)).isEqualTo(all.length);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "\uFEFFsep=;|is 'sep=;'.|write delimiter: \";\" under input",
                "\\0i\\0d|is not valid UTF-8|iconv -f UTF-16 -t UTF-8 FILE > NEW",
                "sep=;|is 'sep=;'.|write delimiter: \";\" under input",
                "id,qty\\r1,2\\r3,4|has line ends that are CR alone|tr '\\r' '\\n' < FILE > NEW",
                "i\\0d\\0,\\0q\\0t\\0y\\0|is not valid UTF-8|iconv -f UTF-16 -t UTF-8 FILE > NEW"
            })
    void a_first_line_of_another_program_is_refused_with_the_way_out(String line, String what, String advice) {
        byte[] header = bytes(line.replace("\\r", "\r").replace("\\0", "\0"));
        assertThat(Objects.requireNonNull(new Decoder(orders(3)).header(header, 0, header.length))
                        .message())
                .startsWith("The header line " + what)
                .endsWith(advice);
        Pipeline counts = PipelineBuilder.named("p")
                .csv()
                .edition(2)
                .rollup(r -> r.count("n"))
                .build();
        assertThat(new Decoder(counts).header(header, 0, header.length)).isNull();
    }

    @Test
    void such_lines_are_no_records_of_columns_that_the_pipeline_names_either() {
        Decoding two = Decoding.of(PipelineBuilder.named("p")
                .csv("a", "b")
                .delimiter(';')
                .rollup(r -> r.count("n"))
                .build());
        assertThat(two.refusal("sep=;").message()).contains("Delete the first line", "delimiter: \";\"");
        assertThat(two.refusal("1;2\r3;4").message()).contains("tr '\\r' '\\n' < FILE > NEW");
        assertThat(two.decode("sep=a;1")).isNull();
        Decoding one = Decoding.of(
                PipelineBuilder.named("p").csv("a").rollup(r -> r.count("n")).build());
        assertThat(one.refusal("1\r2").message()).contains("CR alone");
        assertThat(one.decode("1\r")).isNull();
        byte[] quoted = bytes("\"a\"\r\"1\"\r");
        RecordEnds ends = RecordEnds.of(orders(3));
        assertThat(ends.fault(quoted, 0, quoted.length).message(0))
                .contains("has a line end that is CR alone", "tr '\\r' '\\n' < FILE > NEW");
    }

    @Test
    void a_record_that_looks_like_a_header_is_a_record_where_only_the_first_one_is() {
        PipelineBuilder words = PipelineBuilder.named("p").csv("a", "b").headerOnce();
        Decoding once = Decoding.of(words.rollup(r -> r.levels("a", "b").count("n")));
        for (String record : List.of("a,b", "b,a", "A,B")) {
            assertThat(once.group(record)).containsExactly(record.split(","));
        }
        byte[] all = bytes("a,b\nb,a\na,b\n");
        RecordEnds ends = RecordEnds.ofSource(PipelineBuilder.named("p")
                .csv()
                .headerOnce()
                .rollup(r -> r.levels("a").count("n"))
                .build());
        assertThat(ends.behind(all, 4).lastEnd(all, 0, all.length)).isEqualTo(all.length);
    }
}
