package dev.onefold.api;

import dev.onefold.core.EngineException;
import dev.onefold.core.TooLargeException;
import dev.onefold.core.json.Json;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Why a request failed, as JSON of RFC 9457.
///
/// @param status of HTTP
/// @param kind the reason for programs: the name of an [EngineException.Kind], or one of the constants here
/// @param detail the reason for people, with what to do
/// @param challenge the problem of a token, as in the field `WWW-Authenticate`; `null` if there is none
public record Failure(
        int status, String kind, String detail, @Nullable String challenge) {
    public Failure(int status, String kind, String detail) {
        this(status, kind, detail, null);
    }

    /// The request is not valid.
    public static final String REQUEST = "REQUEST";

    /// There is no such route or pipeline.
    static final String NO_ROUTE = "NO_ROUTE";

    /// The key was never accepted.
    static final String NO_ROW = "NO_ROW";

    /// There is no dead letter of this number.
    static final String NO_LETTER = "NO_LETTER";

    /// No edit of the letter was rejected.
    static final String NO_EDIT = "NO_EDIT";

    /// There is no batch of this number, or nothing else is known of it.
    static final String NO_BATCH = "NO_BATCH";

    /// The batch does not wait for this decision: another caller's came before, perhaps.
    static final String DECIDED = "DECIDED";

    /// Another process owns the directory than the one that the client began with.
    public static final String OWNER_CHANGED = "OWNER_CHANGED";

    /// The caller is not allowed to do it.
    public static final String NOT_ALLOWED = "NOT_ALLOWED";

    /// The server has too much to do.
    public static final String BUSY = "BUSY";

    /// The idempotency key belongs to a request with another content.
    public static final String KEY_REUSED = "KEY_REUSED";

    /// The input that the request waits for did not come in time.
    public static final String NOT_YET = "NOT_YET";

    /// A part of the service cannot work now.
    public static final String NOT_READY = "NOT_READY";

    /// Changes are not sent as a stream here: the caller asks for totals again and again.
    public static final String NO_STREAM = "NO_STREAM";

    /// The answer is larger than can be sent here.
    public static final String TOO_LARGE = "TOO_LARGE";

    /// Some records of the request are not known to be taken.
    public static final String NOT_PUT = "NOT_PUT";

    static final String BUG = "BUG";

    static final String CONTENT_TYPE = "application/problem+json";

    /// The failure for an exception.
    public static Failure of(Throwable e) {
        return switch (e) {
            case Request.Refused refused -> refused.failure();
            case EngineException failure ->
                new Failure(status(failure.kind()), failure.kind().name(), text(failure));
            case TooLargeException wrong -> new Failure(413, REQUEST, text(wrong));
            case IllegalArgumentException wrong -> new Failure(400, REQUEST, text(wrong));
            default -> new Failure(500, BUG, e.toString());
        };
    }

    /// The same for a caller who may not see everything: the message of a bug may hold a part of another
    /// caller's record.
    public Failure withoutValues() {
        return kind.equals(BUG)
                ? new Failure(status, kind, "This is a bug in Onefold. The log of the service says where it happened.")
                : this;
    }

    private static String text(Exception e) {
        return String.valueOf(e.getMessage());
    }

    private static int status(EngineException.Kind kind) {
        return switch (kind) {
            case IN_USE, FOREIGN, SOURCE_CHANGED, DEFINITION_CHANGED, FORMAT -> 409;
            case INACCESSIBLE -> 403;
            case CORRUPT, STORAGE_FAILED, SOURCE_UNREADABLE -> 500;
            case STATE_FULL, NO_SPACE -> 507;
            case ANSWER_REFUSED, INTERRUPTED, STOPPED -> 503;
        };
    }

    /// The exit code of a command that fails for this reason.
    public static int exitCode(EngineException.Kind kind) {
        return switch (kind) {
            case IN_USE, FOREIGN, INACCESSIBLE, CORRUPT, DEFINITION_CHANGED, FORMAT -> 3;
            case STORAGE_FAILED, STATE_FULL, ANSWER_REFUSED, NO_SPACE, STOPPED -> 4;
            case INTERRUPTED -> 130;
            case SOURCE_CHANGED, SOURCE_UNREADABLE -> 1;
        };
    }

    /// The exit code of the command line for the same failure.
    int exitCode() {
        return switch (kind) {
            case REQUEST, NO_ROUTE, NOT_ALLOWED, KEY_REUSED, NO_STREAM, TOO_LARGE -> 2;
            case NO_ROW, NO_LETTER, NO_EDIT, NO_BATCH, DECIDED -> 1;
            case BUSY, OWNER_CHANGED, NOT_YET, NOT_READY, NOT_PUT -> 4;
            case BUG -> 70;
            default -> exitCode(EngineException.Kind.valueOf(kind));
        };
    }

    /// The title of a status code of HTTP.
    static String title(int status) {
        return switch (status) {
            case 200 -> "OK";
            case 400 -> "Bad request";
            case 401 -> "Unauthorized";
            case 403 -> "Forbidden";
            case 404 -> "Not found";
            case 405 -> "Method not allowed";
            case 406 -> "Not acceptable";
            case 409 -> "Conflict";
            case 408 -> "Request timeout";
            case 413 -> "Content too large";
            case 415 -> "Unsupported media type";
            case 417 -> "Expectation failed";
            case 422 -> "Unprocessable content";
            case 429 -> "Too many requests";
            case 431 -> "Request header fields too large";
            case 503 -> "Service unavailable";
            case 507 -> "Insufficient storage";
            default -> "Internal server error";
        };
    }

    public Response response() {
        return response(Map.of());
    }

    /// The same with further members.
    public Response response(Map<String, Object> more) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("title", title(status));
        json.put("status", status);
        json.put("detail", detail);
        json.put("kind", kind);
        json.put("exitCode", exitCode());
        json.putAll(more);
        byte[] bytes = (Json.of(json) + "\n").getBytes(StandardCharsets.UTF_8);
        return new Response(status, CONTENT_TYPE, out -> out.write(bytes), null, challenge);
    }

    /// The exception that a caller of an engine gets for this.
    RuntimeException exception() {
        return switch (kind) {
            case REQUEST,
                    NO_ROUTE,
                    NOT_ALLOWED,
                    KEY_REUSED,
                    NO_ROW,
                    NO_LETTER,
                    NO_EDIT,
                    NO_BATCH,
                    DECIDED,
                    NO_STREAM,
                    TOO_LARGE -> new IllegalArgumentException(detail);
            case BUSY, NOT_YET, NOT_READY, NOT_PUT -> new EngineException(EngineException.Kind.ANSWER_REFUSED, detail);
            case OWNER_CHANGED -> new EngineException(EngineException.Kind.STOPPED, detail);
            case BUG -> new IllegalStateException(detail);
            default -> new EngineException(EngineException.Kind.valueOf(kind), detail);
        };
    }
}
