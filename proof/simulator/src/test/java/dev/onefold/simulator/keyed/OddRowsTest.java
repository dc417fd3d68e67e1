package dev.onefold.simulator.keyed;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.json.Json;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.process.LoadedFunction;
import dev.onefold.core.query.Query;
import dev.onefold.core.query.TableQuery;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.fakes.disk.SimulatedDisk;
import dev.onefold.fixtures.Seeds;
import dev.onefold.process.Processor;
import dev.onefold.process.Step;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/// Rows that are short and long by turns, keys that look like something else, and two tables that feed roll-ups.
class OddRowsTest {
    private static final List<String> KEYS = List.of(
            "null",
            " ",
            "\0",
            "\0\0",
            "\u00e9",
            "e\u0301",
            "1",
            "1.0",
            "x".repeat(300),
            "8f14e45f-ceea-467f-a167-3e4f1ca7a5b1",
            "8F14E45F-CEEA-467F-A167-3E4F1CA7A5B1",
            "\ud83d\ude00");
    private static final List<String> PARTS = List.of("", "null", "\0", "a", "y".repeat(300), "\u00e9", "e\u0301");

    /// Keeps the newest text of a key, and one of each part.
    public static final class Texts implements Processor<Texts.Count, Texts.Event> {
        /// A context.
        public record Count(int count) {}

        /// An event.
        public record Event(String k, String part, int length) {}

        /// The one row of a key.
        public record Newest(String k, int length, String text) {}

        /// A row for each part.
        public record Part(String k, String part, int length, String text) {}

        @Override
        public Count start() {
            return new Count(0);
        }

        @Override
        public Step<Count> step(Count count, Event event) {
            Step<Count> step = Step.to(new Count(count.count() + 1));
            String text = count.count() % 7 + "z".repeat(event.length());
            return switch (event.length() % 4) {
                case 0 -> step.remove("newest", event.k()).remove("parts", event.part(), event.k());
                case 1 ->
                    step.remove("newest", event.k())
                            .put("newest", new Newest(event.k(), event.length(), text))
                            .put("parts", new Part(event.k(), event.part(), 1, "gone"))
                            .remove("parts", event.part(), event.k());
                default ->
                    step.put("newest", new Newest(event.k(), event.length(), text))
                            .put("parts", new Part(event.k(), event.part(), event.length(), text));
            };
        }

        @Override
        public Map<String, Class<? extends Record>> tables() {
            return Map.of("newest", Newest.class, "parts", Part.class);
        }
    }

    private static LoadedFunction loaded() {
        String text =
                "{\"pipeline\":\"p\",\"input\":{\"key\":{\"field\":\"k\",\"type\":\"text\"},\"version\":\"v\"},\"process\":{\"class\":\"X\","
                        + "\"order\":\"in-order\",\"tables\":{\"newest\":\"k\",\"parts\":[\"part\",\"k\"]}},"
                        + "\"rollups\":{\"n\":{\"of\":\"newest\",\"levels\":[\"k\"],\"measures\":{\"length\":\"sum(length)"
                        + " decimal(18,0)\"}},\"p\":{\"of\":\"parts\",\"levels\":[\"part\"],\"measures\":{\"length\":"
                        + "\"sum(length) decimal(18,0)\",\"rows\":\"count()\"}}}}";
        return switch (PipelineText.read(text)) {
            case Reading.Read(Pipeline read) -> LoadedFunction.of(read, new Texts());
            case Reading.Refused refused -> throw new AssertionError(refused.toString());
        };
    }

    private static EmbeddedEngine open(SimulatedDisk disk, RandomGenerator random) {
        return EmbeddedEngine.open(
                disk.getPath("/data/p"),
                loaded(),
                KeyedSimulation.settings(1 + random.nextInt(3), random.nextBoolean(), disk, random));
    }

    private static List<String> rows(EmbeddedEngine engine) {
        return engine.tables(
                new TableQuery(List.of("newest", "parts"), Optional.empty(), 1_000),
                answer -> answer.tables().stream()
                        .flatMap(table -> table.rows().stream())
                        .map(row -> row.toJson())
                        .sorted()
                        .toList());
    }

    private static String record(Texts.Event event, int version) {
        Map<String, Object> record = new LinkedHashMap<>();
        record.put("k", event.k());
        record.put("v", version);
        record.put("part", event.part());
        record.put("length", event.length());
        return Json.of(record);
    }

    @Test
    void rows_of_any_length_under_any_key_are_those_of_a_plain_fold_whatever_the_order() {
        Seeds.forAllSeeds(4, drawn -> {
            SplittableRandom random = new SplittableRandom(drawn.nextLong());
            TreeMap<String, String> expected = new TreeMap<>();
            TreeMap<String, Long> totals = new TreeMap<>();
            List<String> records = new ArrayList<>();
            for (String key : KEYS) {
                fold(key, random, records, expected, totals);
            }
            Collections.shuffle(records, new Random(random.nextLong()));
            SimulatedDisk disk = SimulatedDisk.empty();
            for (int from = 0; from < records.size(); from += 20) {
                try (EmbeddedEngine engine = open(disk, random)) {
                    engine.append("in", records.subList(from, Math.min(records.size(), from + 20)));
                    engine.append("again", List.of(records.get(random.nextInt(from + 1))));
                }
                disk = random.nextBoolean() ? disk.kill() : disk.crash(random);
            }
            try (EmbeddedEngine engine = open(disk, random)) {
                assertThat(engine.deadLetters().list(0, 9)).isEmpty();
                assertThat(rows(engine)).containsExactlyInAnyOrderElementsOf(expected.values());
                assertThat(engine.verify().isEqual()).isTrue();
                TreeMap<String, Long> found = new TreeMap<>();
                for (String rollup : List.of("n", "p")) {
                    engine.query(Query.all(rollup)).lines().stream()
                            .filter(line -> line.group().size() == 1)
                            .forEach(line -> found.put(
                                    rollup + line.group(),
                                    Objects.requireNonNull(line.values().getFirst())
                                            .longValueExact()));
                }
                assertThat(found).isEqualTo(totals);
            }
        });
    }

    private static void fold(
            String key,
            RandomGenerator random,
            List<String> records,
            Map<String, String> expected,
            Map<String, Long> totals) {
        Texts.Count count = new Texts.Count(0);
        Map<String, Long> lengths = new TreeMap<>();
        for (int version = 0; version < 9; version++) {
            Texts.Event event = new Texts.Event(
                    key, PARTS.get(random.nextInt(PARTS.size())), random.nextInt(random.nextBoolean() ? 2_000 : 20));
            records.add(record(event, version));
            String text = count.count() % 7 + "z".repeat(event.length());
            String row = "\"length\":" + event.length() + ",\"text\":\"" + text + "\"}";
            String newest = "n" + List.of(key);
            String part = "p" + key + "/" + event.part();
            expected.remove(newest);
            lengths.remove(newest);
            expected.remove(part);
            lengths.remove(part);
            if (event.length() % 4 > 0) {
                expected.put(newest, "{\"k\":" + Json.of(key) + "," + row);
                lengths.put(newest, (long) event.length());
            }
            if (event.length() % 4 > 1) {
                expected.put(part, "{\"k\":" + Json.of(key) + ",\"part\":" + Json.of(event.part()) + "," + row);
                lengths.put(part, (long) event.length());
            }
            count = new Texts.Count(count.count() + 1);
        }
        lengths.forEach((row, length) -> totals.merge(
                row.startsWith("n") ? row : "p" + List.of(row.substring(row.indexOf('/') + 1)), length, Long::sum));
    }
}
