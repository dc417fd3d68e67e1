package dev.onefold.oracle.generate;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Writes events as lines of CSV.
final class CsvLines {
    private final Chance chance;
    private final Spelling spelling;
    private final char delimiter;

    CsvLines(Chance chance, char delimiter) {
        this.chance = chance;
        this.delimiter = delimiter;
        spelling = new Spelling(chance);
    }

    String header(List<Field> columns) {
        List<String> names = new ArrayList<>();
        columns.forEach(column -> names.add(quotedWhereNeeded(column.path().getFirst())));
        return line(names);
    }

    String write(List<Field> columns, Map<Field, Value> event) {
        List<String> values = new ArrayList<>();
        for (Field column : columns) {
            Value value = event.get(column);
            values.add(quotedWhereNeeded(value == null ? null : spelling.csv(value, column)));
        }
        return line(values);
    }

    private String line(List<String> values) {
        return String.join(String.valueOf(delimiter), values) + (chance.percent(10) ? "\r" : "");
    }

    private String quotedWhereNeeded(@Nullable String value) {
        if (value == null) {
            return "";
        }
        boolean mustBe = value.isEmpty() || value.indexOf(delimiter) >= 0 || value.indexOf('"') >= 0;
        return mustBe || chance.percent(15) ? '"' + value.replace("\"", "\"\"") + '"' : value;
    }
}
