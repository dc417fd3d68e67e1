package dev.onefold.simulator.batches;

import dev.onefold.core.BatchContract;
import dev.onefold.core.Engine;
import dev.onefold.core.batch.Manifest;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.BiFunction;
import org.junit.jupiter.api.io.TempDir;

/// Batches on one machine keep the contract.
class EmbeddedBatchContractTest implements BatchContract {
    @TempDir
    Path folder;

    private int engines;

    @Override
    public Running open(Pipeline pipeline, BiFunction<Manifest, List<String>, Outcome> receiver) {
        return new OnOneMachine(folder.resolve("data" + ++engines), pipeline, receiver);
    }

    private static final class OnOneMachine implements Running {
        private Instant now = Instant.parse("2030-01-01T00:00:00Z");
        private final EmbeddedEngine engine;

        OnOneMachine(Path data, Pipeline pipeline, BiFunction<Manifest, List<String>, Outcome> receiver) {
            engine = EmbeddedEngine.open(
                    data,
                    pipeline,
                    Settings.defaults().withThreads(0).withShards(1).withClock(() -> now));
            engine.deliver((manifest, _, content) -> {
                try (InputStream in = content.open()) {
                    String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
                    return receiver.apply(manifest, text.lines().toList());
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
        }

        @Override
        public Engine engine() {
            return engine;
        }

        @Override
        public void feed(List<String> records) {
            engine.append("me", records);
            engine.checkpointNow();
        }

        @Override
        public void passed(Duration time) {
            for (long minute = 0; minute < time.toMinutes(); minute++) {
                now = now.plus(Duration.ofMinutes(1));
                int _ = engine.deliverDue();
                engine.checkpointNow();
                int _ = engine.deliverDue();
            }
        }

        @Override
        public void close() {
            engine.close();
        }
    }
}
