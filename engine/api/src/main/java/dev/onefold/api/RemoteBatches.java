package dev.onefold.api;

import dev.onefold.core.SealedBatches;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Delivery;
import dev.onefold.core.document.Node;
import dev.onefold.core.form.EngineJson;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/// The batches of an engine in another process.
final class RemoteBatches implements SealedBatches {
    private static final int BUFFER_BYTES = 1 << 16;

    private final RemoteEngine engine;

    RemoteBatches(RemoteEngine engine) {
        this.engine = engine;
    }

    @Override
    public Summary summary() {
        return EngineJson.BATCHES.read(engine.get("/batches"));
    }

    @Override
    public List<Line> list(BatchNumber from, int max, boolean isOpenOnly) {
        Node json = engine.get("/batches/list?from=" + from + "&limit=" + max + "&open=" + isOpenOnly);
        return json.get("batches").items().stream().map(EngineJson.BATCH::read).toList();
    }

    @Override
    public Optional<Line> find(BatchNumber number) {
        try {
            return Optional.of(EngineJson.BATCH.read(engine.get("/batches/" + number)));
        } catch (Client.Missing none) {
            return Optional.empty();
        }
    }

    @Override
    public Line release(BatchNumber number) {
        return decided("/batches/" + number + "/release");
    }

    @Override
    public Line settle(BatchNumber number, Delivery.How how) {
        String word = how == Delivery.How.DISCARDED ? "discarded" : "delivered";
        return decided("/batches/" + number + "/settle?how=" + word);
    }

    /// @throws IllegalArgumentException if there is no such batch
    private Line decided(String path) {
        try {
            return engine.post(path, null, EngineJson.BATCH::read);
        } catch (Client.Missing none) {
            throw new IllegalArgumentException(none.getMessage(), none);
        }
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
        return engine.post(
                "/batches/seal",
                null,
                answer -> Boolean.parseBoolean(answer.get("sealed").text()));
    }
}
