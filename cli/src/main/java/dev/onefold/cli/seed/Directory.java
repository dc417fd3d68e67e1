package dev.onefold.cli.seed;

import dev.onefold.api.RemoteEngine;
import dev.onefold.core.Engine;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/// A data directory whose files are read as they are, while no engine runs. The reader does not see records that
/// an engine folds later, which would look like differences.
final class Directory {
    private final Path folder;
    private final boolean isOwned;
    private final List<String> files;

    /// As it is now.
    ///
    /// @param engine that is asked: one that runs, or what was in the files a moment ago
    Directory(Path folder, Engine engine) throws IOException {
        this.folder = folder;
        isOwned = engine instanceof RemoteEngine;
        files = isOwned ? List.of() : files();
    }

    /// Requires that no engine has run meanwhile, except the one that was running already.
    void requireSame() throws IOException {
        if (!isOwned && !files.equals(files())) {
            throw new IOException("an engine has begun to run meanwhile, and this command has read what was there"
                    + " before; compare again");
        }
    }

    /// The folder of seedings is the comparison's own.
    private List<String> files() throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            List<String> names = new ArrayList<>();
            all.filter(file -> !file.startsWith(folder.resolve(DirectoryHome.SEEDS)) && Files.isRegularFile(file))
                    .forEach(file -> names.add(file + " " + file.toFile().length() + " "
                            + file.toFile().lastModified()));
            names.sort(null);
            return names;
        } catch (UncheckedIOException e) {
            return List.of("A file went away: " + e.getMessage());
        }
    }
}
