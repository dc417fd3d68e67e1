package dev.onefold.api;

import dev.onefold.core.EngineException;
import dev.onefold.core.EngineException.Kind;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import java.time.Duration;
import java.util.Locale;
import java.util.Set;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;

/// Asks a service by TCP, with the token of a caller. The token goes to the service alone: redirects are not
/// followed, no message has it, and it goes to another machine by TLS alone. Certificates are checked against
/// the trust store of the JVM. Any thread may call.
final class ServiceTransport implements Transport {
    private static final Duration CONNECTING_MAX = Duration.ofSeconds(10);

    /// A rebuild of a long history is one request.
    private static final Duration ANSWER_MAX = Duration.ofHours(1);

    private static final int OK = 200;
    private static final int ERROR_STATUS_MIN = 400;
    private static final int UNAUTHORIZED = 401;

    private final HttpClient client;
    private final String address;
    private final @Nullable String token;
    private final Limits limits;

    /// The limits of an answer. The first one is read before it is known that the other side is a service.
    ///
    /// @param first longest time of the first answer, from its request to its end
    /// @param firstBytesMax bytes of the first answer
    /// @param silence longest time without a byte in the content of any other answer
    record Limits(Duration first, int firstBytesMax, Duration silence) {
        static final Limits USUAL = new Limits(Duration.ofSeconds(30), 1 << 20, Duration.ofMinutes(5));
    }

    /// The answer is not of Onefold.
    private static final class Foreign extends IOException {
        private static final long serialVersionUID = 1;

        Foreign(String what, @Nullable IOException cause) {
            super(what + ", which no service of Onefold does", cause);
        }

        Foreign(int status, String type) {
            this(
                    "answered with status " + status + " and "
                            + (type.isEmpty() ? "nothing" : "content of type " + type),
                    null);
        }
    }

    /// @param address `http://HOST:PORT` or `https://HOST`; a path of it comes before those of the routes
    /// @param token secret of the caller; `null` without one
    /// @throws IllegalArgumentException if the address or the token cannot be one; the message never has the
    ///     token
    ServiceTransport(URI address, @Nullable String token) {
        this(address, token, Limits.USUAL);
    }

    ServiceTransport(URI address, @Nullable String token, Limits limits) {
        String scheme = String.valueOf(address.getScheme());
        if (!scheme.equals("http") && !scheme.equals("https")
                || address.getHost() == null
                || address.getRawUserInfo() != null
                || address.getRawQuery() != null
                || address.getRawFragment() != null) {
            throw new IllegalArgumentException("The address of a service is like https://HOST or http://HOST:PORT,"
                    + " without a user, a query or a fragment");
        }
        if (token != null && !token.matches("[!-~]+")) {
            throw new IllegalArgumentException("The token is empty, or has a character that no token has");
        }
        if (token != null && scheme.equals("http") && !isThisMachine(address.getHost())) {
            throw new IllegalArgumentException("The token would be readable on the way to " + address.getHost()
                    + ", because http:// has no TLS; use https:// for it");
        }
        this.limits = limits;
        this.address = address.toString().replaceFirst("/+$", "");
        this.token = token;
        client = HttpClient.newBuilder()
                .followRedirects(HttpClient.Redirect.NEVER)
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(CONNECTING_MAX)
                .build();
    }

    /// Whether a host is this machine by its name alone: a name that is looked up can be of any machine.
    private static boolean isThisMachine(String host) {
        return Set.of("localhost", "127.0.0.1", "[::1]").contains(host.toLowerCase(Locale.ROOT));
    }

    @Override
    public <T> T exchange(Asked asked, Reader<T> reader) throws IOException {
        return asked.target().equals(RemoteEngine.PIPELINES) ? first(asked, reader) : other(asked, reader);
    }

    private <T> T first(Asked asked, Reader<T> reader) throws IOException {
        long begin = System.nanoTime();
        try {
            HttpResponse<InputStream> response = send(request(asked, limits.first()));
            Duration left = limits.first().minusNanos(System.nanoTime() - begin);
            try (InputStream content = new TimedContent(response.body(), TimedContent.Span.WHOLE, left)) {
                byte[] bytes = content.readNBytes(limits.firstBytesMax() + 1);
                if (bytes.length > limits.firstBytesMax()) {
                    throw new Foreign("has a first answer of more than " + limits.firstBytesMax() + " bytes", null);
                }
                return read(response, new ByteArrayInputStream(bytes), reader);
            }
        } catch (HttpTimeoutException e) {
            throw new Foreign(
                    "did not end its first answer in " + limits.first().toSeconds() + " s", e);
        }
    }

    private <T> T other(Asked asked, Reader<T> reader) throws IOException {
        HttpResponse<InputStream> response = send(request(asked, ANSWER_MAX));
        try (InputStream content = new TimedContent(response.body(), TimedContent.Span.WAIT, limits.silence())) {
            return read(response, content, reader);
        }
    }

    private static <T> T read(HttpResponse<?> response, InputStream content, Reader<T> reader) throws IOException {
        String type = field(response, "content-type").replaceFirst(" *;.*", "");
        boolean isOurs = response.statusCode() >= ERROR_STATUS_MIN
                ? type.equals(Failure.CONTENT_TYPE)
                : response.statusCode() == OK && (type.equals(Response.JSON) || type.equals(Response.BYTES));
        if (!isOurs) {
            throw new Foreign(response.statusCode(), type);
        }
        return reader.read(new Answered(response.statusCode(), name -> field(response, name), content));
    }

    /// @param wait longest time until the head of the answer
    private HttpRequest request(Asked asked, Duration wait) {
        byte[] content = asked.content();
        BodyPublisher body = content == null ? BodyPublishers.noBody() : BodyPublishers.ofByteArray(content);
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(address + asked.target()))
                .timeout(wait)
                .method(asked.method(), body);
        asked.fields().forEach(request::header);
        if (token != null) {
            request.header("Authorization", "Bearer " + token);
        }
        return request.build();
    }

    private HttpResponse<InputStream> send(HttpRequest request) throws IOException {
        try {
            return client.send(request, BodyHandlers.ofInputStream());
        } catch (ConnectException | HttpConnectTimeoutException | SSLHandshakeException e) {
            throw new Unreached(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            InterruptedIOException interrupted = new InterruptedIOException();
            interrupted.initCause(e);
            throw interrupted;
        }
    }

    private static String field(HttpResponse<?> response, String name) {
        return response.headers().firstValue(name).orElse("");
    }

    @Override
    public String place() {
        return "the service at " + address;
    }

    @Override
    public EngineException unanswered(IOException cause, String outcome) {
        Throwable reason = cause instanceof Unreached && cause.getCause() != null ? cause.getCause() : cause;
        return switch (reason) {
            case Foreign foreign ->
                new EngineException(
                        Kind.FORMAT,
                        address + " " + foreign.getMessage() + ". Check the address, and what is between." + outcome,
                        cause);
            case SSLException tls ->
                new EngineException(
                        Kind.INACCESSIBLE,
                        "The TLS connection to " + address + " failed: " + tls.getMessage() + ". The certificate must"
                                + " name this host, and come from an authority in the trust store of the JVM; another"
                                + " store is named by ONEFOLD_JAVA_OPTS=-Djavax.net.ssl.trustStore=FILE." + outcome,
                        cause);
            case TimedContent.Silent silent -> stopped(String.valueOf(silent.getMessage()), outcome, cause);
            case HttpConnectTimeoutException _ ->
                stopped("did not accept a connection in " + CONNECTING_MAX.toSeconds() + " s", outcome, cause);
            case HttpTimeoutException _ ->
                stopped("did not answer in " + ANSWER_MAX.toMinutes() + " minutes", outcome, cause);
            case ConnectException e
            when e.getCause() instanceof UnresolvedAddressException
                    || e.getCause() instanceof ConnectException inner
                            && inner.getCause() instanceof UnresolvedAddressException ->
                stopped("cannot be reached, because the name of its host is not known", outcome, cause);
            case ConnectException _ -> stopped("cannot be reached: the connection was refused", outcome, cause);
            default -> stopped("ended the connection before its whole answer had come", outcome, cause);
        };
    }

    private EngineException stopped(String what, String outcome, IOException cause) {
        return new EngineException(
                Kind.STOPPED,
                "The service at " + address + " " + what + ". Check the address, and that 'onefold serve' runs there."
                        + outcome,
                cause);
    }

    @Override
    public EngineException notOffered(String version, String detail) {
        return new EngineException(
                Kind.FORMAT,
                "The service at " + address + " does not offer this: " + detail + " Onefold " + Api.version()
                        + " asked for it. The service is of an older version, or a function on AWS, which offers less:"
                        + " run the command beside the data then, or with --at aws:NAME.");
    }

    @Override
    public EngineException notAllowed(int status, String detail) {
        return new EngineException(
                Kind.INACCESSIBLE,
                "The service at " + address + " refuses this: " + detail
                        + (status == UNAUTHORIZED
                                ? " Give a valid token, by --token-file or ONEFOLD_TOKEN."
                                : " 'onefold token NAME --allow SCOPE' makes another token."));
    }

    @Override
    public void close() {
        client.shutdownNow();
    }
}
