package dev.onefold.cli.demo;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.Connection;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.template.Template;
import dev.onefold.aws.template.Template.Input;
import dev.onefold.cli.aws.FunctionJars;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.run.Progress;
import dev.onefold.cli.show.Words;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.Engine;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.query.Query;
import dev.onefold.load.TradeRiskTotals;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// A deployment on this machine, in a process of its own: see `DemoProcess` of the module `local`. It ends when we do,
/// because its standard input is a pipe of ours.
final class LocalRun implements AutoCloseable {
    private static final String PREFIX = "demo ";
    private static final String MAIN = "dev.onefold.local.demo.DemoProcess";
    private static final String OPERATOR = "OPERATOR";
    private static final int LINES_MAX = 20;
    private static final int LETTERS_MAX = 1_000;
    private static final int SECONDS_MAX = 20;

    private final Caller caller;
    private final Process process;
    private final Thread atExit;
    private final Deque<String> lines = new ArrayDeque<>();
    private final long startNanos = System.nanoTime();

    private LocalRun(Caller caller, Process process) {
        this.caller = caller;
        this.process = process;
        atExit = new Thread(this::end);
        Runtime.getRuntime().addShutdownHook(atExit);
    }

    /// Starts it.
    ///
    /// @param folder with the messages
    static LocalRun start(Caller caller, Path folder, Pipeline pipeline, long seed) throws IOException {
        LocalParts parts = LocalParts.of(caller, "demo --on aws-local");
        List<Path> functions = FunctionJars.find();
        String classPath = parts.classPath();
        Files.writeString(
                folder.resolve("template.yaml"),
                Template.of(pipeline, Input.NEW_STREAM).yaml());
        Files.writeString(folder.resolve("pipeline.txt"), PipelineText.write(pipeline));
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx1g",
                        "-XX:+UseParallelGC",
                        "--enable-native-access=ALL-UNNAMED",
                        "--sun-misc-unsafe-memory-access=allow",
                        "-cp",
                        classPath,
                        MAIN,
                        folder.toString(),
                        functions.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator)),
                        parts.node().toString(),
                        String.valueOf(seed))
                .redirectErrorStream(true)
                .start();
        return new LocalRun(caller, process);
    }

    /// The report of the process: its endpoint, the failures on purpose, and the records without an answer.
    static final class Story {
        private @Nullable URI endpoint;
        private final StringBuilder text = new StringBuilder();
        private long unanswered;

        private URI endpoint() {
            return Optional.ofNullable(endpoint).orElseThrow();
        }
    }

    /// Follows it until all messages are through.
    Story follow(long messages) throws IOException {
        Story story = new Story();
        BufferedReader said = process.inputReader(); // Left open: what it says later is nobody's.
        try (Progress progress =
                Progress.begin(caller, Progress.Mode.auto, "Folding", Progress.Unit.RECORDS, messages)) {
            for (String line = said.readLine(); line != null; line = said.readLine()) {
                lines.addLast(line);
                if (lines.size() > LINES_MAX) {
                    lines.removeFirst();
                }
                if (line.equals(PREFIX + "through")) {
                    progress.at(messages, messages);
                    return story;
                }
                if (line.startsWith(PREFIX)) {
                    note(story, line.substring(PREFIX.length()).split(" ", -1), progress);
                }
            }
        }
        throw failed();
    }

    private static void note(Story story, String[] words, Progress progress) {
        switch (words[0]) {
            case "opened" -> story.endpoint = URI.create(words[1]);
            case "folded" -> progress.at(Long.parseLong(words[1]), Long.parseLong(words[1]));
            case "function" ->
                story.text
                        .append(words[1])
                        .append(" was invoked ")
                        .append(Words.count(Long.parseLong(words[2]), "time"))
                        .append(", ")
                        .append(Words.count(Long.parseLong(words[3])))
                        .append(" of them in vain; ")
                        .append(Words.count(Long.parseLong(words[4])))
                        .append(words[4].equals("1") ? " of its processes was" : " of its processes were")
                        .append(" killed with SIGKILL. ");
            case "requests" ->
                story.text
                        .append("Of ")
                        .append(Words.count(Long.parseLong(words[1]), "request"))
                        .append(" to the services ")
                        .append(Words.count(Long.parseLong(words[2])))
                        .append(" were refused, delayed, half done or not answered on purpose, and ")
                        .append(words[3].equals("0") ? "none" : words[3])
                        .append(" by the roles of the template. ");
            case "put" -> story.unanswered = Long.parseLong(words[2]);
            default -> {} // What only a person needs to read, after a failure.
        }
    }

    private CommandFailure failed() {
        String said = lines.stream()
                .filter(line -> line.startsWith(PREFIX))
                .reduce((_, last) -> last.substring(PREFIX.length()))
                .orElse(String.join("\n", lines));
        return new CommandFailure(ExitCode.DIFFERENT, "The demo could not go on: " + Words.visible(said));
    }

    /// Reads the totals as `onefold aws` does, and says how it went.
    Comparison compare(Story story, TradeRiskTotals right) {
        System.setProperty("aws.accessKeyId", OPERATOR); // What the SDK looks for first, in this process alone.
        System.setProperty("aws.secretAccessKey", "secret");
        Connection.Place place = new Connection.Place("eu-central-1", null, story.endpoint());
        Store store = Connection.store(Store.Tables.of("trade-risk"), place);
        try (Engine engine = AwsEngine.deployed(store)) {
            return new Comparison(
                    engine.query(Query.all(Rollup.MAIN)),
                    List.of(new Comparison.Count(
                            "dead letters",
                            different(engine.deadLetters()),
                            right.inOrder().malformed())),
                    right);
        }
    }

    /// A producer that gets no answer puts a record again, so that one of them may be there twice, in two places.
    private static long different(DeadLetters letters) {
        Set<String> hashes = new HashSet<>();
        List<DeadLetter> some = letters.list(0, LETTERS_MAX);
        while (!some.isEmpty()) {
            some.forEach(letter -> hashes.add(letter.sha256()));
            some = letters.list(some.getLast().id(), LETTERS_MAX);
        }
        return hashes.size();
    }

    /// The failures on purpose, and the records that may be in the stream twice, as text.
    String sentence(Story story) {
        String twice =
                Words.count(story.unanswered, "record") + " may be in the stream twice: the producer got no answer.";
        return (story.text + (story.unanswered == 0 ? "" : twice)).strip();
    }

    Duration elapsed() {
        return Duration.ofNanos(System.nanoTime() - startNanos);
    }

    private void end() {
        process.destroy(); // It ends what it has started.
        try {
            if (!process.waitFor(SECONDS_MAX, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            process.destroyForcibly();
        }
    }

    @Override
    public void close() {
        end();
        try {
            Runtime.getRuntime().removeShutdownHook(atExit);
        } catch (IllegalStateException exiting) {
            // Then it runs, and ends what has ended already.
        }
    }
}
