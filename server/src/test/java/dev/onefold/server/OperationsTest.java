package dev.onefold.server;

import static dev.onefold.server.RunningService.record;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.document.JsonText;
import dev.onefold.core.document.Node;
import dev.onefold.core.document.Problems;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.FoldListener;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The dashboard and the alert rules ask for metrics, labels and values that the service has.
@Timeout(60)
class OperationsTest {
    private static final Pattern METRIC = Pattern.compile("\\bonefold_[a-z_]+");
    private static final Pattern MATCHER = Pattern.compile("([a-z]+)=~?\\\\?\"([^\"\\\\]+)\\\\?\"");
    private static final Pattern GROUPING = Pattern.compile("(?:by|on) \\(([a-z, ]+)\\)");

    @TempDir
    Path directory;

    @Test
    void the_dashboard_and_the_alerts_ask_for_what_the_service_has() throws Exception {
        String dashboard = Files.readString(Path.of("../operations/grafana.json"));
        String alerts = Files.readString(Path.of("../operations/alerts.yaml"));
        assertThat(JsonText.read(dashboard, new Problems())).isInstanceOf(Node.Mapping.class);
        try (RunningService on = new RunningService(directory)) {
            on.post("/v1/trades/records", record(1, "1"));
            Path file = Files.writeString(directory.resolve("in.ndjson"), record(2, "1"));
            ((EmbeddedEngine) on.trades).fold(FileSource.of(file), FoldListener.silent());
            String metrics = on.get("/metrics").body();
            for (String text : List.of(dashboard, alerts)) {
                assertThat(found(METRIC, text, 0)).hasSizeGreaterThan(9).isSubsetOf(found(METRIC, metrics, 0));
                for (String labels : found(GROUPING, text, 1)) {
                    assertThat(List.of(labels.split(", ", -1)))
                            .isSubsetOf("pipeline", "fate", "le", "status", "state", "instance");
                }
                MATCHER.matcher(text).results().forEach(matcher -> {
                    for (String value : matcher.group(2).split("\\|", -1)) {
                        boolean isFree = value.startsWith("$")
                                || List.of("status", "job").contains(matcher.group(1));
                        assertThat(isFree || metrics.contains(matcher.group(1) + "=\"" + value + "\""))
                                .as(matcher.group())
                                .isTrue();
                    }
                });
            }
            // Nothing is measured that nobody sees.
            Set<String> shown = found(METRIC, dashboard, 0).stream()
                    .map(name -> name.replaceFirst("_(sum|count|bucket)$", ""))
                    .collect(Collectors.toCollection(TreeSet::new));
            assertThat(shown).containsAll(found(Pattern.compile("(?m)^# TYPE (\\S+)"), metrics, 1));
        }
    }

    private static Set<String> found(Pattern pattern, String text, int group) {
        return pattern.matcher(text)
                .results()
                .map(found -> found.group(group))
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
