package dev.onefold.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/// The reader that the documents show, as a process, and each cut that it has printed.
final class DocumentedReader implements AutoCloseable {
    /// A cut as it was shown.
    record Cut(long number, SortedMap<String, String> table) {}

    private final Process process;
    private final BufferedReader lines;
    private final List<Cut> cuts = new ArrayList<>();

    DocumentedReader(String servers, String topic) throws IOException {
        Path folder = Path.of("").toAbsolutePath();
        while (!Files.exists(folder.resolve("docs/TotalsReader.java"))) {
            folder = folder.getParent();
        }
        process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx256m",
                        "-XX:+UseSerialGC",
                        "-cp",
                        System.getProperty("java.class.path"),
                        folder.resolve("docs/TotalsReader.java").toString(),
                        servers,
                        topic)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        lines = process.inputReader();
    }

    /// Reads on until a cut was shown that has at least this number.
    void await(long number) throws IOException {
        while (cuts.isEmpty() || cuts.getLast().number() < number) {
            String line = lines.readLine();
            assertThat(line).as("the reader goes on").isNotNull();
            if (line.startsWith("Cut ")) {
                int space = line.indexOf(' ', 4);
                cuts.add(new Cut(Long.parseLong(line.substring(4, space)), table(line.substring(space + 1))));
            }
        }
    }

    private static SortedMap<String, String> table(String text) {
        SortedMap<String, String> table = new TreeMap<>();
        for (String entry : text.substring(1, text.length() - 1).split(", ", -1)) {
            int at = entry.indexOf('=');
            table.put(entry.substring(0, at), entry.substring(at + 1));
        }
        return table;
    }

    /// All that were shown, in their order.
    List<Cut> cuts() {
        return cuts;
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
