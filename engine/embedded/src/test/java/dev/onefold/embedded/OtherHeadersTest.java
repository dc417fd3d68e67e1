package dev.onefold.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.EngineException;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.bytes.Utf8;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Query;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.FoldListener;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// CSV in which another header comes: the records behind it have other columns.
class OtherHeadersTest {
    private static final String ORDERS = "id,qty,price\n1,2,10\n2,3,20\nid,qty,price\n3,5,30\n";
    private static final String OTHERS = "id,price,qty\n4,40,7\n";
    private static final String ADVICE =
            "is another header: 'id,price,qty'. The columns are 'id,qty,price'. Column 2 is"
                    + " 'price', and was 'qty'. Put it and the records behind it into a file of their own";

    @TempDir
    Path folder;

    private static Pipeline pipeline(int edition, String... columns) {
        PipelineBuilder orders = PipelineBuilder.named("orders");
        return (columns.length == 0 ? orders.csv() : orders.csv(columns))
                .edition(edition)
                .rollup(rollup -> rollup.sum("qty", "qty", 18, 0).sum("price", "price", 18, 0))
                .build();
    }

    private EmbeddedEngine open(String name, Pipeline pipeline, int threads) {
        return EmbeddedEngine.open(
                folder.resolve(name),
                pipeline,
                Settings.defaults().withShards(2).withThreads(threads).withKeepJournal(true));
    }

    private static void fold(EmbeddedEngine engine, String name, String content) {
        byte[] bytes = Utf8.encode("The file", content);
        engine.fold(new FileSource(name, () -> new ByteArrayInputStream(bytes), false), FoldListener.silent());
    }

    private static List<String> totals(EmbeddedEngine engine) {
        return engine.query(
                Query.all("main"),
                answer -> answer.lines().getFirst().values().stream()
                        .map(String::valueOf)
                        .toList());
    }

    private static ByteArrayInputStream stream(String text) {
        return new ByteArrayInputStream(Utf8.encode("The stream", text));
    }

    @Test
    void a_file_is_read_up_to_another_header_and_the_rest_is_a_file_of_its_own() {
        for (int threads : new int[] {0, 2}) {
            try (EmbeddedEngine engine = open("file" + threads, pipeline(3), threads)) {
                for (int tries = 0; tries < 2; tries++) {
                    assertThatThrownBy(() -> fold(engine, "all.csv", ORDERS + OTHERS))
                            .isInstanceOf(EngineException.class)
                            .hasMessageContaining(
                                    "Input all.csv is read up to byte 47: the record that begins in line 6 " + ADVICE);
                    assertThat(totals(engine)).containsExactly("10", "60");
                }
                fold(engine, "all.csv", ORDERS + "5,1,1\n");
                fold(engine, "rest.csv", OTHERS);
                assertThat(totals(engine)).containsExactly("18", "101");
                assertThat(engine.counts().rejected()).isZero();
                assertThat(engine.counts().silent()).isEqualTo(1);
                assertThatThrownBy(() -> fold(engine, "all.csv", ORDERS + "5,1,1\nid,price,qty"))
                        .hasMessageContaining("line 7 is another header");
            }
        }
    }

    @Test
    void columns_that_the_pipeline_names_are_a_header_too() {
        try (EmbeddedEngine engine = open("columns", pipeline(3, "id", "qty", "price"), 2)) {
            assertThatThrownBy(() -> fold(engine, "all.csv", ORDERS + OTHERS)).hasMessageContaining(ADVICE);
            assertThatThrownBy(() -> fold(engine, "rest.csv", OTHERS)).hasMessageContaining(ADVICE);
            assertThat(totals(engine)).containsExactly("10", "60");
        }
        try (EmbeddedEngine engine = open("old", pipeline(2, "id", "qty", "price"), 2)) {
            fold(engine, "all.csv", ORDERS + OTHERS);
            assertThat(totals(engine)).containsExactly("50", "67");
            assertThat(engine.counts().rejected()).isEqualTo(3);
        }
    }

    @Test
    void a_stream_is_read_up_to_another_header() throws IOException {
        try (EmbeddedEngine engine = open("stream", pipeline(3), 2)) {
            assertThatThrownBy(() -> new LineIntake(engine, "in", 1, _ -> {}).run(stream(ORDERS + OTHERS)))
                    .isInstanceOf(EngineException.class)
                    .hasMessageContaining("Source in is read up to line 5: the record that begins in line 6 " + ADVICE);
            assertThatThrownBy(() -> new LineIntake(engine, "in", 6, _ -> {}).run(stream("5,1,1\n" + OTHERS)))
                    .hasMessageContaining("Source in is read up to line 6: the record that begins in line 7 " + ADVICE);
            LineIntake last = new LineIntake(engine, "in", 7, _ -> {});
            assertThat(last.run(stream("6,1,1\nid,price,qty"))).isEqualTo(12);
            assertThatThrownBy(last::requireWhole)
                    .hasMessageContaining("Source in is read up to line 7: the record that begins in line 8 " + ADVICE);
            new LineIntake(engine, "rest", 1, _ -> {}).run(stream(OTHERS));
            assertThat(totals(engine)).containsExactly("19", "102");
        }
        try (EmbeddedEngine engine = open("stream", pipeline(3), 2)) {
            assertThat(totals(engine)).containsExactly("19", "102");
        }
    }

    @Test
    void a_request_with_another_header_is_refused_whole() {
        for (Pipeline pipeline : List.of(pipeline(3), pipeline(3, "id", "qty", "price"))) {
            try (EmbeddedEngine engine = open("request" + pipeline.input().hashCode(), pipeline, 2)) {
                List<String> mixed = List.of("id,qty,price", "1,2,10", "id,price,qty", "4,40,7");
                for (int tries = 0; tries < 2; tries++) {
                    assertThatThrownBy(() -> engine.append("in", mixed))
                            .isInstanceOf(EngineException.class)
                            .hasMessageContaining("Nothing of this was taken by source in: the record that begins in"
                                    + " line 3 " + ADVICE)
                            .extracting(e -> ((EngineException) e).kind())
                            .isEqualTo(EngineException.Kind.SOURCE_CHANGED);
                    engine.append("in", mixed.subList(0, 2));
                }
                assertThat(totals(engine)).containsExactly("4", "20");
            }
        }
    }

    @Test
    void numbered_lines_with_another_header_have_a_dead_letter_and_are_replayed_alike() {
        try (EmbeddedEngine engine = open("numbered", pipeline(3), 2)) {
            byte[] all = Utf8.encode("The lines", ORDERS + OTHERS);
            engine.append("in", 1, all, all.length);
            assertThat(engine.counts().rejected()).isEqualTo(1);
        }
        try (EmbeddedEngine engine = open("numbered", pipeline(3), 2)) {
            assertThat(engine.counts().rejected()).isEqualTo(1);
            assertThat(engine.deadLetters().list(0, 9).getFirst().message()).contains("The record is another header");
        }
    }

    @Test
    void lines_that_end_with_cr_alone_and_a_line_for_excel_are_refused_by_name() {
        try (EmbeddedEngine engine = open("first", pipeline(3), 2)) {
            assertThatThrownBy(() -> fold(engine, "mac.csv", ORDERS.replace('\n', '\r')))
                    .hasMessageContaining("has line ends that are CR alone. Convert the file: tr '\\r' '\\n'");
            assertThatThrownBy(() -> fold(engine, "quoted.csv", "\"id\",\"qty\",\"price\"\r\"1\",\"2\",\"3\"\r"))
                    .hasMessageContaining("has a line end that is CR alone", "tr '\\r' '\\n'");
            assertThatThrownBy(() -> fold(engine, "excel.csv", "sep=,\n" + ORDERS))
                    .hasMessageContaining(
                            "is 'sep=,'. Excel's name of the delimiter is not read. Delete the first line");
            assertThatThrownBy(() -> fold(engine, "utf16.csv", "i\0d\0,\0q\0\n"))
                    .hasMessageContaining("iconv -f UTF-16");
        }
    }
}
