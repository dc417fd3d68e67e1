package dev.onefold.core.form;

import dev.onefold.core.Causes;
import dev.onefold.core.Counts;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DefinitionChange;
import dev.onefold.core.DefinitionChange.FromRows;
import dev.onefold.core.DefinitionChange.FromSources;
import dev.onefold.core.DefinitionChange.Impossible;
import dev.onefold.core.DefinitionChange.None;
import dev.onefold.core.Engine.Appended;
import dev.onefold.core.Fates;
import dev.onefold.core.SealedBatches.Decided;
import dev.onefold.core.SealedBatches.Line;
import dev.onefold.core.SealedBatches.Summary;
import dev.onefold.core.Status;
import dev.onefold.core.Status.OfFunction;
import dev.onefold.core.Verification;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.bytes.Utf8;
import dev.onefold.core.document.Node;
import dev.onefold.core.json.JsonRecord;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The reports of an engine as JSON and back.
public final class EngineJson {
    /// The counts of records, by fate.
    public static final JsonRecord<Counts> COUNTS =
            JsonRecord.of(Counts.class, "records accepted duplicate stale conflicting rejected silent");

    /// The counts of records, by fate, and the causes.
    public static final JsonRecord<Fates> FATES =
            JsonRecord.of(Fates.class, "counts* causes*", COUNTS, JsonRecord.of(Causes.class, "causes=counts"));

    /// The fate of appended records.
    public static final JsonRecord<Appended> APPENDED =
            JsonRecord.of(Appended.class, "acknowledged counts* letters", COUNTS);

    /// A dead letter, without its record.
    public static final JsonRecord<DeadLetter> LETTER =
            JsonRecord.of(DeadLetter.class, "id reason message place* bytes kept content edited sha256 at");

    /// The result of a comparison of totals.
    public static final JsonRecord<Verification> VERIFICATION =
            JsonRecord.of(Verification.class, "equal=isEqual truth groups differences keys keyDifferences");

    /// The status of one batch.
    public static final JsonRecord<Line> BATCH = JsonRecord.of(
            Line.class, "number batch=id records bytes sealed state attempts reason? next?", BatchNumber.JSON);

    /// The status of all batches of a pipeline.
    public static final JsonRecord<Summary> BATCHES = JsonRecord.of(
            Summary.class,
            "open_records=openRecords open_since=openSince? sealed done undelivered waiting delivering"
                    + " in_doubt=inDoubt put_aside=aside undelivered_since=undeliveredSince? held_up_by=heldUpBy? bytes"
                    + " decided* intake_waits_since=intakeWaitsSince?",
            BatchNumber.JSON,
            JsonRecord.of(Decided.class, "said_delivered=delivered discarded discarded_records=discardedRecords"));

    private static final JsonRecord<Status> STATUS = JsonRecord.of(
            Status.class,
            "at counts* causes=byCause deadLetters deadLettersCounted deadLettersByReason rows memoryBytes=stateBytes diskBytes"
                    + " checkpoint checkpointAt checkpointAgeMs=checkpointAge lagBytes lags waitingForSpaceSince"
                    + " definitionPending function batches writes publication sources delays logs",
            COUNTS,
            BATCHES,
            JsonRecord.of(OfFunction.class, "impureCalls lastImpureCall=lastImpure stuckThreads otherJar"));

    private static final JsonRecord<FromRows> FROM_ROWS = JsonRecord.of(FromRows.class, "");
    private static final JsonRecord<FromSources> FROM_SOURCES = JsonRecord.of(FromSources.class, "");
    private static final JsonRecord<Impossible> IMPOSSIBLE = JsonRecord.of(Impossible.class, "");

    private EngineJson() {}

    /// The status of an engine.
    ///
    /// @param pipeline its name
    public static Map<String, @Nullable Object> status(String pipeline, Status status) {
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("pipeline", pipeline);
        json.putAll(STATUS.write(status));
        return json;
    }

    /// Reads a status.
    public static Status status(Node json) {
        List<Node.Entry> entries = new ArrayList<>(json.entries()); // An engine of an earlier version gives less.
        if (json.find("lags") == null) {
            entries.add(Node.entry("lags", Map.of("files", json.get("lagBytes"))));
        }
        addCauses(json, entries);
        if (json.find("delays") == null) {
            entries.add(Node.entry("delays", List.of()));
        }
        if (json.find("logs") == null) {
            entries.add(Node.entry("logs", List.of()));
        }
        return STATUS.read(new Node.Mapping(entries, json.place()));
    }

    private static void addCauses(Node json, List<Node.Entry> entries) {
        if (json.find("causes") == null) {
            entries.add(Node.entry("causes", Map.of()));
        }
    }

    /// Reads counts and causes.
    public static Fates fates(Node json) {
        List<Node.Entry> entries = new ArrayList<>(json.entries());
        addCauses(json, entries);
        return FATES.read(new Node.Mapping(entries, json.place()));
    }

    /// How a data directory can follow another definition: the way and its consequences.
    public static Map<String, @Nullable Object> change(DefinitionChange change) {
        return switch (change) {
            case None _ -> way("none", Map.of());
            case FromRows rows -> way("rows", FROM_ROWS.write(rows));
            case FromSources sources -> way("sources", FROM_SOURCES.write(sources));
            case Impossible impossible -> way("impossible", IMPOSSIBLE.write(impossible));
        };
    }

    private static Map<String, @Nullable Object> way(String way, Map<String, ? extends @Nullable Object> members) {
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("way", way);
        json.putAll(members);
        return json;
    }

    /// Reads such a change.
    public static DefinitionChange change(Node json) {
        return switch (json.get("way").text()) {
            case "none" -> new None();
            case "rows" -> FROM_ROWS.read(json);
            case "sources" -> FROM_SOURCES.read(json);
            default -> IMPOSSIBLE.read(json);
        };
    }

    /// A dead letter with its record: as base64, and as text if it is UTF-8.
    public static Map<String, @Nullable Object> letter(DeadLetter letter, byte[] record) {
        Map<String, @Nullable Object> json = LETTER.write(letter);
        json.put("base64", Base64.getEncoder().encodeToString(record));
        Utf8.decode(record).ifPresent(text -> json.put("text", text));
        return json;
    }
}
