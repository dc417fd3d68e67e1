package dev.onefold.api;

import dev.onefold.api.sync.ComparisonRun;
import dev.onefold.core.Engine.Appended;
import dev.onefold.core.EngineException;
import dev.onefold.core.Sync;
import dev.onefold.core.bytes.Utf8;
import dev.onefold.core.document.Node;
import dev.onefold.core.event.RecordEnds;
import dev.onefold.core.form.EngineJson;
import dev.onefold.core.json.Json;
import java.io.InputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// The seedings and repairs of an engine on another machine, which holds each of them while its client is
/// heard of.
final class RemoteSync implements Sync {
    private static final String ROUTE = "/" + SyncRoutes.NAME;

    /// Long before the service ends a run of which it hears nothing.
    private static final Duration RENEWED_EACH = SyncRoutes.SILENCE_MAX.dividedBy(6);

    /// A service takes requests of 16 MiB, and records of up to 10 MiB.
    private static final int BLOCK_BYTES = 4 << 20;

    private final RemoteEngine engine;

    RemoteSync(RemoteEngine engine) {
        this.engine = engine;
    }

    @Override
    public Run seed(String source, Optional<Instant> asOf, boolean restart) {
        String as = asOf.map(at -> "&as-of=" + at).orElse("");
        return begun("/seed?restart=" + restart + as, Utf8.encode("The source", source));
    }

    @Override
    public Run repair() {
        return begun("/repair", null);
    }

    private Run begun(String target, byte @Nullable [] content) {
        return engine.post(ROUTE + target, content, json -> {
            Map<String, String> marks = new HashMap<>();
            json.get("marks")
                    .entries()
                    .forEach(mark -> marks.put(mark.name().text(), mark.value().text()));
            return new AtService(number(json, "number"), number(json, "continued"), marks);
        });
    }

    private static long number(Node json, String name) {
        return Long.parseLong(json.get(name).text());
    }

    /// A service that is started again meanwhile refuses what comes next.
    @Override
    public Run compare() {
        return new ComparisonRun(() -> {});
    }

    @Override
    public boolean isRunning(long below) {
        return Boolean.parseBoolean(
                engine.get(ROUTE + "?below=" + below).get("running").text());
    }

    /// A seeding or a repair that the service holds for this client.
    private final class AtService implements Run {
        private final long number;
        private final long continued;
        private final Map<String, String> marks;
        private final Thread renewing;
        private boolean isClosed;

        AtService(long number, long continued, Map<String, String> marks) {
            this.number = number;
            this.continued = continued;
            this.marks = Map.copyOf(marks);
            renewing = Thread.ofVirtual().name("onefold-sync").start(this::renew);
        }

        /// A renewal that fails is made again, until this is closed. When the service has ended, or has ended
        /// this run, the next call of the client says so.
        private void renew() {
            while (true) {
                try {
                    Thread.sleep(RENEWED_EACH);
                    engine.ask(Client.Way.RENEW, target("renew"), null, InputStream::readAllBytes);
                } catch (InterruptedException e) {
                    return; // It is closed.
                } catch (EngineException e) {
                    if (e.kind() == EngineException.Kind.INTERRUPTED) {
                        return;
                    }
                }
            }
        }

        private String target(String action) {
            return ROUTE + "/" + number + "/" + action;
        }

        @Override
        public long number() {
            return number;
        }

        @Override
        public long continued() {
            return continued;
        }

        @Override
        public Map<String, String> marks() {
            return marks;
        }

        @Override
        public Appended append(byte[] lines, int length) {
            return append("record", RecordEnds.of(engine.pipeline()), lines, length);
        }

        @Override
        public Appended appendRows(byte[] lines, int length) {
            return append("row", RecordEnds.LINES, lines, length);
        }

        /// In requests of whole records that a service takes.
        private Appended append(String kind, RecordEnds ends, byte[] lines, int length) {
            Appended all = null;
            for (int from = 0, to; all == null || from < length; from = to) {
                int full = Math.min(length, from + BLOCK_BYTES);
                int last = full == length ? length : ends.lastEnd(lines, from, full);
                to = last > from ? last : ends.endAnyhow(lines, from, length);
                byte[] some = Arrays.copyOfRange(lines, from, to);
                some = RemoteEngine.whole(some, some.length);
                Appended appended = engine.post(target("rows") + "?kind=" + kind, some, EngineJson.APPENDED::read);
                all = all == null ? appended : all.plus(appended);
            }
            return all;
        }

        @Override
        public void save(Map<String, String> noted) {
            engine.post(target("marks"), Utf8.encode("The marks", Json.of(noted)), Function.identity());
        }

        @Override
        public void finish() {
            engine.post(target("finish"), null, Function.identity());
        }

        @Override
        public void close() {
            if (isClosed) {
                return;
            }
            isClosed = true;
            renewing.interrupt();
            try {
                engine.post(target("end"), null, Function.identity());
            } catch (EngineException e) {
                // The service ends it when it hears nothing more.
            }
        }
    }
}
