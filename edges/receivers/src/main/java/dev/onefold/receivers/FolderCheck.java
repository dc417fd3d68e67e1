package dev.onefold.receivers;

import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Manifest;
import dev.onefold.core.document.Problem;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/// Reads the manifests of a folder and the contents that they name. Contents are streamed, one after the
/// other; only the manifests stay in memory.
final class FolderCheck {
    private static final int MANIFEST_BYTES_MAX = 64 * 1024;
    private static final int NAME_LENGTH_MAX = 300;

    private final Path folder;
    private final long from;
    private final List<String> findings = new ArrayList<>();

    /// Files that are neither hidden nor manifests.
    private final Set<String> files = new TreeSet<>();

    /// By pipeline and number.
    private final SortedMap<String, SortedMap<BatchNumber, Manifest>> pipelines = new TreeMap<>();

    private final Set<String> described = new HashSet<>();
    private final Map<String, Manifest> byName = new HashMap<>(); // Without the end of a compression.
    private final Map<Long, List<Manifest>> byBytes = new HashMap<>();

    FolderCheck(Path folder, long from) {
        this.folder = folder;
        this.from = from;
    }

    Verification run() {
        readNames();
        if (pipelines.isEmpty()) {
            findings.add("There is no manifest. A pipeline writes them with 'manifest: true' under 'deliver'.");
        }
        List<Verification.Numbers> numbers = new ArrayList<>();
        pipelines.forEach((pipeline, manifests) -> {
            numbers.add(contents(pipeline, manifests));
            new ChainCheck(pipeline, manifests, from, findings).run();
            if (manifests.keySet().stream().anyMatch(number -> !number.isWhole())) {
                new PartsCheck(folder, manifests, findings).run();
            }
        });
        undescribed();
        return new Verification(folder, numbers, findings);
    }

    private void readNames() {
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
            Set<Path> sorted = new TreeSet<>();
            entries.forEach(sorted::add);
            for (Path entry : sorted) {
                String name = entry.getFileName().toString();
                if (name.startsWith(".") || !Files.isRegularFile(entry)) {
                    continue;
                }
                Optional<Manifest> manifest = name.endsWith(".json") ? manifest(entry) : Optional.empty();
                manifest.ifPresentOrElse(read -> add(name, read), () -> files.add(name));
            }
        } catch (IOException e) {
            throw new UncheckedIOException("The folder " + folder + " cannot be read", e);
        } catch (DirectoryIteratorException e) {
            throw new UncheckedIOException("The folder " + folder + " cannot be read", e.getCause());
        }
    }

    private static Optional<Manifest> manifest(Path file) throws IOException {
        return Files.size(file) > MANIFEST_BYTES_MAX
                ? Optional.empty()
                : Manifest.read(new String(Files.readAllBytes(file), StandardCharsets.UTF_8));
    }

    private void add(String name, Manifest manifest) {
        String shown = shown(name);
        if (manifest.pipeline().isEmpty()) {
            findings.add(shown + ": its batch '" + shown(manifest.id()) + "' does not end with its number "
                    + manifest.number() + ".");
            return;
        }
        if (!isName(manifest.file())) {
            findings.add(shown + ": it names no file beside it.");
            return;
        }
        if (!name.equals(Receivers.manifestName(manifest.file()))) {
            findings.add(shown + ": the manifest of " + shown(manifest.file()) + " has another name, "
                    + shown(Receivers.manifestName(manifest.file())) + ".");
        }
        if (!manifest.file().contains(manifest.number().toString())) {
            findings.add(shown + ": the name of its file " + shown(manifest.file()) + " does not contain its number "
                    + manifest.number() + ".");
        }
        if (manifest.number().isWhole() && !manifest.of().isEmpty()) {
            findings.add(shown + ": a whole batch is no part of another one, but it has 'of'.");
        }
        if (!described.add(manifest.file())) {
            findings.add(shown + ": another manifest describes the same file " + shown(manifest.file()) + ".");
        }
        Manifest other = pipelines
                .computeIfAbsent(manifest.pipeline(), _ -> new TreeMap<>())
                .putIfAbsent(manifest.number(), manifest);
        if (other != null) {
            findings.add("Batch " + shown(manifest.id()) + " is there twice: " + shown(other.file()) + " and "
                    + shown(manifest.file()) + ".");
        }
    }

    /// Whether a file beside the manifest can have this name.
    private boolean isName(String file) {
        if (file.isEmpty() || file.contains("/") || file.startsWith(".")) {
            return false;
        }
        try {
            return folder.resolve(file).getFileName().toString().equals(file);
        } catch (InvalidPathException impossible) {
            return false;
        }
    }

    private Verification.Numbers contents(String pipeline, SortedMap<BatchNumber, Manifest> manifests) {
        long contents = 0;
        long records = 0;
        long bytes = 0;
        for (Manifest manifest : manifests.values()) {
            Path file = folder.resolve(manifest.file());
            if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
                findings.add("Batch " + shown(manifest.id()) + " has a manifest, but its content "
                        + shown(manifest.file())
                        + (Files.exists(file, LinkOption.NOFOLLOW_LINKS)
                                ? " is no regular file; a link is not followed."
                                : " is missing."));
                continue;
            }
            ContentCheck content = ContentCheck.of(file);
            contents++;
            records += content.records();
            bytes += content.bytes();
            content.compare(manifest).forEach(wrong -> findings.add(shown(manifest.file()) + ": " + wrong));
        }
        return new Verification.Numbers(
                shown(pipeline),
                manifests.firstKey().number(),
                manifests.lastKey().number(),
                contents,
                records,
                bytes);
    }

    /// Contents without a manifest, and manifests that cannot be read, by the names that the manifests show.
    private void undescribed() {
        Map<String, Set<String>> ends = new HashMap<>();
        Map<String, Set<String>> manifestEnds = new HashMap<>();
        for (SortedMap<BatchNumber, Manifest> manifests : pipelines.values()) {
            for (Manifest manifest : manifests.values()) {
                byName.put(uncompressed(manifest.file()), manifest);
                byBytes.computeIfAbsent(manifest.bytes(), _ -> new ArrayList<>())
                        .add(manifest);
                String number = manifest.number().toString();
                int at = manifest.file().lastIndexOf(number);
                if (at >= 0) {
                    ends.computeIfAbsent(manifest.file().substring(0, at), _ -> new HashSet<>())
                            .add(manifest.file().substring(at + number.length()));
                    String own = Receivers.manifestName(manifest.file());
                    manifestEnds
                            .computeIfAbsent(own.substring(0, at), _ -> new HashSet<>())
                            .add(own.substring(at + number.length()));
                }
            }
        }
        for (String file : files) {
            Optional<Manifest> copied = described.contains(file) ? Optional.empty() : copied(file);
            if (copied.isPresent()) {
                findings.add(shown(file) + " is another copy of batch "
                        + shown(copied.get().id()) + ": whoever reads all files counts it twice.");
            } else if (!described.contains(file) && isNumbered(file, manifestEnds)) {
                findings.add(shown(file) + " cannot be read as a manifest: it is damaged, or was changed.");
            } else if (!described.contains(file) && isNumbered(file, ends)) {
                findings.add(shown(file) + " has no manifest. Its delivery may be under way, or was interrupted.");
            }
        }
    }

    /// The batch whose content a file also holds, in the same form or compressed in another way.
    private Optional<Manifest> copied(String file) {
        Manifest otherForm = byName.get(uncompressed(file));
        if (otherForm != null) {
            return Optional.of(otherForm);
        }
        try {
            List<Manifest> asLong = byBytes.getOrDefault(Files.size(folder.resolve(file)), List.of());
            String sha256 = asLong.isEmpty()
                    ? ""
                    : ContentCheck.of(folder.resolve(file)).sha256();
            return asLong.stream()
                    .filter(manifest -> manifest.sha256().equals(sha256))
                    .findFirst();
        } catch (IOException e) {
            throw new UncheckedIOException(file + " cannot be read", e);
        }
    }

    private static String uncompressed(String file) {
        return file.replaceFirst("\\.(gz|zst)$", "");
    }

    private static boolean isNumbered(String file, Map<String, Set<String>> ends) {
        return ends.entrySet().stream()
                .filter(name -> file.startsWith(name.getKey()))
                .anyMatch(name -> name.getValue().stream()
                        .anyMatch(end -> file.endsWith(end)
                                && file.length() > name.getKey().length() + end.length()
                                && BatchNumber.read(
                                                file.substring(name.getKey().length(), file.length() - end.length()))
                                        .isPresent()));
    }

    static String shown(String text) {
        return Problem.visible(text, NAME_LENGTH_MAX);
    }
}
