package dev.onefold.tables;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// As DynamoDB documents its exports.
class ExportRowsTest {
    private static final String ROW =
            "{\"Item\":{\"id\":{\"S\":\"a\"},\"n\":{\"N\":\"7.50\"},\"raw\":{\"B\":\"AQI=\"}}}\n";

    @TempDir
    Path folder;

    private Path data() throws IOException {
        return Files.createDirectories(folder.resolve("AWSDynamoDB/0169-2d87/data"));
    }

    private void write(String summary, String... contents) throws Exception {
        StringBuilder files = new StringBuilder();
        for (int i = 0; i < contents.length; i++) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            try (GZIPOutputStream gzip = new GZIPOutputStream(bytes)) {
                gzip.write(contents[i].getBytes(StandardCharsets.UTF_8));
            }
            Files.write(data().resolve(i + ".json.gz"), bytes.toByteArray());
            byte[] md5 = MessageDigest.getInstance("MD5").digest(bytes.toByteArray());
            files.append("{\"itemCount\":%d,\"md5Checksum\":\"%s\",\"etag\":\"x-1\",\"dataFileS3Key\":\"%s\"}\n"
                    .formatted(
                            contents[i].lines().count(),
                            Base64.getEncoder().encodeToString(md5),
                            "AWSDynamoDB/0169-2d87/data/" + i + ".json.gz"));
        }
        Files.writeString(data().resolveSibling("manifest-files.json"), files);
        Files.writeString(data().resolveSibling("manifest-summary.json"), summary);
    }

    private static String summary(int items) {
        return "{\"version\":\"2020-06-30\",\"tableArn\":\"arn:aws:dynamodb:eu-central-1:1:table/Favourites\","
                + "\"tableId\":\"t-1\",\"exportTime\":\"2026-11-04T07:28:34.028Z\",\"s3Prefix\":null,\"itemCount\":"
                + items + ",\"outputFormat\":\"DYNAMODB_JSON\",\"exportType\":\"FULL_EXPORT\"}";
    }

    private Export export() throws IOException {
        return Export.read(new Folder.OnDisk(folder));
    }

    @Test
    void items_become_plain_json_with_their_digits_and_bytes() throws Exception {
        write(summary(3), ROW, ROW + ROW.replace("\"a\"", "\"b\""));
        assertThat(export().at()).isEqualTo("2026-11-04T07:28:34.028Z");
        assertThat(Taken.all(new ExportRows(export(), 2)).lines)
                .containsExactlyInAnyOrder(
                        "{\"id\":\"a\",\"n\":7.50,\"raw\":\"AQI=\"}",
                        "{\"id\":\"a\",\"n\":7.50,\"raw\":\"AQI=\"}",
                        "{\"id\":\"b\",\"n\":7.50,\"raw\":\"AQI=\"}");
    }

    @Test
    void files_that_were_read_are_not_read_again() throws Exception {
        write(summary(2), ROW, ROW.replace("\"a\"", "\"b\""));
        ExportRows rows = new ExportRows(export(), 1);
        Map<String, String> marks = Map.of(rows.parts().getFirst(), RowSource.END);
        assertThat(Taken.some(rows, marks, Integer.MAX_VALUE).lines)
                .containsExactly("{\"id\":\"b\",\"n\":7.50,\"raw\":\"AQI=\"}");
    }

    @Test
    void what_is_not_what_the_manifest_says_is_refused() throws Exception {
        write(summary(3), ROW);
        assertThatThrownBy(this::export)
                .hasMessageContaining("contradict each other: 3 items in all, and 1 in the files");
        write(summary(1), ROW);
        Path file = data().resolve("0.json.gz");
        byte[] bytes = Files.readAllBytes(file);
        bytes[4] = 1; // Of the time in the header of gzip, which no checksum of gzip covers.
        Files.write(file, bytes);
        assertThatThrownBy(() -> Taken.all(new ExportRows(export(), 1))).hasMessageContaining("has the MD5");
    }

    @Test
    void another_kind_of_export_is_refused() throws Exception {
        assertThatThrownBy(this::export).hasMessageContaining("there is no manifest-summary.json");
        for (String other : List.of("FULL_EXPORT", "DYNAMODB_JSON")) {
            write(summary(1).replace(other, "OTHER"), ROW);
            assertThatThrownBy(this::export).hasMessageContaining("OTHER; only " + other + " can be read");
        }
    }
}
