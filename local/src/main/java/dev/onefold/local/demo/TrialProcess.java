package dev.onefold.local.demo;

import dev.onefold.local.cloud.LocalCloud;
import dev.onefold.local.stack.Machine;
import dev.onefold.local.stack.StackFaults;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/// An empty account on this machine for `onefold aws trial --local`. It says on standard output where all services are,
/// in a line `trial opened URI`, and ends when its standard input is closed.
///
/// The argument is the folder of what runs on Node.
public final class TrialProcess {
    /// What lines for programs begin with: servers say other things on standard output.
    public static final String PREFIX = "trial ";

    private static final Duration MINUTE = Duration.ofSeconds(60);
    private static final int SANDBOXES_MAX = 2;

    private TrialProcess() {}

    /// Ends with exit code 1, and a message on standard error, if something is missing or fails.
    public static void main(String[] arguments) {
        try (LocalCloud cloud = LocalCloud.open(
                new Machine(List.of(), Path.of(arguments[0]), SANDBOXES_MAX, MINUTE), StackFaults.NONE)) {
            Runtime.getRuntime().addShutdownHook(new Thread(cloud::close)); // It has files, which go with it.
            System.out.println(PREFIX + "opened " + cloud.endpoint());
            System.out.flush();
            waitForParent(System.in);
        } catch (IllegalStateException | IOException e) {
            System.err.println(PREFIX + e.getMessage());
            System.exit(1);
        }
        System.exit(0);
    }

    /// Standard input is a pipe of the parent's, which closes however that ends.
    private static void waitForParent(InputStream in) throws IOException {
        while (in.read() >= 0) {}
    }
}
