package dev.onefold.embedded.source;

import dev.onefold.core.query.Answer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// How many bytes of the files that were folded are not folded yet, because they have grown since. A file that is gone,
/// that was rotated away, or that is compressed does not count: its size says nothing.
public final class FileLag {
    private static final Pattern GENERATION = Pattern.compile("(.*)#[0-9]+@([0-9?]+)", Pattern.DOTALL);

    private FileLag() {}

    /// The bytes of all sources.
    public static long bytes(List<Answer.Progress> sources) {
        return sources.stream().mapToLong(FileLag::bytes).sum();
    }

    private static long bytes(Answer.Progress progress) {
        if (!progress.source().startsWith("/")) {
            return 0;
        }
        Matcher generation = GENERATION.matcher(progress.source());
        boolean followed = generation.matches();
        Path path = Path.of(followed ? generation.group(1) : progress.source());
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
