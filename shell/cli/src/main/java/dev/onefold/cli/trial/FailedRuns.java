package dev.onefold.cli.trial;

import dev.onefold.api.RemoteEngine;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.run.FailOptions;
import dev.onefold.cli.run.FailOptions.Failing;
import dev.onefold.cli.run.Lives;
import dev.onefold.cli.run.StopRequest;
import dev.onefold.cli.show.Words;
import dev.onefold.core.Engine;
import dev.onefold.core.EngineException;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.query.Query;
import dev.onefold.embedded.source.Stage;
import dev.onefold.load.TradeRiskLoad;
import dev.onefold.load.TradeRiskTotals;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;

/// The same messages into a service without failures, and then into services that fail on purpose: a table of
/// failures, delays and whether the totals are right.
final class FailedRuns {
    private static final long RATE =
            2_000; // A service that was away catches up at once, so delays are those of failures.
    private static final long REQUEST_MESSAGES = 200;
    private static final long PAUSE_MS = 20;
    private static final long SILENT_NANOS_MAX = TimeUnit.SECONDS.toNanos(60);
    private static final List<Stage> STAGES =
            List.of(Stage.READ, Stage.JOURNAL, Stage.FOLD, Stage.WRITE, Stage.CHECKPOINT);
    private static final String ROW = "%-24s %8s %8s %8s %8s %8s %8s  %s";

    private final Caller caller;
    private final Path folder;
    private final Supplier<TradeRiskLoad> loads;

    /// @param folder with the pipeline
    /// @param loads makes the same messages each time
    FailedRuns(Caller caller, Path folder, Supplier<TradeRiskLoad> loads) {
        this.caller = caller;
        this.folder = folder;
        this.loads = loads;
    }

    /// The runs of a table: none fails, then each failure alone, then all of them together.
    static List<List<String>> rows(List<String> asked) {
        List<String> each = new ArrayList<>();
        for (String text : asked) {
            Failing failing = Failing.parse(text);
            Stage stage = failing.stage();
            if (stage != null && !STAGES.contains(stage)) {
                throw CommandFailure.usage("The pipeline of the demo makes no batches, so it has no stage "
                        + FailOptions.word(stage) + ". 'onefold run " + FailOptions.FAIL + "' takes it.");
            }
            (stage == null ? STAGES.stream() : Stream.of(stage))
                    .map(one -> failing.percent().toPlainString() + "%:" + FailOptions.word(one))
                    .forEach(each::add);
        }
        List<List<String>> rows = new ArrayList<>(List.of(List.of()));
        each.forEach(one -> rows.add(List.of(one)));
        if (each.size() > 1) {
            rows.add(each);
        }
        return rows;
    }

    /// Runs each row, and prints it.
    ///
    /// @return DIFFERENT if totals of any of them are wrong
    ExitCode print(List<List<String>> rows) throws IOException, InterruptedException {
        caller.print(
                ROW.formatted("failures", "injected", "mean", "p50", "p99", "longest", "a second", "totals") + "\n");
        ExitCode code = ExitCode.DONE;
        for (int i = 0; i < rows.size(); i++) {
            Path place = Files.createDirectory(folder.resolve("row-" + i));
            try (Service service = new Service(place, rows.get(i))) {
                boolean isEqual = row(i, rows.get(i), service);
                code = isEqual ? code : ExitCode.DIFFERENT;
            }
        }
        return code;
    }

    private boolean row(int number, List<String> failures, Service service) throws IOException, InterruptedException {
        TradeRiskLoad load = loads.get();
        long messages = load.remaining();
        long[] delays = new long[(int) Math.ceilDiv(messages, REQUEST_MESSAGES)];
        service.append(0, new byte[0]); // It is up: its first start is no delay.
        long startNanos = System.nanoTime();
        for (int request = 0; request < delays.length; request++) {
            ByteArrayOutputStream lines = new ByteArrayOutputStream();
            load.write(lines, REQUEST_MESSAGES);
            long dueNanos = startNanos + request * REQUEST_MESSAGES * TimeUnit.SECONDS.toNanos(1) / RATE;
            TimeUnit.NANOSECONDS.sleep(dueNanos - System.nanoTime());
            service.append(request * REQUEST_MESSAGES, lines.toByteArray());
            delays[request] = System.nanoTime() - dueNanos;
        }
        Duration elapsed = Duration.ofNanos(System.nanoTime() - startNanos);
        TradeRiskTotals right = load.totals();
        Comparison comparison =
                service.asked(engine -> new Comparison(engine.query(Query.all(Rollup.MAIN)), engine.counts(), right));
        Arrays.sort(delays);
        caller.print(ROW.formatted(
                        number == 0 ? "none" : failures.size() > 1 ? "all of these" : failures.getFirst(),
                        Words.count(service.lives.failed()),
                        ms((long) Arrays.stream(delays).average().orElse(0)),
                        ms(delays[(delays.length - 1) / 2]),
                        ms(delays[(delays.length - 1) * 99 / 100]),
                        ms(delays[delays.length - 1]),
                        Words.count(messages * 1_000 / Math.max(1, elapsed.toMillis())),
                        comparison.isEqual() ? "equal" : "DIFFERENT")
                + "\n");
        caller.out().flush();
        comparison.differences(10).forEach(line -> caller.print(line + "\n"));
        return comparison.isEqual();
    }

    private static String ms(long nanos) {
        return Words.count(nanos / 1_000_000) + " ms";
    }

    /// A question to an engine.
    private interface Question<T> {
        T ask(Engine engine);
    }

    /// A service that dies on purpose, and a caller that repeats its requests until they are answered.
    private static final class Service implements AutoCloseable {
        private final Path place;
        private final Lives lives;
        private final StopRequest stop = new StopRequest();
        private final Thread thread;
        private Optional<Engine> engine = Optional.empty();

        Service(Path place, List<String> failures) throws IOException {
            this.place = place;
            Files.writeString(
                    place.resolve("serve.yaml"),
                    "port: 0\npipelines:\n  - file: ../" + DemoCommand.PIPELINE + "\n    data: " + KilledRun.DATA
                            + "\n");
            List<String> words = new ArrayList<>(
                    List.of("serve", "--config", place.resolve("serve.yaml").toString()));
            failures.forEach(failing -> words.addAll(List.of(FailOptions.FAIL, failing)));
            lives = new Lives(
                    new ProcessBuilder()
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .redirectError(ProcessBuilder.Redirect.appendTo(log().toFile())),
                    words);
            thread = Thread.ofPlatform().daemon().name("onefold-lives").start(this::live);
        }

        private Path log() {
            return place.resolve("serve.log");
        }

        private void live() {
            try {
                lives.run(stop);
            } catch (IOException e) {
                throw new java.io.UncheckedIOException(e);
            }
        }

        /// Sends lines until they are acknowledged. They are numbered, so a repeated request counts once.
        void append(long before, byte[] lines) throws InterruptedException {
            asked(running -> running.append("demo", before + 1, lines, lines.length));
        }

        /// Asks until there is an answer.
        <T> T asked(Question<T> question) throws InterruptedException {
            long untilNanos = System.nanoTime() + SILENT_NANOS_MAX;
            while (true) {
                try {
                    if (engine.isEmpty()) {
                        engine = RemoteEngine.connect(place.resolve(KilledRun.DATA))
                                .map(found -> found);
                    }
                    if (engine.isPresent()) {
                        return question.ask(engine.get());
                    }
                } catch (EngineException died) {
                    disconnect();
                }
                if (!thread.isAlive() || System.nanoTime() > untilNanos) {
                    throw new CommandFailure(
                            ExitCode.DIFFERENT,
                            "The service has not answered for " + SILENT_NANOS_MAX / 1_000_000_000 + " s, and said:\n"
                                    + said());
                }
                Thread.sleep(PAUSE_MS);
            }
        }

        private String said() {
            try {
                return Words.visible(Files.readString(log()));
            } catch (IOException e) {
                return e.toString();
            }
        }

        private void disconnect() {
            engine.ifPresent(Engine::close);
            engine = Optional.empty();
        }

        @Override
        public void close() {
            disconnect();
            stop.make(ExitCode.DONE);
            try {
                thread.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
