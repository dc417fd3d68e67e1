package dev.onefold.tables.compare;

import dev.onefold.core.event.Version;
import dev.onefold.core.form.RowLine;
import dev.onefold.core.json.Json;
import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.state.Row;
import dev.onefold.core.state.RowMark;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/// Makes the records that repair differences, all of them [dev.onefold.core.bytes.RecordKind#ROW]. Holds no
/// state.
///
/// If versions are places in a log, a repair is at the place of the stored row, with the number of the
/// re-sync: above the stored version, and below every change that the log can still bring. So a concurrent
/// change always wins. The numbers of re-syncs and seedings are drawn from one sequence, so a later re-sync
/// or seeding is above an earlier one, whichever arrives first, and no two of them ever make two contents of
/// one version.
///
/// If the version is the user's own, a repair is the row as the source has it, and a ghost is deleted at the
/// stored version.
final class Repairs {
    private final Pipeline pipeline;
    private final Number number;

    /// The re-sync that the repairs are of.
    ///
    /// @param generation of the log that the pipeline reads
    /// @param value of the re-sync, above that of each earlier one and of each earlier seeding
    record Number(long generation, long value) {}

    Repairs(Pipeline pipeline, Number number) {
        this.pipeline = pipeline;
        this.number = number;
    }

    /// The record, without a line end.
    byte[] record(Difference finding) {
        Row ours = finding.ours();
        SourceRow theirs = finding.theirs();
        if (RowMark.hasOwnVersion(pipeline)) {
            return theirs == null
                    ? RowLine.removedAt(Objects.requireNonNull(ours).version(), keyJson(finding.key()))
                    : RowLine.of(theirs.row());
        }
        Version place = ours == null
                ? Version.of(number.generation(), BigInteger.ZERO, number.value())
                : Version.of(
                        ours.version().generation(),
                        ours.version().position(),
                        Math.max(number.value(), ours.version().repair() + 1));
        return theirs == null ? RowLine.removed(place, keyJson(finding.key())) : RowLine.of(place, theirs.row());
    }

    private byte[] keyJson(List<String> key) {
        List<FieldPath> fields = ((Identity.Versioned) pipeline.input().identity()).key();
        Map<String, Object> json = new LinkedHashMap<>();
        for (int i = 0; i < fields.size(); i++) {
            put(json, fields.get(i).names(), key.get(i));
        }
        return Json.of(json).getBytes(StandardCharsets.UTF_8);
    }

    @SuppressWarnings("unchecked")
    private static void put(Map<String, Object> json, List<String> names, String value) {
        if (names.size() == 1) {
            json.put(names.getFirst(), value);
            return;
        }
        Object inner = json.computeIfAbsent(names.getFirst(), _ -> new LinkedHashMap<String, Object>());
        put((Map<String, Object>) inner, names.subList(1, names.size()), value);
    }
}
