package dev.onefold.core.event;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.fixtures.Seeds;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class RecordEndsTest {
    private static final RecordEnds CSV = ends(PipelineBuilder.named("p").csv("a", "b"));
    private static final Pattern RECORD = Pattern.compile(
            "(?:\uFEFF)?+(?:(?:\"(?:[^\"]|\"\")*\"|(?!\")[^,\n]*),)*(?:\"(?:[^\"]|\"\")*\"\r?|(?!\")[^,\n]*)\n");

    private static RecordEnds ends(PipelineBuilder pipeline) {
        return RecordEnds.of(pipeline.rollup(r -> r.count("n")).build());
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static List<String> cut(RecordEnds ends, String text) {
        byte[] bytes = bytes(text);
        List<String> records = new ArrayList<>();
        int from = 0;
        for (int end = ends.end(bytes, 0, bytes.length); end >= 0; end = ends.end(bytes, from, bytes.length)) {
            records.add(new String(bytes, from, end - from, StandardCharsets.UTF_8));
            from = end;
        }
        return records;
    }

    @Test
    void a_record_ends_at_a_line_end_outside_of_quotes() {
        assertThat(cut(CSV, "1,\"a\nb\"\n37.8\"N,x\n\"\"\"\n\",\"\"\r\n\n\uFEFF\"a\n\",b\nrest"))
                .containsExactly("1,\"a\nb\"\n", "37.8\"N,x\n", "\"\"\"\n\",\"\"\r\n", "\n", "\uFEFF\"a\n\",b\n");
        for (RecordEnds lines : List.of(
                RecordEnds.LINES,
                ends(PipelineBuilder.named("p").json()),
                ends(PipelineBuilder.named("p").csv().noQuote()),
                ends(PipelineBuilder.named("p").csv().edition(2)))) {
            assertThat(cut(lines, "1,\"a\nb\"\nrest")).containsExactly("1,\"a\n", "b\"\n");
        }
        assertThat(cut(ends(PipelineBuilder.named("p").csv().quote((char) 39).delimiter(';')), "1;'a\n'\n2,'\n"))
                .containsExactly("1;'a\n'\n", "2,'\n");
    }

    @Test
    void the_place_of_a_fault_is_told_by_its_lines() {
        byte[] open = bytes("a,b\n1,\"x\ny\"\n2,\"z\n3\n");
        assertThat(CSV.areWhole(open, 0, open.length)).isFalse();
        assertThat(CSV.fault(open, 0, open.length).message(10))
                .startsWith("the record that begins in line 14 has a quote, opened in line 14, that has no end");
        byte[] broken = bytes("a,b\n1,\"x\ny\" z\n2,3\n");
        assertThat(CSV.areWhole(broken, 0, broken.length)).isFalse();
        assertThat(CSV.fault(broken, 0, broken.length).message(0))
                .startsWith("the record that begins in line 2 has text behind a closing quote in line 3: ' z");
        byte[] unended = bytes("a,b\n1,\"x\ny\"");
        assertThat(CSV.areWhole(unended, 0, unended.length)).isTrue();
    }

    @Test
    void random_bytes_are_cut_as_an_expression_of_the_standard_does_it() {
        Seeds.forAllSeeds(20_000, random -> {
            StringBuilder text = new StringBuilder();
            for (int i = random.nextInt(14); i > 0; i--) {
                text.append(",\"\"\n\n\rx\uFEFF".charAt(random.nextInt(8)));
            }
            String all = text.toString();
            List<String> expected = new ArrayList<>();
            Matcher record = RECORD.matcher(all);
            for (int at = 0; record.region(at, all.length()).lookingAt(); at = record.end()) {
                expected.add(record.group());
            }
            assertThat(cut(CSV, all)).as(all).isEqualTo(expected);
        });
    }
}
