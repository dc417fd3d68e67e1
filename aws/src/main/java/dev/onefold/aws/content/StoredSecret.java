package dev.onefold.aws.content;

import dev.onefold.core.document.Node;
import dev.onefold.core.document.Problem;
import dev.onefold.core.document.Problems;
import dev.onefold.core.json.Json;
import dev.onefold.core.json.JsonText;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.http.ContentStreamProvider;
import software.amazon.awssdk.http.SdkHttpMethod;
import software.amazon.awssdk.http.SdkHttpRequest;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4HttpSigner;
import software.amazon.awssdk.http.auth.spi.signer.SignedRequest;
import software.amazon.awssdk.regions.PartitionMetadata;
import software.amazon.awssdk.regions.Region;

/// A secret of Secrets Manager, read in the name of the function's role when an attempt to deliver needs it,
/// and kept for some minutes. So a rotated secret is used without a deployment, and no variable and no
/// snapshot holds it. Any thread.
///
/// The only request is signed here: the SDK's module for this service would be a part of every cold start.
public final class StoredSecret {
    private static final Pattern ARN =
            Pattern.compile("arn:aws[a-z-]*:secretsmanager:(?<region>[a-z0-9-]+):[0-9]{12}:secret:.+");
    private static final String SERVICE = "secretsmanager";
    private static final Duration KEPT = Duration.ofMinutes(5);
    private static final Duration ANSWER_MAX = Duration.ofSeconds(10);
    private static final int TRIES_MAX = 3;
    private static final int SAID_MAX = 300;
    private static final int OK = 200;
    private static final int FAILED = 500;

    /// Headers that the client sets by itself.
    private static final List<String> OWN_HEADERS = List.of("host", "content-length");

    private final String arn;
    private final String field;
    private final String region;
    private final URI endpoint;
    private final AwsCredentialsProvider credentials;
    private final InstantSource clock;
    private @Nullable String kept;
    private Instant keptUntil = Instant.EPOCH;

    /// The secret cannot be read; the message says why.
    public static final class Unreadable extends Exception {
        private static final long serialVersionUID = 1;

        Unreadable(String message) {
            super(message);
        }
    }

    private StoredSecret(Place place, URI endpoint, AwsCredentialsProvider credentials, InstantSource clock) {
        arn = place.arn;
        field = place.field;
        region = region(place.arn);
        this.endpoint = endpoint;
        this.credentials = credentials;
        this.clock = clock;
    }

    /// The place of a value.
    ///
    /// @param field of the JSON object that the secret is; empty if all of the secret is the value
    public record Place(String arn, String field) {}

    /// The secret where its ARN says.
    ///
    /// @throws IllegalArgumentException if it is no ARN of a secret
    public static StoredSecret of(Place place, AwsCredentialsProvider credentials, InstantSource clock) {
        String region = region(place.arn);
        String suffix = PartitionMetadata.of(Region.of(region)).dnsSuffix();
        return at(place, URI.create("https://" + SERVICE + "." + region + "." + suffix + "/"), credentials, clock);
    }

    /// The same at an address of the caller's.
    public static StoredSecret at(Place place, URI endpoint, AwsCredentialsProvider credentials, InstantSource clock) {
        return new StoredSecret(place, endpoint, credentials, clock);
    }

    private static String region(String arn) {
        Matcher matcher = ARN.matcher(arn);
        if (!matcher.matches()) {
            throw new IllegalArgumentException(arn + " is no ARN of a secret");
        }
        return matcher.group("region");
    }

    /// The value, as it was some minutes ago or later.
    ///
    /// @throws Unreadable saying why there is none
    public synchronized String value() throws Unreadable, InterruptedException {
        String value = kept;
        if (value == null || !clock.instant().isBefore(keptUntil)) {
            value = part(read());
            kept = value;
            keptUntil = clock.instant().plus(KEPT);
        }
        return value;
    }

    /// Lets the next call read the secret: it may have been rotated.
    public synchronized void forget() {
        kept = null;
    }

    private String part(String secret) throws Unreadable {
        if (field.isEmpty()) {
            return secret;
        }
        if (JsonText.read(secret, new Problems()) instanceof Node.Mapping fields
                && fields.find(field) instanceof Node.Scalar scalar
                && !scalar.isNull()) {
            return scalar.text();
        }
        throw unreadable("it is no JSON object with a value called '" + field + "'. Correct ReceiverSecretField.");
    }

    private String read() throws Unreadable, InterruptedException {
        for (int tries = 1; ; tries++) {
            String said;
            try (HttpClient client = HttpClient.newBuilder()
                    .version(HttpClient.Version.HTTP_1_1)
                    .connectTimeout(ANSWER_MAX)
                    .build()) {
                HttpResponse<String> answer = client.send(request(), HttpResponse.BodyHandlers.ofString());
                if (answer.statusCode() == OK) {
                    return secret(answer.body());
                }
                said = "the service answered " + answer.statusCode() + ": "
                        + Problem.visible(answer.body().strip(), SAID_MAX);
                if (answer.statusCode() < FAILED) {
                    throw unreadable(said);
                }
            } catch (IOException e) {
                said = endpoint.getHost() + " cannot be reached (" + e + "). A function in a VPC needs a NAT gateway or"
                        + " an endpoint of the service there.";
            } catch (SdkException e) {
                throw unreadable("there are no credentials: " + e.getMessage());
            }
            if (tries == TRIES_MAX) {
                throw unreadable(said);
            }
        }
    }

    private String secret(String answer) throws Unreadable {
        if (JsonText.read(answer, new Problems()) instanceof Node.Mapping fields
                && fields.find("SecretString") instanceof Node.Scalar secret) {
            return secret.text();
        }
        throw unreadable("it holds bytes and no text.");
    }

    private Unreadable unreadable(String why) {
        return new Unreadable("The secret " + arn + " cannot be read: " + why);
    }

    private HttpRequest request() {
        byte[] body = Json.of(Map.of("SecretId", arn)).getBytes(StandardCharsets.UTF_8);
        SdkHttpRequest plain = SdkHttpRequest.builder()
                .uri(endpoint)
                .method(SdkHttpMethod.POST)
                .putHeader("Content-Type", "application/x-amz-json-1.1")
                .putHeader("X-Amz-Target", SERVICE + ".GetSecretValue")
                .build();
        SignedRequest signed = AwsV4HttpSigner.create()
                .sign(sign -> sign.identity(credentials.resolveCredentials())
                        .request(plain)
                        .payload(ContentStreamProvider.fromByteArray(body))
                        .putProperty(AwsV4HttpSigner.SERVICE_SIGNING_NAME, SERVICE)
                        .putProperty(AwsV4HttpSigner.REGION_NAME, region));
        HttpRequest.Builder request =
                HttpRequest.newBuilder(endpoint).timeout(ANSWER_MAX).POST(HttpRequest.BodyPublishers.ofByteArray(body));
        signed.request().headers().forEach((name, values) -> {
            if (!OWN_HEADERS.contains(name.toLowerCase(Locale.ROOT))) {
                values.forEach(value -> request.header(name, value));
            }
        });
        return request.build();
    }
}
