package dev.onefold.core.form;

import dev.onefold.core.Counts;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.Status;
import dev.onefold.core.Verification;
import dev.onefold.core.bytes.Utf8;
import dev.onefold.core.document.Json;
import dev.onefold.core.event.Event;
import dev.onefold.core.event.Version;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.pipeline.Measure;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.process.KeyState;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Ranked;
import dev.onefold.core.query.TableAnswer;
import dev.onefold.core.shape.Value;
import dev.onefold.core.state.Amount;
import dev.onefold.core.state.Row;
import java.math.BigDecimal;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// Answers as JSON: maps and lists for [Json], or text where an answer may be large.
public final class JsonForm {
    private JsonForm() {}

    /// `too large`: the form of a reason, and of every other constant.
    public static String word(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

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
        out.accept(appendCut(text, answer.cut()).append("}\n").toString());
    }

    private static StringBuilder appendCut(StringBuilder text, Answer.Cut cut) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("at", cut.at());
        json.put("sources", progress(cut.sources()));
        Json.append(text, json);
        return text;
    }

    /// Writes rows of tables as one JSON object, each row on a line of its own.
    ///
    /// @param pipeline its name
    /// @param form of a row: [Value#plain], or something that a client of ours reads back
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
        out.accept(appendCut(text, answer.cut()).append("}\n").toString());
    }

    /// The state of a key that a function folds. `gaps` is `null` where it is not known.
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
                                "reason", word(letter.letter().reason())))
                        .toList());
        return json;
    }

    private static List<Map<String, Object>> progress(List<Answer.Progress> sources) {
        return sources.stream()
                .map(source -> {
                    Map<String, Object> json = new LinkedHashMap<>();
                    json.put("source", source.source());
                    json.put("records", source.records());
                    json.put("bytes", source.bytes());
                    return json;
                })
                .toList();
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

    /// A dead letter, without its record.
    public static Map<String, Object> letter(DeadLetter letter) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("id", letter.id());
        json.put("reason", word(letter.reason()));
        json.put("message", letter.message());
        json.put("source", letter.place().source());
        json.put("line", letter.place().line());
        json.put("offset", letter.place().offset());
        json.put("bytes", letter.bytes());
        json.put("kept", letter.kept());
        json.put("content", word(letter.content()));
        json.put("edited", letter.edited());
        json.put("sha256", letter.sha256());
        json.put("at", letter.at());
        return json;
    }

    /// The same with the record: as base64, and as text if it is UTF-8.
    public static Map<String, Object> letter(DeadLetter letter, byte[] record) {
        Map<String, Object> json = letter(letter);
        json.put("base64", Base64.getEncoder().encodeToString(record));
        Utf8.decode(record).ifPresent(text -> json.put("text", text));
        return json;
    }

    /// How an engine is.
    ///
    /// @param pipeline its name
    public static Map<String, Object> status(String pipeline, Status status) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("pipeline", pipeline);
        json.put("at", status.at());
        json.putAll(counts(status.counts()));
        Map<String, Object> reasons = new LinkedHashMap<>();
        status.deadLettersByReason().forEach((reason, count) -> reasons.put(word(reason), count));
        json.put("deadLetters", status.deadLetters());
        json.put("deadLettersCounted", status.deadLettersCounted());
        json.put("deadLettersByReason", reasons);
        json.put("rows", status.rows());
        json.put("memoryBytes", status.stateBytes());
        json.put("diskBytes", status.diskBytes());
        json.put("checkpoint", status.checkpoint());
        json.put("checkpointAt", status.checkpointAt());
        json.put("checkpointAgeMs", status.checkpointAge().toMillis());
        json.put("lagBytes", status.lagBytes());
        json.put("lags", status.lags());
        status.waitingForSpaceSince().ifPresent(since -> json.put("waitingForSpaceSince", since));
        json.put("definitionPending", status.definitionPending());
        status.function().ifPresent(function -> json.put("function", function(function)));
        status.batches().ifPresent(batches -> json.put("batches", BatchJson.of(batches)));
        status.writes().ifPresent(writes -> json.put("writes", writes(writes)));
        status.publication().ifPresent(publication -> json.put("publication", publication(publication)));
        json.put("sources", progress(status.sources()));
        return json;
    }

    private static Map<String, Object> writes(Status.OfWrites writes) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("forces", writes.forces());
        json.put("forcesNanos", writes.forcesNanos());
        json.put("checkpoints", writes.checkpoints());
        json.put("checkpointsNanos", writes.checkpointsNanos());
        return json;
    }

    private static Map<String, Object> publication(Status.OfPublication publication) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("cut", publication.cut());
        publication.cutAt().ifPresent(at -> json.put("cutAt", at));
        publication.failingSince().ifPresent(since -> json.put("failingSince", since));
        json.put("failure", publication.failure());
        return json;
    }

    private static Map<String, Object> function(Status.OfFunction function) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("impureCalls", function.impureCalls());
        function.lastImpure()
                .ifPresent(last -> json.put(
                        "lastImpureCall", Map.of("key", last.key(), "first", last.first(), "second", last.second())));
        json.put("stuckThreads", function.stuckThreads());
        function.otherJar().ifPresent(warning -> json.put("otherJar", warning));
        return json;
    }

    /// The counts of records, by fate.
    public static Map<String, Object> counts(Counts counts) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("records", counts.records());
        json.put("accepted", counts.accepted());
        json.put("duplicate", counts.duplicate());
        json.put("stale", counts.stale());
        json.put("conflicting", counts.conflicting());
        json.put("rejected", counts.rejected());
        json.put("silent", counts.silent());
        return json;
    }

    /// The result of a comparison of totals.
    public static Map<String, Object> verification(Verification verification) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("equal", verification.isEqual());
        json.put("truth", verification.truth());
        json.put("groups", verification.groups());
        json.put(
                "differences",
                verification.differences().stream()
                        .map(difference -> {
                            Map<String, Object> one = new LinkedHashMap<>();
                            one.put("rollup", difference.rollup());
                            one.put("group", difference.group());
                            one.put("served", difference.served());
                            one.put("recomputed", difference.recomputed());
                            return one;
                        })
                        .toList());
        json.put("keys", verification.keys());
        json.put(
                "keyDifferences",
                verification.keyDifferences().stream()
                        .map(difference -> {
                            Map<String, Object> one = new LinkedHashMap<>();
                            one.put("key", difference.key());
                            one.put("what", difference.what());
                            one.put("stored", difference.stored());
                            one.put("recomputed", difference.recomputed());
                            return one;
                        })
                        .toList());
        return json;
    }
}
