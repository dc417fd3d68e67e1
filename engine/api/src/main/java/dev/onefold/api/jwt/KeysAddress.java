package dev.onefold.api.jwt;

import com.nimbusds.jose.util.Resource;
import com.nimbusds.jose.util.ResourceRetriever;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// Reads an issuer's keys by HTTP. The time limit is one for the whole answer: an issuer that sends a byte
/// now and then would delay every caller that waits for the keys. Redirects are not followed, because the
/// configured address is the trusted one. Any thread may call.
final class KeysAddress implements ResourceRetriever {
    private static final int OK = 200;
    private static final int BYTES_MAX = 200_000;

    private final Duration answerMax;
    private final HttpClient client = HttpClient.newBuilder()
            .followRedirects(HttpClient.Redirect.NEVER)
            .version(HttpClient.Version.HTTP_1_1)
            .build();

    /// @param answerMax from the request to the last byte of the answer
    KeysAddress(Duration answerMax) {
        this.answerMax = answerMax;
    }

    @Override
    public Resource retrieveResource(URL url) throws IOException {
        CompletableFuture<HttpResponse<String>> asked =
                client.sendAsync(request(url), BodyHandlers.limiting(BodyHandlers.ofString(), BYTES_MAX));
        try {
            HttpResponse<String> answer = asked.get(answerMax.toMillis(), TimeUnit.MILLISECONDS);
            if (answer.statusCode() != OK) {
                throw new IOException("The answer of " + url + " has the status " + answer.statusCode() + ", expected "
                        + OK + "; redirects are not followed");
            }
            return new Resource(
                    answer.body(), answer.headers().firstValue("Content-Type").orElse(null));
        } catch (TimeoutException e) {
            throw new IOException("The answer of " + url + " did not end within " + answerMax.toSeconds() + " s", e);
        } catch (ExecutionException e) {
            throw new IOException("The answer of " + url + " cannot be read: " + e.getCause(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("Interrupted while " + url + " was read");
        } finally {
            asked.cancel(true); // Ends the connection if the answer has not ended.
        }
    }

    private static HttpRequest request(URL url) throws IOException {
        try {
            return HttpRequest.newBuilder(new URI(url.toString()))
                    .header("Accept", "application/json, application/jwk-set+json")
                    .build();
        } catch (URISyntaxException | IllegalArgumentException e) {
            throw new IOException("The address of the keys cannot be read: " + url, e);
        }
    }
}
