package dev.onefold.local.demo;

import dev.onefold.aws.Connection;
import dev.onefold.aws.letter.LetterTable;
import dev.onefold.aws.stream.Producer;
import dev.onefold.core.Counts;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.local.function.FunctionFaults;
import dev.onefold.local.function.Sandboxes;
import dev.onefold.local.gate.Faults;
import dev.onefold.local.stack.LocalDeployment;
import dev.onefold.local.stack.Machine;
import dev.onefold.local.stack.StackFaults;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import software.amazon.awssdk.core.exception.SdkException;

/// A deployment on this machine, through which messages are put while much goes wrong. It says on standard output how
/// far it is, in lines that begin with [#PREFIX], and when all is through it leaves the tables open to whoever started
/// it until that closes its standard input.
///
/// The first argument is a folder with `template.yaml`, `pipeline.txt` and `trades.ndjson`; then come the class path
/// of the functions, the folder of what runs on Node, and the seed.
public final class DemoProcess {
    /// What lines for programs begin with: servers say other things on standard output.
    public static final String PREFIX = "demo ";

    private static final Duration TICK = Duration.ofMillis(500);
    private static final Duration DRAIN_MAX = Duration.ofMinutes(30);
    private static final Duration MINUTE = Duration.ofSeconds(10);
    private static final int SANDBOXES_MAX = 2;

    private final PrintStream out;
    private final LocalDeployment deployment;
    private final AtomicLong put = new AtomicLong();

    private DemoProcess(PrintStream out, LocalDeployment deployment) {
        this.out = out;
        this.deployment = deployment;
    }

    /// Ends with exit code 1, and a message on standard error, if something is missing or fails.
    public static void main(String[] arguments) throws IOException {
        endWithParent();
        Path folder = Path.of(arguments[0]);
        List<Path> functions = Stream.of(arguments[1].split(File.pathSeparator, -1))
                .map(Path::of)
                .toList();
        long seed = Long.parseLong(arguments[3]);
        Pipeline pipeline = pipeline(Files.readString(folder.resolve("pipeline.txt")));
        try (LocalDeployment deployment = LocalDeployment.open(
                pipeline.name(),
                Files.readString(folder.resolve("template.yaml")),
                Map.of("BatchSize", "500", "ParallelizationFactor", "2", "Gates", "64", "TickMinutes", "1"),
                new Machine(functions, Path.of(arguments[2]), SANDBOXES_MAX, MINUTE),
                faults(seed))) {
            new DemoProcess(System.out, deployment).run(pipeline, folder.resolve("trades.ndjson"));
        } catch (IllegalStateException | IOException e) {
            System.err.println(PREFIX + e.getMessage());
            System.exit(1);
        }
        System.exit(0);
    }

    private static StackFaults faults(long seed) {
        return new StackFaults(
                seed,
                new Faults(3, 3, 5, 3, 10, 10, Duration.ofMillis(20)),
                new FunctionFaults(10, 10, 10, 15),
                new FunctionFaults(20, 10, 10, 15),
                0.03);
    }

    /// Standard input is a pipe of the parent's, which closes however that ends.
    private static void endWithParent() {
        Thread.ofPlatform().daemon().start(() -> {
            try (InputStream in = System.in) {
                while (in.read() >= 0) {}
            } catch (IOException closed) {
                throw new UncheckedIOException("Standard input cannot be read", closed);
            } finally {
                System.exit(0);
            }
        });
    }

    private static Pipeline pipeline(String text) {
        return switch (PipelineText.read(text)) {
            case Reading.Read(Pipeline pipeline) -> pipeline;
            case Reading.Refused refused ->
                throw new IllegalStateException(refused.problems().getFirst().message());
        };
    }

    private void run(Pipeline pipeline, Path messages) throws IOException {
        say("opened " + deployment.endpoint());
        try (Stream<String> lines = Files.lines(messages)) {
            CompletableFuture<Producer.Sent> sending = CompletableFuture.supplyAsync(
                    () -> deployment.put(
                            pipeline,
                            lines.map(line -> line.getBytes(StandardCharsets.UTF_8))
                                    .iterator(),
                            put::set),
                    Thread::startVirtualThread);
            CompletableFuture<Producer.Sent> through =
                    sending.thenCompose(sent -> deployment.drained(DRAIN_MAX).thenApply(_ -> sent));
            tick(through);
            Producer.Sent sent = through.join();
            tell(sent);
        }
        say("through");
        waitForParent();
    }

    /// Says again and again what has been put and what has been folded, until all is through.
    private void tick(CompletableFuture<?> through) {
        LetterTable letters = new LetterTable(deployment.store());
        while (!through.isDone()) {
            say("folded " + Math.min(put.get(), folded(letters)));
            Connection.THREADS.pause(TICK);
        }
    }

    /// For people, and it comes again: 0 if the table does not answer.
    private static long folded(LetterTable letters) {
        try {
            Counts counts = letters.counts();
            return counts.accepted() + counts.duplicate() + counts.stale() + counts.rejected();
        } catch (SdkException unanswered) {
            return 0;
        }
    }

    private void tell(Producer.Sent sent) {
        for (String function : List.of("State", "Reduce")) {
            Sandboxes.Counts counts = deployment.function(function).counts();
            say("function " + function + " " + counts.invocations() + " " + counts.failed() + " " + counts.killed());
        }
        long requests = deployment.usage().requests().values().stream()
                .mapToLong(Long::longValue)
                .sum();
        long faults = deployment.usage().faults().entrySet().stream()
                .filter(fault -> !fault.getKey().equals("NONE"))
                .mapToLong(Map.Entry::getValue)
                .sum();
        say("requests " + requests + " " + faults + " "
                + deployment.usage().refused().size());
        say("put " + sent.records() + " " + sent.unanswered());
    }

    private static void waitForParent() {
        try {
            Thread.currentThread().join(); // Until standard input ends, which exits.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void say(String line) {
        out.println(PREFIX + line);
        out.flush();
    }
}
