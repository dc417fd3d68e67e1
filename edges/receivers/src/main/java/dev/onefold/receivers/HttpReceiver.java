package dev.onefold.receivers;

import dev.onefold.core.batch.Manifest;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.pipeline.Batching.Destination;
import dev.onefold.core.pipeline.Input.Format;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.channels.ClosedByInterruptException;
import java.time.Duration;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLHandshakeException;

/// Sends each batch as one request, which names the batch (`Idempotency-Key`) and its digest
/// (`Content-Digest`). Each attempt has a connection of its own: on one that was kept open, a server that
/// closes it leaves unknown whether a request was read.
final class HttpReceiver implements Receiver {
    static final Duration TIMEOUT_DEFAULT = Duration.ofMinutes(10);

    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(30);

    private final Destination destination;
    private final URI address;
    private final Context.Environment environment;
    private final String contentType;
    private final Duration timeout;

    private HttpReceiver(Destination destination, URI address, Context context) {
        this.destination = destination;
        this.address = address;
        environment = context.environment();
        contentType = switch (context.format()) {
            case Format.Json _, Format.Changes _ -> "application/x-ndjson";
            case Format.Csv _ -> "text/csv; charset=utf-8; header=absent";
        };
        this.timeout = Receivers.time(destination, "timeout", TIMEOUT_DEFAULT);
    }

    /// @throws IllegalArgumentException if the address is not valid
    static Receiver open(Destination destination, Context context) {
        String text = destination.target().getFirst();
        try {
            URI address = new URI(text);
            if (address.getHost() == null) {
                throw new IllegalArgumentException("The address " + text + " of the receiver has no host");
            }
            return new HttpReceiver(destination, address, context);
        } catch (URISyntaxException e) {
            throw new IllegalArgumentException("The address of the receiver is not valid: " + e.getMessage(), e);
        }
    }

    @Override
    public Optional<String> trouble() {
        return Receivers.unknownHost(address.getHost());
    }

    @Override
    public Outcome deliver(Handover handover) throws InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(address);
        Optional<String> variable = destination.option("authorization");
        if (variable.isPresent()) {
            String value = environment.get(variable.get());
            if (value == null || value.isBlank()) {
                return new Outcome.NotNow(
                        "The environment variable " + variable.get() + " is not set. It holds the value of the header"
                                + " Authorization, like 'Bearer …'",
                        null);
            }
            try {
                request.header("Authorization", value.strip());
            } catch (IllegalArgumentException e) {
                return new Outcome.NotNow(
                        "The environment variable " + variable.get() + " cannot be the value of a header", null);
            }
        }
        handover.verify(); // Bytes that were sent cannot be taken back.
        return send(request(request, handover));
    }

    private HttpRequest request(HttpRequest.Builder request, Handover handover) {
        Manifest manifest = handover.manifest();
        String digest = Base64.getEncoder().encodeToString(HexFormat.of().parseHex(manifest.sha256()));
        return request.header("Idempotency-Key", '"' + manifest.id() + '"')
                .header("Content-Digest", "sha-256=:" + digest + ":")
                .header("Content-Type", contentType)
                .POST(BodyPublishers.fromPublisher(
                        BodyPublishers.ofInputStream(() -> open(handover)), manifest.bytes()))
                .build();
    }

    private static InputStream open(Handover handover) {
        try {
            return handover.open();
        } catch (ClosedByInterruptException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Outcome send(HttpRequest request) throws InterruptedException {
        HttpClient client = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .followRedirects(HttpClient.Redirect.NEVER)
                .connectTimeout(CONNECT_TIMEOUT)
                .build();
        CompletableFuture<HttpResponse<HttpAnswer.Body>> answer =
                client.sendAsync(request, _ -> new HttpAnswer.Body.Reading());
        try {
            HttpResponse<HttpAnswer.Body> response = answer.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
            return HttpAnswer.outcome(response.statusCode(), response.headers(), response.body());
        } catch (TimeoutException e) {
            return new Outcome.Unknown(address + " has not answered within " + timeout.toSeconds() + " s");
        } catch (ExecutionException e) {
            return failed(e.getCause() == null ? e : e.getCause());
        } finally {
            answer.cancel(true);
            client.shutdownNow();
            client.close();
        }
    }

    private Outcome failed(Throwable cause) {
        return switch (cause) {
            case HttpConnectTimeoutException _ ->
                notSent("did not accept a connection within " + CONNECT_TIMEOUT.toSeconds() + " s");
            case ConnectException _ ->
                notSent("cannot be reached: "
                        + (cause.getMessage() == null
                                ? "its name is unknown, or nothing listens there"
                                : cause.getMessage()));
            case SSLHandshakeException _ ->
                notSent("is not trusted, or does not trust this client: " + cause.getMessage());
            default -> new Outcome.Unknown("The connection to " + address + " broke: " + cause);
        };
    }

    private Outcome notSent(String why) {
        return new Outcome.NotNow(address + " " + why, null);
    }
}
