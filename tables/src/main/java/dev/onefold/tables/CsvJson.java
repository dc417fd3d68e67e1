package dev.onefold.tables;

import dev.onefold.core.document.Json;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;

/// Makes a line of JSON of a record of CSV. All values are texts, which a pipeline reads as numbers where it wants
/// numbers; a field that is empty and not in quotes is left out.
final class CsvJson {
    private final List<String> names;

    /// @throws IllegalArgumentException if a name is missing
    CsvJson(CsvRecords.Fields header) {
        if (!header.isUtf8()) {
            throw new IllegalArgumentException("is not valid UTF-8");
        }
        names = header.all().stream().map(CsvRecords.Field::text).toList();
    }

    /// The record as an object; one that cannot be read becomes a text with the reason, which each pipeline
    /// rejects.
    byte[] of(CsvRecords.Fields record, long number) {
        if (!record.isUtf8()) {
            return rejected(record, number, "is not valid UTF-8");
        }
        int size = record.all().size();
        if (size != names.size()) {
            return rejected(record, number, "has " + size + " fields, and the header names " + names.size());
        }
        StringBuilder json = new StringBuilder("{");
        for (int i = 0; i < names.size(); i++) {
            CsvRecords.Field field = record.all().get(i);
            if (field.quoted() || !field.text().isEmpty()) {
                json.append(json.length() > 1 ? "," : "");
                Json.append(json, names.get(i));
                Json.append(json.append(':'), field.text());
            }
        }
        return json.append('}').toString().getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] rejected(CsvRecords.Fields record, long number, String why) {
        String fields = record.all().stream().map(CsvRecords.Field::text).collect(Collectors.joining(" | "));
        StringBuilder json = new StringBuilder();
        Json.append(json, "Record " + number + " behind the header " + why + ": " + fields);
        return json.toString().getBytes(StandardCharsets.UTF_8);
    }
}
