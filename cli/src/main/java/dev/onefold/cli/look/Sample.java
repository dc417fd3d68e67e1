package dev.onefold.cli.look;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.run.InputFile;
import dev.onefold.core.document.JsonText;
import dev.onefold.core.document.Node;
import dev.onefold.core.document.Problems;
import dev.onefold.core.event.RecordEnds;
import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.core.pipeline.Input.Records;
import dev.onefold.embedded.source.JsonRecords;
import dev.onefold.tables.FileRows;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/// The first records of a file, whatever it is: lines of JSON, or CSV with a header.
///
/// @param delimiter of CSV; 0 for JSON
/// @param comment at the beginning of its comments; 0 if it begins with none
/// @param held how the file holds records of JSON
/// @param records those that are objects
/// @param others how many are not
/// @param isWhole whether the file has no more
record Sample(char delimiter, char comment, Records held, List<Node> records, int others, boolean isWhole) {
    static final int RECORDS_MAX = 10_000;

    private static final int HEAD_BYTES = 1 << 16;
    private static final char COMMENT = '#';
    private static final String DELIMITERS = ",;\t|";

    /// @throws CommandFailure if the file is neither
    static Sample of(Caller caller, InputFile file) throws IOException {
        String head;
        try (InputStream in = file.open()) {
            head = new String(in.readNBytes(HEAD_BYTES), StandardCharsets.UTF_8).replaceFirst("^\ufeff", "");
        }
        String begin = head.stripLeading();
        if (begin.isEmpty()) {
            throw new CommandFailure(ExitCode.DIFFERENT, "The file is empty: there is nothing to see.");
        }
        if (begin.startsWith("{") || begin.startsWith("[")) {
            byte[] bytes = begin.getBytes(StandardCharsets.UTF_8);
            return read(file, (char) 0, (char) 0, JsonRecords.seen(bytes, bytes.length));
        }
        String behind = begin.lines()
                .dropWhile(line -> line.charAt(0) == COMMENT)
                .findFirst()
                .orElse("");
        char delimiter = delimiter(behind);
        long columns = count(begin.lines().findFirst().orElse(""), delimiter);
        boolean hasComments = begin.charAt(0) == COMMENT && columns != count(behind, delimiter);
        return hasComments
                ? read(file, delimiter, COMMENT, Records.LINES)
                : read(file, delimiter(begin), (char) 0, Records.LINES);
    }

    /// The separator that the first line has most of.
    private static char delimiter(String begin) {
        String header = begin.lines().findFirst().orElse("");
        char best = ',';
        for (int i = 0; i < DELIMITERS.length(); i++) {
            char each = DELIMITERS.charAt(i);
            best = count(header, each) > count(header, best) ? each : best;
        }
        return best;
    }

    private static long count(String text, char wanted) {
        return text.chars().filter(each -> each == wanted).count();
    }

    private static Sample read(InputFile file, char delimiter, char comment, Records held) throws IOException {
        FileRows.Form form = delimiter == 0
                ? new FileRows.Form.Lines(false, RecordEnds.LINES)
                : new FileRows.Form.Csv(delimiter, comment);
        List<Node> records = new ArrayList<>();
        AtomicLong seen = new AtomicLong();
        FileRows.Content content =
                FileRows.Content.of(file.path(), file.read(), () -> JsonRecords.of(held, file.open()));
        try (FileRows rows = new FileRows(content, form)) {
            rows.read(Map.of(), some -> {
                for (String line : new String(some.lines(), 0, some.length(), StandardCharsets.UTF_8)
                        .replaceFirst("^\ufeff", "")
                        .split("\n", -1)) {
                    if (!line.isBlank() && seen.get() < RECORDS_MAX) {
                        seen.incrementAndGet();
                        if (JsonText.read(line.strip(), new Problems()) instanceof Node.Mapping record) {
                            records.add(record);
                        }
                    }
                }
                return seen.get() < RECORDS_MAX;
            });
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("Interrupted while a file was looked at");
        }
        return new Sample(
                delimiter, comment, held, records, (int) seen.get() - records.size(), seen.get() < RECORDS_MAX);
    }

    /// The records inside of a field that holds them as texts; empty if not all are such.
    Optional<Sample> inside(String name) {
        List<Node> inner = new ArrayList<>();
        for (Node record : records) {
            if (record.find(name) instanceof Node.Scalar text
                    && JsonText.read(text.text(), new Problems()) instanceof Node.Mapping event) {
                inner.add(event);
            }
        }
        return inner.size() == records.size()
                ? Optional.of(new Sample(delimiter, comment, held, inner, others, isWhole))
                : Optional.empty();
    }

    /// The fields by their paths, in the order in which they come.
    List<Field> fields() {
        Map<String, Field> fields = new LinkedHashMap<>();
        records.forEach(record -> see(record, List.of(), fields));
        return List.copyOf(fields.values());
    }

    private static void see(Node record, List<String> above, Map<String, Field> fields) {
        for (Node.Entry entry : record.entries()) {
            List<String> names = new ArrayList<>(above);
            names.add(entry.name().text());
            String path = new FieldPath(names).toString();
            switch (entry.value()) {
                case Node.Mapping inner -> see(inner, names, fields);
                case Node.Sequence _ -> fields.computeIfAbsent(path, Field::new).seeList();
                case Node.Scalar scalar -> {
                    Field field = fields.computeIfAbsent(path, Field::new);
                    if (!scalar.isNull()) {
                        field.see(scalar.text(), scalar.quoted());
                    }
                }
            }
        }
    }
}
