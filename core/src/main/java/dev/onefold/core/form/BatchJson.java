package dev.onefold.core.form;

import dev.onefold.core.SealedBatches.Line;
import dev.onefold.core.SealedBatches.Summary;
import java.util.LinkedHashMap;
import java.util.Map;

/// Batches as JSON values.
public final class BatchJson {
    private BatchJson() {}

    /// How it is with all batches of a pipeline.
    public static Map<String, Object> of(Summary summary) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("open_records", summary.openRecords());
        if (summary.openSince() != null) {
            json.put("open_since", summary.openSince());
        }
        json.put("sealed", summary.sealed());
        json.put("done", summary.done());
        json.put("undelivered", summary.undelivered());
        json.put("waiting", summary.waiting());
        json.put("delivering", summary.delivering());
        json.put("in_doubt", summary.inDoubt());
        json.put("put_aside", summary.aside());
        if (summary.undeliveredSince() != null) {
            json.put("undelivered_since", summary.undeliveredSince());
        }
        if (summary.heldUpBy() != null) {
            json.put("held_up_by", summary.heldUpBy());
        }
        json.put("bytes", summary.bytes());
        json.put("said_delivered", summary.decided().delivered());
        json.put("discarded", summary.decided().discarded());
        json.put("discarded_records", summary.decided().discardedRecords());
        if (summary.intakeWaitsSince() != null) {
            json.put("intake_waits_since", summary.intakeWaitsSince());
        }
        return json;
    }

    /// How it is with one batch.
    public static Map<String, Object> of(Line line) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("number", line.number());
        json.put("batch", line.id());
        json.put("records", line.records());
        json.put("bytes", line.bytes());
        json.put("sealed", line.sealed());
        json.put("state", line.state());
        json.put("attempts", line.attempts());
        if (!line.reason().isEmpty()) {
            json.put("reason", line.reason());
        }
        if (line.next() != null) {
            json.put("next", line.next());
        }
        return json;
    }
}
