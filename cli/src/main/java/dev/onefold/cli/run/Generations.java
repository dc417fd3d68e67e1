package dev.onefold.cli.run;

import dev.onefold.core.query.Answer;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The files that had a followed name, one after the other: how their sources are named, and where they may lie now.
///
/// @param path the name, absolute
record Generations(Path path) {
    /// What rotation puts behind a name: `.1`, `-20251121`, `.2025-11-21T10`, `.old`, each perhaps compressed.
    private static final Pattern ROTATED = Pattern.compile("[.\\-_]([0-9][0-9.\\-_:TZ]*|old|bak)(\\.gz|\\.zst)?");

    /// @param number from 1; 0 for a file that was folded under its plain name, before it was followed
    /// @param key the inode that it had; empty when that is not known
    /// @param bytes that are folded
    record Generation(long number, String key, String source, long bytes) {}

    String name(long number, String key) {
        return path + "#" + number + "@" + key;
    }

    String name(long number, Path file) throws IOException {
        return name(number, LiveFile.key(file));
    }

    /// The last generation among the engine's sources.
    Optional<Generation> last(List<Answer.Progress> sources) {
        Pattern pattern = Pattern.compile(Pattern.quote(path.toString()) + "(?:#([0-9]{1,18})@(.*))?");
        List<Generation> all = new ArrayList<>();
        for (Answer.Progress source : sources) {
            Matcher matcher = pattern.matcher(source.source());
            if (matcher.matches()) {
                String number = matcher.group(1);
                String key = matcher.group(2);
                all.add(new Generation(
                        number == null ? 0 : Long.parseLong(number),
                        key == null ? "" : key,
                        source.source(),
                        source.bytes()));
            }
        }
        return all.stream().max(Comparator.comparingLong(Generation::number));
    }

    /// Where the file of a generation may lie, most likely first: what has its inode; then, by age, rotated files and
    /// the one that has the name. Whether it is the one, its content says. One of which nothing is folded has no
    /// content to be known by.
    List<Path> candidates(Generation generation) throws IOException {
        List<Path> candidates = new ArrayList<>();
        try (DirectoryStream<Path> beside = Files.newDirectoryStream(folder(), Files::isRegularFile)) {
            for (Path file : beside) {
                if (LiveFile.key(file).equals(generation.key())) {
                    candidates.add(file);
                }
            }
        }
        if (generation.bytes() > 0) {
            rotated().stream().filter(file -> !candidates.contains(file)).forEach(candidates::add);
            if (!candidates.contains(path) && Files.exists(path)) {
                candidates.add(path);
            }
        }
        return candidates;
    }

    /// Files that were rotated away after this one, oldest first.
    List<Path> rotatedAfter(Path file) throws IOException {
        return rotatedAfter(LiveFile.key(file), Files.getLastModifiedTime(file));
    }

    /// The same, of a file that is held open, wherever it lies now.
    List<Path> rotatedAfter(LiveFile file) throws IOException {
        for (Path rotated : rotated()) {
            if (LiveFile.key(rotated).equals(file.key())) {
                return rotatedAfter(rotated);
            }
        }
        return List.of();
    }

    private List<Path> rotatedAfter(String key, FileTime time) throws IOException {
        List<Path> after = new ArrayList<>();
        for (Path rotated : rotated()) {
            if (!LiveFile.key(rotated).equals(key)
                    && Files.getLastModifiedTime(rotated).compareTo(time) >= 0) {
                after.add(rotated);
            }
        }
        return after;
    }

    private List<Path> rotated() throws IOException {
        String name = String.valueOf(path.getFileName());
        List<Path> rotated = new ArrayList<>();
        try (DirectoryStream<Path> beside = Files.newDirectoryStream(folder(), Files::isRegularFile)) {
            for (Path file : beside) {
                String other = String.valueOf(file.getFileName());
                if (other.startsWith(name)
                        && ROTATED.matcher(other.substring(name.length())).matches()) {
                    rotated.add(file);
                }
            }
        }
        List<FileTime> times = new ArrayList<>();
        for (Path file : rotated) {
            times.add(Files.getLastModifiedTime(file));
        }
        List<Path> ordered = new ArrayList<>(rotated);
        ordered.sort(Comparator.comparing(file -> times.get(rotated.indexOf(file))));
        return ordered;
    }

    private Path folder() {
        Path folder = path.getParent();
        return folder == null ? path.getRoot() : folder;
    }
}
