package dev.onefold.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.api.Request;
import dev.onefold.api.Response;
import dev.onefold.api.Routes;
import dev.onefold.core.Engine;
import dev.onefold.server.flow.Spool;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Hazard 88 once more: however many ask, few answers are made, by few threads, and in turn.
@Timeout(60)
class MakersTest {
    private final CountDownLatch gate = new CountDownLatch(1);
    private final AtomicInteger cuts = new AtomicInteger();
    private final List<String> written = new CopyOnWriteArrayList<>();

    @TempDir
    Path directory;

    /// An engine whose queries wait for the gate.
    private Engine gated(Engine engine) {
        return (Engine) Proxy.newProxyInstance(
                Engine.class.getClassLoader(), new Class<?>[] {Engine.class}, (_, method, of) -> {
                    if (method.getName().equals("query")) {
                        cuts.incrementAndGet();
                        gate.await();
                    }
                    try {
                        return method.invoke(engine, of);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    /// Notes the written bytes.
    private final class Noted implements Makers.Form {
        private final String name;
        private final Spool.Memory memory = new Spool.Memory(1);

        Noted(String name) {
            this.name = name;
        }

        @Override
        public Spool.Memory memory() {
            return memory;
        }

        @Override
        public void write(Response answer, @Nullable String tag, OutputStream to) throws IOException {
            written.add(name);
            answer.body().writeTo(to);
        }
    }

    /// A reader that has no answer, and takes answers that are too large to be kept.
    private record Taking(ByteArrayOutputStream taken) implements Makers.Reader {
        @Override
        public boolean has(String tag) {
            return false;
        }

        @Override
        public OutputStream open(Response answer, @Nullable String tag) {
            return taken;
        }
    }

    private static FutureTask<String> ask(Makers makers, Makers.Form form, String target) {
        FutureTask<String> asked = new FutureTask<>(() -> {
            Taking reader = new Taking(new ByteArrayOutputStream());
            try (Makers.Made made = makers.ask(Request.of("GET", target, new byte[0]), form, reader)) {
                made.content().writeTo(reader.taken);
            }
            return reader.taken.toString(StandardCharsets.UTF_8);
        });
        Thread thread = Thread.ofVirtual().start(asked);
        while (thread.getState() != Thread.State.TIMED_WAITING && thread.isAlive()) {
            Thread.onSpinWait();
        }
        return asked;
    }

    /// Questions that keep all makers at the gate.
    private List<FutureTask<String>> busy(Makers makers, Makers.Form form) {
        List<FutureTask<String>> busy = new ArrayList<>();
        int count = Math.max(1, Runtime.getRuntime().availableProcessors() / 2);
        for (int i = 0; i < count; i++) {
            busy.add(ask(makers, form, "/v1/trades/totals?depth=" + (i + 10)));
        }
        while (cuts.get() < count) {
            Thread.onSpinWait();
        }
        return busy;
    }

    @Test
    void hazard_88_what_many_ask_before_its_cut_is_made_once_and_the_same_for_all() throws Exception {
        try (RunningService on = new RunningService(directory);
                Makers makers = new Makers(new Routes(List.of(gated(on.trades))))) {
            Makers.Form form = new Noted("whole");
            on.post("/v1/trades/records", RunningService.record(1, "2.50"));
            int before = busy(makers, form).size();
            List<FutureTask<String>> same = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                same.add(ask(makers, form, "/v1/trades/totals?depth=1"));
            }
            gate.countDown();
            String first = same.getFirst().get();
            assertThat(first).contains("2.50");
            for (FutureTask<String> each : same) {
                assertThat(each.get()).isEqualTo(first);
            }
            assertThat(cuts).hasValue(before + 1);
            assertThat(ask(makers, form, "/v1/trades/totals?depth=1").get()).contains("2.50");
            assertThat(cuts).as("who asks later gets a later cut").hasValue(before + 2);
        }
    }

    @Test
    void hazard_88_an_answer_waits_for_few_of_the_events_that_wait_before_it() throws Exception {
        try (RunningService on = new RunningService(directory);
                Makers makers = new Makers(new Routes(List.of(gated(on.trades))))) {
            Makers.Form events = new Noted("event");
            Makers.Form whole = new Noted("whole");
            List<FutureTask<String>> all = busy(makers, events);
            int before = all.size();
            for (int i = 0; i < 20; i++) {
                all.add(ask(makers, events, "/v1/trades/totals?depth=" + (100 + i)));
            }
            all.add(ask(makers, whole, "/v1/trades/totals"));
            gate.countDown();
            for (FutureTask<String> each : all) {
                each.get();
            }
            assertThat(written.indexOf("whole")).isLessThanOrEqualTo(2 * before + 1);
        }
    }

    @Test
    void an_answer_that_is_too_large_to_be_kept_comes_to_each_of_its_readers() throws Exception {
        try (RunningService on = new RunningService(directory);
                Makers makers = new Makers(new Routes(List.of(gated(on.trades))))) {
            Makers.Form form = new Noted("whole");
            for (int from = 0; from < 2_000; from += 500) {
                List<String> lines = new ArrayList<>();
                for (int i = from; i < from + 500; i++) {
                    lines.add("{\"id\":%d,\"v\":1,\"desk\":\"%d-%0900d\",\"value\":1}".formatted(i, i, 0));
                }
                on.trades.append("s", lines);
            }
            busy(makers, form);
            List<FutureTask<String>> large = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                large.add(ask(makers, form, "/v1/trades/totals"));
            }
            gate.countDown();
            String first = large.getFirst().get();
            assertThat(first.length()).isGreaterThan(1_800_000);
            for (FutureTask<String> each : large) {
                assertThat(withoutTime(each.get())).isEqualTo(withoutTime(first));
            }
        }
    }

    /// A reader that takes its answer when the gate is open.
    private record Slow(CountDownLatch begun, CountDownLatch gate) implements Makers.Reader {
        @Override
        public boolean has(String tag) {
            return false;
        }

        @Override
        public OutputStream open(Response answer, @Nullable String tag) throws IOException {
            begun.countDown();
            try {
                gate.await();
            } catch (InterruptedException e) {
                throw new InterruptedIOException();
            }
            return OutputStream.nullOutputStream();
        }
    }

    /// An engine whose answers are larger than is kept.
    private Engine large(RunningService on) {
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < 1_500; i++) {
            lines.add("{\"id\":%d,\"v\":1,\"desk\":\"%d-%0900d\",\"value\":1}".formatted(i, i, 0));
        }
        for (int from = 0; from < 1_500; from += 500) {
            on.trades.append("s", lines.subList(from, from + 500));
        }
        return on.trades;
    }

    @Test
    void an_answer_that_is_sent_as_it_is_made_goes_on_while_all_others_wait_for_what_it_holds() throws Exception {
        CountDownLatch taken = new CountDownLatch(1);
        CountDownLatch begun = new CountDownLatch(1);
        try (RunningService on = new RunningService(directory)) {
            Engine plain = large(on);
            Engine gated = gated(plain);
            AtomicInteger queries = new AtomicInteger();
            Engine first = (Engine) Proxy.newProxyInstance(
                    Engine.class.getClassLoader(), new Class<?>[] {Engine.class}, (_, method, of) -> {
                        boolean isLater = method.getName().equals("query") && queries.getAndIncrement() > 0;
                        try {
                            return method.invoke(isLater ? gated : plain, of);
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                    });
            try (Makers makers = new Makers(new Routes(List.of(first)))) {
                Makers.Form form = new Noted("whole");
                FutureTask<Boolean> flowing = new FutureTask<>(() -> {
                    Slow slow = new Slow(begun, taken);
                    try (Makers.Made made =
                            makers.ask(Request.of("GET", "/v1/trades/totals", new byte[0]), form, slow)) {
                        return made.isSent();
                    }
                });
                Thread.ofVirtual().start(flowing);
                begun.await();
                List<FutureTask<String>> others = busy(makers, form); // A reader that takes nothing holds up none.
                taken.countDown();
                assertThat(flowing.get()).isTrue(); // While all makers wait.
                gate.countDown();
                for (FutureTask<String> each : others) {
                    each.get();
                }
            }
        }
    }

    @Test
    void an_answer_that_is_not_begun_in_time_is_refused_and_one_after_the_end_too() throws Exception {
        try (RunningService on = new RunningService(directory)) {
            Makers makers = new Makers(new Routes(List.of(gated(on.trades))), Duration.ofMillis(100));
            Makers.Form form = new Noted("whole");
            List<FutureTask<String>> busy = busy(makers, form);
            assertThatThrownBy(() -> ask(makers, form, "/v1/trades/totals").get())
                    .hasCauseInstanceOf(Spool.Crowded.class);
            int before = busy.size();
            gate.countDown();
            for (FutureTask<String> each : busy) {
                each.get();
            }
            assertThat(ask(makers, form, "/v1/trades/totals").get()).isNotEmpty();
            assertThat(cuts).as("nothing is made for nobody").hasValue(before + 1);
            makers.close();
            while (!Thread.getAllStackTraces().keySet().stream()
                    .noneMatch(each -> each.getName().startsWith("onefold-answers-"))) {
                Thread.onSpinWait();
            }
            assertThatThrownBy(() -> ask(makers, form, "/v1/trades/totals").get())
                    .hasCauseInstanceOf(Makers.Ended.class);
        }
    }

    private static String withoutTime(String answer) {
        return answer.replaceAll("\"at\":\"[^\"]*\"", "");
    }
}
