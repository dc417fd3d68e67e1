package dev.onefold.embedded;

import dev.onefold.core.event.RecordEnds;
import dev.onefold.core.pipeline.Input.Records;
import dev.onefold.core.query.Answer;
import dev.onefold.embedded.file.Decompression;
import dev.onefold.embedded.file.FileMark;
import dev.onefold.embedded.framing.Source;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The number of bytes of the folded files that are not folded yet, because the files have grown since. A
/// file that is deleted, that was rotated away, or that is compressed does not count, because its size tells
/// nothing. A file of which nothing is folded does not count, because its first line was refused, or its
/// first records are folded in a moment.
final class FileLag {
    private static final Pattern GENERATION = Pattern.compile("(.*)#[0-9]+@([0-9?]+)", Pattern.DOTALL);

    private FileLag() {}

    /// Bytes by the path of the file. A source that is not a file does not count, whatever its name looks
    /// like: its sender chose the name.
    public static Map<String, Long> byFile(RecordEnds ends, List<Source> sources) {
        Map<String, Long> bytes = new TreeMap<>();
        for (Source source : sources) {
            if (source.kind() == Source.Kind.FILE) {
                Matcher generation = GENERATION.matcher(source.name());
                bytes.merge(
                        generation.matches() ? generation.group(1) : source.name(),
                        ends.ofFiles() == Records.LINES ? bytes(source.progress()) : 0,
                        Long::sum);
            }
        }
        return bytes;
    }

    private static long bytes(Answer.Progress progress) {
        Matcher generation = GENERATION.matcher(progress.source());
        boolean followed = generation.matches();
        Path path = Path.of(followed ? generation.group(1) : progress.source());
        if (progress.bytes() == 0) {
            return 0;
        }
        try {
            boolean same = !followed || FileMark.of(path).key().equals(generation.group(2));
            return same && Files.isRegularFile(path) && !Decompression.isCompressed(path)
                    ? Math.max(0, Files.size(path) - progress.bytes())
                    : 0;
        } catch (IOException gone) {
            return 0;
        }
    }
}
