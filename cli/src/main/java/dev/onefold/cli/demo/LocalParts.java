package dev.onefold.cli.demo;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.show.Words;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The stand-ins for AWS: the module `local` with its servers. The command-line program does not contain this
/// module. So the module is built when it is first needed, and again when a source file is newer.
public final class LocalParts {
    private static final List<String> SOURCES = List.of("core", "aws", "local");
    private static final int LINES_MAX = 20;

    private final Caller caller;
    private final Path root;

    private LocalParts(Caller caller, Path root) {
        this.caller = caller;
        this.root = root;
    }

    /// Of the clone that this program was started from.
    ///
    /// @param command that wants them, as a person writes it
    public static LocalParts of(Caller caller, String command) {
        String launcher = System.getProperty("onefold.launcher", "");
        Path root = launcher.isEmpty() ? null : Path.of(launcher).getParent();
        if (root == null || !Files.isDirectory(root.resolve("local"))) {
            throw CommandFailure.usage(
                    "'" + command + "' builds what stands in for AWS from its source, so it runs from"
                            + " a clone: start it there as ./onefold.");
        }
        return new LocalParts(caller, root);
    }

    /// Where what runs on Node is put.
    public Path node() {
        return root.resolve("local").resolve("target").resolve("node");
    }

    /// The class path of the stand-ins' own process; builds it if that is needed.
    public String classPath() throws IOException {
        Path target = root.resolve("local").resolve("target").resolve("quick");
        Path built = target.resolve("demo.built");
        if (!Files.exists(built) || isNewer(Files.getLastModifiedTime(built))) {
            FileTime began = FileTime.fromMillis(System.currentTimeMillis());
            build();
            Files.writeString(built, "");
            Files.setLastModifiedTime(built, began); // What is edited during the build is newer.
        }
        List<Path> jars = new ArrayList<>(jars(target));
        jars.addAll(jars(target.resolve("lib")));
        return jars.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
    }

    private boolean isNewer(FileTime built) throws IOException {
        List<Path> places = new ArrayList<>(List.of(root.resolve("pom.xml")));
        for (String module : SOURCES) {
            places.add(root.resolve(module).resolve("pom.xml"));
            places.add(root.resolve(module).resolve("src").resolve("main"));
        }
        for (Path place : places) {
            try (Stream<Path> files = Files.walk(place)) {
                for (Path file : files.toList()) {
                    if (Files.getLastModifiedTime(file).compareTo(built) > 0) {
                        return true;
                    }
                }
            }
        }
        return false;
    }

    private static List<Path> jars(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.toString().endsWith(".jar"))
                    .sorted()
                    .toList();
        }
    }

    private void build() throws IOException {
        long startNanos = System.nanoTime();
        caller.print("Building what stands in for AWS (the first time this fetches about 100 MB) ...");
        caller.out().flush();
        Path log = Files.createDirectories(root.resolve("target")).resolve("onefold-local-build.log");
        ProcessBuilder maven = new ProcessBuilder(
                        "mvn", "-q", "-B", "-Dstyle.color=never", "-Dquick", "package", "-pl", "local", "-am")
                .directory(root.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile());
        maven.environment().put("JAVA_HOME", System.getProperty("java.home"));
        int exitCode;
        try {
            exitCode = maven.start().waitFor();
        } catch (IOException e) {
            throw new CommandFailure(
                    ExitCode.DIRECTORY,
                    "Maven is needed to build what stands in for AWS, and 'mvn' cannot be started. Install Maven 3.8 or"
                            + " newer, and try again.",
                    e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommandFailure(ExitCode.INTERRUPTED, "The build was interrupted.", e);
        }
        if (exitCode != 0) {
            List<String> said = Files.readAllLines(log, StandardCharsets.UTF_8);
            caller.printLine(" failed.");
            caller.out().flush();
            throw new CommandFailure(
                    ExitCode.DIRECTORY,
                    "What stands in for AWS cannot be built. The whole output is in " + caller.shown(log)
                            + "; it ends so:\n"
                            + Words.visible(String.join(
                                    "\n", said.subList(Math.max(0, said.size() - LINES_MAX), said.size()))));
        }
        caller.printLine(" done in " + Words.duration(Duration.ofNanos(System.nanoTime() - startNanos)) + ".");
        caller.out().flush();
    }
}
