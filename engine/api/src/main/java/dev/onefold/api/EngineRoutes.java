package dev.onefold.api;

import dev.onefold.api.body.BodyLines;
import dev.onefold.api.reading.TableLines;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.Engine;
import dev.onefold.core.Fates;
import dev.onefold.core.Truth;
import dev.onefold.core.bytes.Utf8;
import dev.onefold.core.event.Decoder;
import dev.onefold.core.event.RecordEnds;
import dev.onefold.core.form.CsvForm;
import dev.onefold.core.form.EngineJson;
import dev.onefold.core.form.JsonForm;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.json.JsonRecord;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.process.KeyState;
import dev.onefold.core.query.TableQuery;
import dev.onefold.core.shape.Value;
import dev.onefold.core.state.Row;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Makes an answer from a request for one pipeline, over its engine. Any thread may call.
final class EngineRoutes {
    /// The source of lines whose caller names none.
    private static final String SOURCE_USUAL = "http";

    static final String TOTALS = "totals";
    private static final int LETTERS_DEFAULT = 50;
    private static final int ROW_LETTERS_MAX = 20;
    private static final Set<String> LETTER_PARTS = Set.of("", "record", "edited");

    private final Engine engine;
    private @Nullable SyncRoutes sync; // Guarded by this; made by the first request about it.
    private volatile @Nullable String name; // Known once the engine has said it, and then for ever.

    EngineRoutes(Engine engine) {
        this(engine, null);
    }

    /// @param name of the pipeline; `null` to ask the engine when it is needed
    EngineRoutes(Engine engine, @Nullable String name) {
        this.engine = engine;
        this.name = name;
    }

    /// Gives the answer to the receiver while it is valid.
    ///
    /// @param path behind the pipeline's name
    /// @throws IOException if the receiver throws it
    void answer(Request request, List<String> path, Routes.Receiver receiver) throws IOException {
        if (request.method().equals("GET")) {
            get(request, path, receiver);
        } else {
            receiver.take(post(request, path));
        }
    }

    /// The name of the pipeline.
    String name() {
        String known = name;
        if (known == null) {
            known = engine.pipeline().name();
            name = known;
        }
        return known;
    }

    /// Waits until the totals have the lines that a request needs in them.
    void await(Request request) {
        AtLeast.of(request).ifPresent(least -> least.await(engine));
    }

    /// The pipeline's name and definition, and the capabilities that its engine lacks, with the reasons.
    Map<String, Object> about() {
        Pipeline pipeline = engine.pipeline();
        Map<String, String> missing = new TreeMap<>();
        engine.capabilities().missing().forEach((capability, reason) -> missing.put(capability.name(), reason));
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("pipeline", pipeline.name());
        json.put("definition", PipelineText.write(pipeline));
        json.put("missing", missing);
        return json;
    }

    private void get(Request request, List<String> path, Routes.Receiver receiver) throws IOException {
        String first = path.isEmpty() ? "" : path.getFirst();
        if (first.equals(TOTALS) && path.size() == 1) {
            TotalsRoute.answer(engine, request, receiver);
            return;
        }
        if (first.equals("tables") && path.size() == 1) {
            tables(request, receiver);
            return;
        }
        if (first.equals("keys")) {
            allow(request, path, "bytes");
            receiver.take(state(request, key(request, path)));
            return;
        }
        if (first.equals("dead-letters") && path.size() > 1) {
            receiver.take(letter(request, path.subList(1, path.size())));
            return;
        }
        if (first.equals("rows")) {
            allow(request, path);
            receiver.take(row(key(request, path)));
            return;
        }
        if (first.equals(BatchRoutes.NAME)) {
            receiver.take(batches(request, path.subList(1, path.size())));
            return;
        }
        receiver.take(
                switch (String.join("/", path)) {
                    case "" -> {
                        request.allow();
                        yield Response.json(about());
                    }
                    case "counts" -> {
                        request.allow();
                        yield Response.json(EngineJson.FATES.write(new Fates(engine.counts(), engine.causes())));
                    }
                    case "status" -> {
                        request.allow();
                        yield Response.json(EngineJson.status(engine.pipeline().name(), engine.status()));
                    }
                    case "journal" -> {
                        request.allow();
                        yield Response.json(Map.of("kept", engine.journal().isKept()));
                    }
                    case "range-sums" -> {
                        request.allow();
                        yield Response.bytes(engine.rangeSums().toBytes());
                    }
                    case "records" -> {
                        request.allow("source");
                        String source = request.required("source");
                        yield Response.json(Map.of("acknowledged", engine.acknowledged(source)));
                    }
                    case SyncRoutes.NAME -> sync().get(request);
                    case "dead-letters" -> letters(request);
                    default -> throw Routes.noRoute(request);
                });
    }

    private Response batches(Request request, List<String> path) {
        return new BatchRoutes(engine).get(request, path).orElseThrow(() -> Routes.noRoute(request));
    }

    /// Ends the seedings and repairs that are under way.
    void close() {
        SyncRoutes begun;
        synchronized (this) {
            begun = sync;
        }
        if (begun != null) {
            begun.close();
        }
    }

    private synchronized SyncRoutes sync() {
        if (sync == null) {
            sync = new SyncRoutes(engine);
        }
        return sync;
    }

    private Response post(Request request, List<String> path) {
        if (!path.isEmpty() && path.getFirst().equals(SyncRoutes.NAME)) {
            return sync().post(request, path.subList(1, path.size())).orElseThrow(() -> Routes.noRoute(request));
        }
        if (!path.isEmpty() && path.getFirst().equals(BatchRoutes.NAME)) {
            return new BatchRoutes(engine)
                    .post(request, path.subList(1, path.size()))
                    .orElseThrow(() -> Routes.noRoute(request));
        }
        if (path.size() == 3
                && path.getFirst().equals("dead-letters")
                && path.get(2).equals("redrive")) {
            return redrive(request, id(path.get(1)));
        }
        return switch (String.join("/", path)) {
            case "records" -> append(request);
            case "rows" -> rows(request);
            case "verify" -> {
                request.allow("from", "sample");
                yield Response.json(EngineJson.VERIFICATION.write(engine.verify(truth(request))));
            }
            case "rebuild" -> {
                request.allow("from");
                yield Response.json(EngineJson.VERIFICATION.write(engine.rebuild(truth(request))));
            }
            case "checkpoint" -> {
                request.allow();
                engine.checkpointNow();
                yield Response.json(Map.of());
            }
            case "change" -> change(request);
            case "row-marks" -> {
                request.allowWithBody();
                yield Response.bytes(RowMarks.write(engine.rowMarks(BitSet.valueOf(request.body()))));
            }
            case "journal/release" -> {
                request.allow();
                engine.journal().release();
                yield Response.json(Map.of("kept", false));
            }
            case "dead-letters/purge" -> {
                request.allow("id");
                List<Long> ids = new ArrayList<>();
                for (String id : request.parameters().getOrDefault("id", List.of())) {
                    ids.add(id(id));
                }
                yield Response.json(Map.of("purged", engine.deadLetters().purge(ids)));
            }
            default -> throw Routes.noRoute(request);
        };
    }

    private static Truth truth(Request request) {
        String from = request.parameter("from");
        int oneIn = request.integer("sample", 1);
        return switch (from == null ? "rows" : from) {
            case "rows" -> new Truth.Rows(oneIn);
            case "sources" -> {
                if (request.parameter("sample") != null) {
                    throw new IllegalArgumentException("The parameter 'sample' goes with rows only");
                }
                yield new Truth.Sources();
            }
            default ->
                throw new IllegalArgumentException("The parameter 'from' is rows or sources, not '" + from + "'");
        };
    }

    static boolean isCsv(Request request) {
        String format = request.parameter("format");
        if (format != null && !format.equals("csv") && !format.equals("json")) {
            throw new IllegalArgumentException("The parameter 'format' is json or csv, not '" + format + "'");
        }
        return "csv".equals(format);
    }

    static String type(boolean csv) {
        return csv ? Response.CSV : Response.JSON;
    }

    static void take(Routes.Receiver receiver, Response response) {
        try {
            receiver.take(response);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void tables(Request request, Routes.Receiver receiver) {
        request.allow("table", "key", "limit", "format", "neutralise-formulas", "bytes");
        List<String> names = request.parameters().getOrDefault("table", List.of());
        boolean csv = isCsv(request);
        if (csv && names.size() != 1) {
            throw new IllegalArgumentException("CSV has one table, and " + names.size() + " are named");
        }
        boolean neutralise = request.flag("neutralise-formulas");
        boolean bytes = request.flag("bytes");
        Optional<List<String>> key = Optional.ofNullable(request.parameters().get("key"));
        TableQuery query = new TableQuery(names, key, request.number("limit", Long.MAX_VALUE));
        String name = engine.pipeline().name();
        engine.tables(query, answer -> {
            Response.Body body = out -> {
                if (csv) {
                    CsvForm.write(answer.tables().getFirst(), neutralise, text(out));
                } else {
                    JsonForm.write(name, answer, bytes ? TableLines::text : Value::plain, text(out));
                }
            };
            take(receiver, new Response(200, type(csv), body));
            return true;
        });
    }

    private static void allow(Request request, List<String> path, String... names) {
        List<String> all = new ArrayList<>(List.of(names));
        if (path.size() == 1) {
            all.add("key");
        }
        request.allow(all.toArray(String[]::new));
    }

    /// The parts of a key: the segments behind the route's name, or the parameters, which take each character. No
    /// server takes NUL in a path.
    private static List<String> key(Request request, List<String> path) {
        if (path.size() > 1) {
            return path.subList(1, path.size());
        }
        List<String> parts = request.parameters().get("key");
        if (parts == null) {
            throw new IllegalArgumentException("The parameter 'key' is missing");
        }
        return parts;
    }

    private Response state(Request request, List<String> key) {
        boolean bytes = request.flag("bytes");
        return Response.json(engine.underOneDefinition(_ -> {
            KeyState state = engine.state(key)
                    .orElseThrow(
                            () -> new Request.Refused(new Failure(404, Failure.NO_ROW, "The key was never seen.")));
            Map<String, @Nullable Object> json =
                    JsonForm.state(state, engine.deadLetters().ofKey(key, ROW_LETTERS_MAX));
            if (bytes) {
                json.put("context", TableLines.text(state.context()));
            }
            return json;
        }));
    }

    static Consumer<String> text(OutputStream out) {
        return text -> {
            try {
                out.write(text.getBytes(StandardCharsets.UTF_8));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        };
    }

    private Response row(List<String> key) {
        return Response.json(engine.underOneDefinition(pipeline -> {
            Row row = engine.get(key)
                    .orElseThrow(
                            () -> new Request.Refused(new Failure(404, Failure.NO_ROW, "The key was never accepted.")));
            return JsonForm.row(pipeline, row, engine.deadLetters().ofKey(key, ROW_LETTERS_MAX));
        }));
    }

    private static long id(String text) {
        return Request.number("number of a dead letter", text);
    }

    private Response letters(Request request) {
        request.allow("after", "limit", "key");
        int limit = request.integer("limit", LETTERS_DEFAULT);
        DeadLetters.requireKeyLimit(limit);
        DeadLetters letters = engine.deadLetters();
        List<String> key = request.parameters().get("key");
        List<Map<String, @Nullable Object>> found = new ArrayList<>();
        if (key != null && request.parameter("after") != null) {
            throw new IllegalArgumentException("The parameters 'key' and 'after' do not go together");
        }
        if (key == null) {
            letters.list(request.number("after", 0), limit)
                    .forEach(letter -> found.add(EngineJson.LETTER.write(letter)));
        } else {
            for (DeadLetters.OfKey ofKey : letters.ofKey(key, limit)) {
                Map<String, @Nullable Object> json = EngineJson.LETTER.write(ofKey.letter());
                json.put("version", ofKey.version().toString());
                found.add(json);
            }
        }
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("size", letters.size());
        json.put("letters", found);
        return Response.json(json);
    }

    private Response letter(Request request, List<String> path) {
        if (!LETTER_PARTS.contains(String.join("/", path.subList(1, path.size())))) {
            throw Routes.noRoute(request);
        }
        request.allow();
        DeadLetters letters = engine.deadLetters();
        long id = id(path.getFirst());
        return switch (String.join("/", path.subList(1, path.size()))) {
            case "" -> {
                DeadLetter letter = letters.list(id - 1, 1).stream()
                        .filter(each -> each.id() == id)
                        .findFirst()
                        .orElseThrow(() -> new Request.Refused(
                                new Failure(404, Failure.NO_LETTER, "There is no dead letter " + id + ".")));
                yield Response.json(
                        letter.kept()
                                ? EngineJson.letter(letter, letters.record(id))
                                : EngineJson.LETTER.write(letter));
            }
            case "record" -> Response.bytes(letters.record(id));
            case "edited" ->
                Response.bytes(letters.edited(id)
                        .orElseThrow(() -> new Request.Refused(
                                new Failure(404, Failure.NO_EDIT, "No edit of dead letter " + id + " was rejected."))));
            default -> throw Routes.noRoute(request);
        };
    }

    private Response redrive(Request request, long id) {
        boolean hasEdit = request.flag("edited");
        if (hasEdit) {
            request.allowWithBody("edited", "other-key");
        } else {
            request.allow("edited", "other-key");
        }
        byte @Nullable [] edited = hasEdit ? request.body() : null;
        DeadLetters.Keys keys = request.flag("other-key") ? DeadLetters.Keys.ANY : DeadLetters.Keys.SAME;
        return Response.json(
                Map.of("outcome", JsonRecord.word(engine.deadLetters().redrive(id, edited, keys))));
    }

    private Response append(Request request) {
        request.allowWithBody("source", "from");
        byte[] body = request.body();
        if (request.parameter("from") != null) {
            String source = request.required("source");
            requireLines(body);
            return Response.json(
                    EngineJson.APPENDED.write(engine.append(source, request.number("from", 1), body, body.length)));
        }
        String source = request.parameter("source");
        if (source == null && Decoder.wantsHeader(engine.pipeline())) {
            throw new IllegalArgumentException(
                    "Pipeline " + engine.pipeline().name() + " reads CSV whose first line names"
                            + " the columns, which is the first line of each source. Say whose lines these are, with 'source', or"
                            + " list the columns in the pipeline file");
        }
        BodyLines lines = new BodyLines(RecordEnds.of(engine.pipeline()), body);
        return Response.json(EngineJson.APPENDED.write(engine.append(source == null ? SOURCE_USUAL : source, lines)));
    }

    /// Whether a request brings rows under a number that its sender has drawn. Only the command line does, on
    /// the socket: by TCP the service draws the numbers.
    static boolean takesRows(Request request) {
        List<String> path = request.path();
        return request.method().equals("POST")
                && path.size() == 3
                && path.getLast().equals("rows");
    }

    private Response rows(Request request) {
        request.allowWithBody("source", "from");
        byte[] body = request.body();
        String source = request.required("source");
        requireLines(body);
        return Response.json(
                EngineJson.APPENDED.write(engine.appendRows(source, request.number("from", 1), body, body.length)));
    }

    static void requireLines(byte[] body) {
        if (body.length > 0 && body[body.length - 1] != '\n') {
            throw new IllegalArgumentException("The content does not end with a line end. Here each line"
                    + " needs one: a line that is cut off would be taken, and the whole line passed over later.");
        }
    }

    private Response change(Request request) {
        request.allowWithBody();
        String text = Utf8.decode(request.body())
                .orElseThrow(() -> new IllegalArgumentException("The definition is not UTF-8 text"));
        Pipeline pipeline = switch (PipelineText.read(text)) {
            case Reading.Read(Pipeline read) -> read;
            case Reading.Refused refused ->
                throw new IllegalArgumentException("The definition has problems: " + refused.problems());
        };
        return Response.json(EngineJson.change(engine.change(pipeline)));
    }
}
