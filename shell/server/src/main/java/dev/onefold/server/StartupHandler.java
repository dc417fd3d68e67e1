package dev.onefold.server;

import dev.onefold.api.Failure;
import dev.onefold.server.flow.Connections;
import java.io.IOException;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.jspecify.annotations.Nullable;

/// Takes every request: answers that the service is alive and not ready, until the pipelines are open. Any
/// thread may call.
final class StartupHandler extends Handler.Abstract {
    private static final String LIVE = "/health/live";

    private final Connections connections;
    private volatile @Nullable RequestHandler answering;

    StartupHandler(Connections connections) {
        this.connections = connections;
    }

    /// From now on requests are answered by this.
    void answer(RequestHandler opened) {
        answering = opened;
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) {
        connections.count(request);
        RequestHandler opened = answering;
        if (opened != null) {
            return opened.handle(request, response, callback);
        }
        if (!LIVE.equals(request.getHttpURI().getPath())) { // CONNECT has none.
            new Refusal(503, Failure.NOT_READY, "The pipelines are being opened. Repeat the request later.")
                    .send(response, callback);
            return true;
        }
        try {
            Refusal.send(response, Health.well());
            callback.succeeded();
        } catch (IOException gone) {
            callback.failed(gone);
        }
        return true;
    }

    /// From now on a request that would not end by itself is not awaited.
    void end() {
        RequestHandler opened = answering;
        if (opened != null) {
            opened.end();
        }
    }

    /// Releases threads, when no request is under way.
    void close() {
        RequestHandler opened = answering;
        if (opened != null) {
            opened.close();
        }
    }
}
