package dev.onefold.api.reading;

import dev.onefold.core.SealedBatches.Decided;
import dev.onefold.core.SealedBatches.Line;
import dev.onefold.core.SealedBatches.Summary;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.document.Node;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// Reads what [dev.onefold.core.form.BatchJson] wrote.
public final class BatchReading {
    private BatchReading() {}

    public static Summary summary(Node json) {
        Node heldUpBy = JsonReading.find(json, "held_up_by");
        return new Summary(
                JsonReading.number(json, "open_records"),
                instant(json, "open_since"),
                JsonReading.number(json, "sealed"),
                JsonReading.number(json, "done"),
                JsonReading.number(json, "undelivered"),
                (int) JsonReading.number(json, "delivering"),
                (int) JsonReading.number(json, "in_doubt"),
                (int) JsonReading.number(json, "put_aside"),
                instant(json, "undelivered_since"),
                heldUpBy == null ? null : number(json, "held_up_by"),
                JsonReading.number(json, "bytes"),
                new Decided(
                        JsonReading.number(json, "said_delivered"),
                        JsonReading.number(json, "discarded"),
                        JsonReading.number(json, "discarded_records")),
                instant(json, "intake_waits_since"));
    }

    private static @Nullable Instant instant(Node json, String name) {
        return JsonReading.find(json, name) == null ? null : Instant.parse(JsonReading.text(json, name));
    }

    private static BatchNumber number(Node json, String name) {
        return BatchNumber.read(JsonReading.text(json, name))
                .orElseThrow(() -> new IllegalStateException("The engine's answer has no number of a batch"));
    }

    public static Line line(Node json) {
        return new Line(
                number(json, "number"),
                JsonReading.text(json, "batch"),
                (int) JsonReading.number(json, "records"),
                JsonReading.number(json, "bytes"),
                Instant.parse(JsonReading.text(json, "sealed")),
                JsonReading.text(json, "state"),
                (int) JsonReading.number(json, "attempts"),
                JsonReading.find(json, "reason") == null ? "" : JsonReading.text(json, "reason"),
                instant(json, "next"));
    }
}
