package dev.onefold.benchmark;

import dev.onefold.core.SealedBatches.Summary;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.FoldListener;
import dev.onefold.receivers.Context;
import dev.onefold.receivers.Handover;
import dev.onefold.receivers.Receiver;
import dev.onefold.receivers.Receivers;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;

/// Batches of distinct messages by the engine, with all its guarantees: ids and members are durable before a batch is
/// delivered, and each file has its manifest.
final class BurstRun {
    private static final long POLL_MS = 10;
    private static final int BUFFER_BYTES = 1 << 16;

    private BurstRun() {}

    /// Folds a file from its beginning to its end into a new directory, and delivers all batches.
    static Meter.Run deliver(Path input, Path directory, Path folder, int size, String end)
            throws InterruptedException {
        Pipeline pipeline = pipeline(size, end);
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, pipeline, Settings.defaults());
                Receiver receiver = Receivers.open(
                        (Batching) pipeline.fold(),
                        Context.of(folder, folder, pipeline.input().format()))) {
            Meter meter = new Meter();
            engine.deliver(
                    (manifest, attempt, content) -> receiver.deliver(new Handover(manifest, attempt, content::open)));
            engine.fold(
                    new FileSource(input.toString(), () -> Files.newInputStream(input), false), FoldListener.silent());
            engine.batches().seal();
            for (Summary now = engine.batches().summary();
                    !now.isQuiet();
                    now = engine.batches().summary()) {
                Thread.sleep(POLL_MS);
            }
            return meter.stop("engine", engine.counts().records());
        } catch (InterruptedException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException("The receiver could not be closed", e);
        }
    }

    private static Pipeline pipeline(int size, String end) {
        String text = """
                {
                  "pipeline": "burst",
                  "input": {"id": "id"},
                  "batch": {
                    "size": %d,
                    "compare": "none",
                    "deliver": {"file": "burst-{number}.ndjson%s", "manifest": true}
                  }
                }
                """.formatted(size, end);
        return ((Reading.Read) PipelineText.read(text)).pipeline();
    }

    /// Says what is in the files of a folder: of each its records and the SHA-256 of its content, decompressed.
    static void print(Path folder) throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.list(folder)) {
            files = all.filter(file -> file.toString().contains(".ndjson"))
                    .sorted()
                    .toList();
        }
        byte[] buffer = new byte[BUFFER_BYTES];
        for (int number = 1; number <= files.size(); number++) {
            Path file = files.get(number - 1);
            MessageDigest digest = digest();
            long records = 0;
            try (InputStream raw = Files.newInputStream(file);
                    InputStream in = file.toString().endsWith(".gz") ? new GZIPInputStream(raw, BUFFER_BYTES) : raw) {
                for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
                    digest.update(buffer, 0, read);
                    for (int i = 0; i < read; i++) {
                        records += buffer[i] == '\n' ? 1 : 0;
                    }
                }
            }
            System.out.println(
                    "total\t" + number + "\t" + records + "\t" + HexFormat.of().formatHex(digest.digest()));
        }
    }

    private static MessageDigest digest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every JDK has SHA-256", e);
        }
    }
}
