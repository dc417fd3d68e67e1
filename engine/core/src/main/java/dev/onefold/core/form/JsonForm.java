package dev.onefold.core.form;

import dev.onefold.core.DeadLetters;
import dev.onefold.core.event.Event;
import dev.onefold.core.event.Version;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.json.Json;
import dev.onefold.core.json.JsonRecord;
import dev.onefold.core.pipeline.Measure;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.process.KeyState;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.TableAnswer;
import dev.onefold.core.shape.Value;
import dev.onefold.core.state.Amount;
import dev.onefold.core.state.Row;
import dev.onefold.core.totals.Ranked;
import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// Answers as JSON: maps and lists for [Json], or text where an answer may be large.
public final class JsonForm {
    /// The cut of an answer.
    public static final JsonRecord<Answer.Cut> CUT = JsonRecord.of(Answer.Cut.class, "at sources");

    private JsonForm() {}

    /// Writes an answer as one JSON object, each group on a line of its own.
    ///
    /// @param pipeline its name
    public static void write(String pipeline, Answer answer, Consumer<String> out) {
        write(pipeline, answer, "", out);
    }

    /// Writes a part of a level in the same form, with the number of groups that are there as `below`.
    ///
    /// @param pipeline its name
    public static void write(String pipeline, Ranked ranked, Consumer<String> out) {
        write(pipeline, ranked.answer(), "\"below\":" + ranked.below() + ",\n", out);
    }

    private static void write(String pipeline, Answer answer, String more, Consumer<String> out) {
        StringBuilder text = new StringBuilder("{\"pipeline\":").append(Json.of(pipeline));
        text.append(",\"rollup\":").append(Json.of(answer.rollup()));
        text.append(",\"levels\":").append(Json.of(answer.levels()));
        text.append(",\"measures\":").append(Json.of(answer.measures())).append(",\n\"groups\":[");
        String separator = "\n";
        for (Answer.Line line : answer.lines()) {
            Map<String, @Nullable BigDecimal> values = new LinkedHashMap<>();
            for (int i = 0; i < answer.measures().size(); i++) {
                values.put(answer.measures().get(i), line.values().get(i));
            }
            text.append(separator).append("{\"group\":");
            Json.append(text, line.group());
            Json.append(text.append(",\"values\":"), values);
            out.accept(text.append('}').toString());
            text.setLength(0);
            separator = ",\n";
        }
        text.append("],\n").append(more).append("\"cut\":");
        Json.append(text, CUT.write(answer.cut()));
        out.accept(text.append("}\n").toString());
    }

    /// Writes rows of tables as one JSON object, each row on a line of its own.
    ///
    /// @param pipeline its name
    /// @param form of a row: [Value#plain], or a form that a client of ours reads back
    public static void write(
            String pipeline, TableAnswer answer, Function<Value.Fields, @Nullable Object> form, Consumer<String> out) {
        StringBuilder text = new StringBuilder("{\"pipeline\":").append(Json.of(pipeline));
        text.append(",\"tables\":[");
        String before = "\n";
        for (TableAnswer.Table table : answer.tables()) {
            text.append(before).append("{\"table\":").append(Json.of(table.name()));
            text.append(",\"columns\":").append(Json.of(table.columns())).append(",\"rows\":[");
            String separator = "\n";
            for (Value.Fields row : table.rows()) {
                Json.append(text.append(separator), form.apply(row));
                out.accept(text.toString());
                text.setLength(0);
                separator = ",\n";
            }
            text.append("\n]}");
            before = ",\n";
        }
        text.append("],\n\"cut\":");
        Json.append(text, CUT.write(answer.cut()));
        out.accept(text.append("}\n").toString());
    }

    /// The state of a key that a function folds. `gaps` is `null` if it is not known.
    ///
    /// @param letters of the key
    public static Map<String, @Nullable Object> state(KeyState state, List<DeadLetters.OfKey> letters) {
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("key", state.key());
        json.put("version", state.version().toString());
        json.put("code", state.code());
        json.put("context", state.context().plain());
        json.put("kept", state.kept());
        json.put("gaps", state.hasGaps().orElse(null));
        json.put("failed", state.failed().stream().map(Version::toString).toList());
        json.put(
                "deadLetters",
                letters.stream()
                        .map(letter -> Map.of(
                                "id", letter.letter().id(),
                                "version", letter.version().toString(),
                                "reason", JsonRecord.word(letter.letter().reason())))
                        .toList());
        return json;
    }

    /// `value decimal(18,2)`: an input of the measures, by its fields, type and condition.
    public static String input(Measure.Input input) {
        String type =
                input instanceof Measure.Input.Decimal decimal && !decimal.isCounting() ? " " + decimal.type() : "";
        return input.value() + type + PipelineText.where(input);
    }

    /// The row of a key.
    ///
    /// @param letters of the key
    public static Map<String, Object> row(Pipeline pipeline, Row row, List<DeadLetters.OfKey> letters) {
        Map<String, Object> groups = new LinkedHashMap<>();
        for (int i = 0; i < row.payload().groups().size(); i++) {
            groups.put(
                    Rollups.of(pipeline).all().get(i).name(),
                    row.payload().groups().get(i).parts());
        }
        Map<String, @Nullable Object> amounts = new LinkedHashMap<>();
        for (int i = 0; i < row.payload().amounts().size(); i++) {
            amounts.put(
                    input(Rollups.of(pipeline).inputs().get(i)),
                    switch (row.payload().amounts().get(i)) {
                        case Amount.None _ -> null;
                        case Amount.Number(var value) -> value;
                        case Amount.Text(var value) -> value;
                    });
        }
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("key", row.key());
        json.put("version", row.version().toString());
        json.put("deleted", row.payload().kind() == Event.Kind.DELETE);
        json.put("filtered", row.payload().kind() == Event.Kind.FILTERED);
        json.put("groups", groups);
        json.put("amounts", amounts);
        json.put("source", row.source());
        json.put("offset", row.offset());
        json.put(
                "deadLetters",
                letters.stream()
                        .map(letter -> Map.of(
                                "id", letter.letter().id(),
                                "version", letter.version().toString(),
                                "newer", row.isOlderThan(letter.version())))
                        .toList());
        return json;
    }
}
