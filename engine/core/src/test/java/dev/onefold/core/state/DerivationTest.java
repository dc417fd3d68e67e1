package dev.onefold.core.state;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.event.Decoder;
import dev.onefold.core.event.Event;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.pipeline.Input.DecimalForm;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.fixtures.Seeds;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class DerivationTest {
    private static final Pipeline OLD = trades(r -> r.levels("desk", "region missing \"none\"")
            .sum("value", "value", 18, 2)
            .distinct("books", "book"));

    private static Pipeline trades(Consumer<PipelineBuilder.RollupBuilder> rollup) {
        return PipelineBuilder.named("trades")
                .key("id")
                .version("v")
                .delete("op = \"x\"")
                .filter("value > 0")
                .rollup(rollup)
                .build();
    }

    private static Contribution counted(String desk, String region) {
        return new Contribution(
                Event.Kind.COUNTED,
                List.of(Tuple.of(List.of(desk, region))),
                List.of(new Amount.Number(new BigDecimal("1.50")), new Amount.Text("b")));
    }

    private static String reason(Pipeline next) {
        return ((Derivation.Impossible) Derivation.of(OLD, next)).reason();
    }

    @Test
    void levels_and_inputs_that_were_read_are_put_together_anew() {
        Pipeline next = PipelineBuilder.named("trades")
                .key("id")
                .version("v")
                .delete("op = \"x\"")
                .filter("value > 0")
                .rollup(
                        "books",
                        r -> r.levels("region missing \"none\"", "desk").distinct("n", "book"))
                .rollup("all", r -> r.measure("mean", "average(value) decimal(18,2)"))
                .build();
        Derivation.Possible possible = (Derivation.Possible) Derivation.of(OLD, next);
        assertThat(possible.of(counted("FX", "EMEA")))
                .isEqualTo(new Contribution(
                        Event.Kind.COUNTED,
                        List.of(Tuple.of(List.of("EMEA", "FX")), Tuple.of(List.of())),
                        List.of(new Amount.Text("b"), new Amount.Number(new BigDecimal("1.50")))));
    }

    @Test
    void a_further_spelling_of_true_leaves_the_rows_as_they_are_and_one_that_is_left_out_does_not() {
        Pipeline none = spelled();
        Pipeline one = spelled("t");
        assertThat(Derivation.of(none, one)).isInstanceOf(Derivation.Possible.class);
        assertThat(Derivation.of(one, none))
                .isEqualTo(new Derivation.Impossible(
                        "values are spelled otherwise: truths, falsehoods, normalize, zone or fold has changed"));
        assertThat(Derivation.storesSame(none, one)).isFalse();
    }

    @Test
    void a_key_that_may_be_missing_or_is_a_text_keeps_its_rows_and_an_integer_is_another_key() {
        Pipeline old = keyed("k");
        for (Map<String, String> part : List.of(
                Map.of("field", "k", "missing", ""),
                Map.of("field", "k", "type", "text"),
                Map.of("field", "k", "type", "text", "missing", "?"))) {
            assertThat(Derivation.of(old, keyed(part))).isEqualTo(Derivation.of(old, old));
            assertThat(Derivation.storesSame(old, keyed(part))).isFalse();
            assertThat(Derivation.of(keyed(part), old)).isInstanceOf(Derivation.Impossible.class);
        }
        assertThat(Derivation.of(old, keyed(Map.of("field", "k", "type", "integer"))))
                .isEqualTo(new Derivation.Impossible("the key, id or version has changed"));
    }

    private static Pipeline keyed(Object key) {
        return PipelineBuilder.named("p")
                .identity("key", key)
                .version("v")
                .rollup(r -> r.count("n"))
                .build();
    }

    private static Pipeline spelled(String... truths) {
        return PipelineBuilder.named("p")
                .id("id")
                .filter("ok = true")
                .truths(truths)
                .rollup(r -> r.count("n"))
                .build();
    }

    @Test
    void what_contributes_nothing_does_so_under_every_definition() {
        Derivation.Possible possible = (Derivation.Possible)
                Derivation.of(OLD, trades(r -> r.levels("desk").count("n")));
        for (Event.Kind kind : List.of(Event.Kind.DELETE, Event.Kind.FILTERED)) {
            Contribution nothing = new Contribution(kind, List.of(), List.of());
            assertThat(possible.of(nothing)).isEqualTo(nothing);
        }
    }

    @Test
    void the_same_definition_is_derived_from_itself_without_a_change() {
        Derivation.Possible possible = (Derivation.Possible) Derivation.of(OLD, OLD);
        assertThat(possible.of(counted("FX", "none"))).isEqualTo(counted("FX", "none"));
    }

    @Test
    void a_value_is_taken_at_the_scale_that_it_is_declared_with_now() {
        Derivation.Possible wider = (Derivation.Possible) Derivation.of(OLD, trades(r -> r.sum("s", "value", 19, 3)));
        assertThat(wider.mayRefuse()).isFalse();
        assertThat(wider.doubt()).isEmpty();
        assertThat(wider.of(counted("FX", "none")).amounts())
                .containsExactly(new Amount.Number(new BigDecimal("1.500")));
    }

    @Test
    void a_value_that_does_not_fit_what_it_is_declared_as_now_is_refused() {
        Pipeline narrow = trades(r -> r.sum("s", "value", 18, 1));
        Derivation.Possible narrower = (Derivation.Possible) Derivation.of(OLD, narrow);
        assertThat(narrower.doubt()).contains("field value was read as decimal(18,2) before", "decimal(18,1)");
        assertThat(narrower.mayRefuse()).isTrue();
        assertThat(narrower.refusal(new Contribution(Event.Kind.DELETE, List.of(), List.of())))
                .isEmpty();
        assertThat(narrower.refusal(counted("FX", "none"))).isEmpty();
        Contribution fine = new Contribution(
                Event.Kind.COUNTED,
                List.of(Tuple.of(List.of("FX", "none"))),
                List.of(new Amount.Number(new BigDecimal("1.55")), new Amount.Text("b")));
        assertThat(narrower.refusal(fine).orElseThrow().message())
                .startsWith("Field value is '1.55', which does not fit decimal(18,1)");
    }

    @Test
    void what_was_not_read_is_named() {
        assertThat(reason(trades(r -> r.levels("book").count("n")))).contains("level book of roll-up main");
        assertThat(reason(trades(r -> r.levels("region").count("n")))).contains("level region");
        assertThat(reason(trades(r -> r.distinct("n", "value")))).contains("field value", "as a text");
        assertThat(reason(PipelineBuilder.named("t")
                        .key("id")
                        .version("v")
                        .delete("op = \"x\"")
                        .rollup(r -> r.count("n"))
                        .build()))
                .contains("filter");
        assertThat(reason(PipelineBuilder.named("t")
                        .key("id")
                        .version("v")
                        .filter("value > 0")
                        .rollup(r -> r.count("n"))
                        .build()))
                .contains("delete");
        assertThat(reason(PipelineBuilder.named("t")
                        .key("other")
                        .version("v")
                        .rollup(r -> r.count("n"))
                        .build()))
                .contains("key, id or version");
        assertThat(reason(PipelineBuilder.named("t").rollup(r -> r.count("n")).build()))
                .contains("place");
    }

    @Test
    void it_is_said_whether_a_level_is_new_or_another_part_of_a_field_or_treats_its_absence_otherwise() {
        assertThat(reason(trades(r -> r.levels("book").count("n"))))
                .isEqualTo("level book of roll-up main was not read before");
        assertThat(reason(trades(r -> r.levels("prefix(desk, 2)").count("n"))))
                .isEqualTo("level prefix(desk, 2) of roll-up main takes another part of field desk than before");
        assertThat(reason(trades(r -> r.levels("region missing \"other\"").count("n"))))
                .isEqualTo("level region of roll-up main treats records without field region differently:"
                        + " they count as 'none' in the rows");
    }

    @Test
    void it_is_said_whether_a_field_is_new_or_was_read_otherwise_or_treats_its_absence_otherwise() {
        Pipeline old = trades(r -> r.measure("value", "sum(value) decimal(18,2) missing ignore")
                .measure("books", "distinct(book) missing ignore"));
        assertThat(((Derivation.Impossible) Derivation.of(old, trades(r -> r.sum("s", "value", 18, 2)))).reason())
                .isEqualTo("records without field value are treated differently than before");
        assertThat(((Derivation.Impossible) Derivation.of(old, trades(r -> r.distinct("n", "book")))).reason())
                .isEqualTo("records without field book are treated differently than before");
        assertThat(((Derivation.Impossible) Derivation.of(old, trades(r -> r.sum("s", "book", 18, 2)))).reason())
                .isEqualTo("field book was read as a text before, not as decimal(18,2)");
        assertThat(((Derivation.Impossible) Derivation.of(old, trades(r -> r.sum("s", "other", 18, 2)))).reason())
                .isEqualTo("field other was not read before as decimal(18,2)");
    }

    private static String doubt(PipelineBuilder from, PipelineBuilder to) {
        return ((Derivation.Possible) Derivation.of(
                        from.rollup(r -> r.count("n")).build(),
                        to.rollup(r -> r.count("n")).build()))
                .doubt();
    }

    private static PipelineBuilder byId() {
        return PipelineBuilder.named("trades").id("id").time("t");
    }

    @Test
    void rows_hold_all_of_it_and_yet_records_that_are_read_again_may_come_to_something_else() {
        Duration day = Duration.ofDays(1);
        assertThat(doubt(byId(), byId())).isEmpty();
        assertThat(doubt(byId(), PipelineBuilder.named("trades").id("id"))).isEmpty();
        assertThat(doubt(byId(), byId().horizon(day))).isEqualTo("the horizon has changed");
        assertThat(doubt(byId(), byId().csv())).isEqualTo("the format has changed");
        assertThat(doubt(PipelineBuilder.named("trades").id("id"), byId()))
                .isEqualTo("the time t was not read before, and a record without it is refused");
    }

    private static Pipeline changes(PipelineBuilder builder) {
        return builder.key("id").rollup(r -> r.count("n")).build();
    }

    private static String ofLogs(PipelineBuilder from, PipelineBuilder to) {
        return switch (Derivation.of(changes(from), changes(to))) {
            case Derivation.Possible possible -> possible.doubt();
            case Derivation.Impossible(String reason) -> "impossible: " + reason;
        };
    }

    private static PipelineBuilder log(String table, String... logs) {
        return PipelineBuilder.named("t").debezium(table, logs);
    }

    @Test
    void rows_of_a_log_stay_if_the_file_says_more_of_the_table_or_of_its_decimals() {
        String otherLog = "impossible: the places of changes mean another log now";
        assertThat(ofLogs(log("t"), log("public.t"))).isEqualTo("the format has changed");
        assertThat(ofLogs(log("t", "a"), log("public.t", "a"))).isEqualTo("the format has changed");
        assertThat(ofLogs(log("t").edition(2), log("public.t").edition(2))).isEqualTo(otherLog);
        assertThat(ofLogs(log("public.t"), log("old.t"))).isEqualTo(otherLog);
        assertThat(ofLogs(log("t"), log("public.u"))).isEqualTo(otherLog);
        assertThat(ofLogs(log("t", "a"), log("t", "a").decimals(DecimalForm.TEXT)))
                .isEmpty();
        assertThat(ofLogs(log("t").decimals(DecimalForm.TEXT), log("t").decimals(DecimalForm.PRECISE)))
                .isEqualTo("the format has changed");
        assertThat(ofLogs(stream(), stream().table("Orders"))).isEqualTo("the format has changed");
    }

    @Test
    void rows_are_of_no_use_to_a_format_that_reads_other_values_or_another_table() {
        String otherValues = "impossible: the format reads other values of the same record:"
                + " unwrap, columns, delimiter, quote, decimal, thousands, nulls, comment, escape, header or decimals has changed";
        String otherTable = "impossible: the rows are of another table: table has changed";
        assertThat(ofLogs(versioned(), versioned().unwrap("detail"))).isEqualTo(otherValues);
        assertThat(ofLogs(versioned().unwrap("detail"), versioned().unwrap("Message")))
                .isEqualTo(otherValues);
        assertThat(ofLogs(versioned().csv(), versioned().csv().numbers(',', '.')))
                .isEqualTo(otherValues);
        assertThat(ofLogs(versioned().csv().numbers(',', '.'), versioned().csv().numbers(',', ' ')))
                .isEqualTo(otherValues);
        assertThat(ofLogs(versioned().csv(), versioned().csv().quote('\''))).isEqualTo(otherValues);
        assertThat(ofLogs(versioned().csv(), versioned().csv().delimiter(';'))).isEqualTo(otherValues);
        assertThat(ofLogs(versioned().csv("id", "v", "w"), versioned().csv("id", "w", "v")))
                .isEqualTo(otherValues);
        for (PipelineBuilder more :
                List.of(versioned().csv("id", "v"), versioned().csv())) {
            assertThat(ofLogs(more, versioned().csv("id", "v", "w"))).isEqualTo("the format has changed");
        }
        assertThat(ofLogs(log("t").edition(2), log("t").edition(2).decimals(DecimalForm.TEXT)))
                .startsWith("impossible");
        assertThat(ofLogs(stream().table("Orders"), stream().table("Returns"))).isEqualTo(otherTable);
        assertThat(ofLogs(stream().table("Orders"), stream())).isEqualTo(otherTable);
        assertThat(ofLogs(log("public.t").version("v"), log("public.u").version("v")))
                .isEqualTo(otherTable);
        assertThat(ofLogs(log("t").version("v"), log("public.t").version("v"))).isEqualTo("the format has changed");
    }

    private static PipelineBuilder stream() {
        return PipelineBuilder.named("t").dynamoDbStream();
    }

    private static PipelineBuilder versioned() {
        return PipelineBuilder.named("t").version("v");
    }

    @Test
    void rows_of_another_kind_of_identity_are_of_no_use() {
        PipelineBuilder versioned = PipelineBuilder.named("t").key("id").version("v");
        Pipeline old = byId().rollup(r -> r.count("n")).build();
        Pipeline other =
                PipelineBuilder.named("t").id("other").rollup(r -> r.count("n")).build();
        Pipeline byPlace = PipelineBuilder.named("t").rollup(r -> r.count("n")).build();
        Pipeline byVersion = versioned.rollup(r -> r.count("n")).build();
        for (Pipeline next : List.of(other, byVersion)) {
            assertThat(Derivation.of(old, next))
                    .isEqualTo(new Derivation.Impossible("the key, id or version has changed"));
        }
        for (Pipeline next : List.of(old, byVersion, byPlace)) {
            assertThat(Derivation.of(byPlace, next))
                    .isEqualTo(new Derivation.Impossible("records that count by their place leave no rows"));
        }
    }

    /// A level or a measure in the words of a pipeline file.
    ///
    /// @param source of a level; of a measure its field and whether it is a text
    /// @param missing nothing: a record without it is refused
    private record Words(String text, String source, String missing) {
        /// Whether rows that were made with these words hold what others ask for.
        boolean serves(Words other) {
            return source.equals(other.source) && (missing.isEmpty() || missing.equals(other.missing));
        }
    }

    private static final List<Words> LEVELS = List.of("desk", "prefix(desk, 2)", "region").stream()
            .flatMap(source -> List.of("", " missing \"none\"", " missing \"XX\"").stream()
                    .map(missing -> new Words(source + missing, source, missing)))
            .toList();
    private static final List<Words> MEASURES = List.of(
                    "sum(value) decimal(18,2)",
                    "max(value) decimal(20,3)",
                    "sum(value) decimal(18,1)",
                    "average(price) decimal(18,2)",
                    "distinct(book)",
                    "distinct(region)")
            .stream()
            .flatMap(figure -> {
                boolean text = figure.startsWith("distinct");
                String source = (text ? "distinct" : "number") + figure.replaceAll("^[a-z]+\\(([a-z]+)\\).*", " $1");
                return List.of("", " missing ignore", text ? " missing \"x\"" : " missing 0").stream()
                        .map(missing -> new Words(figure + missing, source, missing));
            })
            .toList();

    private record Definition(List<List<Words>> levels, List<List<Words>> measures) {
        static Definition of(RandomGenerator random) {
            List<List<Words>> levels = new ArrayList<>();
            List<List<Words>> measures = new ArrayList<>();
            for (int rollup = 1 + random.nextInt(3); rollup > 0; rollup--) {
                levels.add(some(random, LEVELS).stream()
                        .collect(Collectors.toMap(Words::source, each -> each, (one, _) -> one))
                        .values()
                        .stream()
                        .toList());
                measures.add(some(random, MEASURES));
            }
            return new Definition(levels, measures);
        }

        private static List<Words> some(RandomGenerator random, List<Words> all) {
            List<Words> some = new ArrayList<>();
            for (int i = random.nextInt(4); i > 0; i--) {
                some.add(all.get(random.nextInt(all.size())));
            }
            return some;
        }

        Pipeline pipeline() {
            PipelineBuilder builder = PipelineBuilder.named("t")
                    .key("id")
                    .version("v")
                    .delete("op = \"d\"")
                    .filter("op = \"c\"");
            for (int rollup = 0; rollup < levels.size(); rollup++) {
                List<Words> its = levels.get(rollup);
                List<Words> figures = measures.get(rollup);
                builder.rollup("r" + rollup, r -> {
                    r.levels(its.stream().map(Words::text).toArray(String[]::new));
                    r.count("n");
                    for (int i = 0; i < figures.size(); i++) {
                        r.measure("m" + i, figures.get(i).text);
                    }
                });
            }
            return builder.build();
        }

        private static Set<Words> all(List<List<Words>> words) {
            return words.stream().flatMap(List::stream).collect(Collectors.toSet());
        }

        boolean holdsAllOf(Definition other) {
            return holdsAll(all(levels), all(other.levels)) && holdsAll(all(measures), all(other.measures));
        }

        private static boolean holdsAll(Set<Words> mine, Set<Words> others) {
            return others.stream().allMatch(other -> mine.stream().anyMatch(one -> one.serves(other)));
        }

        /// How many levels and fields another one does not read at all.
        long dropped(Definition other) {
            return unread(levels, other.levels).map(Words::source).distinct().count()
                    + unread(measures, other.measures)
                            .map(each -> each.source + each.text.replaceAll("^[a-z]+| missing.*", ""))
                            .distinct()
                            .count();
        }

        private static Stream<Words> unread(List<List<Words>> mine, List<List<Words>> others) {
            Set<String> read = all(others).stream().map(Words::source).collect(Collectors.toSet());
            return all(mine).stream().filter(each -> !read.contains(each.source));
        }
    }

    private static String record(RandomGenerator random) {
        List<String> fields = new ArrayList<>(List.of("\"id\": \"k\"", "\"v\": 1"));
        fields.add("\"op\": \"" + (random.nextInt(8) > 0 ? "c" : random.nextBoolean() ? "d" : "f") + "\"");
        for (String text : List.of("desk", "region", "book")) {
            if (random.nextInt(4) > 0) {
                fields.add("\"" + text + "\": \""
                        + List.of("", "FX", "bonds", "none").get(random.nextInt(4)) + "\"");
            }
        }
        for (String number : List.of("value", "price")) {
            if (random.nextInt(4) > 0) {
                fields.add("\"" + number + "\": "
                        + List.of("0", "-3.5", "1.55", "12.125", "7e15").get(random.nextInt(5)));
            }
        }
        return "{" + String.join(", ", fields) + "}";
    }

    private static Optional<Contribution> contribution(Decoder decoder, String record) {
        byte[] bytes = record.getBytes(StandardCharsets.UTF_8);
        return decoder.decode(Arrays.copyOf(bytes, bytes.length + Decoder.PADDING), 0, bytes.length) == null
                ? Optional.of(Contribution.of(decoder.pipeline(), decoder.event()))
                : Optional.empty();
    }

    @Test
    void a_row_that_is_derived_is_what_its_record_would_be_if_it_were_read_again() {
        Seeds.forAllSeeds(1_000, random -> {
            Definition from = Definition.of(random);
            Definition to = random.nextBoolean() ? from : Definition.of(random);
            if (random.nextBoolean()) {
                to = new Definition(to.levels.subList(0, 1), from.measures.subList(0, 1));
            }
            Decoder before = new Decoder(from.pipeline());
            Decoder after = new Decoder(to.pipeline());
            Derivation derivation = Derivation.of(before.pipeline(), after.pipeline());
            assertThat(derivation instanceof Derivation.Possible).isEqualTo(from.holdsAllOf(to));
            assertThat((long) Derivation.dropped(before.pipeline(), after.pipeline())
                            .size())
                    .isEqualTo(from.dropped(to));
            if (!(derivation instanceof Derivation.Possible possible)) {
                return;
            }
            assertThat(possible.doubt().isEmpty()).isEqualTo(!possible.mayRefuse());
            for (int i = 0; i < 20; i++) {
                String record = record(random);
                Optional<Contribution> row = contribution(before, record);
                if (row.isPresent()) {
                    Optional<Contribution> read = contribution(after, record);
                    assertThat(possible.refusal(row.get()).isEmpty()).as(record).isEqualTo(read.isPresent());
                    assertThat(read.isPresent() || possible.mayRefuse()).isTrue();
                    read.ifPresent(expected ->
                            assertThat(possible.of(row.get())).as(record).isEqualTo(expected));
                }
            }
        });
    }

    @Test
    void levels_and_fields_that_the_next_definition_does_not_read_are_named() {
        assertThat(Derivation.dropped(OLD, trades(r -> r.levels("region").count("n"))))
                .containsExactly("level desk", "field value as decimal(18,2)", "field book as a text");
        assertThat(Derivation.dropped(OLD, trades(r -> r.levels("desk").sum("v", "value", 9, 0))))
                .containsExactly("level region", "field book as a text");
        assertThat(Derivation.dropped(OLD, OLD)).isEmpty();
    }

    @Test
    void a_value_is_declared_anew_if_its_type_is_another() {
        Pipeline next = trades(r -> r.sum("value", "value", 19, 2).distinct("books", "book"));
        assertThat(((Derivation.Possible) Derivation.of(OLD, next)).inputs())
                .extracting(Derivation.Taken::isDeclaredAnew)
                .containsExactly(true, false);
    }
}
