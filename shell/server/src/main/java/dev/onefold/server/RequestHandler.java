package dev.onefold.server;

import dev.onefold.api.Failure;
import dev.onefold.api.Routes;
import dev.onefold.api.Routes.Permission;
import dev.onefold.api.Scope;
import dev.onefold.api.page.PageFiles.PageFile;
import dev.onefold.server.flow.PlatformThreads;
import dev.onefold.server.flow.Spool;
import dev.onefold.server.page.Page;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Semaphore;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpHeaderValue;
import org.eclipse.jetty.http.HttpMethod;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.jspecify.annotations.Nullable;

/// Answers each request by the routes, for callers that have permission. Any thread may call.
final class RequestHandler extends Handler.Abstract {
    private static final System.Logger LOG = System.getLogger("dev.onefold.api");
    private static final String OWNER_HEADER = "onefold-owner";
    private static final int ROUTE_PARTS = 3;

    /// Routes whose answers may be large, or take long.
    private static final Set<String> LARGE = Set.of("totals", "tables", "dead-letters", "range-sums");

    private final Map<String, Served> pipelines = new LinkedHashMap<>();
    private final Routes routes;
    private final Gate gate;
    private final Contents contents;
    private final Spool.Memory answers;
    private final Makers makers;
    private final Makers.Form whole;
    private final Duration stretchMax;
    private final Semaphore changing;
    private final Records records;
    private final Changes changes;
    private final Health health;
    private final Metrics metrics;
    private final Page page = new Page();
    private final dev.onefold.api.Response description = description();

    /// Names this opening of the data directories: numbers of dead letters are its own.
    private final String owner = UUID.randomUUID().toString();

    private final PlatformThreads recomputing = new PlatformThreads("onefold-recomputing-");

    /// @throws IOException if remembered answers cannot be read
    RequestHandler(Settings settings, List<Served> all) throws IOException {
        routes = new Routes(all.stream().map(Served::engine).toList());
        all.forEach(each -> pipelines.put(each.engine().pipeline().name(), each));
        gate = new Gate(settings);
        contents = new Contents(settings.limits());
        changing = new Semaphore(settings.limits().changes());
        answers = new Spool.Memory(settings.limits().memoryBytes());
        stretchMax = settings.limits().readingStretch();
        makers = new Makers(routes);
        whole = new Whole(new Spool.Memory(settings.limits().memoryBytes()));
        changes = new Changes(routes, makers, new Spool.Memory(settings.limits().memoryBytes()), stretchMax);
        health = new Health(all);
        metrics = new Metrics(all, changes);
        records = new Records(routes, pipelines, metrics, InstantSource.system());
    }

    /// Answers in the form that the routes give them.
    private record Whole(Spool.Memory memory) implements Makers.Form {
        @Override
        public void write(dev.onefold.api.Response answer, @Nullable String tag, OutputStream to) throws IOException {
            answer.body().writeTo(to);
        }
    }

    /// From now on a request that would not end by itself is not awaited.
    void end() {
        health.end();
        changes.end();
    }

    /// Releases threads, when no request is under way.
    void close() {
        recomputing.close();
        makers.close();
        routes.close();
    }

    /// Whether a request is answered by a stream of events.
    static boolean isStream(Request request) {
        return HttpMethod.GET.is(request.getMethod())
                && request.getHttpURI().getPath().endsWith("/" + Changes.NAME);
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) {
        Exchange exchange = new Exchange(request, response, answers, stretchMax);
        response.getHeaders().put(OWNER_HEADER, owner);
        request.addIdleTimeoutListener(_ -> false); // A long computation is not silence. Reading and writing still are.
        Contents.Held content = contents.new Held();
        try (content) {
            answer(exchange, content);
            exchange.finish();
            metrics.answered(response.getStatus());
            callback.succeeded();
        } catch (Refusal e) {
            refuse(e, content, request, response, callback);
        } catch (Spool.Crowded e) {
            response.getHeaders().remove(HttpHeader.ETAG).remove(HttpHeader.CACHE_CONTROL);
            refuse(crowded(), content, request, response, callback);
        } catch (IOException e) {
            // The answer has begun, or nobody is there to take it: the connection ends before the answer does.
            callback.failed(e);
        } catch (RuntimeException | Error e) {
            LOG.log(System.Logger.Level.WARNING, "A request failed, which is a bug in Onefold", e);
            if (response.isCommitted()) {
                callback.failed(e);
            } else {
                Refusal bug = new Refusal(Failure.of(e).withoutValues());
                metrics.answered(bug.status());
                bug.send(response, callback);
            }
        } finally {
            exchange.release();
        }
        return true;
    }

    private void refuse(Refusal refusal, Contents.Held content, Request request, Response response, Callback callback) {
        if (content.isBegun() || !request.getHeaders().contains(HttpHeader.EXPECT, "100-continue")) {
            contents.drain(request);
        } // Otherwise the client waits for this very answer before it sends its content.
        metrics.answered(refusal.status());
        refusal.reason().ifPresent(metrics::refused);
        refusal.send(response, callback);
    }

    private static Refusal crowded() {
        return new Refusal(
                429,
                Failure.BUSY,
                "Too many large answers are being sent. Ask for less (a group, a smaller depth, a top list), or try"
                        + " again when some have been read.");
    }

    private void answer(Exchange exchange, Contents.Held content) throws IOException, Refusal {
        dev.onefold.api.Request asked = exchange.asked(new byte[0]);
        Optional<PageFile> file = page.find(asked.method(), asked.path());
        gate.requireSameSite(exchange.request(), file.isPresent());
        requireOwner(exchange);
        boolean isPost = HttpMethod.POST.is(asked.method());
        if (!isPost && exchange.request().getLength() > 0) {
            // A sender of such a request may see its end elsewhere than Jetty does.
            exchange.response().getHeaders().put(HttpHeader.CONNECTION, HttpHeaderValue.CLOSE);
            throw exchange.refused("There is no use for content in a request of method " + asked.method() + ".");
        }
        if (file.isPresent()) {
            Page.send(file.get(), exchange.request(), exchange.response());
            return;
        }
        Optional<dev.onefold.api.Response> open = open(asked);
        if (open.isPresent()) {
            exchange.send(open.get());
            return;
        }
        Permission permission = gate.permission(exchange.request());
        Optional<Failure> refusal =
                asked.path().equals(List.of("metrics")) ? Optional.empty() : routes.refusal(asked, permission);
        if (refusal.isPresent()) {
            throw new Refusal(refusal.get());
        }
        if (isPost) {
            content.read(
                    Content.Source.asInputStream(exchange.request()),
                    exchange.request().getLength(),
                    exchange.header(HttpHeader.CONTENT_ENCODING).orElse(""));
            post(exchange, exchange.asked(content.bytes()), permission);
        } else {
            get(exchange, asked, permission);
        }
    }

    private void requireOwner(Exchange exchange) throws Refusal {
        Optional<String> known = exchange.header(OWNER_HEADER);
        if (known.isPresent() && !known.get().equals(owner)) {
            throw new Refusal(
                    409,
                    Failure.OWNER_CHANGED,
                    "The service was started again since the answer that named '" + OWNER_HEADER
                            + "'. Nothing was done. Ask again.");
        }
    }

    /// The answer to a request that needs no token; empty if it needs one.
    private Optional<dev.onefold.api.Response> open(dev.onefold.api.Request asked) {
        return switch (asked.method() + " " + String.join("/", asked.path())) {
            case "GET health/live", "HEAD health/live" -> Optional.of(health.live());
            case "GET health/ready", "HEAD health/ready" -> Optional.of(health.ready());
            case "GET openapi.json", "HEAD openapi.json" -> Optional.of(description);
            default -> Optional.empty();
        };
    }

    private static dev.onefold.api.Response description() throws IOException {
        try (InputStream in = RequestHandler.class.getResourceAsStream("openapi.json")) {
            byte[] bytes = Objects.requireNonNull(in, "The description of the API is missing")
                    .readAllBytes();
            return new dev.onefold.api.Response(200, dev.onefold.api.Response.JSON, out -> out.write(bytes));
        }
    }

    private void get(Exchange exchange, dev.onefold.api.Request asked, Permission permission)
            throws IOException, Refusal {
        List<String> path = asked.path();
        if (path.equals(List.of("metrics")) && asked.method().equals("GET")) {
            exchange.send(metrics.answer(exchange.header(HttpHeader.ACCEPT).orElse(null), permission));
        } else if (path.size() == ROUTE_PARTS && path.getLast().equals(Changes.NAME) && isStream(exchange.request())) {
            changes.send(
                    new Changes.Asked(
                            asked,
                            permission,
                            Objects.requireNonNull(pipelines.get(path.get(1))).engine(),
                            exchange.header("Last-Event-ID").orElse(null)),
                    exchange.response());
        } else if (path.size() >= ROUTE_PARTS
                && LARGE.contains(path.get(2))
                && asked.method().equals("GET")) {
            Optional<Failure> refusal = routes.await(asked);
            if (refusal.isPresent()) {
                throw new Refusal(refusal.get());
            }
            try (Makers.Made made = makers.ask(asked, whole, exchange)) {
                exchange.send(made);
            }
        } else {
            routes.answer(asked, permission, exchange::send);
        }
    }

    private void post(Exchange exchange, dev.onefold.api.Request asked, Permission permission)
            throws IOException, Refusal {
        if (asked.path().size() == ROUTE_PARTS && Scope.of(asked) == Scope.WRITE) {
            records.take(exchange, asked, permission); // Bounded by the memory for contents.
            return;
        }
        if (!changing.tryAcquire()) {
            throw new Refusal(
                    429,
                    Failure.BUSY,
                    "Too many requests that change or recompute something are under way. Try again.");
        }
        try {
            recomputing.run(() -> routes.answer(asked, permission, exchange::send));
        } finally {
            changing.release();
        }
    }
}
