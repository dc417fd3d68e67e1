package dev.onefold.cli.look;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.run.InputFile;
import dev.onefold.cli.show.Words;
import dev.onefold.core.document.Node;
import dev.onefold.core.pipeline.Input.Records;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// Writes a first pipeline file for a file of records. It runs as it stands, and guesses nothing: each record
/// counts by its place, and what the sample shows of keys and versions stands beside it as comments. Not
/// thread-safe.
public final class FirstPipeline {
    private static final int LEVEL_VALUES_MAX = 50;
    private static final int SUMS_MAX = 4;
    private static final int FIELDS_MAX = 60;
    private static final int COLUMN = 28;
    private static final Pattern NO_NAME = Pattern.compile("[^a-z0-9]+");
    private static final Pattern PLAIN = Pattern.compile("[A-Za-z_][A-Za-z0-9_.-]*");
    private static final Pattern KEY = Pattern.compile("(?i).*(id|key|code|number|no)\\W*");
    private static final Pattern VERSION =
            Pattern.compile("(?i).*(version|revision|rev|updated|modified|changed|seq|timestamp|ts).*");
    private static final Pattern REMOVED = Pattern.compile("(?i).*(deleted|removed|cancelled|op|action|operation).*");
    private static final String ENVELOPE = "Message"; // Of SNS.

    private final StringBuilder text = new StringBuilder();
    private final String shown;
    private final Sample sample;
    private final List<Field> fields;
    private final boolean isWrapped;

    private FirstPipeline(String shown, Sample outer) {
        this.shown = shown;
        Optional<Sample> inner = isOfSns(outer) ? outer.inside(ENVELOPE) : Optional.empty();
        isWrapped = inner.isPresent();
        sample = inner.orElse(outer);
        fields = sample.fields();
    }

    /// The text of a pipeline file for the records of a file.
    public static String of(Caller caller, InputFile file) throws IOException {
        Sample sample = Sample.of(caller, file);
        return new FirstPipeline(caller.shown(file.path()), sample).write(name(file));
    }

    private static boolean isOfSns(Sample sample) {
        return !sample.records().isEmpty()
                && sample.records().stream()
                        .allMatch(record -> record.find("TopicArn") != null && record.find(ENVELOPE) != null);
    }

    private static String name(InputFile file) {
        String name = String.valueOf(file.path().getFileName()).toLowerCase(Locale.ROOT);
        name = NO_NAME.matcher(name.replaceFirst("[.].*", "")).replaceAll("-").replaceAll("^-|-$", "");
        return name.isEmpty()
                ? "first"
                : name.substring(0, Math.min(name.length(), 40)).replaceAll("-$", "");
    }

    private String write(String name) {
        line("# A first pipeline for " + shown + ", from " + (sample.isWhole() ? "all its " : "its first ")
                + Words.count(sample.records().size(), "record") + ".");
        if (sample.others() > 0) {
            line("# " + Words.count(sample.others(), "line") + " of them cannot be read.");
        }
        changes();
        line("pipeline: " + name);
        line("input:");
        line("  format: " + (sample.csv() == null ? "json" : "csv"));
        if (sample.csv() != null) {
            csv(sample.csv());
        }
        if (sample.held() != Records.LINES) {
            line("  records: " + sample.held().word());
        }
        if (isWrapped) {
            line("  unwrap: " + ENVELOPE);
        }
        identity();
        line("rollup:");
        line("  levels: [" + level().map(this::level).orElse("") + "]");
        line("  measures:");
        line("    records: count()");
        sums();
        seen();
        return text.toString();
    }

    private void csv(Sample.Csv csv) {
        char delimiter = csv.form().delimiter();
        if (!csv.doubt().isEmpty()) {
            line("  # " + csv.doubt());
        }
        if (!csv.columns().isEmpty()) {
            line("  columns: [" + String.join(", ", csv.columns()) + "]   # in their order, with names of yours");
        }
        if (delimiter != ',') {
            line("  delimiter: \"" + (delimiter == '\t' ? "\\t" : delimiter) + '"');
        }
        if (!csv.form().quotes()) {
            line("  quote: none   # a quote in the file has no end");
        }
        if (csv.form().escape() != 0) {
            line("  escape: '" + csv.form().escape() + "'   # in front of a quote, delimiter or line end");
        }
        if (csv.form().comment() != 0) {
            line("  comment: \"" + csv.form().comment() + '"');
        }
        numbers();
        nulls();
    }

    /// A comment on numbers that seem to be written with a decimal comma or in groups.
    private void numbers() {
        Set<Character> thousands = fields.stream()
                .filter(field -> field.isOnly(Field.LOCAL, Field.DECIMAL, Field.INTEGER))
                .flatMap(field -> field.thousands().stream())
                .collect(Collectors.toCollection(TreeSet::new));
        boolean hasComma = !thousands.contains(',')
                && fields.stream()
                        .filter(field -> field.isOnly(Field.LOCAL, Field.DECIMAL, Field.INTEGER))
                        .anyMatch(field -> field.decimals().contains(','));
        if (hasComma) {
            line("  # decimal: \",\"   # if 12,50 is a number of this file");
        }
        fields.stream()
                .filter(field -> field.isOnly(Field.LOCAL, Field.DECIMAL, Field.INTEGER))
                .map(Field::either)
                .filter(either -> !either.isEmpty() && thousands.isEmpty())
                .findFirst()
                .ifPresent(this::either);
        for (char each : thousands) {
            line("  # thousands: \"" + (each > '~' ? "\\u%04x".formatted((int) each) : each)
                    + "\"   # if digits are in groups of three");
        }
    }

    /// Comments on a number that can be read in two ways: the other one of the two.
    private void either(String number) {
        boolean isComma = number.indexOf(',') >= 0;
        if (!isComma) {
            line("  # decimal: \",\"   # both lines, if " + number + " is above a thousand");
        }
        line("  # thousands: \"" + (isComma ? ',' : '.') + '"'
                + (isComma ? "   # in place of decimal, if " + number + " is above a thousand" : ""));
    }

    private void line(String line) {
        text.append(Words.visible(line)).append('\n');
    }

    /// A comment on records that seem to be changes of a table.
    private void changes() {
        Node first = sample.records().isEmpty() ? null : sample.records().getFirst();
        if (first == null) {
            return;
        }
        Node payload = first;
        for (String outer : List.of("value", "payload")) {
            Node inner = payload.find(outer);
            payload = inner == null ? payload : inner;
        }
        if (payload.find("op") != null && payload.find("source") != null) {
            line(
                    "# The records look like changes of tables, as Debezium writes them. Then write 'format: debezium', with");
            line("# table and key: docs/tables.md");
        } else if (first.find("dynamodb") != null) {
            line(
                    "# The records look like changes of a DynamoDB table. Then write 'format: dynamodb-stream', with table and key:"
                            + " docs/tables.md");
        }
    }

    /// A comment on words that seem to stand for values that are missing.
    private void nulls() {
        List<String> nulls = fields.stream()
                .flatMap(field -> field.nulls().stream())
                .distinct()
                .map(word -> "'" + word + "'")
                .toList();
        boolean hasEscaped = sample.csv() != null && sample.csv().form().escape() != 0 && nulls.contains("'\\N'");
        if (hasEscaped) {
            line("  nulls: ['\\N']   # it is no other text");
            nulls = nulls.stream().filter(word -> !word.equals("'\\N'")).toList();
        }
        if (!nulls.isEmpty()) {
            line("  # nulls: [" + String.join(", ", nulls) + "]   # if these values, without quotes, are missing");
        }
    }

    private void identity() {
        line(
                "  # Each record counts once, by its place: the same line in two files counts twice. If the records have an");
        line("  # identity, say so in place of this:");
        List<Field> whole = fields.stream()
                .filter(field -> field.there() == sample.records().size())
                .toList();
        List<Field> different = whole.stream()
                .filter(field ->
                        field.different() == sample.records().size() && field.isOnly(Field.TEXT, Field.INTEGER))
                .limit(3)
                .toList();
        different.forEach(
                field -> line("  #   id: " + yaml(field.path()) + "   # each id counts once; all are different here"));
        List<Field> versions = whole.stream()
                .filter(field -> field.isOnly(Field.TIME)
                        || VERSION.matcher(field.path()).matches() && field.isOnly(Field.INTEGER))
                .limit(2)
                .toList();
        String key = whole.stream()
                .filter(field -> field.isOnly(Field.TEXT, Field.INTEGER) && !versions.contains(field))
                .max(Comparator.comparing(
                                (Field field) -> KEY.matcher(field.path()).matches())
                        .thenComparingInt(Field::different))
                .map(Field::path)
                .orElse("FIELD");
        line("  #   key: " + yaml(key) + "   # or: the highest version of a key replaces the others");
        if (versions.isEmpty()) {
            line("  #   version: FIELD");
        }
        versions.forEach(field -> line("  #   version: "
                + (field.isOnly(Field.TIME) ? "{field: " + yaml(field.path()) + ", type: iso}" : yaml(field.path()))));
        dates();
        fields.stream()
                .filter(field -> REMOVED.matcher(field.path()).matches() && field.different() <= 10)
                .findFirst()
                .ifPresent(field -> line(
                        "  #   delete: '" + field.path() + " = ...'   # it is " + String.join(", ", field.examples())));
    }

    /// A comment on dates that need a type and a zone.
    private void dates() {
        fields.stream().filter(field -> field.isOnly(Field.DATE)).findFirst().ifPresent(field -> {
            line("  # zone: UTC   # or Europe/Berlin: that of the dates in " + field.path());
            line("  # time: {field: " + yaml(field.path()) + ", type: T}   # T is " + field.dates());
        });
    }

    /// A field that groups the records: always a text, of a few values.
    private Optional<Field> level() {
        return fields.stream()
                .filter(field -> field.isOnly(Field.TEXT)
                        && field.different() > 1
                        && field.different() <= Math.min(LEVEL_VALUES_MAX, field.there() / 2))
                .max(Comparator.comparingLong(Field::there));
    }

    private String level(Field field) {
        boolean isAlways = field.there() == sample.records().size() && sample.csv() == null;
        return yaml(field.path() + (isAlways ? "" : " missing \"unknown\""));
    }

    private void sums() {
        List<Field> numbers = fields.stream()
                .filter(field ->
                        field.isOnly(Field.DECIMAL, Field.LOCAL, Field.INTEGER) && !field.isOnly(Field.INTEGER))
                .limit(SUMS_MAX)
                .toList();
        numbers.forEach(field -> line("    # "
                + NO_NAME.matcher(field.path().toLowerCase(Locale.ROOT))
                        .replaceAll("-")
                        .replaceAll("^-|-$", "")
                + ": sum(" + field.path() + ") decimal(18," + Math.min(9, field.scale()) + ")"));
    }

    private void seen() {
        line("");
        line("# What the records have (kinds; in how many; how many different values; examples):");
        List<Field> shownFields = fields.subList(0, Math.min(fields.size(), FIELDS_MAX));
        for (Field field : shownFields) {
            String padded =
                    field.path() + " ".repeat(Math.max(1, COLUMN - field.path().length()));
            line("#   " + padded + field.kinds() + "; " + Words.count(field.there()) + "; "
                    + Words.count(field.different()) + "; " + String.join(" | ", new ArrayList<>(field.examples())));
        }
        if (fields.size() > FIELDS_MAX) {
            line("#   and " + Words.count(fields.size() - FIELDS_MAX, "field") + " more");
        }
    }

    /// A text in YAML: in single quotes if it is not plain.
    private static String yaml(String text) {
        return PLAIN.matcher(text).matches() ? text : "'" + text.replace("'", "''") + "'";
    }
}
