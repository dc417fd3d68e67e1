package dev.onefold.core.grammar;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.pipeline.Condition;
import dev.onefold.core.pipeline.DecimalType;
import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.core.pipeline.Figure;
import dev.onefold.core.pipeline.Formula;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Input;
import dev.onefold.core.pipeline.Input.EventTime;
import dev.onefold.core.pipeline.Input.Format;
import dev.onefold.core.pipeline.Level;
import dev.onefold.core.pipeline.Measure;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.pipeline.TimeType;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// The pipeline that is read from a right pipeline file.
class PipelineReaderTest {
    private static final Measure COUNT = new Measure.Count("n");

    @Test
    void the_first_example_of_the_reference_is_read_as_its_model() {
        Pipeline pipeline = Read.pipeline("""
                {"pipeline": "trade-risk",
                 "input": {"format": "json", "key": "TradeID", "version": "Version", "time": "Timestamp"},
                 "rollup": {
                   "levels": ["Hierarchy.RiskType", "Hierarchy.TradeDesk"],
                   "measures": {"value": "sum(Value) decimal(18,2)", "trades": "count()"}}}""");
        assertThat(pipeline)
                .isEqualTo(new Pipeline(
                        "trade-risk",
                        new Input(
                                new Format.Json(),
                                Identity.Versioned.of(List.of(FieldPath.of("TradeID")), FieldPath.of("Version"), null),
                                new EventTime(FieldPath.of("Timestamp"), TimeType.AUTO),
                                null,
                                null),
                        new Rollups(List.of(new Rollup(
                                "main",
                                List.of(
                                        text("Hierarchy.RiskType", "Hierarchy", "RiskType"),
                                        text("Hierarchy.TradeDesk", "Hierarchy", "TradeDesk")),
                                List.of(
                                        new Measure.Numeric(
                                                "value",
                                                Measure.Fold.SUM,
                                                new Measure.Input.Decimal(
                                                        FieldPath.of("Value"),
                                                        new DecimalType(18, 2),
                                                        Measure.Missing.refuse())),
                                        new Measure.Count("trades")))))));
    }

    @Test
    void a_pipeline_with_nothing_said_about_identity_counts_each_record_by_its_place() {
        Pipeline pipeline = Read.pipeline(Read.withInput(""));
        assertThat(pipeline.input().identity()).isEqualTo(new Identity.ByPlace());
        assertThat(pipeline.input().format()).isEqualTo(new Format.Json());
        assertThat(Rollups.of(pipeline).all()).containsExactly(new Rollup("main", List.of(), List.of(COUNT)));
    }

    @Test
    void csv_may_have_columns_and_a_delimiter() {
        assertThat(Read.pipeline(Read.withInput("\"format\": \"csv\"")).input().format())
                .isEqualTo(new Format.Csv(',', List.of()));
        assertThat(Read.pipeline(Read.withInput(
                                "\"format\": \"csv\", \"delimiter\": \"\\t\", \"columns\": [\"a\", \"b.c\"]"))
                        .input()
                        .format())
                .isEqualTo(new Format.Csv('\t', List.of("a", "b.c")));
    }

    @Test
    void a_key_may_have_several_fields_and_a_version_any_type_but_auto() {
        for (TimeType type : List.of(TimeType.ISO, TimeType.EPOCH_SECONDS, TimeType.EPOCH_MILLIS)) {
            assertThat(Read.pipeline(Read.withInput(
                                    "\"key\": [\"a\", \"b.c\"], \"version\": {\"field\": \"v\", \"type\": \""
                                            + type.word() + "\"}"))
                            .input()
                            .identity())
                    .isEqualTo(Identity.Versioned.of(
                            List.of(FieldPath.of("a"), FieldPath.of("b", "c")), FieldPath.of("v"), type));
        }
        assertThat(Read.pipeline(Read.withInput(
                                "\"key\": \"a\", \"version\": {\"field\": \"v\", \"type\": \"integer\"}"))
                        .input()
                        .identity())
                .isEqualTo(Identity.Versioned.of(List.of(FieldPath.of("a")), FieldPath.of("v"), null));
    }

    @Test
    void an_id_may_have_a_horizon() {
        Pipeline pipeline = Read.pipeline(
                Read.withInput("\"id\": \"a\", \"horizon\": \"7d\", \"time\": {\"field\": \"t\", \"type\": \"iso\"}"));
        assertThat(pipeline.input().identity())
                .isEqualTo(Identity.ById.of(List.of(FieldPath.of("a")), Duration.ofDays(7)));
        assertThat(pipeline.input().time()).isEqualTo(new EventTime(FieldPath.of("t"), TimeType.ISO));
    }

    @Test
    void the_id_may_be_that_of_the_message_and_a_field_of_that_name_stands_in_a_list() {
        assertThat(Read.pipeline(Read.withInput("\"id\": \"message\"")).input().identity())
                .isEqualTo(new Identity.ByMessage());
        for (String field : List.of("[\"message\"]", "\"\\\"message\\\"\"")) {
            assertThat(Read.pipeline(Read.withInput("\"id\": " + field)).input().identity())
                    .isEqualTo(Identity.ById.of(List.of(FieldPath.of("message")), null));
        }
    }

    @Test
    void a_name_in_double_quotes_may_hold_anything() {
        assertThat(field("\"unit.price\"")).isEqualTo(FieldPath.of("unit.price"));
        assertThat(field("Order.\"Ship to\"")).isEqualTo(FieldPath.of("Order", "Ship to"));
        assertThat(field("\"say \"\"hi\"\"\".\"(\"")).isEqualTo(FieldPath.of("say \"hi\"", "("));
        assertThat(field("  größe_1.@id-2.\"\" ")).isEqualTo(FieldPath.of("größe_1", "@id-2", ""));
    }

    @Test
    void a_level_is_a_field_or_a_function_of_it_and_may_have_a_default() {
        FieldPath field = FieldPath.of("f");
        assertThat(level("f")).isEqualTo(new Level("f", new Level.Source.Text(field), null));
        assertThat(level("f missing \"a \"\"b\"\"\""))
                .isEqualTo(new Level("f", new Level.Source.Text(field), "a \"b\""));
        assertThat(level("missing missing 'it''s'"))
                .isEqualTo(new Level("missing", new Level.Source.Text(FieldPath.of("missing")), "it's"));
        assertThat(level("prefix( f,2 )missing ''"))
                .isEqualTo(new Level("prefix(f, 2)", new Level.Source.Prefix(field, 2), ""));
        assertThat(level("prefix")).isEqualTo(new Level("prefix", new Level.Source.Text(FieldPath.of("prefix")), null));
        assertThat(level("bucket(f, 90m)"))
                .isEqualTo(new Level(
                        "bucket(f, 90m)", new Level.Source.Bucket(field, Duration.ofMinutes(90), TimeType.AUTO), null));
        assertThat(level("bucket(f, 24h, epoch-millis)"))
                .isEqualTo(new Level(
                        "bucket(f, 1d, epoch-millis)",
                        new Level.Source.Bucket(field, Duration.ofDays(1), TimeType.EPOCH_MILLIS),
                        null));
        assertThat(level("step(f, 0.50)"))
                .isEqualTo(new Level("step(f, 0.5)", new Level.Source.Step(field, new BigDecimal("0.5")), null));
    }

    @Test
    void a_level_may_have_a_name_of_its_own() {
        Level expected = new Level("network", new Level.Source.Prefix(FieldPath.of("id"), 2), "??");
        assertThat(levels("{\"field\": \"prefix(id, 2)\", \"name\": \"network\", \"missing\": \"??\"}"))
                .containsExactly(expected);
        assertThat(levels("{\"field\": \"prefix(id, 2) missing '??'\", \"name\": \"network\"}"))
                .containsExactly(expected);
        assertThat(levels("{\"field\": \"id\", \"name\": \"a (b)\"}, \"id\""))
                .extracting(Level::name)
                .containsExactly("a (b)", "id");
    }

    @Test
    void every_measure_of_the_reference_is_read() {
        assertThat(measure("count( )")).isEqualTo(new Measure.Count("m"));
        for (Measure.Fold fold : Measure.Fold.values()) {
            assertThat(measure(fold.word() + "(a.b) decimal(38, 0)"))
                    .isEqualTo(new Measure.Numeric(
                            "m",
                            fold,
                            new Measure.Input.Decimal(
                                    FieldPath.of("a", "b"), new DecimalType(38, 0), Measure.Missing.refuse())));
        }
        assertThat(measure("distinct(a)")).isEqualTo(distinct(Measure.Missing.refuse()));
        assertThat(measure("distinct(a) missing ignore")).isEqualTo(distinct(Measure.Missing.ignore()));
        assertThat(measure("distinct(a) missing \"ignore\"")).isEqualTo(distinct(Measure.Missing.take("ignore")));
    }

    @Test
    void a_measure_may_take_records_for_which_a_condition_holds() {
        Condition where = new Condition.TextIn(FieldPath.of("op"), List.of("x"), false);
        assertThat(measure("count() where op = 'x'"))
                .isEqualTo(new Measure.Numeric("m", Measure.Fold.SUM, Measure.Input.Decimal.counting(where)));
        assertThat(measure("sum(where) decimal(5,2) missing 0 where op = 'x'"))
                .isEqualTo(new Measure.Numeric(
                        "m",
                        Measure.Fold.SUM,
                        new Measure.Input.Decimal(
                                product("where"),
                                new DecimalType(5, 2),
                                Measure.Missing.take(BigDecimal.ZERO),
                                where)));
        assertThat(measure("distinct(a)where op='x'"))
                .isEqualTo(new Measure.Distinct(
                        "m", new Measure.Input.Text(FieldPath.of("a"), Measure.Missing.refuse(), where)));
    }

    @Test
    void a_measure_may_take_the_product_of_fields() {
        for (String text : List.of("sum(a*b)decimal(5,2)", "sum( a * b ) decimal(5,2)")) {
            assertThat(measure(text))
                    .isEqualTo(new Measure.Numeric(
                            "m",
                            Measure.Fold.SUM,
                            new Measure.Input.Decimal(
                                    product("a", "b"), new DecimalType(5, 2), Measure.Missing.refuse(), null)));
        }
        assertThat(((Measure.Numeric) measure("sum(\"a*b\") decimal(5,2)"))
                        .input()
                        .fields())
                .containsExactly(FieldPath.of("a*b"));
    }

    @Test
    void the_least_and_the_greatest_of_times_are_seconds() {
        assertThat(measure("max(at, epoch-millis)"))
                .isEqualTo(new Measure.Numeric(
                        "m",
                        Measure.Fold.MAX,
                        new Measure.Input.Decimal(
                                new Measure.Source.Time(FieldPath.of("at"), TimeType.EPOCH_MILLIS),
                                new DecimalType(19, 9),
                                Measure.Missing.refuse(),
                                null)));
        assertThat(((Measure.Numeric) measure("min(at, iso) decimal(13,3)"))
                        .input()
                        .type())
                .isEqualTo(new DecimalType(13, 3));
    }

    @Test
    void the_time_of_an_event_needs_no_type_in_a_measure() {
        Pipeline pipeline = Read.pipeline("""
                {"pipeline": "p", "input": {"time": {"field": "at", "type": "epoch-millis"}},
                 "rollup": {"levels": [], "measures": {
                   "a": "max(at)", "b": "max(at, epoch-millis)", "n": "max(at) decimal(13,0)"}}}""");
        List<Measure.Input> inputs = Rollups.of(pipeline).inputs();
        assertThat(inputs).hasSize(2);
        assertThat(((Measure.Input.Decimal) inputs.getFirst()).source())
                .isEqualTo(new Measure.Source.Time(FieldPath.of("at"), TimeType.EPOCH_MILLIS));
        assertThat(((Measure.Input.Decimal) inputs.getLast()).source()).isEqualTo(product("at"));
    }

    @Test
    void a_formula_stores_what_it_needs_once_behind_the_measures_that_answers_show() {
        Rollup rollup = Rollups.of(Read.pipeline(Read.withRollup("\"levels\": [], \"measures\": {"
                        + "\"share\": \"100 * open / count() decimal(9,2)\", \"n\": \"count()\","
                        + "\"seconds\": \"max(at, iso) - min(at, iso)\", \"last\": \"max(at,iso)\","
                        + "\"open\": \"count() where a = 'x'\"}")))
                .named("main");
        assertThat(rollup.figureNames()).containsExactly("share", "n", "seconds", "last", "open");
        assertThat(rollup.measures()).extracting(Measure::name).containsExactly("n", "last", "open", "");
        assertThat(rollup.measures().getLast()).isEqualTo(((Measure.Numeric) measure("min(at, iso)")).named(""));
        assertThat(rollup.figures().getFirst())
                .isEqualTo(new Figure.Derived(
                        "share",
                        new Formula.Operation(
                                Formula.Operator.OVER,
                                new Formula.Operation(
                                        Formula.Operator.TIMES,
                                        new Formula.Number(new BigDecimal("1E+2")),
                                        new Formula.Named("open")),
                                new Formula.Of(new Measure.Count(""))),
                        new DecimalType(9, 2)));
    }

    @Test
    void a_missing_number_is_ignored_or_replaced_by_any_number_of_the_type() {
        assertThat(missing("decimal(5,2) missing ignore")).isEqualTo(Measure.Missing.ignore());
        assertThat(missing("decimal(5,2) missing 0.00")).isEqualTo(Measure.Missing.take(BigDecimal.ZERO));
        assertThat(missing("decimal(2,2) missing 0")).isEqualTo(Measure.Missing.take(BigDecimal.ZERO));
        assertThat(missing("decimal(5,2) missing -100.50")).isEqualTo(Measure.Missing.take(new BigDecimal("-100.5")));
        assertThat(missing("decimal(38,0) missing 9999999999999999999999999999"))
                .isEqualTo(Measure.Missing.take(new BigDecimal("9".repeat(28))));
    }

    @Test
    void several_rollups_have_names_and_keep_their_order() {
        Pipeline pipeline = Read.pipeline("""
                {"pipeline": "p", "input": {}, "rollups": {
                  "z-1": {"levels": ["a"], "measures": {"n": "count()"}},
                  "a": {"levels": [], "measures": {"n": "count()"}}}}""");
        assertThat(Rollups.of(pipeline).all()).extracting(Rollup::name).containsExactly("z-1", "a");
    }

    @Test
    void the_limits_themselves_are_possible() {
        String levels16 = "\"levels\": [" + list(16, "\"f%d\"") + "]";
        String measures32 = "\"measures\": {" + list(32, "\"m%d\": \"count()\"") + "}";
        String levels5 = "\"levels\": [" + list(5, "\"f%d\"") + "], \"measures\": {\"n\": \"count()\"}";
        String levels4 = "\"levels\": [" + list(4, "\"f%d\"") + "], \"measures\": {\"n\": \"count()\"}";
        assertThat(Read.problems(Read.withRollup(levels16 + ", " + measures32))).isEmpty();
        assertThat(Read.problems("{\"pipeline\": \"" + "p".repeat(64) + "\", \"input\": {\"key\": ["
                        + list(16, "\"k%d\"") + "], \"version\": \"v\"}, \"rollups\": {"
                        + list(10, "\"r%d\": {" + levels5 + "}")
                        + "," + list(6, "\"s%d\": {" + levels4 + "}") + "}}"))
                .isEmpty(); // 10 × 6 + 6 × 5 = 90 groups.
        assertThat(field(String.join(".", "a".repeat(64).split("")))).isNotNull();
    }

    static String list(int count, String format) {
        StringBuilder list = new StringBuilder();
        for (int i = 0; i < count; i++) {
            list.append(i == 0 ? "" : ", ").append(format.replace("%d", Integer.toString(i)));
        }
        return list.toString();
    }

    private static Level text(String name, String... path) {
        return new Level(name, new Level.Source.Text(FieldPath.of(path)), null);
    }

    private static FieldPath field(String text) {
        return level(text).source().field();
    }

    private static Level level(String text) {
        return Rollups.of(Read.pipeline(Read.withLevel(text)))
                .all()
                .getFirst()
                .levels()
                .getFirst();
    }

    private static List<Level> levels(String json) {
        return Rollups.of(Read.pipeline(
                        Read.withRollup("\"measures\": {\"n\": \"count()\"}, \"levels\": [" + json + "]")))
                .all()
                .getFirst()
                .levels();
    }

    private static Measure measure(String text) {
        return Rollups.of(Read.pipeline(Read.withMeasure(text)))
                .all()
                .getFirst()
                .measures()
                .getFirst();
    }

    private static Measure.Source product(String... fields) {
        return new Measure.Source.Product(Stream.of(fields).map(FieldPath::of).toList());
    }

    private static Measure distinct(Measure.Missing<String> missing) {
        return new Measure.Distinct("m", new Measure.Input.Text(FieldPath.of("a"), missing));
    }

    private static Measure.Missing<BigDecimal> missing(String typeAndMissing) {
        Measure.Numeric numeric = (Measure.Numeric) measure("sum(a) " + typeAndMissing);
        return numeric.input().missing();
    }
}
