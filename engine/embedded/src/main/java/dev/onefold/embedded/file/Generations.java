package dev.onefold.embedded.file;

import dev.onefold.core.query.Answer;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The files that had a followed name, one after the other: the names of their sources, and their likely
/// places now.
///
/// @param path the name, absolute
public record Generations(Path path) {
    /// The suffix that rotation appends to a name: `.1`, `-20251121`, `.2025-11-21T10`, `.old`, each perhaps
    /// compressed.
    private static final Pattern ROTATED = Pattern.compile("[.\\-_]([0-9][0-9.\\-_:TZ]*|old)(\\.gz|\\.zst)?");

    private static final Pattern SOURCE = Pattern.compile("(.+)#([0-9]{1,18})@([^.]*)(?:\\.([0-9]{1,15}))?");

    /// @param number from 1; 0 for a file that was folded under its plain name, before it was followed
    /// @param key the inode that it had; empty when that is not known
    /// @param since when its file was made, in milliseconds; -1 if not known. A later file may have the inode
    /// @param records number of records that are folded, without a header
    /// @param bytes number of bytes that are folded
    public record Generation(long number, String key, long since, String source, long records, long bytes) {
        private boolean isOf(FileMark mark) {
            return mark.key().equals(key)
                    && (records > 0 || since < 0 || mark.since().toMillis() == since);
        }
    }

    public String name(long number, FileMark file) {
        return path + "#" + number + "@" + file.key() + "."
                + Math.max(0, file.since().toMillis());
    }

    /// The last generation among the engine's sources.
    public Optional<Generation> last(List<Answer.Progress> sources) {
        return all(sources).stream().max(Comparator.comparingLong(Generation::number));
    }

    /// The source of the generation that had this inode.
    public Optional<String> source(List<Answer.Progress> sources, String key) {
        return all(sources).stream()
                .filter(generation -> generation.key().equals(key))
                .map(Generation::source)
                .reduce((_, later) -> later);
    }

    /// The sources of the generations from a number on, of which a record is folded.
    public List<String> from(long number, List<Answer.Progress> sources) {
        return all(sources).stream()
                .filter(generation -> generation.number() >= number && generation.records() > 0)
                .map(Generation::source)
                .toList();
    }

    private List<Generation> all(List<Answer.Progress> sources) {
        List<Generation> all = new ArrayList<>();
        for (Answer.Progress source : sources) {
            Matcher matcher = SOURCE.matcher(source.source());
            if (source.source().equals(path.toString())) {
                all.add(new Generation(0, "", -1, source.source(), source.records(), source.bytes()));
            } else if (matcher.matches() && matcher.group(1).equals(path.toString())) {
                long number = Long.parseLong(matcher.group(2));
                long since = matcher.group(4) == null ? -1 : Long.parseLong(matcher.group(4));
                String key = matcher.group(3);
                all.add(new Generation(number, key, since, source.source(), source.records(), source.bytes()));
            }
        }
        return all;
    }

    /// The file of the generation that a source is, if it is beside its name with the inode it had, not
    /// compressed.
    public static Optional<Path> file(String source) throws IOException {
        Matcher matcher = SOURCE.matcher(source);
        if (!matcher.matches()) {
            return Optional.empty();
        }
        return new Generations(Path.of(matcher.group(1)))
                .matching(mark -> mark.key().equals(matcher.group(3))).stream().findFirst();
    }

    private List<Path> matching(Predicate<FileMark> wanted) throws IOException {
        List<Path> files = new ArrayList<>();
        try (DirectoryStream<Path> beside = Files.newDirectoryStream(folder(), Files::isRegularFile)) {
            for (Path file : beside) {
                if (wanted.test(FileMark.of(file))) {
                    files.add(file);
                }
            }
        }
        return files;
    }

    /// Likely places of the file of a generation, most likely first: the file with its inode; then, by age,
    /// rotated files and the one that has the name. The content decides whether a file is the one. A
    /// generation without a folded record has no content to be recognized by. A file that has the followed
    /// name is not looked for under its other names (the name may be a link to a file beside it): under
    /// another name it would be taken for one that was rotated away.
    public List<Path> candidates(Generation generation) throws IOException {
        List<Path> candidates = new ArrayList<>();
        if (generation.isOf(FileMark.of(path))) {
            candidates.add(path);
        } else {
            candidates.addAll(matching(generation::isOf));
        }
        if (generation.records() > 0) {
            rotated().keySet().stream()
                    .filter(file -> !candidates.contains(file))
                    .forEach(candidates::add);
            if (!candidates.contains(path) && Files.exists(path)) {
                candidates.add(path);
            }
        }
        return candidates;
    }

    /// Files that were rotated away after a finished one, oldest first. The file to be read next is not among
    /// them, nor is the one that has the name now: if the name is a link, that file is there under another
    /// name.
    public List<Path> rotatedAfter(FileMark finished, FileMark next) throws IOException {
        List<Path> after = new ArrayList<>();
        SequencedMap<Path, FileMark> rotated = rotated();
        FileMark now = FileMark.of(path); // Asked for last: a listed file that is not this one is rotated.
        rotated.forEach((file, mark) -> {
            boolean later = mark.modified().compareTo(finished.since()) >= 0;
            if (later && !mark.isSameFile(finished) && !mark.isSameFile(next) && !mark.isSameFile(now)) {
                after.add(file);
            }
        });
        return after;
    }

    /// Oldest first. A compressed file beside the one that it is made of is not there yet, or is a copy.
    private SequencedMap<Path, FileMark> rotated() throws IOException {
        String name = String.valueOf(path.getFileName());
        Map<Path, FileMark> found = new HashMap<>();
        try (DirectoryStream<Path> beside = Files.newDirectoryStream(folder(), Files::isRegularFile)) {
            for (Path file : beside) {
                String other = String.valueOf(file.getFileName());
                if (other.startsWith(name)
                        && ROTATED.matcher(other.substring(name.length())).matches()) {
                    found.put(file, FileMark.of(file));
                }
            }
        }
        SequencedMap<Path, FileMark> rotated = new LinkedHashMap<>();
        found.entrySet().stream()
                .filter(file -> !file.getValue().isNone() && !found.containsKey(uncompressed(file.getKey())))
                .sorted(Comparator.comparing(file -> file.getValue().modified()))
                .forEach(file -> rotated.put(file.getKey(), file.getValue()));
        return rotated;
    }

    /// The file that a compressed one is made of; the name of no file if it is not compressed.
    private static Path uncompressed(Path file) {
        String name = String.valueOf(file.getFileName());
        return file.resolveSibling(Decompression.isCompressed(file) ? name.substring(0, name.lastIndexOf('.')) : "/");
    }

    private Path folder() {
        Path folder = path.getParent();
        return folder == null ? path.getRoot() : folder;
    }
}
