package dev.onefold.tables;

import dev.onefold.core.document.Node;
import dev.onefold.core.document.Problems;
import dev.onefold.core.json.JsonText;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A full export of a DynamoDB table, as its manifests describe it.
///
/// @param tableArn of the table
/// @param tableId of the table; changes when it is made again under its name
/// @param at the time as of which the items are
/// @param items number of the items
/// @param files the files of items
public record Export(Folder folder, String tableArn, String tableId, Instant at, long items, List<DataFile> files) {
    private static final String SUMMARY = "manifest-summary.json";
    private static final String FILES = "manifest-files.json";
    private static final int MANIFEST_BYTES_MAX = 64 << 20;

    public Export {
        files = List.copyOf(files);
    }

    /// A file of items.
    ///
    /// @param path from the folder
    /// @param md5 of its bytes, in base64; `null` if the manifest has none
    public record DataFile(
            String path, long items, @Nullable String md5) {}

    /// Reads the manifests of the one export below a folder.
    ///
    /// @throws IOException if there is none, there are several, or it is of another kind
    public static Export read(Folder folder) throws IOException {
        List<String> summaries = folder.find(SUMMARY);
        if (summaries.size() != 1) {
            throw new IOException((summaries.isEmpty()
                            ? "there is no " + SUMMARY + " below " + folder.name()
                            : "there are " + summaries.size() + " exports below " + folder.name() + ": "
                                    + String.join(", ", summaries))
                    + ". Name the folder of one export, AWSDynamoDB/…; an export has a summary when it is complete");
        }
        String path = summaries.getFirst();
        String base = path.substring(0, path.length() - SUMMARY.length());
        Node.Mapping summary = object(folder, path, text(folder, path));
        require(summary, folder, path, "exportType", "FULL_EXPORT");
        require(summary, folder, path, "outputFormat", "DYNAMODB_JSON");
        List<DataFile> files = new ArrayList<>();
        long items = 0;
        for (String line : text(folder, base + FILES).lines().toList()) {
            Node.Mapping file = object(folder, base + FILES, line);
            String key = required(file, folder, base + FILES, "dataFileS3Key");
            long count = Long.parseLong(required(file, folder, base + FILES, "itemCount"));
            String name = key.substring(key.lastIndexOf('/') + 1);
            files.add(new DataFile(base + "data/" + name, count, value(file, "md5Checksum")));
            items += count;
        }
        long said = Long.parseLong(required(summary, folder, path, "itemCount"));
        if (said != items) {
            throw new IOException("the manifests of " + folder.name() + base + " contradict each other: " + said
                    + " items in all, and " + items + " in the files");
        }
        return new Export(
                folder,
                required(summary, folder, path, "tableArn"),
                required(summary, folder, path, "tableId"),
                instant(required(summary, folder, path, "exportTime")),
                items,
                files);
    }

    private static Instant instant(String text) throws IOException {
        try {
            return Instant.parse(text);
        } catch (DateTimeParseException e) {
            throw new IOException("exportTime is not a time: " + text, e);
        }
    }

    private static String text(Folder folder, String path) throws IOException {
        try (InputStream in = folder.open(path)) {
            byte[] bytes = in.readNBytes(MANIFEST_BYTES_MAX + 1);
            if (bytes.length > MANIFEST_BYTES_MAX) {
                throw new IOException(path + " has more than " + MANIFEST_BYTES_MAX + " bytes");
            }
            return new String(bytes, StandardCharsets.UTF_8);
        }
    }

    private static Node.Mapping object(Folder folder, String path, String text) throws IOException {
        if (JsonText.read(text, new Problems()) instanceof Node.Mapping object) {
            return object;
        }
        throw new IOException(path + " of " + folder.name() + " is not what DynamoDB writes");
    }

    private static void require(Node.Mapping of, Folder folder, String path, String name, String wanted)
            throws IOException {
        String found = value(of, name);
        if (found != null && !found.equals(wanted)) { // Older exports do not say that they are full.
            throw new IOException(path + " of " + folder.name() + " says " + name + " " + found + "; only " + wanted
                    + " can be read");
        }
    }

    private static String required(Node.Mapping of, Folder folder, String path, String name) throws IOException {
        String value = value(of, name);
        if (value == null) {
            throw new IOException(path + " of " + folder.name() + " has no " + name);
        }
        return value;
    }

    private static @Nullable String value(Node.Mapping of, String name) {
        return of.find(name) instanceof Node.Scalar scalar ? scalar.text() : null;
    }
}
