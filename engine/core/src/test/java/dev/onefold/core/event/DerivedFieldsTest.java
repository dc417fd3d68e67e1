package dev.onefold.core.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.bytes.RecordKind;
import dev.onefold.core.form.RowLine;
import dev.onefold.core.grammar.Read;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.state.Derivation;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Derived fields: what they are, where they may be used, and which records they refuse.
class DerivedFieldsTest {
    private static PipelineBuilder let(String... lets) {
        PipelineBuilder builder = PipelineBuilder.named("p");
        for (int i = 0; i < lets.length; i += 2) {
            builder.let(lets[i], lets[i + 1]);
        }
        return builder;
    }

    private static final String MISSING = "missing!";

    /// The text of a derived field in a record with these fields.
    private static String derived(String term, String fields) {
        return Decoding.of(let("x", term)
                        .rollup(r -> r.levels("x missing \"" + MISSING + "\"").count("n")))
                .group("{" + fields + "}")
                .getFirst();
    }

    private static String refusal(String term, String fields) {
        return Decoding.of(let("x", term).rollup(r -> r.levels("x missing \"\"").count("n")))
                .refusal("{" + fields + "}")
                .message();
    }

    @Test
    void functions_of_texts() {
        assertThat(derived("lower(a)", "\"a\":\"ÄBC\"")).isEqualTo("äbc");
        assertThat(derived("upper(a)", "\"a\":\"i\\u00dfx\"")).isEqualTo("ISSX");
        assertThat(derived("trim(a)", "\"a\":\" \\t x y\\u00a0\"")).isEqualTo("x y");
        assertThat(derived("concat(a, \" \", b.c, '-')", "\"a\":1.50,\"b\":{\"c\":true}"))
                .isEqualTo("1.5 true-");
        assertThat(derived("substring(a, 2, 2)", "\"a\":\"x𝄞yz\"")).isEqualTo("𝄞y");
        assertThat(derived("substring(a, 3)", "\"a\":\"x𝄞yz\"")).isEqualTo("yz");
        assertThat(derived("substring(a, 4, 9)", "\"a\":\"x𝄞yz\"")).isEqualTo("z");
        assertThat(derived("replace(a, \"-\", \"\")", "\"a\":\"-1-2-\"")).isEqualTo("12");
        assertThat(derived("replace(a, \".\", \"::\")", "\"a\":\"a.b\"")).isEqualTo("a::b");
        assertThat(derived("split(a, \"::\", 2)", "\"a\":\"x::y::z\"")).isEqualTo("y");
        assertThat(derived("split(a, '/', 3)", "\"a\":\"x/y/z\"")).isEqualTo("z");
        assertThat(derived("field(\"Unit Price\")", "\"Unit Price\":7")).isEqualTo("7");
    }

    @Test
    void arithmetic_is_exact_and_a_quotient_is_rounded_once_half_even() {
        assertThat(derived("a + b * 2 - 0.1", "\"a\":0.1,\"b\":\"1e20\"")).isEqualTo("200000000000000000000");
        assertThat(derived("(a - b) * c", "\"a\":0.1,\"b\":0.3,\"c\":0.2")).isEqualTo("-0.04");
        assertThat(derived("a - -5", "\"a\":1")).isEqualTo("6");
        assertThat(derived("divide(a, b, 2)", "\"a\":1,\"b\":8")).isEqualTo("0.12");
        assertThat(derived("divide(a, b, 0)", "\"a\":7,\"b\":2")).isEqualTo("4");
        assertThat(derived("divide(a, 2, 1)", "\"a\":-0.5")).isEqualTo("-0.2");
        assertThat(derived("divide(a, b, 2)", "\"a\":1,\"b\":0.00")).isEqualTo(MISSING);
    }

    @Test
    void what_is_made_of_a_missing_field_is_missing_but_for_coalesce_and_if() {
        for (String term : List.of(
                "a",
                "lower(a)",
                "concat(b, a)",
                "a + 1",
                "1 - a",
                "divide(1, a, 2)",
                "substring(b, 9)",
                "trim(blank)",
                "split(b, \"/\", 2)",
                "replace(b, \"b\", \"\")",
                "coalesce(a, a)",
                "if(a = 1, b, a)")) {
            assertThat(derived(term, "\"a\":null,\"b\":\"b\",\"blank\":\"  \""))
                    .as(term)
                    .isEqualTo(MISSING);
        }
        assertThat(derived("coalesce(a, b, \"x\")", "\"b\":\"b\"")).isEqualTo("b");
        assertThat(derived("coalesce(a, \"\")", "\"b\":\"b\"")).isEmpty();
        assertThat(derived("if(a is missing, 'none', a)", "\"b\":1")).isEqualTo("none");
        assertThat(derived("if(b >= 2 and not (a = 'x'), b * 2, b)", "\"b\":3")).isEqualTo("6");
    }

    @Test
    void a_branch_or_an_argument_that_is_not_asked_for_refuses_nothing() {
        assertThat(derived("if(kind = 'n', a * 2, 0)", "\"kind\":\"t\",\"a\":\"word\""))
                .isEqualTo("0");
        assertThat(derived("coalesce(b, a * 2)", "\"b\":1,\"a\":\"word\"")).isEqualTo("1");
        assertThat(derived("b + a", "\"a\":\"word\"")).isEqualTo(MISSING);
    }

    @Test
    void a_refusal_names_the_derived_field_the_field_and_the_value() {
        String number = "not a number of at most 28 digits before the point and as many behind it; ";
        assertThat(refusal("price * 2", "\"price\":\"abc\""))
                .isEqualTo("Derived field x: Field price is 'abc', which is " + number + "'*' needs one");
        assertThat(refusal("divide(split(a, \"/\", 2), 3, 1)", "\"a\":\"1/b\""))
                .isEqualTo("Derived field x: Field a leads to 'b', which is " + number + "'divide' needs one");
        assertThat(refusal("price - 2", "\"price\":1e29")).contains("Field price is '1E+29'");
        assertThat(refusal("price - 2", "\"price\":1e2000")).contains("Field price is '1E+2000'");
        assertThat(refusal("coalesce(price, 0)", "\"price\":1e2000"))
                .isEqualTo("Derived field x: The number has over 1000 digits");
        assertThat(refusal("lower(a)", "\"a\":[1]"))
                .isEqualTo("Derived field x: Field a is '[1]', which is neither a text nor a number");
        assertThat(refusal("if(a = true, 1, b)", "\"a\":\"t\""))
                .startsWith("Derived field x: Field a is 't', which is neither true nor false");
        assertThat(refusal("lower(a)", "\"a\":\"" + "x".repeat(10_001) + "\""))
                .isEqualTo("Derived field x: Field a has 10001 bytes; a text in 'let' has at most 10000");
        assertThat(refusal("replace(a, \"x\", \"yyy\")", "\"a\":\"" + "x".repeat(5_000) + "\""))
                .isEqualTo("Derived field x: The result of replace has 15000 bytes; a text in 'let' has at most 10000");
        assertThat(refusal("lower(a)", "\"x\":null,\"a\":1"))
                .isEqualTo("Field x is in the record, and 'let' derives a field of this name: give that one another"
                        + " name");
    }

    @Test
    void derived_fields_are_read_wherever_fields_are() {
        Decoding decoding = Decoding.of(let(
                        "mail", "lower(trim(email))",
                        "day", "substring(at, 1, 10)",
                        "nr", "replace(rev, \"r\", \"\")",
                        "gone", "concat(op, \"/\", flag)",
                        "net", "price - coalesce(off, 0)",
                        "twice", "net * 2")
                .key("mail")
                .version("nr")
                .time("day")
                .zone("UTC")
                .delete("gone = \"d/true\"")
                .filter("twice > 0")
                .rollup(r -> r.levels("step(twice, 10)", "bucket(day, month)")
                        .measure("sum", "sum(net * twice) decimal(18,2) where net < 100")));
        String record = "{\"email\":\" A@B.c\\u0020\",\"at\":\"2026-11-29 07:00\",\"rev\":\"r12\",\"op\":\"u\","
                + "\"flag\":false,\"price\":%s}";
        assertThat(decoding.key(record.formatted("10"))).isEqualTo("a@b.c");
        assertThat(decoding.version(record.formatted("10"))).isEqualTo(12);
        assertThat(decoding.group(record.formatted("10"))).containsExactly("20", "2026-11-01");
        assertThat(decoding.number(record.formatted("10.5"))).isEqualByComparingTo("220.5");
        assertThat(decoding.kind(record.formatted("-1"))).isEqualTo(Event.Kind.FILTERED);
        assertThat(decoding.kind(record.formatted("1").replace("\"u\",\"flag\":false", "\"d\",\"flag\":true")))
                .isEqualTo(Event.Kind.DELETE);
        assertThat(decoding.key(record.formatted("10").replace("\"price\":10", "\"price\":10,\"off\":3")))
                .isEqualTo("a@b.c");
    }

    @Test
    void a_field_that_cannot_be_derived_refuses_no_record_that_is_not_read_so_far() {
        Decoding decoding = Decoding.of(let("id", "lower(k)", "a", "op", "b", "kind", "net", "price * 2")
                .key("id")
                .version("v")
                .delete("a = \"d\"")
                .filter("b = \"sale\"")
                .rollup(r -> r.sum("net", "net", 18, 2)));
        String record = "{\"k\":\"K\",\"v\":1,\"op\":\"%s\",\"kind\":\"%s\",\"price\":\"?\"}";
        assertThat(decoding.kind(record.formatted("d", "sale"))).isEqualTo(Event.Kind.DELETE);
        assertThat(decoding.kind(record.formatted("u", "gift"))).isEqualTo(Event.Kind.FILTERED);
        assertThat(decoding.refusal(record.formatted("u", "sale")).message()).startsWith("Derived field net");
    }

    @Test
    void a_refused_record_still_has_its_identity() {
        Decoder decoder = new Decoder(let("id", "lower(k)", "net", "price * 2")
                .key("id")
                .version("v")
                .rollup(r -> r.sum("net", "net", 18, 2))
                .build());
        assertThat(decoder.identity("{\"k\":\"K\",\"v\":1,\"price\":\"?\"}".getBytes(StandardCharsets.UTF_8))
                        .key())
                .isEqualTo("k".getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void in_csv_a_derived_number_is_a_number_and_a_text_is_read_as_the_file_writes_it() {
        Decoding decoding = Decoding.of(let("clean", "trim(price)", "net", "clean * n", "text", "concat(net, \"\")")
                .csv("price", "n")
                .delimiter(';')
                .numbers(',', '.')
                .rollup(r -> r.levels("net", "clean", "text").measure("m", "sum(clean) decimal(9,2)")));
        assertThat(decoding.group("\" 1.234,50 \";2")).containsExactly("2469", "1.234,50", "2469");
        assertThat(decoding.group("1.234;0,5")).containsExactly("617", "1.234", "617");
        assertThat(decoding.group("1,5;1")).containsExactly("1.5", "1,5", "1,5");
        assertThat(decoding.number("\" 1.234\";2")).isEqualByComparingTo("1234");
        Decoding plain = Decoding.of(
                let("net", "price * 2").csv("price").rollup(r -> r.levels("net").count("n")));
        assertThat(plain.refusal("\"1,5\"").message()).endsWith("Write decimal: \",\" under input");
        assertThat(plain.refusal("").message()).contains("record is empty");
    }

    @Test
    void a_header_needs_no_column_of_a_derived_field() {
        Decoding decoding = Decoding.of(let("x", "lower(field(\"My Town\"))")
                .csv()
                .rollup(r -> r.levels("x").count("n")));
        assertThat(decoding.header("n,My Town")).isNull();
        assertThat(decoding.group("1,\"Sal\"\"e\"")).containsExactly("sal\"e");
        assertThat(decoding.header("n,town")).isNotNull();
        assertThat(decoding.header("x,My Town")).isNull();
        assertThat(decoding.refusal("1,Oslo").message()).contains("'let' derives a field of this name");
    }

    @Test
    void the_event_of_an_envelope_and_the_row_of_a_change_are_derived_from() {
        Decoding wrapped = Decoding.of(let("x", "upper(town)")
                .unwrap("Message")
                .rollup(r -> r.levels("x", "town").count("n")));
        assertThat(wrapped.group("{\"Message\":\"{\\\"town\\\":\\\"R\\u00f8\\\"}\"}"))
                .containsExactly("RØ", "Rø");
        Decoding changes = Decoding.of(let("x", "upper(town)", "net", "price * 2")
                .debezium("public.t")
                .key("id")
                .version("v")
                .rollup(r -> r.levels("x").sum("net", "net", 18, 2)));
        String source = "\"source\":{\"schema\":\"public\",\"table\":\"t\"}";
        assertThat(changes.group(
                        "{\"op\":\"c\",\"after\":{\"id\":1,\"v\":1,\"town\":\"a\",\"price\":3}," + source + "}"))
                .containsExactly("A");
        assertThat(changes.kind("{\"op\":\"d\",\"before\":{\"id\":1,\"v\":1,\"price\":\"?\"}," + source + "}"))
                .isEqualTo(Event.Kind.DELETE);
        assertThat(changes.refusal("{\"op\":\"c\",\"after\":{\"id\":1,\"v\":1,\"town\":\"a\",\"price\":\"8888\"},"
                                + source + "}")
                        .message())
                .contains("Field price is '8888': that may be a number, or the bytes of one");
    }

    @Test
    void the_key_and_the_version_of_a_change_are_fields_of_the_table() {
        String right = "has a derived field, and a change that removes a row may bring no more than the table's key";
        PipelineBuilder key = let("x", "lower(id)").dynamoDbStream().key("x").rollup(r -> r.count("n"));
        assertThatThrownBy(key::build).hasMessageContaining("input.key: " + right);
        PipelineBuilder version =
                let("x", "a + 1").dynamoDbStream().key("id").version("x").rollup(r -> r.count("n"));
        assertThatThrownBy(version::build).hasMessageContaining("input.version: " + right);
    }

    private static Pipeline old(String net, String mail, String level) {
        return let("mail", mail, "net", net, "twice", "net * 2")
                .key("mail")
                .version("v")
                .rollup(r -> r.levels(level).measure("m", "sum(v) decimal(9,2)"))
                .build();
    }

    @Test
    void rows_are_of_no_use_where_a_field_that_they_hold_is_derived_otherwise() {
        Pipeline old = old("a - b", "lower(m)", "twice");
        assertThat(Derivation.of(old, old)).isInstanceOf(Derivation.Possible.class);
        assertThat(Derivation.of(old, old("a", "lower(m)", "twice")))
                .isEqualTo(new Derivation.Impossible("field net is derived otherwise than before"));
        assertThat(Derivation.of(old, old("a - b", "upper(m)", "twice")))
                .isEqualTo(new Derivation.Impossible("field mail is derived otherwise than before"));
        assertThat(Derivation.of(old, old("a - b", "lower(m)", "net")))
                .isEqualTo(new Derivation.Impossible("level net of roll-up main was not read before"));
        assertThat(Derivation.of(old("a - b", "lower(m)", "v"), old("a", "lower(m)", "v")))
                .isInstanceOf(Derivation.Possible.class);
    }

    @Test
    void the_removal_of_a_row_by_a_repair_names_a_derived_key() {
        Decoder decoder = new Decoder(let("id", "lower(k)")
                .key("id")
                .version("v")
                .rollup(r -> r.count("n"))
                .build());
        byte[] removal = RowLine.removedAt(
                new Version(BigInteger.TWO, Version.Kind.NUMBER), "{\"id\":\"abc\"}".getBytes(StandardCharsets.UTF_8));
        assertThat(decoder.identity(RecordKind.ROW, removal).key()).isEqualTo("abc".getBytes(StandardCharsets.UTF_8));
        assertThat(decoder.event().kind).isEqualTo(Event.Kind.DELETE);
    }

    @Test
    void a_batch_is_of_distinct_derived_ids_and_has_the_records_as_they_are() {
        Decoding batch = Decoding.of(Read.pipeline("""
                {"pipeline": "p", "input": {"let": {"x": "lower(id)"}, "id": "x", "filter": "x != \\"b\\""},
                "batch": {"size": 10, "deliver": {"file": "{number}"}, "receiver": "idempotent", "compare": ["x"]}}"""));
        assertThat(batch.key("{\"id\":\"A\"}")).isEqualTo("a");
        assertThat(batch.kind("{\"id\":\"B\"}")).isEqualTo(Event.Kind.FILTERED);
        assertThat(batch.event("{\"id\":\"A\"}").contentHash)
                .isEqualTo(batch.event("{\"id\":\"a\",\"n\":1}").contentHash);
        assertThat(Read.pipeline("""
                {"pipeline": "p", "input": {"let": {"x": "lower(id)"}, "id": "x"},
                "batch": {"size": 10, "deliver": {"file": "{number}"}, "receiver": "idempotent"}}""").fold()).isInstanceOf(Batching.class);
    }
}
