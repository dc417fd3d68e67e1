package dev.onefold.examples.sample;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/// A short input with invented records for one example. The same code gives the same bytes, so what lies in the
/// repository can be compared with it.
///
/// Writes all of them when it is run: `java examples/src/test/java/dev/onefold/examples/sample/Sample.java examples`.
///
/// @param file where it lies, from the folder of the examples
/// @param lines its lines, without their ends
public record Sample(String file, List<String> lines) {
    public Sample {
        lines = List.copyOf(lines);
    }

    /// All samples but that of trade risk, which `onefold generate` makes.
    public static List<Sample> all() {
        return List.of(
                new Sample("power-outages/sample.ndjson", OutageLines.make()),
                new Sample("project-stars/sample.ndjson", StarLines.make()),
                new Sample("earthquakes/sample.ndjson", QuakeLines.make()),
                new Sample("marathon/sample.ndjson", CrossingLines.make()),
                new Sample("outages-cdc/sample.ndjson", ChangeLines.make()),
                new Sample("till-receipts/sample.csv", ReceiptLines.make()),
                new Sample("runners/sample.ndjson", RunLines.make()));
    }

    /// The file's content.
    public String text() {
        return String.join("\n", lines) + "\n";
    }

    public static void main(String[] arguments) throws IOException {
        for (Sample sample : all()) {
            Files.writeString(Path.of(arguments[0]).resolve(sample.file), sample.text(), StandardCharsets.UTF_8);
        }
    }

    /// Any of these.
    static <T> T any(Random random, List<T> choices) {
        return choices.get(random.nextInt(choices.size()));
    }

    /// The lines with some sent twice, and some sent behind later ones.
    static List<String> unreliably(Random random, List<String> lines, double duplicates, double late) {
        List<String> sent = new ArrayList<>();
        List<String> held = new ArrayList<>();
        for (String line : lines) {
            if (random.nextDouble() < late) {
                held.add(line);
                continue;
            }
            sent.add(line);
            if (random.nextDouble() < duplicates) {
                sent.add(sent.get(random.nextInt(Math.max(0, sent.size() - 10), sent.size())));
            }
            if (!held.isEmpty() && random.nextInt(12) == 0) {
                sent.add(held.removeFirst());
            }
        }
        sent.addAll(held);
        return sent;
    }
}
