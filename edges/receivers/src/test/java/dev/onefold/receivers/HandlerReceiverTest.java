package dev.onefold.receivers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.batch.Batch;
import dev.onefold.batch.BatchHandler;
import dev.onefold.batch.FailedRecordsException;
import dev.onefold.batch.RefusedException;
import dev.onefold.batch.TryLaterException;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.pipeline.Batching.Destination;
import dev.onefold.core.pipeline.Batching.Kind;
import dev.onefold.core.pipeline.Input.Format;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HandlerReceiverTest {
    private static final Handover BATCH = Sample.handover(42, "{\"id\":1}\n{\"id\":2}\n");

    @TempDir
    private Path folder;

    private static Outcome deliver(BatchHandler handler) throws InterruptedException {
        try (Receiver receiver = Receivers.of(handler, Duration.ofMinutes(1))) {
            return receiver.deliver(BATCH);
        }
    }

    @Test
    void a_handler_is_given_the_batch() throws Exception {
        AtomicReference<Batch> given = new AtomicReference<>();
        AtomicReference<String> content = new AtomicReference<>();
        assertThat(deliver(batch -> {
                    given.set(batch);
                    content.set(new String(batch.open().readAllBytes(), StandardCharsets.UTF_8));
                }))
                .isEqualTo(new Outcome.Done());
        assertThat(content).hasValue("{\"id\":1}\n{\"id\":2}\n");
        assertThat(given.get())
                .returns("quakes", Batch::pipeline)
                .returns("quakes-000042", Batch::id)
                .returns("000042", Batch::number)
                .returns(2L, Batch::records)
                .returns(18L, Batch::bytes)
                .returns(BATCH.manifest().sha256(), Batch::sha256)
                .returns(Sample.SEALED, Batch::sealed)
                .returns(1, Batch::attempt);
    }

    @Test
    void the_exception_says_what_came_of_it() throws Exception {
        assertThat(deliver(batch -> {
                    throw new RefusedException("no id");
                }))
                .isEqualTo(new Outcome.Refused("no id"));
        assertThat(deliver(batch -> {
                    throw new TryLaterException("closed on Sundays", Duration.ofHours(9));
                }))
                .isEqualTo(new Outcome.NotNow("closed on Sundays", Duration.ofHours(9)));
        SortedMap<Integer, String> failed = new TreeMap<>(Map.of(1, "no id"));
        assertThat(deliver(batch -> {
                    throw new FailedRecordsException(failed);
                }))
                .isEqualTo(new Outcome.Partial(List.of(new Outcome.Failed(1, "no id"))));
        assertThat(deliver(batch -> {
                    throw new IOException("broken pipe");
                }))
                .isEqualTo(new Outcome.Unknown("deliver() failed: java.io.IOException: broken pipe"));
        assertThat(deliver(batch -> {
                    throw new NoClassDefFoundError("x");
                }))
                .isInstanceOf(Outcome.Unknown.class);
    }

    @Test
    void a_call_that_does_not_return_is_unknown_and_its_batch_is_not_handed_over_beside_it() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        AtomicInteger calls = new AtomicInteger();
        AtomicReference<Thread> caller = new AtomicReference<>();
        Receiver receiver = Receivers.of(
                batch -> {
                    caller.set(Thread.currentThread());
                    calls.incrementAndGet();
                    while (release.getCount() > 0) {
                        try {
                            release.await();
                        } catch (InterruptedException e) {
                            calls.get(); // The user's code ignores it.
                        }
                    }
                },
                Duration.ofMillis(100));
        assertThat(receiver.deliver(BATCH)).isInstanceOf(Outcome.Unknown.class);
        assertThat(receiver.deliver(BATCH)).isInstanceOf(Outcome.NotNow.class);
        assertThat(calls).hasValue(1);
        assertThat(receiver.isLeftRunning()).isTrue();
        release.countDown();
        caller.get().join();
        assertThat(receiver.isLeftRunning()).isFalse();
        assertThat(receiver.deliver(BATCH)).isEqualTo(new Outcome.Done());
        assertThat(calls).hasValue(2);
        receiver.close();
        receiver.close();
    }

    private void jar(String source) throws IOException {
        Path java = Files.writeString(folder.resolve("Load.java"), source);
        assertThat(ToolProvider.getSystemJavaCompiler()
                        .run(null, null, null, "-proc:none", "-d", folder.toString(), java.toString()))
                .isZero();
        try (JarOutputStream jar = new JarOutputStream(Files.newOutputStream(folder.resolve("load.jar")))) {
            for (String name : List.of("Load.class", "Load$Late.class")) {
                if (Files.exists(folder.resolve(name))) {
                    jar.putNextEntry(new JarEntry(name));
                    jar.write(Files.readAllBytes(folder.resolve(name)));
                }
            }
        }
    }

    private Receiver open(String name, Map<String, String> options) {
        return Sample.open(Sample.destination(Kind.JAVA, List.of(name), options), folder, Map.of());
    }

    @Test
    void a_class_in_a_jar_sees_the_jdk_and_the_types_of_a_receiver_alone() throws Exception {
        jar("""
                public class Load implements dev.onefold.batch.BatchHandler {
                    public void deliver(dev.onefold.batch.Batch batch) throws Exception {
                        try {
                            Class.forName("dev.onefold.core.batch.Manifest");
                        } catch (ClassNotFoundException e) {
                            throw new dev.onefold.batch.RefusedException(batch.id());
                        }
                    }
                }
                """);
        try (Receiver receiver = open("Load", Map.of("jar", "load.jar"))) {
            assertThat(receiver.deliver(BATCH)).isEqualTo(new Outcome.Refused("quakes-000042"));
        }
    }

    @Test
    void a_jar_that_is_written_over_does_not_change_a_receiver_that_is_open() throws Exception {
        jar("""
                public class Load implements dev.onefold.batch.BatchHandler {
                    static class Late {
                        static String reason() { return "the first build"; }
                    }
                    public void deliver(dev.onefold.batch.Batch batch) throws Exception {
                        throw new dev.onefold.batch.RefusedException(Late.reason());
                    }
                }
                """);
        try (Receiver receiver = open("Load", Map.of("jar", "load.jar"))) {
            Files.write(folder.resolve("load.jar"), new byte[10_000]);
            assertThat(receiver.deliver(BATCH)).isEqualTo(new Outcome.Refused("the first build"));
        }
    }

    /// Its constructor returns when a test lets it.
    public static final class Slow implements BatchHandler {
        private static final CountDownLatch RELEASED = new CountDownLatch(1);

        public Slow() throws InterruptedException {
            RELEASED.await();
        }

        @Override
        public void deliver(Batch batch) {}
    }

    @Test
    void a_constructor_that_does_not_return_is_said_and_holds_up_nothing() {
        Destination slow = Sample.destination(Kind.JAVA, List.of(Slow.class.getName()), Map.of());
        Context context =
                new Context(folder, folder, name -> null, Slow.class.getClassLoader(), Map.of(), new Format.Json());
        try {
            assertThatThrownBy(() -> HandlerReceiver.open(slow, context, Duration.ofMillis(20)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageStartingWith("The constructor of " + Slow.class.getName());
        } finally {
            Slow.RELEASED.countDown();
        }
        HandlerReceiver.open(slow, context, Duration.ofMinutes(1)).close();
    }

    @Test
    void what_is_wrong_with_a_class_is_said_before_anything_is_delivered() throws Exception {
        jar("public class Load {}");
        assertThatThrownBy(() -> open("Load", Map.of("jar", "load.jar")))
                .hasMessage("Class Load does not implement dev.onefold.batch.BatchHandler");
        assertThatThrownBy(() -> open("Lode", Map.of("jar", "load.jar")))
                .hasMessage("There is no class Lode. Correct 'class' or 'jar'");
        assertThatThrownBy(() -> open("Load", Map.of("jar", "lode.jar")))
                .hasMessageStartingWith("There is no jar " + folder.resolve("lode.jar"));
        jar("class Load implements dev.onefold.batch.BatchHandler {"
                + " public void deliver(dev.onefold.batch.Batch batch) {} }");
        assertThatThrownBy(() -> open("Load", Map.of("jar", "load.jar")))
                .hasMessageStartingWith("Class Load has no public constructor");
    }
}
