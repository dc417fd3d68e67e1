package dev.onefold.examples.real;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.onefold.core.Counts;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.FoldListener;
import dev.onefold.embedded.source.FoldReport;
import dev.onefold.examples.Clone;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;

/// The engine with the pipeline of an example, and its answers as texts.
record Folded(EmbeddedEngine engine) implements AutoCloseable {
    /// An engine whose data begin with nothing.
    static Folded begin(String example, Path directory) {
        return new Folded(EmbeddedEngine.open(directory, Clone.pipeline(example), Settings.defaults()));
    }

    /// Folds sources, one after the other.
    Folded fold(FileSource... sources) {
        for (FileSource source : sources) {
            assertThat(engine.fold(source, FoldListener.silent())).isInstanceOf(FoldReport.Folded.class);
        }
        return this;
    }

    Counts counts() {
        return engine.counts();
    }

    /// The values of a group, as texts.
    List<String> values(String rollup, String... group) {
        return texts(
                engine.query(new Query(rollup, List.of(group), 0, null)).lines().getFirst());
    }

    /// The groups so many levels below another one, by the values of these levels joined with `/`.
    Map<String, List<String>> below(String rollup, int levels, String... group) {
        Map<String, List<String>> values = new TreeMap<>();
        for (Answer.Line line :
                engine.query(new Query(rollup, List.of(group), levels, null)).lines()) {
            List<String> path = line.group().subList(group.length, line.group().size());
            if (path.size() == levels) {
                values.put(String.join("/", path), texts(line));
            }
        }
        return values;
    }

    /// A top list over the leaves: names and values, greatest first.
    List<String> top(String rollup, int count, String measure) {
        List<String> lines = new ArrayList<>();
        Query.Top top = new Query.Top(count, measure);
        engine.query(new Query(rollup, List.of(), Integer.MAX_VALUE, top))
                .lines()
                .forEach(line -> lines.add(String.join("/", line.group()) + " " + texts(line)));
        return lines;
    }

    /// Asserts that shuffled events, followed by the same ones in order, come to what they come to in order alone.
    ///
    /// @param shuffles how many orders are tried, each with its seed
    /// @param also what else must be so of each
    static void assertSameInAnyOrder(String example, String events, Path data, int shuffles, Consumer<Folded> also) {
        List<?> inOrder;
        try (Folded folded = begin(example, data.resolve("in-order")).fold(RealInput.source(events))) {
            inOrder = folded.everything();
        }
        for (long seed = 1; seed <= shuffles; seed++) {
            try (Folded folded = begin(example, data.resolve("shuffled-" + seed))
                    .fold(RealInput.shuffled(events, seed), RealInput.source(events))) {
                assertThat(folded.everything()).as("seed %d", seed).isEqualTo(inOrder);
                also.accept(folded);
            }
        }
    }

    /// All there is to ask, of all roll-ups.
    List<Answer.Line> everything() {
        List<Answer.Line> lines = new ArrayList<>();
        for (Rollup rollup : Rollups.of(engine.pipeline()).all()) {
            lines.addAll(engine.query(Query.all(rollup.name())).lines());
        }
        return lines;
    }

    /// Holds the totals against the rows.
    void requireVerified() {
        assertThat(engine.verify().differences()).isEmpty();
    }

    private static List<String> texts(Answer.Line line) {
        return line.values().stream()
                .map(value -> value == null ? "none" : plain(value))
                .toList();
    }

    private static String plain(BigDecimal value) {
        return value.signum() == 0 ? "0" : value.stripTrailingZeros().toPlainString();
    }

    /// The groups of an oracle's answer, with these figures of each.
    static Map<String, List<String>> expected(JsonNode groups, String... figures) {
        return expected(groups, node -> {
            List<String> values = new ArrayList<>();
            for (String figure : figures) {
                values.add(plain(node.get(figure).decimalValue()));
            }
            return values;
        });
    }

    /// The groups of an oracle's answer.
    static Map<String, List<String>> expected(JsonNode groups, Function<JsonNode, List<String>> figures) {
        Map<String, List<String>> expected = new TreeMap<>();
        groups.properties().forEach(group -> expected.put(group.getKey(), figures.apply(group.getValue())));
        return expected;
    }

    @Override
    public void close() {
        engine.close();
    }
}
