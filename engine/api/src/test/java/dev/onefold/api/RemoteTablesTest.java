package dev.onefold.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.DeadLetters;
import dev.onefold.core.Truth;
import dev.onefold.core.Verification;
import dev.onefold.core.event.Version;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.process.KeyDifference;
import dev.onefold.core.process.KeyState;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.TableAnswer;
import dev.onefold.core.query.TableQuery;
import dev.onefold.core.shape.Value;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Keys and tables of a function, read through the socket.
@Timeout(30)
class RemoteTablesTest {
    @TempDir
    Path directory;

    private final Functions engine = new Functions();
    private EngineSocket socket;
    private RemoteEngine remote;

    @BeforeEach
    void open() throws Exception {
        socket = EngineSocket.open(directory, engine, () -> false);
        remote = RemoteEngine.connect(directory).orElseThrow();
    }

    @AfterEach
    void close() throws Exception {
        socket.close();
    }

    @Test
    void a_state_and_rows_of_all_types_come_as_they_are() {
        assertThat(remote.pipeline()).isEqualTo(engine.pipeline());
        assertThat(remote.state(List.of("a/b", "é"))).contains(engine.state);
        assertThat(remote.state(List.of("other", ""))).isEmpty();
        TableQuery query = new TableQuery(List.of("stats", "empty"), Optional.of(List.of("a/b", "")), 7);
        TableAnswer answer = remote.tables(query, RemoteTablesTest::copy);
        assertThat(engine.queries).containsExactly(query);
        assertThat(answer).isEqualTo(copy(engine.answer()));
    }

    private static TableAnswer copy(TableAnswer answer) {
        return new TableAnswer(
                answer.tables().stream()
                        .map(table -> new TableAnswer.Table(table.name(), table.columns(), List.copyOf(table.rows())))
                        .toList(),
                answer.cut());
    }

    @Test
    void what_differs_of_keys_comes_with_a_verification() {
        assertThat(remote.verify()).isEqualTo(engine.verify(Truth.ROWS));
    }

    @Test
    void programs_get_plain_json_and_csv() throws Exception {
        Visits visits = new Visits(directory);
        assertThat(visits.answer("GET /v1/runs/tables?table=stats&table=empty HTTP/1.1\r\n\r\n"))
                .startsWith("HTTP/1.1 200 ")
                .contains("""
                        {"table":"stats","columns":["flag","text","number","none","list"],"rows":[
                        {"flag":true,"text":"=a,\\"b","number":12.5,"none":null,"list":[1,"2026-11-22"]},
                        """)
                .contains("{\"table\":\"empty\",\"columns\":[],\"rows\":[\n]}");
        assertThat(visits.answer(
                        "GET /v1/runs/tables?table=stats&format=csv&neutralise-formulas=true HTTP/1.1\r\n\r\n"))
                .contains("flag,text,number,none,list\n", "true,\"'=a,\"\"b\",12.5,,\"[1,\"\"2026-11-22\"\"]\"\n");
        assertThat(visits.answer("GET /v1/runs/keys/a%2Fb/%C3%A9 HTTP/1.1\r\n\r\n"))
                .contains("""
                        {"key":["a/b","é"],"version":"12","code":2,"context":{"at":"1970-01-01T00:00:00Z","for":"PT1M"},\
                        "kept":5,"gaps":true,"failed":["9"],"deadLetters":[]}
                        """);
        for (String wrong : List.of(
                "tables",
                "tables?table=stats&table=empty&format=csv",
                "tables?table=stats&limit=0",
                "tables?table=x&y=1")) {
            assertThat(visits.answer("GET /v1/runs/" + wrong + " HTTP/1.1\r\n\r\n"))
                    .startsWith("HTTP/1.1 400 ");
        }
    }

    @Test
    void a_key_with_too_few_parts_is_refused_and_many_rows_come() {
        assertThatThrownBy(() -> remote.state(List.of("a"))).isInstanceOf(IllegalArgumentException.class);
        engine.rows = 100_000;
        TableQuery query = new TableQuery(List.of("stats"), Optional.empty(), Long.MAX_VALUE);
        assertThat(remote.<Integer>tables(
                        query, answer -> answer.tables().getFirst().rows().size()))
                .isEqualTo(100_000);
    }

    /// An engine with a function.
    private static final class Functions extends SlowEngine {
        final KeyState state = new KeyState(
                List.of("a/b", "é"),
                new Version(BigInteger.valueOf(12), Version.Kind.NUMBER),
                2,
                fields(Map.of("at", new Value.Time(Instant.EPOCH), "for", new Value.Span(Duration.ofMinutes(1)))),
                5,
                Optional.of(true),
                List.of(new Version(BigInteger.valueOf(9), Version.Kind.NUMBER)));
        final List<TableQuery> queries = new ArrayList<>();
        int rows = 2;

        private static Value.Fields fields(Map<String, Value> values) {
            SequencedMap<String, Value> ordered = new LinkedHashMap<>();
            values.entrySet().stream()
                    .sorted(Map.Entry.comparingByKey())
                    .forEach(e -> ordered.put(e.getKey(), e.getValue()));
            return new Value.Fields(ordered);
        }

        @Override
        public Pipeline pipeline() {
            String text = """
                    {"pipeline":"runs","input":{"key":["k","l"],"version":"v"},
                     "process":{"class":"a.B","order":"every","code":{"context":"{at: time}","event":"{k: text}"}}}
                    """;
            return switch (PipelineText.read(text)) {
                case Reading.Read(Pipeline read) -> read;
                case Reading.Refused refused -> throw new AssertionError(refused.toString());
            };
        }

        @Override
        public Optional<KeyState> state(List<String> key) {
            return key.equals(state.key()) ? Optional.of(state) : Optional.empty();
        }

        TableAnswer answer() {
            SequencedMap<String, Value> row = new LinkedHashMap<>();
            row.put("flag", new Value.Flag(true));
            row.put("text", new Value.Text("=a,\"b", true));
            row.put("number", new Value.Decimal(new BigDecimal("12.5")));
            row.put("none", new Value.Absent());
            row.put(
                    "list",
                    new Value.Items(List.of(new Value.Whole(1, false), new Value.Date(LocalDate.of(2026, 11, 22)))));
            return new TableAnswer(
                    List.of(
                            new TableAnswer.Table(
                                    "stats",
                                    List.copyOf(row.keySet()),
                                    Collections.nCopies(rows, new Value.Fields(row))),
                            new TableAnswer.Table("empty", List.of(), List.of())),
                    new Answer.Cut(List.of(new Answer.Progress("s", 1, 2)), Instant.EPOCH));
        }

        @Override
        public <T> T tables(TableQuery query, Function<TableAnswer, T> reader) {
            queries.add(query);
            return reader.apply(answer());
        }

        @Override
        public Verification verify(Truth truth) {
            return new Verification("7 rows", 1, List.of())
                    .with(3, List.of(new KeyDifference(List.of("a", "b"), "context", "{}", "")));
        }

        @Override
        public DeadLetters deadLetters() {
            return new NoLetters();
        }
    }
}
