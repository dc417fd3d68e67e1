package dev.onefold.api;

import dev.onefold.api.reading.AnswerLines;
import dev.onefold.api.reading.JsonReader;
import dev.onefold.api.reading.TableLines;
import dev.onefold.api.sync.FolderSync;
import dev.onefold.core.Capabilities;
import dev.onefold.core.Capabilities.Capability;
import dev.onefold.core.Causes;
import dev.onefold.core.Counts;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.DefinitionChange;
import dev.onefold.core.Engine;
import dev.onefold.core.Engine.Appended;
import dev.onefold.core.Engine.KeptJournal;
import dev.onefold.core.EngineException;
import dev.onefold.core.SealedBatches;
import dev.onefold.core.Status;
import dev.onefold.core.Sync;
import dev.onefold.core.Truth;
import dev.onefold.core.Verification;
import dev.onefold.core.bytes.Utf8;
import dev.onefold.core.document.Node;
import dev.onefold.core.event.RecordEnds;
import dev.onefold.core.form.EngineJson;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.json.Json;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.process.KeyState;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import dev.onefold.core.query.TableAnswer;
import dev.onefold.core.query.TableQuery;
import dev.onefold.core.state.Key;
import dev.onefold.core.state.RangeSums;
import dev.onefold.core.state.Row;
import dev.onefold.core.state.RowMark;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// The engine that another process runs: one of the same user on a data directory, or a service. If that
/// process ends, a call fails with an [EngineException] of kind STOPPED. Any thread may call.
public final class RemoteEngine implements Engine {
    /// The target of the first request to a process.
    static final String PIPELINES = "/v1";

    private final Client client;
    private final String path;
    private final Capabilities capabilities;
    private final Sync sync;
    private volatile boolean answered;

    /// @param directory the data directory on this machine; `null` for a service
    private RemoteEngine(Client client, Node about, @Nullable Path directory) {
        this.client = client;
        sync = directory == null ? new RemoteSync(this) : FolderSync.of(this, directory);
        path = PIPELINES + "/" + encoded(about.get("pipeline").text());
        Map<Capability, String> missing = new EnumMap<>(Capability.class);
        about.get("missing").entries().forEach(entry -> {
            if (isKnown(entry.name().text())) {
                missing.put(
                        Capability.valueOf(entry.name().text()), entry.value().text());
            }
        });
        capabilities = new Capabilities(missing);
    }

    private static List<Node> pipelines(Client client) {
        return client.ask(Client.Way.GET, PIPELINES, null, RemoteEngine::json)
                .get("pipelines")
                .items();
    }

    private static boolean isKnown(String capability) {
        return Arrays.stream(Capability.values()).anyMatch(each -> each.name().equals(capability));
    }

    /// Reaches the process that owns a data directory; empty when nobody owns it, or its owner is leaving.
    ///
    /// @throws EngineException of kind FORMAT if the owner is of a newer version; of kind STOPPED if its engine
    /// has failed
    public static Optional<RemoteEngine> connect(Path directory) {
        if (!Files.exists(Address.file(directory))) {
            return Optional.empty();
        }
        Client client = new Client(new SocketTransport(directory));
        try {
            return Optional.of(new RemoteEngine(client, pipelines(client).getFirst(), directory));
        } catch (EngineException e) {
            if (client.isGone()) {
                return Optional.empty(); // The file is there and nobody listens: its owner was killed.
            }
            throw e;
        }
    }

    /// Reaches a pipeline of a service.
    ///
    /// @param address `http://HOST:PORT` or `https://HOST`
    /// @param token secret of the caller, which goes to another machine by `https` alone; `null` without one
    /// @throws IllegalArgumentException if the address or the token cannot be one; the message never has the
    ///     token
    /// @throws EngineException if the service cannot be reached, does not allow it, or has no such pipeline
    public static RemoteEngine connect(URI address, String pipeline, @Nullable String token) {
        Client client = new Client(new ServiceTransport(address, token));
        try {
            return ofService(client, address, pipeline);
        } catch (IllegalStateException e) {
            client.close();
            throw new EngineException(
                    EngineException.Kind.FORMAT,
                    address + " answers, but not as a service of Onefold does: " + e.getMessage(),
                    e);
        } catch (RuntimeException e) {
            client.close();
            throw e;
        }
    }

    private static RemoteEngine ofService(Client client, URI address, String pipeline) {
        List<String> names = new ArrayList<>();
        for (Node about : pipelines(client)) {
            String name = about.get("pipeline").text();
            if (name.equals(pipeline)) {
                return new RemoteEngine(client, about, null);
            }
            names.add(name);
        }
        throw new EngineException(
                EngineException.Kind.DEFINITION_CHANGED,
                "The service at " + address + " has no pipeline " + pipeline + " for this caller; it has "
                        + (names.isEmpty() ? "none" : String.join(", ", names)) + ".");
    }

    /// Whether the owner has ended, or has a successor. The owner may or may not have carried out the last
    /// request.
    public boolean isGone() {
        return client.isGone();
    }

    /// Whether the owner has ended before it had answered anything but the first question, and before a
    /// request was sent that may have changed something: its successor can be asked.
    public boolean isGoneUnheard() {
        return client.isGone() && !answered && !client.isOutcomeUnknown();
    }

    /// @throws IllegalArgumentException if the text has half a surrogate pair
    static String encoded(String text) {
        Utf8.encode("'" + text + "'", text);
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    static <T> void requireGiven(List<T> list, String what) {
        if (list == null || list.stream().anyMatch(Objects::isNull)) {
            throw new IllegalArgumentException(what + " are null, or one of them is");
        }
    }

    <T> T ask(Client.Way way, String target, byte @Nullable [] content, Client.Reader<T> reader) {
        try {
            return client.ask(way, path + target, content, reader);
        } finally {
            if (!client.isGone()) {
                answered = true; // A problem is an answer, too.
            }
        }
    }

    private static Node json(InputStream answer) throws IOException {
        return JsonReader.parse(new String(answer.readAllBytes(), StandardCharsets.UTF_8));
    }

    Node get(String target) {
        return ask(Client.Way.GET, target, null, RemoteEngine::json);
    }

    /// A request that may change something.
    <T> T post(String target, byte @Nullable [] content, Function<Node, T> reader) {
        return ask(Client.Way.CHANGE, target, content, answer -> reader.apply(json(answer)));
    }

    private Node compute(String target, byte @Nullable [] content) {
        return ask(Client.Way.COMPUTE, target, content, RemoteEngine::json);
    }

    @Override
    public Pipeline pipeline() {
        return switch (PipelineText.read(client.ask(Client.Way.GET, path, null, RemoteEngine::json)
                .get("definition")
                .text())) {
            case Reading.Read(Pipeline pipeline) -> pipeline;
            case Reading.Refused refused ->
                throw new EngineException(
                        EngineException.Kind.FORMAT, "The engine's definition cannot be read: " + refused.problems());
        };
    }

    @Override
    public Capabilities capabilities() {
        return capabilities;
    }

    @Override
    public Answer query(Query query) {
        return query(
                query,
                answer -> new Answer(
                        answer.rollup(),
                        answer.levels(),
                        answer.measures(),
                        List.copyOf(answer.lines()),
                        answer.cut()));
    }

    @Override
    public <T> T query(Query query, Function<Answer, T> reader) {
        Objects.requireNonNull(query, "The query is null");
        Objects.requireNonNull(reader, "The reader is null");
        Query.Top top = query.top();
        String target = "/totals?rollup=" + encoded(query.rollup()) + "&group-json=" + encoded(Json.of(query.group()))
                + "&depth=" + query.depth()
                + (top == null ? "" : "&top=" + top.count() + "&by=" + encoded(top.measure()));
        try (AnswerLines lines = new AnswerLines()) {
            return reader.apply(ask(Client.Way.GET, target, null, lines::read));
        }
    }

    @Override
    public Optional<Row> get(List<String> key) {
        requireGiven(key, "The parts of the key");
        return underOneDefinition(pipeline -> {
            Key.bytes(pipeline, key);
            try {
                return Optional.of(JsonReader.row(pipeline, get("/rows?" + parameters(key))));
            } catch (Client.Missing none) {
                return Optional.empty();
            }
        });
    }

    @Override
    public Optional<KeyState> state(List<String> key) {
        requireGiven(key, "The parts of the key");
        return underOneDefinition(pipeline -> {
            Key.bytes(pipeline, key);
            try {
                return Optional.of(JsonReader.state(pipeline, get("/keys?bytes=true&" + parameters(key))));
            } catch (Client.Missing none) {
                return Optional.empty();
            }
        });
    }

    static String parameters(List<String> key) {
        return key.stream().map(part -> "key=" + encoded(part)).collect(Collectors.joining("&"));
    }

    @Override
    public <T> T tables(TableQuery query, Function<TableAnswer, T> reader) {
        Objects.requireNonNull(query, "The query is null");
        Objects.requireNonNull(reader, "The reader is null");
        StringBuilder target = new StringBuilder("/tables?bytes=true&limit=").append(query.limit());
        query.tables().forEach(table -> target.append("&table=").append(encoded(table)));
        query.key()
                .filter(key -> !key.isEmpty())
                .ifPresent(key -> target.append('&').append(parameters(key)));
        try (TableLines lines = new TableLines()) {
            return reader.apply(ask(Client.Way.GET, target.toString(), null, lines::read));
        }
    }

    @Override
    public RangeSums rangeSums() {
        capabilities.require(Capability.COMPARISON);
        return RangeSums.read(ask(Client.Way.GET, "/range-sums", null, InputStream::readAllBytes));
    }

    @Override
    public List<RowMark> rowMarks(BitSet ranges) {
        capabilities.require(Capability.COMPARISON);
        Objects.requireNonNull(ranges, "The ranges are null");
        return underOneDefinition(pipeline -> RowMarks.read(
                pipeline, ask(Client.Way.COMPUTE, "/row-marks", ranges.toByteArray(), InputStream::readAllBytes)));
    }

    @Override
    public Sync sync() {
        capabilities.require(Capability.SYNC);
        return sync;
    }

    @Override
    public Verification verify(Truth truth) {
        return EngineJson.VERIFICATION.read(compute("/verify" + from(truth), null));
    }

    @Override
    public Verification rebuild(Truth truth) {
        return post("/rebuild" + from(truth), null, EngineJson.VERIFICATION::read);
    }

    private static String from(Truth truth) {
        return switch (Truth.given(truth)) {
            case Truth.Rows rows -> "?from=rows" + (rows.oneIn() > 1 ? "&sample=" + rows.oneIn() : "");
            case Truth.Sources _ -> "?from=sources";
        };
    }

    @Override
    public SealedBatches batches() {
        return new RemoteBatches(this);
    }

    @Override
    public DeadLetters deadLetters() {
        return new RemoteLetters(this);
    }

    @Override
    public Counts counts() {
        return EngineJson.fates(get("/counts")).counts();
    }

    @Override
    public Causes causes() {
        return EngineJson.fates(get("/counts")).causes();
    }

    @Override
    public Status status() {
        return EngineJson.status(get("/status"));
    }

    @Override
    public DefinitionChange change(Pipeline definition) {
        Objects.requireNonNull(definition, "The pipeline is null");
        return EngineJson.change(compute("/change", Utf8.encode("The definition", PipelineText.write(definition))));
    }

    @Override
    public KeptJournal journal() {
        return new KeptJournal() {
            @Override
            public boolean isKept() {
                return Boolean.parseBoolean(get("/journal").get("kept").text());
            }

            @Override
            public void release() {
                post("/journal/release", null, Function.identity());
            }
        };
    }

    @Override
    public Appended append(String source, List<String> records) {
        Objects.requireNonNull(source, "The source's name is null");
        requireGiven(records, "The records");
        StringBuilder lines = new StringBuilder();
        for (String record : records) {
            if (record.indexOf('\n') >= 0 && !isOne(record)) {
                throw new IllegalArgumentException("A record holds a line end; a record is one line");
            }
            lines.append(record).append('\n');
        }
        return post("/records?source=" + encoded(source), Utf8.encode("A record", lines), EngineJson.APPENDED::read);
    }

    /// Whether a text with line ends is one record: in CSV, they may be in quotes.
    private boolean isOne(String record) {
        byte[] bytes = Utf8.encode("A record", record);
        return RecordEnds.of(pipeline()).end(bytes, 0, bytes.length) < 0;
    }

    @Override
    public Appended append(String source, long firstRecord, byte[] lines, int length) {
        return append("/records", source, firstRecord, lines, length);
    }

    /// Through the socket alone: of a service, [#sync] takes rows.
    @Override
    public Appended appendRows(String source, long firstRecord, byte[] lines, int length) {
        return append("/rows", source, firstRecord, lines, length);
    }

    private Appended append(String route, String source, long firstRecord, byte[] lines, int length) {
        Objects.requireNonNull(source, "The source's name is null");
        Objects.requireNonNull(lines, "The lines are null");
        if (length < 0 || length > lines.length) {
            throw new IllegalArgumentException("The length is " + length + "; it is 0 to " + lines.length + " bytes");
        }
        String target = route + "?source=" + encoded(source) + "&from=" + firstRecord;
        return post(target, whole(lines, length), EngineJson.APPENDED::read);
    }

    /// The lines with a line end behind the last one: the caller says that it is whole, and the request needs
    /// its end.
    static byte[] whole(byte[] lines, int length) {
        boolean ended = length == 0 || lines[length - 1] == '\n';
        byte[] content = Arrays.copyOf(lines, ended ? length : length + 1);
        if (!ended) {
            content[length] = '\n';
        }
        return content;
    }

    @Override
    public long acknowledged(String source) {
        Objects.requireNonNull(source, "The source's name is null");
        return Long.parseLong(
                get("/records?source=" + encoded(source)).get("acknowledged").text());
    }

    @Override
    public void checkpointNow() {
        post("/checkpoint", null, Function.identity());
    }

    @Override
    public void close() {
        client.close();
    }
}
