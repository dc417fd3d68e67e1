package dev.onefold.local.demo;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.Connection;
import dev.onefold.aws.letter.LetterTable;
import dev.onefold.aws.stream.Producer;
import dev.onefold.aws.template.Template;
import dev.onefold.aws.template.Template.Input;
import dev.onefold.cli.aws.FunctionJars;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.run.Progress;
import dev.onefold.cli.show.Words;
import dev.onefold.cli.trial.Comparison;
import dev.onefold.core.Counts;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.Engine;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.query.Query;
import dev.onefold.load.TradeRiskTotals;
import dev.onefold.local.function.FunctionFaults;
import dev.onefold.local.function.Sandboxes;
import dev.onefold.local.gate.Faults;
import dev.onefold.local.stack.LocalDeployment;
import dev.onefold.local.stack.Machine;
import dev.onefold.local.stack.StackFaults;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import software.amazon.awssdk.core.exception.SdkException;

/// A deployment on this machine, through which the messages of the demo are put while requests fail and
/// processes are killed.
///
/// @param right the totals of the producer
record LocalDemo(Caller caller, Pipeline pipeline, TradeRiskTotals right) {
    private static final Duration TICK = Duration.ofMillis(500);
    private static final Duration DRAIN_MAX = Duration.ofMinutes(30);
    private static final Duration MINUTE = Duration.ofSeconds(10);
    private static final int SANDBOXES_MAX = 2;
    private static final int LETTERS_MAX = 1_000;

    /// Puts the messages, says what failed on the way, and compares the totals.
    ///
    /// @param node folder of what runs on Node
    ExitCode run(Path messages, Path node) throws IOException {
        long startNanos = System.nanoTime();
        try (LocalDeployment deployment = LocalDeployment.open(
                pipeline.name(),
                Template.of(pipeline, Input.NEW_STREAM).yaml(),
                Map.of("BatchSize", "500", "ParallelizationFactor", "2", "Gates", "64", "TickMinutes", "1"),
                new Machine(FunctionJars.find(), node, SANDBOXES_MAX, MINUTE),
                faults())) {
            Producer.Sent sent = put(deployment, messages);
            Duration elapsed = Duration.ofNanos(System.nanoTime() - startNanos);
            say(sentence(deployment, sent));
            caller.print("\n");
            Comparison comparison = compared(deployment);
            caller.print(comparison.text(caller.screen()) + "\n");
            say(
                    Words.count(right.made().messages(), "message") + " in " + Words.duration(elapsed)
                            + ", servers and cold starts included. This says nothing of AWS's speed: docs/aws-figures.md does.");
            return comparison.exitCode();
        }
    }

    private StackFaults faults() {
        return new StackFaults(
                right.seed(),
                new Faults(3, 3, 5, 3, 10, 10, Duration.ofMillis(20)),
                new FunctionFaults(10, 10, 10, 15),
                new FunctionFaults(20, 10, 10, 15),
                0.03);
    }

    private Producer.Sent put(LocalDeployment deployment, Path messages) throws IOException {
        AtomicLong put = new AtomicLong();
        long all = right.made().messages();
        try (Stream<String> lines = Files.lines(messages);
                Progress progress = Progress.begin(caller, Progress.Mode.auto, "Folding", Progress.Unit.RECORDS, all)) {
            CompletableFuture<Producer.Sent> through = CompletableFuture.supplyAsync(
                            () -> deployment.put(
                                    pipeline,
                                    lines.map(line -> line.getBytes(StandardCharsets.UTF_8))
                                            .iterator(),
                                    put::set),
                            Thread::startVirtualThread)
                    .thenCompose(sent -> deployment.drained(DRAIN_MAX).thenApply(_ -> sent));
            LetterTable letters = new LetterTable(deployment.store());
            while (!through.isDone()) {
                long folded = Math.min(put.get(), folded(letters));
                progress.at(folded, folded);
                Connection.THREADS.pause(TICK);
            }
            Producer.Sent sent = through.join();
            progress.at(all, all);
            return sent;
        } catch (CompletionException e) {
            throw new IllegalStateException(String.valueOf(e.getCause()), e);
        }
    }

    /// Is shown to people and asked again: 0 if the table does not answer.
    private static long folded(LetterTable letters) {
        try {
            Counts counts = letters.fates().counts();
            return counts.accepted() + counts.duplicate() + counts.stale() + counts.rejected();
        } catch (SdkException unanswered) {
            return 0;
        }
    }

    /// The failures on purpose, and the records that may be in the stream twice, as text.
    private static String sentence(LocalDeployment deployment, Producer.Sent sent) {
        StringBuilder text = new StringBuilder();
        for (String function : List.of("State", "Reduce")) {
            Sandboxes.Counts counts = deployment.function(function).counts();
            text.append(function)
                    .append(" was invoked ")
                    .append(Words.count(counts.invocations(), "time"))
                    .append(", ")
                    .append(Words.count(counts.failed()))
                    .append(" of them in vain; ")
                    .append(Words.count(counts.killed()))
                    .append(counts.killed() == 1 ? " of its processes was" : " of its processes were")
                    .append(" killed with SIGKILL. ");
        }
        long requests = deployment.usage().requests().values().stream()
                .mapToLong(Long::longValue)
                .sum();
        long faults = deployment.usage().faults().entrySet().stream()
                .filter(fault -> !fault.getKey().equals("NONE"))
                .mapToLong(Map.Entry::getValue)
                .sum();
        int refused = deployment.usage().refused().size();
        text.append("Of ")
                .append(Words.count(requests, "request"))
                .append(" to the services ")
                .append(Words.count(faults))
                .append(" were refused, delayed, half done or not answered on purpose, and ")
                .append(refused == 0 ? "none" : String.valueOf(refused))
                .append(" by the roles of the template.");
        if (sent.unanswered() > 0) {
            text.append(' ')
                    .append(Words.count(sent.unanswered(), "record"))
                    .append(" may be in the stream twice: the producer got no answer.");
        }
        return text.toString();
    }

    /// Reads the totals as `onefold aws` does.
    private Comparison compared(LocalDeployment deployment) {
        try (Engine engine = AwsEngine.deployed(deployment.store())) {
            return new Comparison(
                    engine.query(Query.all(Rollup.MAIN)),
                    List.of(new Comparison.Count(
                            "dead letters",
                            different(engine.deadLetters()),
                            right.inOrder().malformed())),
                    right);
        }
    }

    /// A producer that gets no answer puts a record again, so that one of them may be there twice, in two
    /// places.
    private static long different(DeadLetters letters) {
        Set<String> hashes = new HashSet<>();
        List<DeadLetter> some = letters.list(0, LETTERS_MAX);
        while (!some.isEmpty()) {
            some.forEach(letter -> hashes.add(letter.sha256()));
            some = letters.list(some.getLast().id(), LETTERS_MAX);
        }
        return hashes.size();
    }

    private void say(String text) {
        caller.print(Words.wrap(text, caller.screen().width()) + "\n");
        caller.out().flush();
    }
}
