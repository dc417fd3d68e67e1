package dev.onefold.tables;

import dev.onefold.core.event.CsvHeader;
import dev.onefold.core.json.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;

/// Makes a line of JSON of a record of CSV. All values are texts, which a pipeline reads as numbers where it
/// wants numbers; a field that is empty and not in quotes is left out.
final class CsvJson {
    private final List<String> names;

    /// @throws IllegalArgumentException if a name is missing
    CsvJson(CsvRecords.Fields header, char delimiter) {
        names = texts(header);
        String refusal = CsvHeader.refusal(String.join(String.valueOf(delimiter), names), header.isUtf8());
        if (refusal != null) {
            throw new IllegalArgumentException(refusal);
        }
    }

    private static List<String> texts(CsvRecords.Fields record) {
        List<String> texts = record.all().stream().map(CsvRecords.Field::text).collect(Collectors.toList());
        texts.set(0, texts.getFirst().replaceFirst("^\ufeff", "")); // In front of a header of a joined file.
        return texts;
    }

    /// Whether a record is the header again, as in joined files.
    ///
    /// @throws IOException if it is another header
    boolean isHeader(CsvRecords.Fields record, long number) throws IOException {
        List<String> values = texts(record);
        if (CsvHeader.isOther(names, values)) {
            throw new IOException(
                    "record " + number + " behind the header is another header. " + CsvHeader.difference(names, values)
                            + ". Put it and the records behind it into a file of their own");
        }
        return values.equals(names);
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
