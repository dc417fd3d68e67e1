package dev.onefold.api;

import dev.onefold.core.SealedBatches;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Delivery;
import dev.onefold.core.document.Node;
import java.io.IOException;
import java.io.InputStream;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The batches of an engine in another process.
final class RemoteBatches implements SealedBatches {
    private static final int BUFFER_BYTES = 1 << 16;

    private final RemoteEngine engine;

    RemoteBatches(RemoteEngine engine) {
        this.engine = engine;
    }

    @Override
    public Summary summary() {
        return summary(engine.get("/batches"));
    }

    static Summary summary(Node json) {
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

    @Override
    public List<Line> list(BatchNumber from, int max, boolean isOpenOnly) {
        Node json = engine.get("/batches/list?from=" + from + "&limit=" + max + "&open=" + isOpenOnly);
        return JsonReading.list(json, "batches").stream()
                .map(RemoteBatches::line)
                .toList();
    }

    private static Line line(Node json) {
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

    @Override
    public Optional<Line> find(BatchNumber number) {
        try {
            return Optional.of(line(engine.get("/batches/" + number)));
        } catch (Client.Missing none) {
            return Optional.empty();
        }
    }

    @Override
    public Line release(BatchNumber number) {
        return line(engine.post("/batches/" + number + "/release", null));
    }

    @Override
    public Line settle(BatchNumber number, Delivery.How how) {
        String word = how == Delivery.How.DISCARDED ? "discarded" : "delivered";
        return line(engine.post("/batches/" + number + "/settle?how=" + word, null));
    }

    @Override
    public void export(BatchNumber number, Consumer<byte[]> sink) {
        engine.ask(Client.Way.GET, "/batches/" + number + "/content", null, answer -> copy(answer, sink));
    }

    private static boolean copy(InputStream answer, Consumer<byte[]> sink) throws IOException {
        byte[] buffer = new byte[BUFFER_BYTES];
        for (int read = answer.read(buffer); read >= 0; read = answer.read(buffer)) {
            sink.accept(Arrays.copyOf(buffer, read));
        }
        return true;
    }

    @Override
    public boolean seal() {
        return JsonReading.truth(engine.post("/batches/seal", null), "sealed");
    }
}
