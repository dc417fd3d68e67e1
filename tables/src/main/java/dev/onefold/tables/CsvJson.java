package dev.onefold.tables;

import dev.onefold.core.document.Json;
import java.nio.charset.StandardCharsets;
import java.util.List;

/// Makes a line of JSON of a record of CSV. All values are texts, which a pipeline reads as numbers where it wants
/// numbers; a field that is empty and not in quotes is left out.
final class CsvJson {
    private final List<String> names;

    /// @throws IllegalArgumentException if a name is missing
    CsvJson(List<CsvRecords.Field> header) {
        names = header.stream().map(CsvRecords.Field::text).toList();
    }

    /// @throws IllegalArgumentException if the record has another number of fields
    byte[] of(List<CsvRecords.Field> record) {
        if (record.size() != names.size()) {
            throw new IllegalArgumentException(
                    "has " + record.size() + " fields, and the header names " + names.size());
        }
        StringBuilder json = new StringBuilder("{");
        for (int i = 0; i < names.size(); i++) {
            CsvRecords.Field field = record.get(i);
            if (field.quoted() || !field.text().isEmpty()) {
                json.append(json.length() > 1 ? "," : "");
                Json.append(json, names.get(i));
                Json.append(json.append(':'), field.text());
            }
        }
        return json.append('}').toString().getBytes(StandardCharsets.UTF_8);
    }
}
