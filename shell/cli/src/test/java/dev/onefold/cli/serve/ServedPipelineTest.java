package dev.onefold.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.cli.Cli;
import dev.onefold.cli.OnefoldProcess;
import dev.onefold.cli.SmallDisk;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.data.PipelineArgument;
import dev.onefold.cli.run.StopRequest;
import dev.onefold.embedded.Settings;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// One pipeline of a service, on a real file system that becomes full.
class ServedPipelineTest {
    @TempDir
    private Path folder;

    private interface Life {
        void live(ServedPipeline serving, SmallDisk disk) throws Exception;
    }

    /// The life of a pipeline that begins to follow a file when its disk is full.
    private void onFullDisk(Life life) throws Exception {
        try (SmallDisk disk = SmallDisk.mount(folder.resolve("mount"))) {
            Cli cli = Cli.in(folder);
            cli.write("trades.yaml", Cli.TRADES);
            cli.write("app.log", Cli.trade("t1", 1, "a", "x", "1.50") + Cli.trade("t2", 1, "a", "x", "1.50"));
            Caller caller =
                    cli.caller(InputStream.nullInputStream(), new ByteArrayOutputStream(), new ByteArrayOutputStream());
            PipelineArgument argument = new PipelineArgument(caller, "trades.yaml", "mount/d");
            ServedPipeline serving =
                    ServedPipeline.open(caller, argument, Settings.defaults(), new StopRequest(), false);
            disk.fill();
            serving.read(new ServeFile.Entry("trades.yaml", "mount/d", List.of("app.log"), null));
            OnefoldProcess.await(
                    "it waits", () -> serving.served().refusal().get().isPresent());
            life.live(serving, disk);
        }
    }

    @Test
    void a_pipeline_that_waits_for_space_is_closed_though_nobody_has_asked_the_service_to_stop() throws Exception {
        onFullDisk((serving, _) -> {
            CompletableFuture<Boolean> closed = CompletableFuture.runAsync(serving::close, Thread::startVirtualThread)
                    .handle((_, _) -> true); // It may say that the disk is full.
            assertThat(closed).succeedsWithin(1, TimeUnit.MINUTES);
        });
    }

    @Test
    void a_file_that_is_followed_from_a_full_disk_on_is_read_when_there_is_space() throws Exception {
        onFullDisk((serving, disk) -> {
            disk.empty();
            OnefoldProcess.await(
                    "it goes on",
                    () -> serving.served().engine().counts().records() == 2
                            || !serving.served().troubles().get().isEmpty());
            assertThat(serving.served().troubles().get()).isEmpty();
            serving.close();
        });
    }

    /// As the messages of a queue are taken: what takes them waits for space inside the engine, and sees no
    /// stop.
    @Test
    void an_input_that_waits_for_space_inside_the_engine_keeps_no_pipeline_from_being_closed() throws Exception {
        onFullDisk((serving, _) -> {
            List<String> lines = Collections.nCopies(10_000, "no record " + "x".repeat(100));
            CountDownLatch begun = new CountDownLatch(1);
            serving.input("queue", () -> {
                begun.countDown();
                while (true) {
                    serving.served().engine().append("queue", lines);
                }
            });
            begun.await();
            CompletableFuture<Boolean> closed = CompletableFuture.runAsync(serving::close, Thread::startVirtualThread)
                    .handle((_, _) -> true); // It may say that the disk is full.
            assertThat(closed).succeedsWithin(1, TimeUnit.MINUTES);
        });
    }
}
