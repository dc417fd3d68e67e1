package dev.onefold.receivers;

import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Manifest;
import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Batching.Destination;
import dev.onefold.core.pipeline.Batching.Kind;
import dev.onefold.core.pipeline.Input.Format;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// Batches of a pipeline `quakes`, and where they go.
final class Sample {
    static final Instant SEALED = Instant.parse("2026-02-03T04:05:06Z");

    private Sample() {}

    static Manifest manifest(BatchNumber number, byte[] content, long records) {
        return new Manifest(
                Manifest.id("quakes", number),
                number,
                "",
                records,
                content.length,
                Sha256.hex(content),
                "",
                "",
                SEALED,
                SEALED,
                SEALED);
    }

    static Handover handover(long number, String content) {
        byte[] bytes = content.getBytes(StandardCharsets.UTF_8);
        Manifest manifest =
                manifest(BatchNumber.of(number), bytes, content.lines().count());
        return new Handover(manifest, 1, () -> new ByteArrayInputStream(bytes));
    }

    static Destination destination(Kind kind, List<String> target, Map<String, String> options) {
        return new Destination(kind, target, new TreeMap<>(options));
    }

    static Batching batching(Destination destination) {
        return batching(destination, Batching.Receiver.IDEMPOTENT);
    }

    static Batching batching(Destination destination, Batching.Receiver receiver) {
        return new Batching(
                10,
                Batching.BYTES_DEFAULT,
                Duration.ofMinutes(1),
                destination,
                receiver,
                false,
                Batching.Order.STRICT,
                1,
                Batching.RETRY_DEFAULT,
                new Batching.Forget.Never(),
                null);
    }

    static Receiver open(Destination destination, Path folder, Map<String, String> environment) {
        return open(destination, folder, environment, new Format.Json());
    }

    static Receiver open(Destination destination, Path folder, Map<String, String> environment, Format format) {
        return open(batching(destination), folder, environment, format);
    }

    static Receiver open(Batching batching, Path folder, Map<String, String> environment, Format format) {
        return Receivers.open(
                batching,
                new Context(folder, folder, environment::get, Sample.class.getClassLoader(), Map.of(), format));
    }
}
