package dev.onefold.cli.look;

import dev.onefold.api.body.JsonRecords;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.run.InputFile;
import dev.onefold.cli.show.Words;
import dev.onefold.core.document.Node;
import dev.onefold.core.document.Problems;
import dev.onefold.core.event.CsvHeader;
import dev.onefold.core.event.RecordEnds;
import dev.onefold.core.json.JsonText;
import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.core.pipeline.Input.Records;
import dev.onefold.tables.FileRows;
import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.SequenceInputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The first records of a file, whatever it is: lines of JSON, or CSV.
///
/// @param csv how a file of CSV is read; `null` for JSON
/// @param held how the file holds records of JSON
/// @param records those that are objects
/// @param others how many are not
/// @param isWhole whether the file has no more
record Sample(@Nullable Csv csv, Records held, List<Node> records, int others, boolean isWhole) {
    static final int RECORDS_MAX = 10_000;

    private static final int HEAD_BYTES = 1 << 16;
    private static final int LINES_OF_COLUMNS = 20;
    private static final char COMMENT = '#';
    private static final String DELIMITERS = ",;\t|";
    private static final byte[] MARK = "\ufeff".getBytes(StandardCharsets.UTF_8);
    private static final Pattern QUOTED = Pattern.compile("\"[^\"]*+\"");
    private static final Pattern QUOTED_WITH_ESCAPES = Pattern.compile("\"(?:[^\"\\\\]|\\\\.)*+\"");
    private static final char ESCAPE = '\\';
    private static final Pattern ESCAPED = Pattern.compile("\\\\(\"[^\",;\t|\r\n]|[\t\n])");
    private static final Pattern NUMBER = Pattern.compile("[-+]?[0-9]+([.,][0-9]+)*");

    /// How a file of CSV is read.
    ///
    /// @param columns names for them, because the first record is no header; empty if it is one
    /// @param doubt what there is to be said of the first record, as the file is read so; may be empty
    record Csv(FileRows.Form.Csv form, List<String> columns, String doubt) {
        /// The same, with a quote as a character like others.
        Csv withoutQuotes() {
            return new Csv(
                    new FileRows.Form.Csv(form.delimiter(), form.comment(), false, form.escape()), columns, doubt);
        }
    }

    /// @throws CommandFailure if the file is neither
    static Sample of(Caller caller, InputFile file) throws IOException {
        byte[] bytes;
        try (InputStream in = file.open()) {
            bytes = in.readNBytes(HEAD_BYTES);
        }
        String head = new String(bytes, StandardCharsets.UTF_8).replaceFirst("^\ufeff", "");
        String begin = head.stripLeading();
        if (begin.isEmpty()) {
            throw new CommandFailure(ExitCode.DIFFERENT, "The file is empty: there is nothing to see.");
        }
        if (begin.startsWith("{") || begin.startsWith("[")) {
            byte[] stripped = begin.getBytes(StandardCharsets.UTF_8);
            return read(file, null, JsonRecords.seen(stripped, stripped.length));
        }
        if (head.lines().findFirst().orElse("").isBlank()) {
            throw new CommandFailure(
                    ExitCode.DIFFERENT,
                    "The first line of " + caller.shown(file.path()) + " " + CsvHeader.refusal("", true) + ".");
        }
        List<String> lines = wholeLines(begin, bytes.length == HEAD_BYTES);
        List<String> behind =
                lines.stream().dropWhile(line -> line.charAt(0) == COMMENT).toList();
        char delimiter = delimiter(behind.isEmpty() ? lines : behind);
        boolean hasComments = begin.charAt(0) == COMMENT
                && count(lines.getFirst(), delimiter) != count(behind.isEmpty() ? "" : behind.getFirst(), delimiter);
        if (hasComments) {
            lines = behind;
        } else {
            delimiter = delimiter(lines);
        }
        requireNoTitle(caller.shown(file.path()), lines, delimiter);
        FileRows.Form.Csv form = new FileRows.Form.Csv(
                delimiter,
                hasComments ? COMMENT : (char) 0,
                true,
                ESCAPED.matcher(head).find() ? ESCAPE : (char) 0);
        Csv csv = lines.isEmpty() ? new Csv(form, List.of(), "") : csv(form, lines.getFirst());
        try {
            return read(file, csv, Records.LINES);
        } catch (FileRows.Unended e) {
            return read(file, csv.withoutQuotes(), Records.LINES);
        }
    }

    private static List<String> wholeLines(String begin, boolean isCut) {
        List<String> lines = begin.lines().filter(line -> !line.isBlank()).toList();
        return isCut && lines.size() > 1 ? lines.subList(0, lines.size() - 1) : lines;
    }

    /// Whether the first line is a header cannot be known. A number is hardly a name; an empty name and one
    /// that comes twice may be.
    private static Csv csv(FileRows.Form.Csv form, String first) {
        List<String> names = Stream.of(first.split(Pattern.quote(String.valueOf(form.delimiter())), -1))
                .map(name -> name.replace("\"", ""))
                .toList();
        List<String> columns =
                IntStream.rangeClosed(1, names.size()).mapToObj(i -> "c" + i).toList();
        boolean isData =
                names.stream().anyMatch(name -> NUMBER.matcher(name.strip()).matches());
        boolean isDoubtful = isData || names.contains("") || Set.copyOf(names).size() < names.size();
        if (!isDoubtful || CsvHeader.refusal(first, true) != null) {
            return new Csv(form, List.of(), "");
        }
        return isData
                ? new Csv(
                        form,
                        columns,
                        "The file seems to have no header: a value of the first record is a number. If it"
                                + " is a header, delete 'columns'.")
                : new Csv(
                        form,
                        List.of(),
                        "The first record has an empty name, or one twice. If the file has no header,"
                                + " write columns: [" + String.join(", ", columns) + "]");
    }

    private static void requireNoTitle(String shown, List<String> lines, char delimiter) {
        List<Long> columns = columns(lines, delimiter);
        if (columns.size() > 2
                && columns.getFirst() < columns.get(1)
                && columns.get(1).equals(columns.get(2))
                && !NUMBER.matcher(lines.get(1).strip()).matches()
                && CsvHeader.refusal(lines.getFirst(), true) == null) {
            String names = IntStream.rangeClosed(1, columns.get(1).intValue())
                    .mapToObj(i -> "c" + i)
                    .collect(Collectors.joining(", "));
            throw new CommandFailure(
                    ExitCode.DIFFERENT,
                    "The first record of " + shown + " has "
                            + Words.count(columns.getFirst(), "column") + ", and the next ones have "
                            + columns.get(1)
                            + (columns.getFirst() == 1
                                    ? ". If it is a title, delete its line: tail -n +2 FILE > NEW"
                                    : ". If it is a header, name the columns in the pipeline file, columns: [" + names
                                            + "], and delete its line: tail -n +2 FILE > NEW"));
        }
    }

    /// The separator that all of the first records have equally many of. If there is none, the one that the
    /// records behind the first have equally many of, for that may be a title; and otherwise the one that the
    /// first has most of.
    private static char delimiter(List<String> lines) {
        char best = 0;
        long score = 0;
        for (int i = 0; i < DELIMITERS.length(); i++) {
            List<Long> columns = columns(lines, DELIMITERS.charAt(i));
            long rank = columns.isEmpty() ? 0 : rank(columns);
            best = rank > score ? DELIMITERS.charAt(i) : best;
            score = Math.max(score, rank);
        }
        return best == 0 ? ',' : best;
    }

    private static long rank(List<Long> columns) {
        long first = columns.getFirst();
        List<Long> next = columns.subList(Math.min(1, columns.size() - 1), columns.size());
        boolean isEqual = next.getFirst() > 1 && Set.copyOf(next).size() == 1;
        int all = 1 << 20;
        return isEqual && first == next.getFirst()
                ? 2L * all + first
                : isEqual && first < next.getFirst() ? all + next.getFirst() : first > 1 ? first : 0;
    }

    /// How many columns the first lines have, with quoted values taken out.
    private static List<Long> columns(List<String> lines, char delimiter) {
        List<String> some = lines.subList(0, Math.min(lines.size(), LINES_OF_COLUMNS));
        String joined = String.join("\n", some);
        Pattern quoted = ESCAPED.matcher(joined).find() ? QUOTED_WITH_ESCAPES : QUOTED;
        String text = quoted.matcher(joined).replaceAll("");
        int open = text.lastIndexOf('\n', text.indexOf('"')); // A quoted value that ends behind these lines.
        return (open > 0 ? text.substring(0, open) : text)
                .lines()
                .map(line -> 1 + count(line, delimiter))
                .toList();
    }

    private static long count(String text, char wanted) {
        return text.chars().filter(each -> each == wanted).count();
    }

    private static Sample read(InputFile file, @Nullable Csv csv, Records held) throws IOException {
        FileRows.Form form = csv == null ? new FileRows.Form.Lines(false, RecordEnds.LINES) : csv.form;
        List<Node> records = new ArrayList<>();
        AtomicLong seen = new AtomicLong();
        FileRows.Content content = FileRows.Content.of(
                file.path(),
                file.read(),
                () -> csv == null ? JsonRecords.of(held, file.open()) : headed(csv, file.open()));
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
        return new Sample(csv, held, records, (int) seen.get() - records.size(), seen.get() < RECORDS_MAX);
    }

    /// The file with a header, if it has none.
    private static InputStream headed(Csv csv, InputStream file) throws IOException {
        if (csv.columns.isEmpty()) {
            return file;
        }
        BufferedInputStream in = new BufferedInputStream(file);
        in.mark(MARK.length);
        if (!Arrays.equals(in.readNBytes(MARK.length), MARK)) {
            in.reset();
        }
        String header = String.join(String.valueOf(csv.form.delimiter()), csv.columns) + "\n";
        return new SequenceInputStream(new ByteArrayInputStream(header.getBytes(StandardCharsets.UTF_8)), in);
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
                ? Optional.of(new Sample(csv, held, inner, others, isWhole))
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
