package dev.onefold.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// Levels, measures and conditions, by hand.
class OracleFiguresTest {
    @Test
    void measures_are_exact_and_an_average_is_rounded_half_even_once() {
        Map<String, String> figures = totals(
                        """
                        pipeline: x
                        input: {}
                        rollup:
                          levels: []
                          measures:
                            n: count()
                            s: sum(f) decimal(28,2) missing ignore
                            a: average(f) decimal(28,2) missing ignore
                            z: average(f) decimal(28,2) missing 0
                            lo: min(f) decimal(28,2) missing ignore
                            hi: max(f) decimal(28,2) missing ignore
                            d: distinct(t) missing ignore
                        """,
                        "{'f':0.01,'t':5.50}",
                        "{'f':'0.02','t':'5.5'}",
                        "{'t':true}",
                        "{'f':null,'t':'true'}",
                        "{'f':99999999999999999999999999.99}",
                        "{'f':-99999999999999999999999999.99}")
                .get(List.of());

        assertThat(figures)
                .containsEntry("n", "6")
                .containsEntry("s", "0.03")
                .containsEntry("a", "0.01")
                .containsEntry("z", "0.00")
                .containsEntry("lo", "-99999999999999999999999999.99")
                .containsEntry("hi", "99999999999999999999999999.99")
                .containsEntry("d", "2");
        assertThat(average("0.01", "0.02")).isEqualTo("0.02");
        assertThat(average("0.01", "0.00")).isEqualTo("0.00");
        assertThat(average("-0.01", "-0.02")).isEqualTo("-0.02");
        assertThat(average("1", "0", "0")).isEqualTo("0.33");
    }

    @Test
    void measures_have_conditions_products_times_and_formulas() {
        Map<String, String> figures = totals(
                        """
                        pipeline: x
                        input: {time: {field: at, type: epoch-millis}}
                        rollup:
                          levels: []
                          measures:
                            n: count()
                            x: count() where k = "x" or q > 2
                            v: sum(p * q) decimal(9,2) missing ignore
                            vx: sum(p*q) decimal(9,2) missing 1 where k = 'x'
                            first: min(at)
                            s: (max(at) - min(at)) decimal(9,1)
                            third: n / 3 decimal(5,2)
                            again: third * 3
                            exact: n / 3 * 3 decimal(5,2)
                            half: n + 1 / 2 - 3 * 0.5 decimal(5,0)
                            none: n / (n - 4) decimal(5,0)
                            low: min(q) decimal(9,1) missing ignore where q > 100
                            more: 1 + low
                        """,
                        "{'at':1500,'k':'x','p':0.5,'q':0.1}",
                        "{'at':2250.5,'k':'x','p':0.5}",
                        "{'at':0,'k':'y','p':1.25,'q':3}",
                        "{'at':'1','p':-2,'q':'2'}",
                        "{'at':1,'p':0.01,'q':0.5}")
                .get(List.of());

        assertThat(figures)
                .containsEntry("n", "4")
                .containsEntry("x", "3")
                .containsEntry("v", "-0.20")
                .containsEntry("vx", "1.05")
                .containsEntry("first", "0.000000000")
                .containsEntry("s", "2.3")
                .containsEntry("third", "1.33")
                .containsEntry("again", "3.99")
                .containsEntry("exact", "4.00")
                .containsEntry("half", "3")
                .containsEntry("none", null)
                .containsEntry("low", null)
                .containsEntry("more", null);
    }

    @Test
    void a_value_has_at_most_28_digits_at_its_scale_so_that_sums_stay_within_38() {
        assertThat(refused("decimal(38,10)", "1" + "0".repeat(17))).isFalse();
        assertThat(refused("decimal(38,10)", "1" + "0".repeat(18))).isTrue();
        assertThat(refused("decimal(38,0)", "9".repeat(28))).isFalse();
        assertThat(refused("decimal(38,0)", "1" + "0".repeat(28))).isTrue();
        assertThat(refused("decimal(3,3)", "0.999")).isFalse();
        assertThat(refused("decimal(3,3)", "1")).isTrue();
        assertThat(refused("decimal(3,0)", "0.000")).isFalse();
        assertThat(refused("decimal(3,0)", "999.000")).isFalse();
        assertThat(refused("decimal(3,0)", "0e999999999999")).isFalse();
    }

    @Test
    void a_bucket_is_the_start_of_its_time_also_before_1970() {
        assertThat(groups("bucket(t, 1h, epoch-seconds)", "'1572217199.999'", "0", "1572213600.5", "-0.5", "-3600"))
                .containsExactly("1969-12-31T23:00:00Z", "1970-01-01T00:00:00Z", "2019-10-27T22:00:00Z");
        assertThat(groups("bucket(t, 7d, epoch-millis)", "604800000", "604799999.999999", "'604800000'"))
                .containsExactly("1970-01-01T00:00:00Z", "1970-01-08T00:00:00Z");
        assertThat(groups("bucket(t, 1h)", "'604800000'", "true", "''")).isEmpty();
    }

    @Test
    void a_step_is_the_greatest_multiple_not_above() {
        assertThat(groups("step(t, 1)", "4.7", "'4'", "-0.3", "5e0", "0")).containsExactly("-1", "0", "4", "5");
        assertThat(groups("step(t, 0.25)", "0.3", "1", "-0.01", "100.74"))
                .containsExactly("-0.25", "0.25", "1", "100.5");
        assertThat(groups("step(t, 100)", "99", "1250", "-1")).containsExactly("-100", "0", "1200");
        assertThat(groups("step(t, 1)", "'x'", "true")).isEmpty();
    }

    @Test
    void a_prefix_counts_code_points() {
        assertThat(groups("prefix(t, 2)", "'\uD834\uDD1Eabc'", "'x'", "''", "12345", "true"))
                .containsExactly("", "12", "tr", "x", "\uD834\uDD1Ea");
    }

    @Test
    void a_text_is_what_its_escapes_and_digits_say() {
        assertThat(groups("t", "5.50", "5.5e0", "'5.5'", "55e-1")).containsExactly("5.5");
        assertThat(groups("t", "1e2", "100", "100.0")).containsExactly("100");
        assertThat(groups("t", "0", "-0", "0.00", "-0e5")).containsExactly("0");
        assertThat(groups("t", "'a\\u0000b'", "'a\\/b'", "'a/b'", "false", "'\\ud834\\udd1e'"))
                .containsExactly("a\u0000b", "a/b", "false", "\uD834\uDD1E");
    }

    @Test
    void a_level_may_have_a_name_and_a_default() {
        assertThat(groups("t missing \"it's \"\"so\"\"\"", "null")).containsExactly("it's \"so\"");
        assertThat(groups("prefix(t, 1) missing 'none'", "null", "'xyz'")).containsExactly("none", "x");
        String yaml = """
            pipeline: x
            input: {}
            rollup:
              levels: [{field: 'prefix(t, 1)', name: n, missing: '??'}]
              measures: {n: count()}
            """;
        assertThat(totals(yaml, "{}").keySet()).containsExactly(List.of(), List.of("??"));
    }

    @Test
    void a_name_with_signs_is_written_in_quotes() {
        String yaml = """
            pipeline: x
            input: {}
            rollup:
              levels: ['Order."Ship to"', '"unit.price"', '"say ""hi""\"']
              measures: {n: count()}
            """;
        String record = "{'Order':{'Ship to':'a'},'unit.price':'b','unit':{'price':'no'},'say \\'hi\\'':'c'}";

        assertThat(totals(yaml, record).lastKey()).containsExactly("a", "b", "c");
    }

    @Test
    void conditions_compare_texts_and_numbers() {
        assertThat(holds("op = \"delete\"", "{'op':'delete'}")).isEqualTo("yes");
        assertThat(holds("op != 'delete'", "{'op':'x'}")).isEqualTo("yes");
        assertThat(holds("op != 'delete'", "{}")).isEqualTo("no");
        assertThat(holds("not (op = 'delete')", "{}")).isEqualTo("yes");
        assertThat(holds("op = 'it''s'", "{'op':'it\\u0027s'}")).isEqualTo("yes");
        assertThat(holds("r in (\"EMEA\", \"APAC\")", "{'r':'APAC'}")).isEqualTo("yes");
        assertThat(holds("r in ('EMEA')", "{'r':null}")).isEqualTo("no");
        assertThat(holds("r not in ('EMEA')", "{'r':'x'}")).isEqualTo("yes");
        assertThat(holds("r not in ('EMEA')", "{}")).isEqualTo("no");
        assertThat(holds("c = true", "{'c':'true'}")).isEqualTo("yes");
        assertThat(holds("c != false", "{'c':true}")).isEqualTo("yes");
        assertThat(holds("v = '5.5'", "{'v':5.50}")).isEqualTo("yes");
        assertThat(holds("v = 5.5", "{'v':'5.50'}")).isEqualTo("yes");
        assertThat(holds("v >= -100.50", "{'v':-100.5}")).isEqualTo("yes");
        assertThat(holds("v < 3", "{'v':3}")).isEqualTo("no");
        assertThat(holds("v != 3", "{'v':1e9999999999}")).isEqualTo("yes");
        assertThat(holds("v > 3", "{'v':'x'}")).isEqualTo("malformed");
        assertThat(holds("v > 3", "{'v':true}")).isEqualTo("malformed");
        assertThat(holds("v is missing", "{'v':null}")).isEqualTo("yes");
        assertThat(holds("v is not missing", "{'v':[]}")).isEqualTo("yes");
    }

    @Test
    void not_binds_before_and_before_or_and_what_is_not_needed_is_not_asked() {
        assertThat(holds("a = '1' or b = '1' and c = '1'", "{'a':'1'}")).isEqualTo("yes");
        assertThat(holds("(a = '1' or b = '1') and c = '1'", "{'a':'1'}")).isEqualTo("no");
        assertThat(holds("not a = '1' and c is missing", "{}")).isEqualTo("yes");
        assertThat(holds("not (a = '1' or c is missing)", "{}")).isEqualTo("no");
        assertThat(holds("not not a is missing", "{}")).isEqualTo("yes");
        assertThat(holds("a = 'n' and v > 3", "{'a':'t','v':'x'}")).isEqualTo("no");
        assertThat(holds("v > 3 and a = 'n'", "{'a':'t','v':'x'}")).isEqualTo("malformed");
    }

    private static String holds(String condition, String record) {
        Oracle oracle = oracle(
                "pipeline: x\ninput:\n  filter: " + yaml(condition) + "\nrollup: {levels: [], measures: {n: count()}}",
                record);
        return oracle.malformed().isEmpty()
                ? "1".equals(oracle.totals("main").get(List.of()).get("n")) ? "yes" : "no"
                : "malformed";
    }

    private static String average(String... values) {
        List<String> records = new ArrayList<>();
        for (String value : values) {
            records.add("{'f':" + value + "}");
        }
        return totals(
                        "{pipeline: x, input: {}, rollup: {levels: [], measures: {a: 'average(f) decimal(9,2)'}}}",
                        records.toArray(String[]::new))
                .get(List.of())
                .get("a");
    }

    private static boolean refused(String type, String value) {
        Oracle oracle = oracle(
                "{pipeline: x, input: {}, rollup: {levels: [], measures: {a: 'sum(f) " + type + "'}}}",
                "{'f':" + value + "}");
        return !oracle.malformed().isEmpty();
    }

    /// The values of one level of the records that are not refused, in their order.
    private static List<String> groups(String level, String... values) {
        List<String> records = new ArrayList<>();
        for (String value : values) {
            records.add("{'t':" + value + "}");
        }
        return totals(
                        "pipeline: x\ninput: {}\nrollup:\n  levels: [" + yaml(level) + "]\n  measures: {n: count()}",
                        records.toArray(String[]::new))
                .keySet()
                .stream()
                .filter(group -> !group.isEmpty())
                .map(List::getFirst)
                .toList();
    }

    private static java.util.SortedMap<List<String>, Map<String, String>> totals(String yaml, String... records) {
        return oracle(yaml, records).totals("main");
    }

    private static Oracle oracle(String yaml, String... records) {
        Oracle oracle = Oracle.of(yaml);
        for (int index = 0; index < records.length; index++) {
            oracle.accept("lines", index + 1, records[index].replace('\'', '"').getBytes(StandardCharsets.UTF_8));
        }
        return oracle;
    }

    private static String yaml(String text) {
        return "'" + text.replace("'", "''") + "'";
    }
}
