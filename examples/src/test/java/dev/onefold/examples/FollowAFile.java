package dev.onefold.examples;

import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.embedded.source.FoldListener;
import dev.onefold.embedded.source.FollowedFile;
import java.nio.file.Path;
import java.util.function.Consumer;

/// A log that is being written and rotated, followed by an application. The lines between the marks are in
/// `docs/start.md`, too.
final class FollowAFile {
    private FollowAFile() {}

    static void run(Path directory, Pipeline pipeline, Path log, Consumer<EmbeddedEngine> application)
            throws InterruptedException {
        // follow
        try (EmbeddedEngine engine = EmbeddedEngine.open(directory, pipeline, Settings.defaults())) {
            Thread follower = new Thread(() -> engine.follow(new FollowedFile(log), FoldListener.silent()));
            follower.start();
            application.accept(engine); // Queries, appends and redrives go on beside the follower.
            follower.interrupt();
            follower.join(); // The lines that were folded are in a checkpoint now.
        }
        // follow
    }
}
