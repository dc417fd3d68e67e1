package dev.onefold.local.demo;

import dev.onefold.aws.template.Template;
import dev.onefold.aws.template.Template.Input;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.local.function.FunctionSettings;
import dev.onefold.local.function.Sandbox;
import dev.onefold.local.stack.LocalDeployment;
import dev.onefold.local.stack.Machine;
import dev.onefold.local.stack.StackFaults;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/// Measures how long State takes from the start of its process until it asks for its first invocation, and
/// until it has answered that, a batch of one record that goes to the tables: plain, primed as before a
/// snapshot, and with a cache of its classes. Lambda restores from a snapshot what was done before the first
/// invocation, so the last column is what a restored copy still does, without the restore itself, encryption
/// and the network.
///
/// The arguments are the folder of the unpacked archive and the folder of what runs on Node.
public final class ColdStart {
    private static final int STARTS = 10;
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final Pipeline PIPELINE = PipelineBuilder.named("cold-start")
            .key("id")
            .version("v")
            .rollup(rollup -> rollup.levels("desk").sum("value", "value", 18, 2))
            .build();

    private final List<Path> classPath;
    private int records;

    private ColdStart(List<Path> classPath) {
        this.classPath = classPath;
    }

    /// Prints a table.
    public static void main(String[] arguments) throws IOException, InterruptedException {
        List<Path> jars;
        try (Stream<Path> files = Files.list(Path.of(arguments[0]).resolve("lib"))) {
            jars = files.sorted().toList();
        }
        Path cache = Files.createTempFile("onefold-state", ".aot");
        try (LocalDeployment deployment = LocalDeployment.open(
                PIPELINE.name(),
                Template.of(PIPELINE, Input.NEW_STREAM).yaml(),
                Map.of(),
                new Machine(jars, Path.of(arguments[1]), 1, MINUTE),
                StackFaults.NONE)) {
            new ColdStart(jars).measure(deployment.settings("State"), cache);
        } finally {
            Files.delete(cache);
        }
        System.exit(0);
    }

    private void measure(FunctionSettings state, Path cache) throws IOException, InterruptedException {
        start(state, false); // Makes the definition, and warms the servers.
        System.out.printf(
                Locale.ROOT, "%-14s %22s %22s %22s%n", "", "first next, ms", "first answer, ms", "in between, ms");
        print("plain", state);
        print("primed", state.with("AWS_LAMBDA_INITIALIZATION_TYPE", "snap-start"));
        start(with(state, "-XX:AOTCacheOutput=" + cache), true);
        print("with a cache", with(state, "-XX:AOTCache=" + cache));
        System.out.printf(Locale.ROOT, "The cache has %,d bytes.%n", Files.size(cache));
    }

    private static FunctionSettings with(FunctionSettings state, String option) {
        List<String> options = new ArrayList<>(state.jvmOptions());
        options.add(option);
        return state.with(options);
    }

    private void print(String name, FunctionSettings state) throws IOException, InterruptedException {
        List<Long> nexts = new ArrayList<>();
        List<Long> answers = new ArrayList<>();
        List<Long> between = new ArrayList<>();
        for (int i = 0; i < STARTS; i++) {
            List<Long> times = start(state, false);
            nexts.add(times.get(0));
            answers.add(times.get(1));
            between.add(times.get(1) - times.get(0));
        }
        System.out.printf(Locale.ROOT, "%-14s %22s %22s %22s%n", name, spread(nexts), spread(answers), spread(between));
    }

    /// The median, and the least and the greatest.
    private static String spread(List<Long> ms) {
        List<Long> sorted = ms.stream().sorted().toList();
        return sorted.get(sorted.size() / 2) + " (" + sorted.getFirst() + " to " + sorted.getLast() + ")";
    }

    /// Milliseconds until the first `next`, and until the first answer.
    private List<Long> start(FunctionSettings state, boolean endItself) throws IOException, InterruptedException {
        long startNanos = System.nanoTime();
        try (Sandbox sandbox = Sandbox.start(state, classPath)) {
            sandbox.ready().join();
            long nextNanos = System.nanoTime();
            sandbox.invoke(event()).join();
            long answerNanos = System.nanoTime();
            if (endItself) {
                sandbox.end();
            }
            return List.of((nextNanos - startNanos) / 1_000_000, (answerNanos - startNanos) / 1_000_000);
        }
    }

    private byte[] event() {
        records++;
        String record = "{\"id\":\"%d\",\"v\":1,\"desk\":\"FX\",\"value\":1.25}".formatted(records);
        return """
                {"Records":[{"kinesis":{"kinesisSchemaVersion":"1.0","partitionKey":"%1$d","sequenceNumber":"%1$d",\
                "data":"%2$s","approximateArrivalTimestamp":1545084650.987},"eventSource":"aws:kinesis",\
                "eventVersion":"1.0","eventID":"shardId-000000000000:%1$d","eventName":"aws:kinesis:record",\
                "invokeIdentityArn":"arn:aws:iam::000000000000:role/r","awsRegion":"eu-central-1","eventSourceARN":\
                "arn:aws:kinesis:eu-central-1:000000000000:stream/cold-start-input"}]}""".formatted(records, Base64.getEncoder().encodeToString(record.getBytes(StandardCharsets.UTF_8)))
                .getBytes(StandardCharsets.UTF_8);
    }
}
