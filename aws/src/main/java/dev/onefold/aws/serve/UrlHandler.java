package dev.onefold.aws.serve;

import dev.onefold.api.Failure;
import dev.onefold.api.Request;
import dev.onefold.api.Response;
import dev.onefold.api.Routes;
import dev.onefold.api.Routes.Permission;
import dev.onefold.api.Scope;
import dev.onefold.api.body.EntityTags;
import dev.onefold.api.page.PageFiles;
import dev.onefold.api.page.PageFiles.PageFile;
import dev.onefold.aws.AwsBatchEngine;
import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.event.UrlAnswer;
import dev.onefold.aws.event.UrlRequest;
import dev.onefold.aws.store.Store;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Pipeline;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.exception.SdkException;

/// Answers the requests to a function URL: first whether the caller may ask, then by the routes over the
/// tables. One request at a time.
public final class UrlHandler {
    private static final System.Logger LOG = System.getLogger("dev.onefold.api");
    private static final int ROUTE_PARTS = 3;
    private static final int NOT_MODIFIED = 304;
    private static final int BUG = 500;
    private static final String POST = "POST";

    /// Also of an answer without content: what keeps the one before must know what it is for.
    private static final Map<String, String> VARY = Map.of("Vary", "Accept-Encoding");

    private final BooleanSupplier isDeployed;
    private final String name;
    private final Access access;
    private final Routes routes;
    private final @Nullable RequestRecords records;
    private final PageFiles page;
    private final Response description;
    private final int bytesMax;

    /// @param intake `null` where the deployment is only read
    /// @throws IllegalArgumentException if the pipeline cannot be served so
    /// @throws IOException if a file of the page is missing
    public UrlHandler(Store store, Pipeline pipeline, Access access, @Nullable Intake intake) throws IOException {
        this(store, pipeline, access, intake, UrlAnswer.BODY_BYTES_MAX);
    }

    /// @param bytesMax of the content of an answer, at most [UrlAnswer#BODY_BYTES_MAX]
    UrlHandler(Store store, Pipeline pipeline, Access access, @Nullable Intake intake, int bytesMax)
            throws IOException {
        this.bytesMax = bytesMax;
        this.access = access;
        name = pipeline.name();
        boolean isBatch = pipeline.fold() instanceof Batching;
        isDeployed = isBatch ? () -> AwsBatchEngine.isDeployed(store) : () -> AwsEngine.isDeployed(store);
        routes = new Routes(name, isBatch ? AwsBatchEngine.at(store) : AwsEngine.at(store), this::failure);
        records = intake == null ? null : new RequestRecords(pipeline, intake);
        page = PageFiles.read();
        description = description();
    }

    private static Response description() throws IOException {
        try (InputStream in = UrlHandler.class.getResourceAsStream("openapi.json")) {
            byte[] bytes = Objects.requireNonNull(in, "The description of the API is missing")
                    .readAllBytes();
            return new Response(200, Response.JSON, out -> out.write(bytes));
        }
    }

    /// Translates a failure of the engine. The engine's messages may name tables and accounts, so they go to
    /// the log.
    private Failure failure(Throwable e) {
        if (e instanceof SdkException) {
            LOG.log(System.Logger.Level.WARNING, "A request failed, because a service did: " + e.getMessage());
            return new Failure(
                    503, Failure.NOT_READY, "The tables of this deployment do not answer now. Ask again later.");
        }
        if (e instanceof IllegalStateException) {
            return notReady(e);
        }
        return Failure.of(e);
    }

    private Failure notReady(Throwable e) {
        try {
            if (!isDeployed.getAsBoolean()) {
                return new Failure(503, Failure.NOT_YET, "No record has come to this deployment yet. Ask again later.");
            }
        } catch (RuntimeException alsoNow) {
            LOG.log(System.Logger.Level.WARNING, "The definition cannot be read: " + alsoNow.getMessage());
        }
        LOG.log(System.Logger.Level.WARNING, "A request failed: " + e.getMessage());
        return new Failure(
                503,
                Failure.NOT_READY,
                "The results cannot be read now; the log of the function says why. Ask again, or for less: for a group,"
                        + " or one level.");
    }

    /// Answers a request.
    ///
    /// @param event as Lambda hands it over
    /// @param remaining how long the invocation may take from now on
    public UrlAnswer answer(byte[] event, Supplier<Duration> remaining) throws IOException {
        UrlRequest asked;
        try {
            asked = UrlRequest.read(event);
        } catch (IllegalArgumentException e) {
            return plain(new Failure(400, Failure.REQUEST, e.getMessage() + ".").response());
        }
        try {
            return answer(asked, remaining);
        } catch (Refused e) {
            return plain(e.response());
        } catch (AnswerBody.TooLarge e) {
            return plain(tooLarge().response());
        } catch (RuntimeException e) {
            Failure failure = failure(e).withoutValues();
            if (failure.status() == BUG) {
                LOG.log(System.Logger.Level.WARNING, "A request failed, which is a bug in Onefold", e);
            }
            return plain(failure.response());
        }
    }

    private Failure tooLarge() {
        return new Failure(
                422,
                Failure.TOO_LARGE,
                "The answer does not fit: a function answers with " + bytesMax
                        + " bytes at most, compressed where 'Accept-Encoding: gzip' is sent. Ask for totals in pages,"
                        + " with 'limit' and 'skip' for each group, or for less: with 'group', 'depth' or 'top', and of a"
                        + " table with 'key' or 'limit'.");
    }

    private UrlAnswer answer(UrlRequest asked, Supplier<Duration> remaining) throws IOException {
        Optional<Failure> refusal = access.refusal(asked);
        if (refusal.isPresent()) {
            throw new Refused(refusal.get());
        }
        Request request = request(asked);
        boolean isHead = request.method().equals("HEAD");
        if (isHead || request.method().equals("GET")) {
            Optional<UrlAnswer> open = open(request.path(), asked);
            if (open.isPresent()) {
                UrlAnswer whole = open.get();
                return isHead ? new UrlAnswer(whole.status(), whole.headers(), new byte[0]) : whole;
            }
        }
        Permission permission = access.permission(asked);
        Optional<Failure> notAllowed = routes.refusal(request, permission);
        if (request.path().size() > 1) {
            requireServed(request, notAllowed.map(Failure::status).orElse(0));
        }
        if (notAllowed.isPresent()) {
            throw new Refused(notAllowed.get());
        }
        if (isRecords(request)) {
            return made(requireRecords().take(asked, request, remaining.get()), asked);
        }
        UrlAnswer[] answer = new UrlAnswer[1];
        routes.answer(request, permission, response -> answer[0] = made(response, asked));
        return answer[0];
    }

    /// The files that need no permission: the page, and the description of the API; empty for any other path.
    private Optional<UrlAnswer> open(List<String> path, UrlRequest asked) throws IOException {
        Optional<PageFile> file = page.find(path);
        if (file.isPresent()) {
            return Optional.of(file(file.get(), asked));
        }
        return path.equals(List.of("openapi.json")) ? Optional.of(made(description, asked)) : Optional.empty();
    }

    private static boolean isRecords(Request request) {
        List<String> path = request.path();
        return request.method().equals(POST)
                && path.size() == ROUTE_PARTS
                && path.getLast().equals("records");
    }

    private RequestRecords requireRecords() {
        if (records == null) {
            throw new Refused(
                    403,
                    Failure.NOT_ALLOWED,
                    "This deployment is served for reading. 'onefold aws template --serve write' makes one that takes"
                            + " records, too.");
        }
        return records;
    }

    private static Request request(UrlRequest asked) {
        try {
            return Request.of(asked.method(), asked.target(), asked.method().equals(POST) ? new byte[0] : asked.body());
        } catch (IllegalArgumentException e) {
            throw new Refused(400, Failure.REQUEST, e.getMessage() + ".");
        }
    }

    /// Refuses what only a service on one machine does.
    ///
    /// @param status of what else speaks against it: a caller who may not know of the pipeline learns nothing
    ///     of it
    private static void requireServed(Request request, int status) {
        if (status == 404 || status == 405) {
            return;
        }
        if (Scope.of(request).compareTo(Scope.WRITE) > 0) {
            throw new Refused(
                    403,
                    Failure.NOT_ALLOWED,
                    "A function shows results and takes records. What waits for a person is decided with 'onefold aws"
                            + " dead-letters', 'verify', 'rebuild' and 'batches', by whoever may write the tables.");
        }
        List<String> path = request.path();
        if (path.size() == ROUTE_PARTS && path.getLast().equals("changes")) {
            throw new Refused(
                    406, // An answer of 5xx would raise an alarm, and nothing has failed.
                    Failure.NO_STREAM,
                    "A function sends no stream of events. Ask for 'totals' with the same parameters, again after each"
                            + " pause that 'Retry-After' says, with the last 'ETag' in 'If-None-Match'.");
        }
        if (request.parameters().containsKey("at-least")) {
            throw new Refused(
                    400,
                    Failure.REQUEST,
                    "'at-least' counts lines of a source, and the lines of a stream have no such numbers. Each answer"
                            + " says as of when it is, in 'cut': ask again until what was sent is in it.");
        }
    }

    private UrlAnswer file(PageFile file, UrlRequest asked) throws IOException {
        Map<String, String> head = new LinkedHashMap<>(file.headers());
        head.putAll(VARY);
        if (EntityTags.isKnown(asked.header("If-None-Match").orElse(null), file.tag())) {
            return new UrlAnswer(NOT_MODIFIED, head, new byte[0]);
        }
        head.put("Content-Type", file.type());
        return sent(200, head, out -> out.write(file.bytes()), asked);
    }

    private UrlAnswer made(Response response, UrlRequest asked) throws IOException {
        Map<String, String> head = new LinkedHashMap<>(response.head());
        head.putAll(VARY);
        Supplier<String> tag = response.tag();
        if (tag == null) {
            return sent(response.status(), head, response.body(), asked);
        }
        String name = EntityTags.weak(tag.get());
        head.put("ETag", name);
        head.put("Cache-Control", "no-cache");
        return EntityTags.isKnown(asked.header("If-None-Match").orElse(null), name)
                ? new UrlAnswer(NOT_MODIFIED, head, new byte[0])
                : sent(response.status(), head, response.body(), asked);
    }

    private UrlAnswer sent(int status, Map<String, String> head, Response.Body body, UrlRequest asked)
            throws IOException {
        boolean gzip = AnswerBody.takesGzip(asked.header("Accept-Encoding").orElse(""));
        if (gzip) {
            head.put("Content-Encoding", "gzip");
        }
        return new UrlAnswer(status, head, AnswerBody.of(body, gzip, bytesMax));
    }

    /// A problem, which is short.
    private UrlAnswer plain(Response response) throws IOException {
        return new UrlAnswer(
                response.status(), response.head(), AnswerBody.of(response.body(), false, UrlAnswer.BODY_BYTES_MAX));
    }
}
