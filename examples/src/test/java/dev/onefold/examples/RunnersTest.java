package dev.onefold.examples;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onefold.core.query.Query;
import dev.onefold.core.query.TableAnswer;
import dev.onefold.core.query.TableQuery;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.FunctionJar;
import dev.onefold.embedded.Settings;
import dev.onefold.test.FunctionCheck;
import dev.onefold.test.Tables;
import dev.onefold.yaml.PipelineFunction;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The example with a function: its tables are those that plain maps come to, in any order of arrival.
class RunnersTest {
    private static final Path FILE = Clone.root().resolve("examples/runners/runs.yaml");

    @TempDir
    private Path data;

    @BeforeAll
    static void build() {
        FunctionJars.build("runners");
    }

    @Test
    void tables_and_totals_are_those_of_plain_maps_in_any_order_of_arrival() throws IOException {
        List<String> lines =
                Clone.text("examples/runners/sample.ndjson").lines().toList();
        Map<String, Map<String, String>> right = right(lines);
        assertThat(right.get("stats")).hasSizeGreaterThan(12);
        for (int seed = 0; seed < 4; seed++) {
            List<String> sent = new ArrayList<>(lines);
            if (seed > 0) {
                sent.addAll(lines);
                Collections.shuffle(sent, new Random(seed));
            }
            assertThat(folded(sent, data.resolve("seed-" + seed)))
                    .as("seed %d", seed)
                    .isEqualTo(right);
        }
    }

    @Test
    @Tag("campaign")
    void the_function_is_pure_and_comes_to_the_same_whatever_happens() {
        Tables tables = FunctionCheck.of(FILE)
                .events(Clone.root().resolve("examples/runners/sample.ndjson"))
                .runs(30)
                .check();
        assertThat(tables.rows("stats")).hasSize(18);
        assertThat(tables.rows("tendency"))
                .contains(
                        "{\"user_id\":\"u3\",\"now\":\"STEADY\",\"before\":\"FASTER\",\"since\":\"2026-09-21T16:57:15Z\"}");
    }

    private static Map<String, Map<String, String>> folded(List<String> lines, Path directory) {
        PipelineFunction function = PipelineFunction.load(FILE);
        FunctionJar jar = new FunctionJar(function.function(), function.jar().orElseThrow());
        Map<String, Map<String, String>> answers = new TreeMap<>();
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, jar, Settings.defaults())) {
            for (int from = 0; from < lines.size(); from += 17) {
                engine.append("watches", lines.subList(from, Math.min(from + 17, lines.size())));
            }
            TableQuery all = new TableQuery(List.of("stats", "tendency", "messages"), Optional.empty(), Long.MAX_VALUE);
            engine.tables(all, answer -> {
                answer.tables().forEach(table -> answers.put(table.name(), rows(table)));
                return true;
            });
            for (String rollup : List.of("by-club", "by-run")) {
                Map<String, String> totals = new TreeMap<>();
                engine.query(Query.all(rollup)).lines().stream()
                        .filter(line -> line.group().size() == (rollup.equals("by-club") ? 1 : 2))
                        .forEach(line -> totals.put(
                                String.join("/", line.group()), line.values().toString()));
                answers.put(rollup, totals);
            }
            assertThat(engine.verify().isEqual()).isTrue();
            assertThat(engine.deadLetters().size()).isZero();
        }
        return answers;
    }

    private static Map<String, String> rows(TableAnswer.Table table) {
        Map<String, String> rows = new TreeMap<>();
        for (var row : table.rows()) {
            List<String> values = row.components().values().stream()
                    .map(value -> String.valueOf(value.plain()))
                    .toList();
            int key = table.name().equals("tendency") ? 1 : 2;
            rows.put(
                    String.join("/", values.subList(0, key)),
                    values.subList(key, values.size()).toString());
        }
        return rows;
    }

    /// A message, and what the tables say of it, computed from all messages of its runner in order.
    private static Map<String, Map<String, String>> right(List<String> lines) throws IOException {
        Map<String, TreeMap<Long, JsonNode>> watches = new TreeMap<>();
        for (String line : lines) {
            JsonNode message = new ObjectMapper().readTree(line);
            watches.computeIfAbsent(message.get("user_id").asText(), _ -> new TreeMap<>())
                    .put(message.get("sequence_id").asLong(), message);
        }
        Map<String, Map<String, String>> right = new TreeMap<>();
        for (String table : List.of("stats", "tendency", "messages", "by-club", "by-run")) {
            right.put(table, new TreeMap<>());
        }
        Map<String, long[]> clubs = new TreeMap<>();
        watches.forEach((user, messages) -> {
            Map<Integer, List<JsonNode>> runs = new TreeMap<>();
            messages.forEach((number, message) -> {
                int run = message.get("run_id").asInt();
                runs.computeIfAbsent(run, _ -> new ArrayList<>()).add(message);
                put(right, "messages", user + "/" + number, List.of(run, at(message), metres(message)));
            });
            List<String> tendencies = new ArrayList<>(List.of("STARTED"));
            String since = "";
            for (var each : runs.entrySet()) {
                List<JsonNode> run = each.getValue();
                JsonNode last = run.getLast();
                long seconds = (ms(last) - ms(run.getFirst())) / 1_000;
                String club = last.get("club").asText();
                put(right, "stats", user + "/" + each.getKey(), List.of(club, metres(last), seconds, run.size()));
                put(right, "by-run", user + "/" + each.getKey(), List.of(run.size(), metres(last)));
                long[] totals = clubs.computeIfAbsent(club, _ -> new long[4]);
                totals[0]++;
                totals[1] += metres(last);
                totals[2] += seconds;
                totals[3] = Math.max(totals[3], metres(last));
                for (int i = 0; i < run.size(); i++) {
                    String now = i < 2 ? "STARTED" : tendency(run.subList(i - 2, i + 1));
                    if (i == 0 || !now.equals(tendencies.getLast())) {
                        tendencies.add(now);
                        since = at(run.get(i));
                    }
                }
            }
            put(right, "tendency", user, List.of(tendencies.getLast(), tendencies.get(tendencies.size() - 2), since));
        });
        clubs.forEach(
                (club, totals) -> put(right, "by-club", club, List.of(totals[0], totals[1], totals[2], totals[3])));
        return right;
    }

    /// Of the second of two legs, by the metres a second.
    private static String tendency(List<JsonNode> three) {
        double before = speed(three.get(0), three.get(1));
        double now = speed(three.get(1), three.get(2));
        return now > before * 1.05 ? "FASTER" : now * 1.05 < before ? "SLOWER" : "STEADY";
    }

    private static double speed(JsonNode from, JsonNode to) {
        return (metres(to) - metres(from)) * 1_000.0 / (ms(to) - ms(from));
    }

    private static long metres(JsonNode message) {
        return message.get("distance_meters").asLong();
    }

    private static long ms(JsonNode message) {
        return message.get("timestamp_utc").asLong();
    }

    private static String at(JsonNode message) {
        return Instant.ofEpochMilli(ms(message)).toString();
    }

    private static void put(
            Map<String, Map<String, String>> right, String table, String key, List<@Nullable Object> values) {
        right.get(table).put(key, values.toString());
    }
}
