package dev.onefold.kafka.format;

import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.document.Node;
import dev.onefold.core.document.Problems;
import dev.onefold.core.json.Json;
import dev.onefold.core.json.JsonText;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Copies of schemas in the data directory, so that a start needs no registry. A copy that is damaged, or is of another
/// registry, is none.
///
///     onefold-schema 1 SHA-256 of the rest
///     {"registry": ADDRESS, "type": …, "texts": […]}
///
/// @param folder made with the first copy
/// @param isWritten whether copies are added: one reader alone adds them
record SchemaCopies(Path folder, String registry, boolean isWritten) {
    private static final String HEAD = "onefold-schema 1 ";

    /// A schema as a registry has it.
    ///
    /// @param texts of those that it refers to, and behind them its own
    record Copy(String type, List<String> texts) {}

    Optional<Copy> read(String id) {
        try {
            String[] parts = Files.readString(folder.resolve(id)).split("\n", 2);
            if (parts.length < 2 || !parts[0].equals(head(parts[1]))) {
                return Optional.empty();
            }
            Node copy = JsonText.read(parts[1], new Problems());
            return copy == null || !copy.get("registry").text().equals(registry)
                    ? Optional.empty()
                    : Optional.of(
                            new Copy(copy.get("type").text(), copy.get("texts").texts()));
        } catch (IOException e) { // There is none, or it is not readable: the registry has it.
            return Optional.empty();
        }
    }

    void write(String id, Copy copy) {
        if (!isWritten) {
            return;
        }
        String text = Json.of(Map.of("registry", registry, "type", copy.type, "texts", copy.texts));
        try {
            Files.createDirectories(folder);
            Path beside = folder.resolve(id + ".new");
            Files.writeString(beside, head(text) + "\n" + text);
            Files.move(beside, folder.resolve(id), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            return; // The schema is known all the same. Without its copy, the next start asks the registry.
        }
    }

    private static String head(String text) {
        return HEAD + HexFormat.of().formatHex(Sha256.of(text.getBytes(StandardCharsets.UTF_8)));
    }
}
