package dev.onefold.local.stack;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.template.Template;
import dev.onefold.aws.template.Template.Input;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.local.function.FunctionSettings;
import dev.onefold.local.function.Sandbox;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What a process of State does at its first invocation, when it was primed before the snapshot, and when it
/// was not. Lambda restores what was done before.
class PrimedStartTest {
    private static final Pipeline PIPELINE = PipelineBuilder.named("primed")
            .key("id")
            .version("v")
            .rollup(rollup -> rollup.levels("desk").sum("value", "value", 18, 2))
            .build();

    @TempDir
    private Path folder;

    private int starts;

    @Test
    @Tag("campaign")
    void a_primed_process_loads_less_than_half_of_the_classes_at_its_first_invocation() throws IOException {
        try (LocalDeployment deployment = LocalDeployment.open(
                PIPELINE.name(),
                Template.of(PIPELINE, Input.NEW_STREAM).yaml(),
                Map.of("Gates", "64"),
                Parts.machine(1),
                StackFaults.NONE)) {
            FunctionSettings state = deployment.settings("State");
            loaded(state); // Makes the definition.
            long plain = loaded(state);
            long primed = loaded(state.with("AWS_LAMBDA_INITIALIZATION_TYPE", "snap-start"));
            assertThat(primed).as("of " + plain + " classes").isLessThan(plain / 2);
        }
    }

    /// Classes that the first invocation loads.
    private long loaded(FunctionSettings state) throws IOException {
        Path log = folder.resolve("classes-" + ++starts);
        List<String> options = new ArrayList<>(state.jvmOptions());
        options.add("-Xlog:class+load:file=" + log + "::filecount=0");
        try (Sandbox sandbox =
                Sandbox.start(state.with(options), Parts.machine(1).functions())) {
            sandbox.ready().join();
            long before = lines(log);
            sandbox.invoke(event()).join();
            return lines(log) - before;
        }
    }

    private static long lines(Path log) throws IOException {
        try (Stream<String> lines = Files.lines(log)) {
            return lines.count();
        }
    }

    private byte[] event() {
        String record = "{\"id\":\"%d\",\"v\":1,\"desk\":\"FX\",\"value\":1.25}".formatted(starts);
        String data = Base64.getEncoder().encodeToString(record.getBytes(StandardCharsets.UTF_8));
        return """
                {"Records":[{"kinesis":{"partitionKey":"1","sequenceNumber":"%1$d","data":"%2$s",\
                "approximateArrivalTimestamp":1545084650.987},"eventSource":"aws:kinesis",\
                "eventID":"shardId-000000000000:%1$d","eventSourceARN":\
                "arn:aws:kinesis:eu-central-1:000000000000:stream/primed-input"}]}""".formatted(starts, data).getBytes(StandardCharsets.UTF_8);
    }
}
