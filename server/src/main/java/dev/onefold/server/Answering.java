package dev.onefold.server;

import dev.onefold.api.Failure;
import dev.onefold.api.Routes;
import dev.onefold.api.Routes.Permission;
import dev.onefold.api.Scope;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpMethod;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.io.EofException;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.jspecify.annotations.Nullable;

/// Answers each request by the routes, for those who may ask. Any thread may call.
final class Answering extends Handler.Abstract {
    private static final String BEARER = "bearer ";

    private final Routes routes;
    private final @Nullable Tokens tokens;
    private final Contents contents;
    private final Semaphore changes;
    private final ExecutorService recomputing;

    /// @param recomputing runs what keeps a processor busy for long, and so may not run on a virtual thread
    Answering(Routes routes, Settings settings, ExecutorService recomputing) {
        this.routes = routes;
        this.recomputing = recomputing;
        tokens = settings.tokens();
        contents = new Contents(settings.limits());
        changes = new Semaphore(settings.limits().changes());
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) {
        try (Contents.Held content = contents.new Held()) {
            answer(request, response, content);
            callback.succeeded();
        } catch (Refusal e) {
            contents.drain(request);
            e.send(response, callback);
        } catch (IOException | RuntimeException | Error e) {
            // The answer has begun, or nobody is there to take it: the connection ends before the answer does.
            callback.failed(e);
        }
        return true;
    }

    private void answer(Request request, Response response, Contents.Held content)
            throws IOException, Refusal {
        requireSameSite(request);
        Permission permission = permission(request);
        boolean isPost = HttpMethod.POST.is(request.getMethod());
        if (isPost) {
            content.read(
                    Content.Source.asInputStream(request),
                    request.getLength(),
                    Optional.ofNullable(request.getHeaders().get(HttpHeader.CONTENT_ENCODING))
                            .orElse(""));
        } else if (request.getLength() > 0) {
            throw refused(400, "There is no use for content in a request of method " + request.getMethod() + ".");
        }
        dev.onefold.api.Request asked = asked(request, content);
        Routes.Receiver receiver = answer -> Refusal.send(response, answer);
        if (!isPost) {
            routes.answer(asked, permission, receiver);
            return;
        }
        if (!changes.tryAcquire()) {
            throw new Refusal(
                    429, Failure.BUSY, "Too many requests that change or recompute something are under way. Try again.");
        }
        try {
            if (Scope.of(asked) == Scope.WRITE) {
                routes.answer(asked, permission, receiver);
            } else {
                onPlatformThread(asked, permission, receiver);
            }
        } finally {
            changes.release();
        }
    }

    private void onPlatformThread(dev.onefold.api.Request asked, Permission permission, Routes.Receiver receiver)
            throws IOException {
        Future<?> answered = recomputing.submit(() -> {
            routes.answer(asked, permission, receiver);
            return null;
        });
        try {
            answered.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new EofException(e);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof IOException gone) {
                throw gone;
            }
            throw new IllegalStateException(e.getCause());
        }
    }

    private static dev.onefold.api.Request asked(Request request, Contents.Held content) throws Refusal {
        try {
            return dev.onefold.api.Request.of(
                    request.getMethod(), request.getHttpURI().getPathQuery(), content.bytes());
        } catch (IllegalArgumentException e) {
            throw refused(400, e.getMessage());
        }
    }

    private static Refusal refused(int status, String detail) {
        return new Refusal(status, Failure.REQUEST, detail);
    }

    /// A page of another site, open in the browser of somebody who may reach this service, may not use that.
    private void requireSameSite(Request request) throws Refusal {
        String origin = request.getHeaders().get(HttpHeader.ORIGIN);
        String host = request.getHttpURI().getAuthority();
        if (origin != null && (host == null || !isOf(origin, host))) {
            throw new Refusal(
                    403, Failure.NOT_ALLOWED, "The request comes from a page of another site, which may not ask here.");
        }
        if (tokens == null && host != null && !isLocal(host)) {
            throw new Refusal(
                    403,
                    Failure.NOT_ALLOWED,
                    "The request names another host than this machine. Without tokens, ask for localhost.");
        }
    }

    private static boolean isOf(String origin, String host) {
        try {
            return host.equals(URI.create(origin).getAuthority());
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    private static boolean isLocal(String host) {
        String name = host.replaceFirst(":[0-9]*$", "");
        return List.of("localhost", "127.0.0.1", "[::1]").contains(name);
    }

    private Permission permission(Request request) throws Refusal {
        if (tokens == null) {
            return (_, _) -> true;
        }
        String given = request.getHeaders().get(HttpHeader.AUTHORIZATION);
        if (given == null || !given.regionMatches(true, 0, BEARER, 0, BEARER.length())) {
            throw new Refusal(
                    401, Failure.NOT_ALLOWED, "The request has no token. Send 'Authorization: Bearer TOKEN'.");
        }
        return tokens.permission(given.substring(BEARER.length()).strip())
                .orElseThrow(() -> new Refusal(401, Failure.NOT_ALLOWED, "The token is not known here."));
    }
}
