package dev.onefold.simulator.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.DeadLetters.Redriven;
import dev.onefold.core.DefinitionChange;
import dev.onefold.core.EngineException;
import dev.onefold.core.event.Reason;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.FoldListener;
import dev.onefold.fakes.disk.SimulatedDisk;
import dev.onefold.fixtures.Seeds;
import dev.onefold.oracle.Oracle;
import dev.onefold.oracle.generate.RandomCase;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// The same records, conflicts and deletes among them, shuffled, cut, merged, repeated, over other shards and with
/// restarts in between: one answer.
class OneAnswerTest {
    /// One case.
    private static final class Trial {
        private final RandomGenerator random;
        private final RandomCase dealt;
        private final Pipeline pipeline;

        Trial(RandomGenerator random) {
            this.random = random;
            dealt = RandomCase.of(random);
            pipeline = PipelineYaml.read(dealt.pipeline());
        }

        private EmbeddedEngine open(SimulatedDisk disk, int shards) {
            return EmbeddedEngine.open(
                    Trades.directory(disk), pipeline, Trades.settings(shards).withClock(this::arrival));
        }

        private Instant arrival() {
            return dealt.firstTime().plus(RandomCase.TIMES.dividedBy(2));
        }

        private List<byte[]> records() {
            return dealt.lines()
                    .subList(dealt.hasHeader() ? 1 : 0, dealt.lines().size());
        }

        private byte[] lines(List<byte[]> records, boolean headed) {
            ByteArrayOutputStream lines = new ByteArrayOutputStream();
            if (dealt.hasHeader() && headed) {
                lines.writeBytes(dealt.lines().getFirst());
                lines.write('\n');
            }
            for (byte[] record : records) {
                lines.writeBytes(record);
                lines.write('\n');
            }
            return lines.toByteArray();
        }

        private List<List<Answer.Line>> answers(EmbeddedEngine engine) {
            return Rollups.of(pipeline).all().stream()
                    .map(Rollup::name)
                    .map(name -> engine.query(Query.all(name)).lines())
                    .toList();
        }

        private void check() {
            List<List<Answer.Line>> merged;
            try (EmbeddedEngine engine = open(SimulatedDisk.empty(), 1)) {
                byte[] file = lines(records(), true);
                if (dealt.hasHorizon()) { // A file has no arrival.
                    engine.append("all", 1, file, file.length);
                } else {
                    engine.fold(
                            new FileSource("all", () -> new ByteArrayInputStream(file), false), FoldListener.silent());
                }
                merged = answers(engine);
            }
            List<byte[]> mixed = new ArrayList<>(records());
            if (!(pipeline.input().identity() instanceof Identity.ByPlace)) {
                mixed.addAll(records().subList(0, random.nextInt(records().size())));
            }
            Collections.shuffle(mixed, Random.from(random));
            SimulatedDisk disk = SimulatedDisk.empty();
            int done = 0;
            for (int source = 0; done < mixed.size(); source++) {
                try (EmbeddedEngine engine = open(disk, random.nextInt(1, 8))) {
                    int to = Math.min(mixed.size(), done + random.nextInt(1, 30));
                    byte[] cut = lines(mixed.subList(done, to), true);
                    engine.append("source-" + source, 1, cut, cut.length);
                    done = to;
                }
                disk = random.nextBoolean() ? disk.kill() : disk.crash(random);
            }
            try (EmbeddedEngine engine = open(disk, random.nextInt(1, 8))) {
                assertThat(answers(engine)).describedAs("%s", dealt).isEqualTo(merged);
            }
        }
    }

    @Test
    @Tag("campaign")
    void shuffled_cut_merged_repeated_resharded_and_restarted_the_answer_is_one() {
        Seeds.forAllSeeds(1_000, random -> new Trial(random).check());
    }

    private static final List<String> DEFINITIONS = List.of(
            definition("[g]", "x: sum(x) decimal(10,2)", "y: max(y) decimal(10,2)"),
            definition("[g]", "x: sum(x) decimal(10,2)"),
            definition("[g]", "y: min(y) decimal(10,2)", "n: count()"),
            definition("[g, h]", "x: sum(x) decimal(10,2)"),
            definition("[g]", "x: sum(x) decimal(6,2)"),
            definition("[]", "n: count()"));

    private static String definition(String levels, String... measures) {
        return "pipeline: d\ninput: {key: id, version: v, delete: 'op = \"delete\"'}\nrollup:\n  levels: " + levels
                + "\n  measures:\n    " + String.join("\n    ", measures) + "\n";
    }

    private static String anyRecord(RandomGenerator random) {
        if (random.nextInt(12) == 0) {
            return "poison " + random.nextInt(9);
        }
        StringBuilder record = new StringBuilder("{\"id\":" + random.nextInt(12) + ",\"v\":" + random.nextInt(1, 4));
        if (random.nextInt(8) == 0) {
            return record.append(",\"op\":\"delete\"}").toString();
        }
        for (String field : List.of("g", "h")) {
            record.append(random.nextInt(6) == 0 ? "" : ",\"" + field + "\":\"" + field + random.nextInt(2) + "\"");
        }
        for (String field : List.of("x", "y")) {
            String value = random.nextInt(5) == 0 ? "123456.5" : random.nextInt(3) + ".25";
            record.append(random.nextInt(5) == 0 ? "" : ",\"" + field + "\":" + value);
        }
        return record.append('}').toString();
    }

    /// A directory whose definition changes from life to life, and what each record is by now.
    private static final class Changing {
        private final RandomGenerator random;
        private final SimulatedDisk disk = SimulatedDisk.empty();
        private final Map<String, List<String>> sources = new TreeMap<>(); // What each line is by now; empty: purged.
        private final Map<String, String> files = new TreeMap<>();
        private final List<String> story = new ArrayList<>();
        private String definition = DEFINITIONS.getFirst();

        Changing(RandomGenerator random) {
            this.random = random;
        }

        private @Nullable FileSource reopen(String name) {
            String content = files.get(name);
            return content == null ? null : Trades.file(name, content);
        }

        void live() {
            String wanted = DEFINITIONS.get(random.nextInt(DEFINITIONS.size()));
            Settings settings = Trades.settings(random.nextInt(1, 4)).withKeepJournal(true);
            try (EmbeddedEngine engine =
                    EmbeddedEngine.open(Trades.directory(disk), PipelineYaml.read(wanted), settings)) {
                boolean readable = random.nextBoolean();
                if (!readable
                        && engine.change(PipelineYaml.read(wanted), _ -> null)
                                instanceof DefinitionChange.FromRows(var _, var doubt)
                        && !doubt.isEmpty()) {
                    requireRight(engine); // Of rows alone the totals may be others, and the change says so.
                    return;
                }
                try {
                    engine.fillView(readable ? this::reopen : _ -> null, true);
                    definition = wanted;
                } catch (EngineException refused) {
                    assertThat(refused.kind()).isEqualTo(EngineException.Kind.DEFINITION_CHANGED);
                    assertThat(readable).as(refused.getMessage()).isFalse();
                    requireRight(engine);
                    return;
                }
                story.add((readable ? "from sources " : "from rows ") + DEFINITIONS.indexOf(wanted));
                requireRight(engine);
                for (int step = 0; step < 6; step++) {
                    step(engine);
                }
                requireRight(engine);
                assertThat(engine.verify().isEqual()).isTrue();
                assertThat(engine.verify(this::reopen).isEqual())
                        .as(story.toString())
                        .isTrue();
            }
        }

        private void step(EmbeddedEngine engine) {
            List<DeadLetter> letters = engine.deadLetters().list(0, 1_000).stream()
                    .filter(letter -> letter.reason() != Reason.CONFLICT)
                    .toList();
            switch (random.nextInt(4)) {
                case 0 -> {
                    List<String> records = records();
                    engine.append("s", records);
                    sources.computeIfAbsent("s", _ -> new ArrayList<>()).addAll(records);
                }
                case 1 -> {
                    String name = "file-" + files.size();
                    List<String> records = records();
                    files.put(name, String.join("\n", records) + "\n");
                    FileSource file = Trades.file(name, files.get(name));
                    engine.fold(new FileSource(name, file.opener(), false, true), FoldListener.silent());
                    sources.put(name, new ArrayList<>(records));
                }
                case 2 -> {
                    if (!letters.isEmpty()) {
                        DeadLetter letter = letters.get(random.nextInt(letters.size()));
                        String edit = anyRecord(random);
                        story.add("redrive " + letter.place() + " " + edit);
                        Redriven redriven = engine.deadLetters()
                                .redrive(letter.id(), edit.getBytes(StandardCharsets.UTF_8), DeadLetters.Keys.ANY);
                        if (redriven != Redriven.REJECTED) {
                            settle(letter, edit);
                        }
                    }
                }
                default -> {
                    if (!letters.isEmpty()) {
                        DeadLetter letter = letters.get(random.nextInt(letters.size()));
                        story.add("purge " + letter.place());
                        engine.deadLetters().purge(List.of(letter.id()));
                        settle(letter, "");
                    }
                }
            }
        }

        private List<String> records() {
            List<String> records = new ArrayList<>();
            for (int i = random.nextInt(1, 12); i > 0; i--) {
                records.add(anyRecord(random));
            }
            story.add("records " + records);
            return records;
        }

        private void settle(DeadLetter letter, String record) {
            sources.get(letter.place().source()).set((int) letter.place().line() - 1, record);
        }

        private void requireRight(EmbeddedEngine engine) {
            Oracle oracle = Oracle.of(definition);
            sources.forEach((source, records) -> {
                for (int line = 0; line < records.size(); line++) {
                    if (!records.get(line).isEmpty()) {
                        oracle.accept(source, line + 1L, records.get(line).getBytes(StandardCharsets.UTF_8));
                    }
                }
            });
            Map<String, String> right = Trades.totals(oracle);
            assertThat(Trades.totals(engine))
                    .as(definition + String.join("\n", story))
                    .isEqualTo(right);
        }
    }

    @Test
    @Tag("campaign")
    void whatever_the_definition_becomes_the_totals_are_those_of_all_records_under_it() {
        Seeds.forAllSeeds(200, random -> {
            Changing changing = new Changing(random);
            for (int life = 0; life < 5; life++) {
                changing.live();
            }
        });
    }
}
