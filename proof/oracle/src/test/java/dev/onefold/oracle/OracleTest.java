package dev.onefold.oracle;

import static dev.onefold.oracle.Oracle.Outcome.ACCEPTED;
import static dev.onefold.oracle.Oracle.Outcome.CONFLICTING;
import static dev.onefold.oracle.Oracle.Outcome.DUPLICATE;
import static dev.onefold.oracle.Oracle.Outcome.HEADER;
import static dev.onefold.oracle.Oracle.Outcome.MALFORMED;
import static dev.onefold.oracle.Oracle.Outcome.SILENT;
import static dev.onefold.oracle.Oracle.Outcome.STALE;
import static dev.onefold.oracle.Oracle.Outcome.TOO_NEW;
import static dev.onefold.oracle.Oracle.Outcome.TOO_OLD;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.oracle.Oracle.Outcome;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// Who comes in, who replaces whom, and what is refused: by hand.
class OracleTest {
    private static final String TRADES = """
        pipeline: trades
        input: {key: id, version: v, delete: gone = true, filter: kind != "test" or kind is missing}
        rollup:
          levels: [desk, region missing "none"]
          measures:
            value: sum(value) decimal(10,2)
            trades: count()
        """;

    private long line;

    @Test
    void a_higher_version_replaces_and_moves_its_row_to_other_groups() {
        Oracle oracle = Oracle.of(TRADES);

        assertThat(feed(oracle, "{'id':'a','v':1,'desk':'x','region':'r','value':10.5}"))
                .isEqualTo(ACCEPTED);
        assertThat(feed(oracle, "{'id':'a','v':3,'desk':'y','value':'7'}")).isEqualTo(ACCEPTED);
        assertThat(feed(oracle, "{'id':'a','v':2,'desk':'x','value':99}")).isEqualTo(STALE);
        assertThat(feed(oracle, "{'v':3.5,'id':'b','desk':'y','value':1}")).isEqualTo(MALFORMED);
        assertThat(feed(oracle, "{'v':'0003','id':'b','desk':'y','value':0.25}"))
                .isEqualTo(ACCEPTED);

        assertThat(oracle.totals("main"))
                .containsExactly(
                        Map.entry(List.of(), Map.of("value", "7.25", "trades", "2")),
                        Map.entry(List.of("y"), Map.of("value", "7.25", "trades", "2")),
                        Map.entry(List.of("y", "none"), Map.of("value", "7.25", "trades", "2")));
        assertThat(oracle.malformed()).extracting(Oracle.Refusal::line).containsExactly(4L);
        assertThat(oracle.accepted()).isEqualTo(3);
        assertThat(oracle.events()).isEqualTo(4);
    }

    @Test
    void the_total_of_nothing_is_there() {
        Oracle oracle = Oracle.of("""
            pipeline: x
            input: {}
            rollup:
              levels: [a]
              measures:
                n: count()
                s: sum(f) decimal(5,1)
                a: average(f) decimal(5,1)
                m: min(f) decimal(5,1)
                d: distinct(f)
            """);

        assertThat(oracle.totals("main")).hasSize(1);
        Map<String, String> total = oracle.totals("main").get(List.of());
        assertThat(total).containsEntry("n", "0").containsEntry("s", "0.0").containsEntry("d", "0");
        assertThat(total).containsEntry("a", null).containsEntry("m", null);
        assertThatThrownBy(() -> oracle.totals("other")).hasMessage("There is no roll-up other, there is [main].");
    }

    @Test
    void equal_in_value_is_a_duplicate_and_different_is_a_conflict_that_the_greater_wins() {
        Oracle oracle = Oracle.of(TRADES);
        feed(oracle, "{'id':'a','v':1,'desk':'x','region':'r','value':10}");

        assertThat(feed(oracle, "{'id':'a','v':1,'desk':'x','region':'r','value':'10.00','more':1}"))
                .isEqualTo(DUPLICATE);
        assertThat(feed(oracle, "{'id':'a','v':1,'desk':'x','region':'r','value':9}"))
                .isEqualTo(CONFLICTING);
        assertThat(value(oracle)).isEqualTo("10.00");
        assertThat(feed(oracle, "{'id':'a','v':1,'desk':'x','region':'r','value':9}"))
                .isEqualTo(CONFLICTING);
        assertThat(oracle.conflicts()).isEqualTo(1);
        assertThat(feed(oracle, "{'id':'a','v':1,'desk':'x','region':'s','value':1}"))
                .isEqualTo(CONFLICTING);
        assertThat(value(oracle)).isEqualTo("1.00");
        assertThat(oracle.conflicts()).isEqualTo(2);
        assertThat(feed(oracle, "{'id':'a','v':1,'kind':'test'}")).isEqualTo(CONFLICTING);
        assertThat(value(oracle)).isEqualTo("1.00");
        assertThat(feed(oracle, "{'id':'a','v':1,'gone':true}")).isEqualTo(CONFLICTING);
        assertThat(value(oracle)).isEqualTo("0.00");
        assertThat(feed(oracle, "{'id':'a','v':1,'gone':'true','value':'x'}")).isEqualTo(DUPLICATE);
        assertThat(oracle.conflicts()).isEqualTo(4);
    }

    @Test
    void groups_are_compared_by_their_utf8_bytes_not_by_java_chars() {
        Oracle oracle = Oracle.of(TRADES);
        feed(oracle, "{'id':'a','v':1,'desk':'\uFF5E','value':1}");
        feed(oracle, "{'id':'a','v':1,'desk':'\uD834\uDD1E','value':2}");
        feed(oracle, "{'id':'b','v':1,'desk':'\uFF5E','value':1}");

        assertThat(value(oracle)).isEqualTo("3.00");
        assertThat(oracle.totals("main").keySet())
                .containsExactly(
                        List.of(),
                        List.of("\uFF5E"),
                        List.of("\uFF5E", "none"),
                        List.of("\uD834\uDD1E"),
                        List.of("\uD834\uDD1E", "none"));
    }

    @Test
    void a_missing_input_is_least_then_numbers_go_by_value() {
        Oracle oracle = Oracle.of("""
            pipeline: x
            input: {key: id, version: v}
            rollup:
              levels: []
              measures:
                s: sum(f) decimal(5,1) missing ignore
                t: distinct(t) missing "z"
            """);
        feed(oracle, "{'id':1,'v':1}");
        feed(oracle, "{'id':1,'v':1,'f':-9}");
        assertThat(oracle.totals("main").get(List.of())).containsEntry("s", "-9.0");
        feed(oracle, "{'id':1,'v':1,'f':-10}");
        assertThat(oracle.totals("main").get(List.of())).containsEntry("s", "-9.0");
        assertThat(feed(oracle, "{'id':'1','v':1,'f':-9.0,'t':'z'}")).isEqualTo(DUPLICATE);
    }

    @Test
    void a_delete_leaves_a_tombstone_that_nothing_older_can_lift() {
        Oracle oracle = Oracle.of(TRADES);
        feed(oracle, "{'id':'a','v':1,'desk':'x','value':10}");
        assertThat(feed(oracle, "{'id':'a','v':5,'gone':true}")).isEqualTo(ACCEPTED);
        assertThat(feed(oracle, "{'id':'a','v':4,'desk':'x','value':10}")).isEqualTo(STALE);
        assertThat(oracle.totals("main").keySet()).containsExactly(List.of());
        assertThat(feed(oracle, "{'id':'a','v':6,'desk':'x','value':3}")).isEqualTo(ACCEPTED);
        assertThat(value(oracle)).isEqualTo("3.00");
    }

    @Test
    void a_filtered_version_replaces_its_predecessor_and_reads_neither_levels_nor_measures() {
        Oracle oracle = Oracle.of(TRADES);
        feed(oracle, "{'id':'a','v':1,'desk':'x','value':10}");
        assertThat(feed(oracle, "{'id':'a','v':2,'kind':'test','value':'none'}"))
                .isEqualTo(ACCEPTED);

        assertThat(value(oracle)).isEqualTo("0.00");
    }

    @Test
    void an_id_counts_once_and_two_contents_of_it_are_a_conflict() {
        Oracle oracle = Oracle.of("""
            pipeline: x
            input: {id: [a, b], time: {field: t, type: epoch-seconds}, horizon: 1m}
            rollup: {levels: [], measures: {s: 'sum(f) decimal(5,0)'}}
            """);

        assertThat(feed(oracle, "{'a':'x','b':'yz','t':1000,'f':1}", 1_000_000)).isEqualTo(ACCEPTED);
        assertThat(feed(oracle, "{'a':'xy','b':'z','t':1000,'f':1}", 1_000_000)).isEqualTo(ACCEPTED);
        assertThat(feed(oracle, "{'a':'x','b':'yz','t':1001,'f':1}", 1_000_000)).isEqualTo(DUPLICATE);
        assertThat(feed(oracle, "{'a':'x','b':'yz','t':1002,'f':2}", 1_000_000)).isEqualTo(CONFLICTING);
        assertThat(feed(oracle, "{'a':'x','b':'old','t':942,'f':1}", 1_002_000)).isEqualTo(ACCEPTED);
        assertThat(feed(oracle, "{'a':'x','b':'older','t':941.999999999,'f':1}", 1_002_000))
                .isEqualTo(TOO_OLD);
        assertThat(feed(oracle, "{'a':'x','b':'ahead','t':86400.9999,'f':1}", 0))
                .isEqualTo(TOO_NEW);
        assertThat(feed(oracle, "{'a':'x','b':'new','f':1}", 0)).isEqualTo(MALFORMED);
        assertThat(oracle.totals("main").get(List.of())).containsEntry("s", "4");
        assertThat(oracle.outOfTime()).extracting(Oracle.Refusal::line).containsExactly(6L, 7L);
    }

    @Test
    void without_key_and_id_the_place_counts_once() {
        Oracle oracle = Oracle.of("{pipeline: x, input: {}, rollup: {levels: [], measures: {n: count()}}}");

        assertThat(oracle.accept("f", 1, bytes("{}"))).isEqualTo(ACCEPTED);
        assertThat(oracle.accept("f", 2, bytes("{}"))).isEqualTo(ACCEPTED);
        assertThat(oracle.accept("g", 1, bytes("{}"))).isEqualTo(ACCEPTED);
        assertThat(oracle.accept("f", 2, bytes("{}"))).isEqualTo(DUPLICATE);
        assertThat(oracle.totals("main").get(List.of())).containsEntry("n", "3");
    }

    @Test
    void versions_may_be_times_in_any_spelling() {
        Oracle oracle = Oracle.of(TRADES.replace("version: v", "version: {field: v, type: iso}"));

        assertThat(feed(oracle, "{'id':'a','v':'2020-01-01T00:00:00Z','desk':'x','value':1}"))
                .isEqualTo(ACCEPTED);
        assertThat(feed(oracle, "{'id':'a','v':'2020-01-01T01:00:00.000+01:00','desk':'x','value':1}"))
                .isEqualTo(DUPLICATE);
        assertThat(feed(oracle, "{'id':'a','v':'2020-01-01T00:00:00.000000001\\u005a','desk':'x','value':2}"))
                .isEqualTo(ACCEPTED);
        assertThat(feed(oracle, "{'id':'a','v':'2020-01-01T00:00:00','desk':'x','value':2}"))
                .isEqualTo(MALFORMED);
        assertThat(feed(oracle, "{'id':'a','v':'2020-02-30T00:00:00Z','desk':'x','value':2}"))
                .isEqualTo(MALFORMED);
        assertThat(feed(oracle, "{'id':'a','v':1577836800,'desk':'x','value':2}"))
                .isEqualTo(MALFORMED);
    }

    @Test
    void epoch_versions_have_fractions_up_to_nanoseconds() {
        Oracle oracle = Oracle.of(TRADES.replace("version: v", "version: {field: v, type: epoch-millis}"));

        assertThat(feed(oracle, "{'id':'a','v':1000.000001,'desk':'x','value':1}"))
                .isEqualTo(ACCEPTED);
        assertThat(feed(oracle, "{'id':'a','v':'1e3','desk':'x','value':1}")).isEqualTo(STALE);
        assertThat(feed(oracle, "{'id':'a','v':1000.0000011,'desk':'x','value':1}"))
                .isEqualTo(MALFORMED);
    }

    @Test
    void the_key_may_be_an_element_of_an_array_and_the_version_a_clock_with_a_counter() {
        Oracle oracle = Oracle.of("""
            pipeline: rides
            input: {key: {field: key, element: 0}, version: {field: updated, type: hlc}, delete: after is missing}
            rollup: {levels: [], measures: {fare: "sum(after.fare) decimal(9,2)"}}
            """);
        String ride = "{'after':{'fare':%s},'key':[%s],'updated':'1714550400123456789.%s'}";

        assertThat(feed(oracle, ride.formatted("10", "1", "0000000001"))).isEqualTo(ACCEPTED);
        assertThat(feed(oracle, ride.formatted("12", "1", "0000000010"))).isEqualTo(ACCEPTED);
        assertThat(feed(oracle, ride.formatted("11", "1", "0000000002"))).isEqualTo(STALE);
        assertThat(feed(oracle, ride.formatted("20", "2", "0000000000"))).isEqualTo(ACCEPTED);
        assertThat(feed(oracle, "{'after':null,'key':[2],'updated':'1714550401000000000.0000000000'}"))
                .isEqualTo(ACCEPTED);
        assertThat(feed(oracle, ride.formatted("1", "", "0000000003"))).isEqualTo(MALFORMED);
        assertThat(feed(oracle, ride.formatted("1", "3", "03"))).isEqualTo(MALFORMED);
        assertThat(oracle.totals("main").get(List.of())).containsEntry("fare", "12.00");
        assertThat(oracle.versions()).containsEntry(List.of("1"), new BigDecimal("17145504001234567890000000010"));
    }

    @Test
    void what_is_no_event_is_refused() {
        Oracle oracle = Oracle.of(TRADES);
        String good = "{'id':'a','v':1,'desk':'x','value':10}";

        assertThat(List.of(
                        "",
                        "[]",
                        "17",
                        good + good,
                        good.substring(0, 20),
                        "{'id':'a','v':1,'desk':'x','value':NaN}",
                        "{'id':'a','v':1,'desk':'x','value':'NaN'}",
                        "{'id':'a','v':1,'desk':'x','value':0010}",
                        "{'id':'a','v':1,'desk':'x','value':1.}",
                        "{'id':'a','v':1,'desk':'x','value':1.001}",
                        "{'id':'a','v':1,'desk':'x','value':100000000}",
                        "{'id':'a','v':1,'desk':'x','value':1e999999999}",
                        "{'id':'a','v':1,'desk':'x','value':1e-999999999}",
                        "{'id':'a','v':1,'desk':'x','value':true}",
                        "{'id':'a','v':1,'desk':'x'}",
                        "{'id':'a','v':1,'desk':null,'value':1}",
                        "{'id':'a','v':1,'desk':['x'],'value':1}",
                        "{'id':'a','v':1,'desk':'\\ud834','value':1}",
                        "{'id':'a','v':1,'desk':'x','desk':'x','value':1}",
                        "{'id':'a','v':1,'desk':'x','\\u0064esk':'x','value':1}",
                        "{'v':1,'desk':'x','value':1}",
                        "{'id':{},'v':1,'desk':'x','value':1}",
                        "{'id':'a','desk':'x','value':1}",
                        "{'id':'a','v':'','desk':'x','value':1}",
                        "{'id':'a','v':true,'desk':'x','value':1}",
                        "{'id':'a','v':'" + "9".repeat(65) + "','desk':'x','value':1}",
                        "{'id':'" + "k".repeat(1_001) + "','v':1,'desk':'x','value':1}",
                        "{'id':'a','v':1,'desk':'x','value':1,'more':" + "[".repeat(64) + "]".repeat(64) + "}"))
                .allSatisfy(record -> assertThat(feed(oracle, record)).isEqualTo(MALFORMED));
        assertThat(oracle.accept("f", 1, new byte[] {'{', '"', (byte) 0xc3, '"', ':', '1', '}'}))
                .isEqualTo(MALFORMED);

        assertThat(List.of(
                        "{'id':'a','v':1,'desk':'x','value':'0010'}",
                        "{'id':'b','v':-1,'desk':'x','value':1.000}",
                        "{'id':'c','v':" + "9".repeat(64) + ",'desk':'x','value':99999999.99}",
                        "{'id':'d','v':1,'desk':'x','value':1e-2,'more':1e999999999,'more':[1]}",
                        "{'id':'" + "k".repeat(1_000) + "','v':1,'desk':'x','value':0.1e1}",
                        "{'id':'f','v':1,'desk':'x','value':1,'more':" + "[".repeat(63) + "]".repeat(63) + "}"))
                .allSatisfy(record -> assertThat(feed(oracle, record)).isEqualTo(ACCEPTED));
    }

    @Test
    void csv_has_a_header_quotes_and_missing_values() throws IOException {
        Oracle oracle = Oracle.of("""
            pipeline: x
            input: {format: csv, delimiter: ;, key: id, version: v}
            rollup: {levels: ['"a ""b""\"'], measures: {s: 'sum(f) decimal(5,1) missing 0.5'}}
            """);
        oracle.accept("f", new ByteArrayInputStream(bytes("""
            v;id;"a ""b""\";f
            1;a;"x;""y""\";1.5
            1;b;"";
            1;c;;1
            1;d;x"y;1
            1;e;"x"y;1
            1;f;"x
            y";1
            1;g;x
            v;id;"a ""b""\";f
            1;h;x;1\r
            """)));

        assertThat(oracle.totals("main").keySet())
                .containsExactly(
                        List.of(), List.of(""), List.of("x"), List.of("x\ny"), List.of("x\"y"), List.of("x;\"y\""));
        assertThat(oracle.totals("main").get(List.of(""))).containsEntry("s", "0.5");
        assertThat(oracle.malformed()).extracting(Oracle.Refusal::line).containsExactly(4L, 6L, 9L);
        assertThat(oracle.count(HEADER)).isEqualTo(1);
        assertThat(oracle.count(SILENT)).isEqualTo(1);
    }

    @Test
    void csv_may_have_its_columns_in_the_file() {
        Oracle oracle = Oracle.of("""
            pipeline: x
            input: {format: csv, columns: [id, v, g], key: id, version: v}
            rollup: {levels: [g], measures: {n: count()}}
            """);

        assertThat(feed(oracle, "a,1,x")).isEqualTo(ACCEPTED);
        assertThat(oracle.totals("main").keySet()).containsExactly(List.of(), List.of("x"));
    }

    @Test
    void values_are_read_as_the_file_spells_them() {
        Oracle oracle = Oracle.of("""
            pipeline: p
            input:
              key: [{field: id, type: integer}, {field: part, missing: ""}]
              version: [xid, {field: nth, missing: highest}]
              delete: gone = true
              truths: [t]
              falsehoods: [f]
              zone: Europe/Madrid
              normalize: nfc
            rollup:
              levels: [name, "bucket(at, week)", "bucket(at, 1d, UTC)"]
              measures: {n: count()}
            """);
        String rest = ",'name':'Zoe\u0308','at':'2024-05-06 00:30:00'}";

        assertThat(feed(oracle, "{'id':'1.0','xid':1,'nth':7,'gone':'f'" + rest))
                .isEqualTo(ACCEPTED);
        assertThat(feed(oracle, "{'id':1,'xid':'1.0','gone':false" + rest)).isEqualTo(ACCEPTED);
        assertThat(feed(oracle, "{'id':1,'xid':1,'nth':8" + rest)).isEqualTo(STALE);
        assertThat(feed(oracle, "{'id':2,'xid':1,'gone':'x'" + rest)).isEqualTo(MALFORMED);
        assertThat(feed(oracle, "{'id':2.5,'xid':1" + rest)).isEqualTo(MALFORMED);
        assertThat(feed(oracle, "{'id':2,'nth':1" + rest)).isEqualTo(MALFORMED);
        assertThat(feed(oracle, "{'id':2,'xid':1,'gone':'t'}")).isEqualTo(ACCEPTED);
        assertThat(oracle.totals("main")).containsKey(List.of("Zo\u00eb", "2024-05-06", "2024-05-05"));
    }

    private Outcome feed(Oracle oracle, String record, long arrivedMs) {
        return oracle.accept("lines", ++line, bytes(record.replace('\'', '"')), arrivedMs);
    }

    private Outcome feed(Oracle oracle, String record) {
        return oracle.accept("lines", ++line, bytes(record.replace('\'', '"')));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String value(Oracle oracle) {
        return oracle.totals("main").get(List.of()).get("value");
    }

    @Test
    void a_derived_field_is_computed_where_a_step_first_reads_it() {
        Oracle oracle = Oracle.of("""
            pipeline: x
            input:
              let:
                mail: lower(trim(email))
                gone: coalesce(field("op code"), 'u')
                net: price * 2 - divide(off, 3, 1)
              key: mail
              version: v
              delete: gone = "d"
            rollup:
              levels: [mail]
              measures: {s: "sum(net) decimal(9,2) missing ignore"}
            """);
        assertThat(feed(oracle, "{'email':' A@b ','v':1,'price':1.5,'off':1}")).isEqualTo(ACCEPTED);
        assertThat(oracle.totals("main").get(List.of("a@b"))).containsEntry("s", "2.70");
        assertThat(feed(oracle, "{'email':'a@B','v':2,'price':'x','off':1}")).isEqualTo(MALFORMED);
        assertThat(feed(oracle, "{'email':'a@B','v':2,'price':'x'}")).isEqualTo(MALFORMED);
        assertThat(feed(oracle, "{'email':'a@B','v':3,'price':'x','off':1,'op code':'d'}"))
                .isEqualTo(ACCEPTED);
        assertThat(oracle.totals("main").keySet()).containsExactly(List.of());
        assertThat(feed(oracle, "{'email':'a@B','v':4,'net':null}")).isEqualTo(MALFORMED);
    }
}
