package dev.onefold.benchmark;

import dev.onefold.core.batch.Outcome;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.embedded.delivery.Carrier;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/// Batches that are sealed already, delivered in an order to a receiver that takes no time.
///
/// @param keys record n has the key n % keys
/// @param isHeld whether the first record of key 0 fails, so that all of its key wait
record OrderRun(String order, int records, int keys, int size, boolean isHeld) {
    private static final int CHUNK = 10_000;
    private static final long POLL_MS = 5;

    private Pipeline pipeline() {
        String text = """
                {
                  "pipeline": "order",
                  "input": {"id": "id"%s},
                  "batch": {
                    "size": %d, "order": "%s", "concurrency": 16,
                    "deliver": {"http": "http://host/"}, "receiver": "idempotent"
                  }
                }
                """.formatted(order.equals("key") ? ",\"key\":\"k\"" : "", size, order);
        return ((Reading.Read) PipelineText.read(text)).pipeline();
    }

    private Outcome take(Carrier.Content content) {
        try (InputStream in = content.open()) {
            boolean isFirst = new String(in.readAllBytes(), StandardCharsets.UTF_8).startsWith("{\"id\":0,");
            return isHeld && isFirst ? new Outcome.NotNow("down", Duration.ofDays(1)) : new Outcome.Done();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Prints the rate.
    void print(Path directory) throws InterruptedException {
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, pipeline(), Settings.defaults())) {
            for (int from = 0; from < records; from += CHUNK) {
                List<String> lines = IntStream.range(from, Math.min(records, from + CHUNK))
                        .mapToObj(id -> "{\"id\":" + id + ",\"k\":" + id % keys + "}")
                        .toList();
                engine.append("lines", lines);
            }
            engine.checkpointNow();
            int wanted = (records - (isHeld ? (records - 1) / keys + 1 : 0)) / size;
            long began = System.nanoTime();
            engine.deliver((_, _, content) -> take(content));
            while (engine.batches().summary().done() < wanted) {
                Thread.sleep(POLL_MS);
            }
            double seconds = (System.nanoTime() - began) / 1e9;
            System.out.printf(
                    Locale.ROOT,
                    "order %-4s size %-5d %,d records of %,d keys%s: %,.0f batches/s%n",
                    order,
                    size,
                    records,
                    keys,
                    isHeld ? ", one held" : "",
                    wanted / seconds);
        }
    }
}
