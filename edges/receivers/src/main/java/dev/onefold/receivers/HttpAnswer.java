package dev.onefold.receivers;

import dev.onefold.core.batch.Outcome;
import dev.onefold.core.document.Node;
import dev.onefold.core.document.Problem;
import dev.onefold.core.document.Problems;
import dev.onefold.core.json.JsonText;
import java.io.ByteArrayOutputStream;
import java.net.http.HttpHeaders;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/// The meaning of an HTTP receiver's answer.
final class HttpAnswer {
    static final int SAID_LENGTH_MAX = 500;
    private static final Duration AFTER_MAX = Duration.ofDays(366);

    private HttpAnswer() {}

    static Outcome outcome(int status, HttpHeaders headers, Body body) {
        String reason = "The receiver answered " + status;
        String said = reason + body.said();
        return switch (status) {
            case 408 -> new Outcome.Unknown(said);
            case 409 -> new Outcome.Unknown(reason + ": an earlier request is in progress" + body.said());
            case 422 ->
                new Outcome.Conflict(reason + ": it has another content under this Idempotency-Key" + body.said());
            case 429 -> new Outcome.NotNow(said, after(headers));
            case 503 -> // A proxy may send it, too, when the connection to the service breaks behind it.
                headers.firstValue("Retry-After").isPresent()
                        ? new Outcome.NotNow(said, after(headers))
                        : new Outcome.Unknown(said);
            case 401, 403, 404, 405, 407 ->
                new Outcome.NotNow(
                        reason
                                + ", which is not about the content. Check the address and 'authorization' of the receiver"
                                + body.said(),
                        null);
            default ->
                switch (status / 100) {
                    case 2 -> accepted(body);
                    case 3 ->
                        new Outcome.Refused(reason + ", a redirect to '"
                                + Problem.visible(headers.firstValue("Location").orElse(""), SAID_LENGTH_MAX)
                                + "'. Redirects are not followed: correct the address of the receiver");
                    case 4 -> new Outcome.Refused(said);
                    default -> new Outcome.Unknown(said);
                };
        };
    }

    /// The delay that the receiver asks for, in seconds or until a date.
    private static @Nullable Duration after(HttpHeaders headers) {
        String text = headers.firstValue("Retry-After").orElse("").strip();
        if (text.matches("[0-9]{1,18}")) {
            return bounded(Duration.ofSeconds(Long.parseLong(text)));
        }
        try {
            Instant date = ZonedDateTime.parse(text, DateTimeFormatter.RFC_1123_DATE_TIME)
                    .toInstant();
            return bounded(Duration.between(Instant.now(), date));
        } catch (DateTimeException e) {
            return null; // It cannot be understood: the pipeline file decides.
        }
    }

    private static Duration bounded(Duration duration) {
        return duration.isNegative() ? Duration.ZERO : duration.compareTo(AFTER_MAX) > 0 ? AFTER_MAX : duration;
    }

    /// An answer whose body may name records that failed, in the form of Lambda's partial batch responses.
    static Outcome accepted(Body body) {
        boolean mayNameMore = !body.whole() && body.text().stripLeading().startsWith("{");
        if (!body.text().contains("batchItemFailures") && !mayNameMore) {
            return new Outcome.Done();
        }
        if (!body.whole()
                || !(JsonText.read(body.text(), new Problems()) instanceof Node.Mapping fields)
                || !(fields.find("batchItemFailures") instanceof Node.Sequence items)) {
            return new Outcome.Unknown(
                    "The receiver reports records that failed, but its answer cannot be read" + body.said());
        }
        List<Outcome.Failed> failed = new ArrayList<>();
        for (Node item : items.items()) {
            String place = text(item, "itemIdentifier");
            if (!place.matches("[0-9]{1,9}")) {
                return new Outcome.Unknown("The receiver reports a failed record without its place: itemIdentifier is '"
                        + Problem.visible(place, SAID_LENGTH_MAX) + "', and not a number from 0");
            }
            failed.add(new Outcome.Failed(Integer.parseInt(place), reason(item)));
        }
        failed.sort((one, other) -> Integer.compare(one.record(), other.record()));
        return failed.isEmpty() ? new Outcome.Done() : new Outcome.Partial(failed);
    }

    private static String reason(Node item) {
        String reason = Problem.visible(text(item, "reason"), SAID_LENGTH_MAX);
        return reason.isEmpty() ? "the receiver gives no reason" : reason;
    }

    private static String text(Node item, String name) {
        return item.find(name) instanceof Node.Scalar scalar ? scalar.text() : "";
    }

    /// The body of an answer, up to [#BYTES_MAX].
    ///
    /// @param whole whether nothing was left out
    record Body(String text, boolean whole) {
        static final int BYTES_MAX = 64 * 1024;

        String said() {
            String said = text.strip();
            return said.isEmpty() ? "" : ": " + Problem.visible(said, SAID_LENGTH_MAX);
        }

        /// Reads a body, and no more than its bound.
        static final class Reading implements BodySubscriber<Body> {
            private final CompletableFuture<Body> body = new CompletableFuture<>();
            private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            private Flow.@Nullable Subscription subscription;

            @Override
            public CompletionStage<Body> getBody() {
                return body;
            }

            @Override
            public void onSubscribe(Flow.Subscription subscription) {
                this.subscription = subscription;
                subscription.request(Long.MAX_VALUE);
            }

            @Override
            public void onNext(List<ByteBuffer> buffers) {
                for (ByteBuffer buffer : buffers) {
                    byte[] some = new byte[Math.min(buffer.remaining(), BYTES_MAX + 1 - bytes.size())];
                    buffer.get(some);
                    bytes.writeBytes(some);
                }
                if (bytes.size() > BYTES_MAX && subscription != null) {
                    subscription.cancel();
                    complete(false);
                }
            }

            @Override
            public void onError(Throwable failure) {
                body.completeExceptionally(failure);
            }

            @Override
            public void onComplete() {
                complete(true);
            }

            private void complete(boolean whole) {
                body.complete(new Body(bytes.toString(StandardCharsets.UTF_8), whole));
            }
        }
    }
}
