package dev.onefold.core.grammar;

import dev.onefold.core.document.Problem;
import dev.onefold.core.pipeline.Pipeline;
import java.util.List;

/// Reads JSON pipelines for tests. The frames put the tested text at the beginning of line 3.
public final class Read {
    private Read() {}

    public static Pipeline pipeline(String json) {
        return switch (PipelineText.read(json)) {
            case Reading.Read(Pipeline pipeline) -> pipeline;
            case Reading.Refused(List<Problem> problems) -> throw new AssertionError("Refused: " + problems);
        };
    }

    public static List<String> problems(String json) {
        return switch (PipelineText.read(json)) {
            case Reading.Read(Pipeline pipeline) -> List.of();
            case Reading.Refused(List<Problem> problems) ->
                problems.stream().map(Problem::toString).toList();
        };
    }

    public static String withInput(String settings) {
        return """
                {"pipeline": "p",
                "input": {
                %s
                },
                "rollup": {"levels": [], "measures": {"n": "count()"}}}""".formatted(settings);
    }

    public static String withRollup(String settings) {
        return """
                {"pipeline": "p", "input": {},
                "rollup": {
                %s
                }}""".formatted(settings);
    }

    public static String withFilter(String condition) {
        return withInput("\"filter\": \"" + condition.replace("\"", "\\\"") + "\"");
    }

    public static String withLevel(String level) {
        return withRollup(
                "\"measures\": {\"n\": \"count()\"}, \"levels\": [\n\"" + level.replace("\"", "\\\"") + "\"]");
    }

    public static String withMeasure(String measure) {
        return withRollup("\"levels\": [], \"measures\": {\"m\":\n\"" + measure.replace("\"", "\\\"") + "\"}");
    }
}
