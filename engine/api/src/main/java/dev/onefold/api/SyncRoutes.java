package dev.onefold.api;

import dev.onefold.core.Engine;
import dev.onefold.core.Sync;
import dev.onefold.core.bytes.Utf8;
import dev.onefold.core.document.Node;
import dev.onefold.core.document.Problems;
import dev.onefold.core.form.EngineJson;
import dev.onefold.core.json.JsonText;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/// The routes below `sync`: seedings and repairs of clients on other machines. This process holds each of them
/// for its client, for as long as the client is heard of. Then it is ended: nothing more is taken from it, and
/// it counts as interrupted, as one on this machine whose process was killed. Any thread may call.
final class SyncRoutes {
    static final String NAME = "sync";

    /// The time for which a client need not be heard of.
    static final Duration SILENCE_MAX = Duration.ofSeconds(30);

    private static final int RUNS_MAX = 100;

    private final Engine engine;
    private final Duration silenceMax;
    private final Map<Long, Held> all = new ConcurrentHashMap<>();

    SyncRoutes(Engine engine) {
        this(engine, SILENCE_MAX);
    }

    SyncRoutes(Engine engine, Duration silenceMax) {
        this.engine = engine;
        this.silenceMax = silenceMax;
    }

    /// A seeding or a repair of a client. Guarded by itself.
    private static final class Held {
        private final Sync.Run run;
        private long heardNanos = System.nanoTime();
        private boolean isEnded;

        Held(Sync.Run run) {
            this.run = run;
        }

        /// An action on behalf of the client.
        private interface Action {
            Response on(Sync.Run run);
        }

        synchronized Response act(Action action) {
            if (isEnded) {
                throw lost(run.number());
            }
            try {
                return action.on(run);
            } finally {
                heardNanos = System.nanoTime();
            }
        }

        synchronized void end() {
            if (!isEnded) {
                isEnded = true;
                run.close();
            }
        }

        /// The time until it is ended; 0 when it has ended.
        synchronized long leftNanos(Duration silenceMax) {
            long left = heardNanos + silenceMax.toNanos() - System.nanoTime();
            if (left <= 0) {
                end();
            }
            return isEnded ? 0 : left;
        }
    }

    private static Request.Refused lost(long number) {
        return new Request.Refused(new Failure(
                409,
                Failure.OWNER_CHANGED,
                "Nothing was heard of seeding or repair " + number + " for " + SILENCE_MAX.toSeconds()
                        + " s, so it was ended; this request did nothing. Run the command again: a seeding goes on where it"
                        + " was."));
    }

    Response get(Request request) {
        request.allow("below");
        return Response.json(Map.of("running", engine.sync().isRunning(request.number("below", Long.MAX_VALUE))));
    }

    /// @param path behind `sync`
    Optional<Response> post(Request request, List<String> path) {
        return switch (path.size()) {
            case 1 ->
                switch (path.getFirst()) {
                    case "seed" -> {
                        request.allowWithBody("restart", "as-of");
                        String source = text(request);
                        boolean restart = request.flag("restart");
                        Optional<Instant> asOf =
                                Optional.ofNullable(request.parameter("as-of")).map(SyncRoutes::instant);
                        yield Optional.of(begun(() -> engine.sync().seed(source, asOf, restart)));
                    }
                    case "repair" -> {
                        request.allow();
                        yield Optional.of(begun(() -> engine.sync().repair()));
                    }
                    default -> Optional.empty();
                };
            case 2 -> of(request, path.getFirst(), path.getLast());
            default -> Optional.empty();
        };
    }

    private static Instant instant(String text) {
        try {
            return Instant.parse(text);
        } catch (DateTimeParseException e) {
            throw new IllegalArgumentException(
                    "The parameter 'as-of' is a time such as 2026-03-01T07:00:00Z, not '" + text + "'", e);
        }
    }

    private interface Beginning {
        Sync.Run begin();
    }

    private Response begun(Beginning beginning) {
        if (all.size() >= RUNS_MAX) {
            throw new Request.Refused(new Failure(
                    429, Failure.BUSY, "More than " + RUNS_MAX + " seedings and repairs are under way. Try again."));
        }
        Sync.Run run = beginning.begin();
        Held held = new Held(run);
        all.put(run.number(), held);
        Thread.ofVirtual().name("onefold-sync").start(() -> endWhenSilent(run.number(), held));
        return Response.json(Map.of("number", run.number(), "continued", run.continued(), "marks", run.marks()));
    }

    private void endWhenSilent(long number, Held held) {
        try {
            for (long left = held.leftNanos(silenceMax); left > 0; left = held.leftNanos(silenceMax)) {
                Thread.sleep(Duration.ofNanos(left));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // Nobody does.
        } finally {
            all.remove(number);
        }
    }

    private Optional<Response> of(Request request, String number, String action) {
        return switch (action) {
            case "rows" -> {
                request.allowWithBody("kind");
                boolean areRows = areRows(request.required("kind"));
                byte[] body = request.body();
                EngineRoutes.requireLines(body);
                yield acted(
                        number,
                        run -> Response.json(EngineJson.APPENDED.write(
                                areRows ? run.appendRows(body, body.length) : run.append(body, body.length))));
            }
            case "marks" -> {
                request.allowWithBody();
                Map<String, String> marks = marks(request);
                yield acted(number, run -> {
                    run.save(marks);
                    return Response.json(Map.of());
                });
            }
            case "finish" -> {
                request.allow();
                yield acted(number, run -> {
                    run.finish();
                    return Response.json(Map.of());
                });
            }
            case "renew" -> {
                request.allow();
                yield acted(number, _ -> Response.json(Map.of()));
            }
            case "end" -> {
                request.allow();
                Held held = held(number);
                held.end();
                all.values().remove(held);
                yield Optional.of(Response.json(Map.of()));
            }
            default -> Optional.empty();
        };
    }

    private Optional<Response> acted(String number, Held.Action action) {
        return Optional.of(held(number).act(action));
    }

    private Held held(String text) {
        long number = Request.number("number of the seeding", text);
        Held held = all.get(number);
        if (held == null) {
            throw lost(number);
        }
        return held;
    }

    private static boolean areRows(String text) {
        return switch (text) {
            case "row" -> true;
            case "record" -> false;
            default -> throw new IllegalArgumentException("The parameter 'kind' is row or record, not '" + text + "'");
        };
    }

    private static String text(Request request) {
        return Utf8.decode(request.body())
                .orElseThrow(() -> new IllegalArgumentException("The content is not UTF-8 text"));
    }

    private static Map<String, String> marks(Request request) {
        if (!(JsonText.read(text(request), new Problems()) instanceof Node.Mapping all)) {
            throw new IllegalArgumentException("The content is not a JSON object of marks");
        }
        Map<String, String> marks = new LinkedHashMap<>();
        all.entries().forEach(mark -> marks.put(mark.name().text(), mark.value().text()));
        return marks;
    }

    /// Ends all that are under way.
    void close() {
        all.values().forEach(Held::end);
        all.clear();
    }
}
