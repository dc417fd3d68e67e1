package dev.onefold.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.api.RemoteEngine;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.EngineException;
import dev.onefold.core.Truth;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.bytes.Utf8;
import dev.onefold.core.event.RecordEnds;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Query;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.FoldListener;
import dev.onefold.fixtures.Seeds;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// CSV whose values have line ends in quotes.
class QuotedLinesTest {
    private static final Settings SETTINGS = Settings.defaults().withShards(2).withKeepJournal(true);

    @TempDir
    Path folder;

    private static Pipeline pipeline(int edition) {
        return PipelineBuilder.named("tickets")
                .csv()
                .edition(edition)
                .id("id")
                .rollup(rollup -> rollup.levels("text missing \"-\"").count("n"))
                .build();
    }

    private EmbeddedEngine open(String name, int edition) {
        return EmbeddedEngine.open(folder.resolve(name), pipeline(edition), SETTINGS);
    }

    private static FileSource file(String content) {
        byte[] bytes = Utf8.encode("The file", content);
        return new FileSource("tickets.csv", () -> new ByteArrayInputStream(bytes), false);
    }

    private static Map<String, String> texts(EmbeddedEngine engine) {
        return engine.query(
                Query.all("main"),
                answer -> answer.lines().stream()
                        .filter(line -> line.group().size() == 1)
                        .collect(Collectors.toMap(
                                line -> line.group().getFirst(),
                                line -> String.valueOf(line.values().getFirst()),
                                (a, _) -> a,
                                TreeMap::new)));
    }

    private static void fold(EmbeddedEngine engine, String content) {
        engine.fold(file(content), FoldListener.silent());
    }

    /// Records of CSV, some with the wrong number of values, and the texts that count.
    private record Drawn(List<String> records, Map<String, String> right, List<Long> letters) {
        static Drawn of(RandomGenerator random) {
            List<String> records = new ArrayList<>(List.of("id,\"text\""));
            TreeMap<String, Integer> right = new TreeMap<>();
            List<Long> letters = new ArrayList<>();
            long line = 2;
            for (int id = random.nextInt(60); id > 0; id--) {
                StringBuilder text = new StringBuilder();
                for (int part = random.nextInt(6); part > 0; part--) {
                    text.append(List.of("\n", "\r\n", "x,1\n", "\"", "\n\"", "37.8", ",", "y")
                            .get(random.nextInt(8)));
                }
                boolean isRejected = random.nextInt(8) == 0;
                String record = id + ",\"" + text.toString().replace("\"", "\"\"") + "\"" + (isRejected ? ",more" : "");
                records.add(random.nextInt(10) == 0 && !isRejected ? id + ",37.8\"N" : record);
                if (records.getLast().endsWith("N")) {
                    right.merge("37.8\"N", 1, Integer::sum);
                } else if (isRejected) {
                    letters.add(line);
                } else {
                    right.merge(text.toString(), 1, Integer::sum);
                }
                line += 1 + records.getLast().chars().filter(c -> c == '\n').count();
                if (random.nextInt(20) == 0) {
                    records.add("\"id\",text");
                    line++;
                }
            }
            Map<String, String> texts = new TreeMap<>();
            right.forEach((text, count) -> texts.put(text, String.valueOf(count)));
            return new Drawn(records, texts, letters);
        }

        String content() {
            return String.join("\n", records) + "\n";
        }

        void check(EmbeddedEngine engine) {
            assertThat(texts(engine)).isEqualTo(right);
            assertThat(engine.deadLetters().list(0, 100))
                    .extracting(letter -> letter.place().line())
                    .containsExactlyElementsOf(letters);
            assertThat(engine.verify(new Truth.Rows(1)).isEqual()).isTrue();
        }
    }

    @Test
    void however_records_with_line_ends_in_quotes_come_each_counts_once_and_letters_have_their_lines() {
        Seeds.forAllSeeds(4, random -> {
            Drawn drawn = Drawn.of(random);
            String name = "d" + System.nanoTime();
            try (EmbeddedEngine engine = open(name + "file", 3)) {
                fold(engine, drawn.content());
                fold(engine, drawn.content() + "9999,\"end\nof it\"");
                fold(engine, drawn.content() + "9999,\"end\nof it\"");
                drawn.right.put("end\nof it", "1");
                drawn.check(engine);
                assertThat(engine.rebuild(_ -> file(drawn.content() + "9999,\"end\nof it\""))
                                .isEqual())
                        .isTrue();
                drawn.check(engine);
            }
            drawn.right.remove("end\nof it");
            try (EmbeddedEngine engine = open(name + "list", 3)) {
                engine.append("in", drawn.records);
                drawn.check(engine);
            }
            try (EmbeddedEngine engine = open(name + "numbered", 3)) {
                appendSome(engine, drawn, random);
                drawn.check(engine);
                assertThat(engine.rebuild(_ -> null).isEqual()).isTrue();
            }
            try (EmbeddedEngine engine = open(name + "numbered", 3)) {
                drawn.check(engine); // What was in the journal is read again.
            }
            try (EmbeddedEngine engine = open(name + "stream", 3)) {
                new LineIntake(engine, "in", 1, _ -> {}).run(new ByteArrayInputStream(bytes(drawn.content())));
                drawn.check(engine);
                assertThat(engine.acknowledged("in")).isEqualTo(lines(drawn.content()));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    /// A sender that sends some records again, as after a lost answer.
    private static void appendSome(EmbeddedEngine engine, Drawn drawn, RandomGenerator random) {
        for (int from = 0; from < drawn.records.size(); ) {
            int to = Math.min(drawn.records.size(), from + 1 + random.nextInt(9));
            int again = Math.max(0, from - random.nextInt(3));
            String before = String.join(
                    "",
                    drawn.records.subList(0, again).stream()
                            .map(each -> each + "\n")
                            .toList());
            byte[] some = bytes(String.join("\n", drawn.records.subList(again, to)) + "\n");
            engine.append("in", 1 + lines(before), some, some.length);
            from = to;
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static long lines(String text) {
        byte[] bytes = bytes(text);
        return RecordEnds.lines(bytes, 0, bytes.length);
    }

    @Test
    void in_edition_2_each_line_is_a_record() {
        try (EmbeddedEngine engine = open("old", 2)) {
            fold(engine, "id,text\n1,\"a\n2,b\n3,c\"\nid,text\n");
            assertThat(texts(engine)).isEqualTo(Map.of("b", "1", "text", "1"));
            assertThat(engine.deadLetters().size()).isEqualTo(2);
        }
    }

    @Test
    void a_file_is_read_up_to_a_quote_without_an_end_and_goes_on_when_it_is_mended() {
        String good = "id,text\n1,\"a\nb\"\n2,x\n";
        try (EmbeddedEngine engine = open("open", 3)) {
            assertThatThrownBy(() -> fold(engine, good + "3,\"never\nends\n4,y\n"))
                    .isInstanceOf(EngineException.class)
                    .hasMessageContaining("Input tickets.csv is read up to byte 20")
                    .hasMessageContaining(
                            "the record that begins in line 5 has a quote, opened in line 5, that has no end")
                    .hasMessageContaining("'quote: none'");
            assertThat(texts(engine)).isEqualTo(Map.of("a\nb", "1", "x", "1"));
            assertThatThrownBy(() -> fold(engine, good + "3,z\n4,\"a\n\"b\n5,\"c\"\n"))
                    .hasMessageContaining(
                            "the record that begins in line 6 has text behind a closing quote in line 7: 'b\uFFFD5,\"c\"\uFFFD'");
            fold(engine, good + "3,z\n4,\"a\n\"\"b\"\n5,\"c\"\n");
            assertThat(texts(engine)).isEqualTo(Map.of("a\nb", "1", "x", "1", "z", "1", "a\n\"b", "1", "c", "1"));
            assertThat(engine.deadLetters().size()).isZero();
        }
    }

    @Test
    void a_stream_that_ends_inside_of_quotes_is_read_up_to_its_last_record() throws IOException {
        try (EmbeddedEngine engine = open("stream", 3)) {
            LineIntake intake = new LineIntake(engine, "in", 1, _ -> {});
            assertThat(intake.run(new ByteArrayInputStream(bytes("id,text\n1,a\n2,\"open\n"))))
                    .isEqualTo(8);
            assertThatThrownBy(intake::requireWhole)
                    .isInstanceOf(EngineException.class)
                    .hasMessageContaining(
                            "Source in is read up to line 2: the record that begins in line 3 has a quote");
            assertThat(engine.acknowledged("in")).isEqualTo(2);
            LineIntake whole = new LineIntake(engine, "in", 3, _ -> {});
            assertThat(whole.run(new ByteArrayInputStream(bytes("2,\"open\nno more\""))))
                    .isEqualTo(16);
            whole.requireWhole();
            whole.takeRest();
            assertThat(texts(engine)).isEqualTo(Map.of("a", "1", "open\nno more", "1"));
        }
    }

    @Test
    void a_quote_that_goes_on_for_too_many_lines_or_bytes_stops_its_file() {
        for (String text : List.of("x\n".repeat(10_001), "x".repeat(1 << 20) + "\ny", "\n" + "x".repeat(11 << 20))) {
            try (EmbeddedEngine engine = open("long" + text.length(), 3)) {
                assertThatThrownBy(() -> fold(engine, "id,text\n1,a\n2,\"" + text + "\"\n3,b\n"))
                        .hasMessageContaining("the record that begins in line 3");
                assertThat(texts(engine)).isEqualTo(Map.of("a", "1"));
            }
        }
    }

    @Test
    void lines_that_are_sent_are_refused_whole_if_a_quote_has_no_end() {
        try (EmbeddedEngine engine = open("sent", 3)) {
            byte[] lines = bytes("id,text\n1,a\n2,\"b\n");
            assertThatThrownBy(() -> engine.append("in", 1, lines, lines.length))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("Nothing of this was taken: the record that begins in line 3");
            assertThatThrownBy(() -> engine.append("in", List.of("id,text", "1,\"a", "2,b\"")))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> engine.append("in", List.of("id,text", "1,a\n2,b")))
                    .hasMessageContaining("Record 2 of the list holds a line end");
            assertThat(engine.acknowledged("in")).isZero();
            engine.append("in", List.of("id,text", "1,\"a\nb\"", "2,c"));
            assertThat(engine.acknowledged("in")).isEqualTo(4);
            byte[] inside = bytes("x\n1,\"a\nb\nc\"\n");
            assertThatThrownBy(() -> engine.append("in", 2, inside, inside.length))
                    .hasMessageContaining("Line 5 of source in is inside of a record");
        }
    }

    @Test
    void each_request_may_begin_with_the_header_and_with_no_other_one() {
        try (EmbeddedEngine engine = open("headers", 3)) {
            engine.append("in", List.of("id,text", "1,a"));
            engine.append("in", List.of("id,\"text\"\r", "2,a"));
            assertThat(engine.counts().silent()).isEqualTo(1);
            for (String other : List.of("text,id", "id,text,more", "id,word")) {
                assertThatThrownBy(() -> engine.append("in", List.of(other, "3,a")))
                        .as(other)
                        .isInstanceOf(EngineException.class)
                        .hasMessageContaining("Source in has another header: its first record is id,text")
                        .hasMessageContaining("Column ");
            }
            engine.append("in", List.of("text,b", "x,id"));
            assertThat(texts(engine)).isEqualTo(Map.of("a", "2", "b", "1", "id", "1"));
        }
    }

    @Test
    void numbered_lines_may_go_on_with_any_record_even_one_with_the_name_of_its_column() throws IOException {
        try (EmbeddedEngine engine = open("named", 3)) {
            byte[] all = bytes("id,text\n6,a\n7,text\ntext,id\n");
            engine.append("in", 1, all, 12);
            engine.append("in", 1, all, all.length);
            engine.append("in", 5, bytes("8,text\n"), 7);
            new LineIntake(engine, "in", 6, _ -> {}).run(new ByteArrayInputStream(bytes("9,text\n")));
            assertThat(texts(engine)).isEqualTo(Map.of("a", "1", "text", "3"));
            assertThat(engine.counts().rejected()).isEqualTo(1); // The names in another order.
        }
    }

    @Test
    void a_letter_of_several_lines_is_redriven_with_all_of_them() {
        try (EmbeddedEngine engine = open("letter", 3)) {
            fold(engine, "id,text\n1,\"a\nb\",more\n2,c\n");
            DeadLetter letter = engine.deadLetters().list(0, 10).getFirst();
            assertThat(engine.deadLetters().record(letter.id())).isEqualTo(bytes("1,\"a\nb\",more"));
            engine.deadLetters().redrive(letter.id(), bytes("1,\"a\nb\""));
            assertThat(texts(engine)).isEqualTo(Map.of("a\nb", "1", "c", "1"));
        }
    }

    @Test
    void lines_in_a_journal_are_not_cut_at_other_places_by_another_edition() {
        try (EmbeddedEngine engine = open("journal", 2)) {
            engine.append("in", 1, bytes("id,text\n"), 8);
            engine.append("in", 2, bytes("1,\"a\n"), 5);
        }
        try (EmbeddedEngine engine = open("journal", 3)) {
            assertThat(engine.wanted()).isPresent();
            assertThatThrownBy(() -> engine.fillView(_ -> null, false))
                    .hasMessageContaining("begin and end at other lines now", "'edition: 2' under input");
            assertThat(engine.counts().rejected()).isEqualTo(1);
        }
    }

    @Test
    void an_accepted_edit_of_a_line_inside_of_quotes_is_not_lost_by_another_edition() {
        String content = "id,text\n1,\"a\nb\",c\n";
        try (EmbeddedEngine engine = open("edited", 2)) {
            fold(engine, content);
            DeadLetter letter = engine.deadLetters().list(0, 10).getLast();
            engine.deadLetters().redrive(letter.id(), bytes("2,b"));
            assertThat(texts(engine)).isEqualTo(Map.of("b", "1"));
        }
        try (EmbeddedEngine engine = open("edited", 3)) {
            assertThatThrownBy(() -> engine.fillView(_ -> file(content), false))
                    .hasMessageContaining("edits of dead letters, begin and end at other lines now");
            assertThat(texts(engine)).isEqualTo(Map.of("b", "1"));
        }
    }

    @Test
    void a_record_of_several_lines_is_appended_from_another_process() {
        try (EmbeddedEngine owner = open("remote", 3);
                RemoteEngine engine =
                        RemoteEngine.connect(folder.resolve("remote")).orElseThrow()) {
            assertThat(engine.append("in", List.of("id,text", "1,\"a\nb\"")).acknowledged())
                    .isEqualTo(3);
            assertThat(texts(owner)).isEqualTo(Map.of("a\nb", "1"));
            assertThatThrownBy(() -> engine.append("in", List.of("2,c\n3,d"))).hasMessageContaining("holds a line end");
        }
    }
}
