package dev.onefold.server;

import dev.onefold.api.Failure;
import dev.onefold.server.flow.Connections;
import dev.onefold.server.flow.InputBuffers;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.URI;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.eclipse.jetty.alpn.server.ALPNServerConnectionFactory;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.http.UriCompliance;
import org.eclipse.jetty.http2.server.HTTP2CServerConnectionFactory;
import org.eclipse.jetty.http2.server.HTTP2ServerConnectionFactory;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.SecureRequestCustomizer;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.server.handler.GracefulHandler;
import org.eclipse.jetty.util.VirtualThreads;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/// Serves engines by HTTP/1.1 and HTTP/2, with TLS or without. The caller owns the engines, and closes them
/// after this service.
public final class HttpService implements AutoCloseable {
    private static final int HEAD_BYTES_MAX = 64 << 10;
    private static final int THREADS_MAX = 200;
    private static final long REQUESTS_MS_MAX = 10_000;

    /// A connection without a request is closed within two seconds. Jetty waits as long as it may for one that
    /// it has accepted in the moment of the stop, and for one of HTTP/2 whose client has reset it while it was
    /// opened.
    private static final long CONNECTIONS_MS_MAX = 3_000;

    private final Server server;
    private final ServerConnector connector;
    private final GracefulHandler requests;
    private final StartupHandler opening;
    private final Settings settings;

    private HttpService(Server server, ServerConnector connector, StartupHandler opening, Settings settings) {
        this.server = server;
        this.connector = connector;
        this.opening = opening;
        requests = new GracefulHandler(opening);
        server.setHandler(requests);
        this.settings = settings;
    }

    /// Listens and serves.
    ///
    /// @throws IOException if the address cannot be listened at, or a certificate cannot be read
    /// @throws IllegalArgumentException if two engines have pipelines of one name
    public static HttpService open(Settings settings, List<Served> pipelines) throws IOException {
        HttpService service = listen(settings);
        boolean isServing = false;
        try {
            service.serve(pipelines);
            isServing = true;
            return service;
        } finally {
            if (!isServing) {
                service.close();
            }
        }
    }

    /// Listens, and reports until [#serve] that the service is alive and not ready: to open a pipeline may
    /// take long, for example while its disk is full.
    ///
    /// @throws IOException if the address cannot be listened at, or a certificate cannot be read
    public static HttpService listen(Settings settings) throws IOException {
        QueuedThreadPool threads = new QueuedThreadPool(THREADS_MAX);
        threads.setName("onefold-http");
        threads.setVirtualThreadsExecutor(VirtualThreads.getNamedVirtualThreadsExecutor("onefold-request-"));
        Server server = new Server(threads);
        ServerConnector connector = connector(server, settings);
        connector.setHost(settings.address().getHostAddress());
        connector.setPort(settings.port());
        connector.setIdleTimeout(settings.limits().silence().toMillis());
        server.addConnector(connector);
        Connections connections = new Connections(settings.limits().connections(), settings.proxies());
        connector.addBean(connections);
        StartupHandler opening = new StartupHandler(connections);
        server.setErrorHandler((request, response, callback) -> {
            // A client repeats a request that came while the service was ending, but not one that cannot be
            // understood.
            int status = response.getStatus();
            String kind = HttpStatus.isServerError(status) ? Failure.NOT_READY : Failure.REQUEST;
            new Refusal(status, kind, HttpStatus.getMessage(status) + ".").send(response, callback);
            return true;
        });
        server.setStopTimeout(CONNECTIONS_MS_MAX);
        HttpService service = new HttpService(server, connector, opening, settings);
        try {
            server.start();
            return service;
        } catch (Exception e) {
            service.close();
            throw e instanceof IOException io ? io : new IOException("The service cannot listen: " + e.getMessage(), e);
        }
    }

    /// Serves engines from now on. Called once.
    ///
    /// @throws IOException if remembered answers cannot be read
    /// @throws IllegalArgumentException if two engines have pipelines of one name
    public void serve(List<Served> pipelines) throws IOException {
        opening.answer(new RequestHandler(settings, pipelines));
    }

    static ServerConnector connector(Server server, Settings settings) throws IOException {
        InputBuffers buffers = new InputBuffers(server.getByteBufferPool());
        return new ServerConnector(server, null, null, buffers, -1, -1, factories(settings));
    }

    private static ConnectionFactory[] factories(Settings settings) throws IOException {
        HttpConfiguration http = new HttpConfiguration();
        http.setSendServerVersion(false);
        http.setRequestHeaderSize(HEAD_BYTES_MAX);
        http.setUriCompliance(
                UriCompliance.UNSAFE); // The routes read the target as it was sent, and nothing else does.
        Settings.Tls tls = settings.tls();
        if (tls != null) {
            http.addCustomizer(new SecureRequestCustomizer(false));
        }
        HttpConnectionFactory http1 = new HttpConnectionFactory(InputBuffers.configured(http));
        if (tls == null) {
            return new ConnectionFactory[] {http1, new HTTP2CServerConnectionFactory(http)};
        }
        HTTP2ServerConnectionFactory http2 = new HTTP2ServerConnectionFactory(http);
        ALPNServerConnectionFactory alpn = new ALPNServerConnectionFactory();
        alpn.setDefaultProtocol(http1.getProtocol());
        SslContextFactory.Server ssl = new SslContextFactory.Server();
        ssl.setKeyStore(Pem.keyStore(tls));
        ssl.setKeyStorePassword("");
        return new ConnectionFactory[] {new SslConnectionFactory(ssl, alpn.getProtocol()), alpn, http2, http1};
    }

    /// Where it listens.
    public URI uri() {
        String host = connector.getHost().contains(":") ? "[" + connector.getHost() + "]" : connector.getHost();
        return URI.create((settings.tls() != null ? "https://" : "http://") + host + ":" + connector.getLocalPort());
    }

    /// Takes no more requests, answers those that it has, for some seconds, and ends. May be called twice.
    @Override
    public void close() throws IOException {
        opening.end();
        var _ = connector.shutdown(); // It takes no more; the server waits for open requests.
        try {
            requests.shutdown()
                    .completeOnTimeout(null, REQUESTS_MS_MAX, TimeUnit.MILLISECONDS)
                    .get();
            server.stop();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("Interrupted while the service ended");
        } catch (Exception e) {
            if (!isTimeout(e)) {
                throw new IOException("The service did not end: " + e.getMessage(), e);
            }
        } finally {
            opening.close();
        }
    }

    /// Whether connections took too long to wait for: they were closed.
    private static boolean isTimeout(Throwable e) {
        return e instanceof TimeoutException || e.getCause() instanceof TimeoutException;
    }
}
