package dev.onefold.core.batch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.seal.SealDecision;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BatchValuesTest {
    private static Reading reading(String input, String batch) {
        return PipelineText.read("{\"pipeline\":\"q\",\"input\":" + input + ",\"batch\":" + batch + "}");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"size\":50000,\"deliver\":{\"file\":\"drop/q-{number}.ndjson.gz\",\"manifest\":\"true\"}}",
                "{\"size\":1,\"deliver\":{\"http\":\"https://host/x\",\"remembers\":\"1d\"},\"receiver\":\"once\"}",
                "{\"size\":9,\"bytes\":5000,\"wait\":\"5s\",\"deliver\":{\"command\":[\"load\",\"-x\"]},\"receiver\":\"idempotent\",\"bisect\":true,"
                        + "\"order\":\"strict\",\"retry\":{\"delays\":[\"10m\",\"1h\"],\"for\":\"2d\"},\"forget\":\"after-delivery\",\"compare\":[\"a\",\"b\"]}",
                "{\"size\":9,\"deliver\":{\"jdbc\":\"jdbc:postgresql://h/d\",\"insert\":\"insert into t values (:id)\"},\"concurrency\":2,\"retry\":\"none\","
                        + "\"forget\":\"30d\",\"compare\":\"none\"}"
            })
    void a_batch_section_is_read_and_written_alike(String batch) {
        assertThat(reading("{\"id\":[\"id\",\"updated\"]}", batch)).isInstanceOfSatisfying(Reading.Read.class, read -> {
            String text = PipelineText.write(read.pipeline());
            assertThat(PipelineText.read(text)).isEqualTo(read);
        });
    }

    @Test
    void what_cannot_be_right_is_refused_with_its_reason() {
        String id = "{\"id\":\"id\"}";
        assertThat(problems("{\"key\":\"id\",\"version\":\"v\"}", "{\"size\":1,\"deliver\":{\"file\":\"x-{number}\"}}"))
                .contains("a sealed batch cannot be replaced by a higher one");
        assertThat(problems(id, "{\"size\":0,\"deliver\":{\"file\":\"x-{number}\"}}"))
                .contains("from 1 to 1000000");
        assertThat(problems(id, "{\"size\":1,\"deliver\":{\"file\":\"x\"}}")).contains("has no {number}");
        assertThat(problems(id, "{\"size\":1,\"deliver\":{\"file\":\"{number}/x\"}}"))
                .contains("has no {number}");
        assertThat(problems(id, "{\"size\":1,\"deliver\":{\"file\":\"x-{number}\",\"http\":\"http://h\"}}"))
                .contains("names 2 receivers");
        assertThat(problems(id, "{\"size\":1,\"deliver\":{\"file\":\"x-{number}\"},\"forget\":\"23h\"}"))
                .contains("is less than a day");
        String forget = "{\"size\":1,\"deliver\":{\"file\":\"x-{number}\"},\"forget\":%s}";
        assertThat(problems(id, forget.formatted("\"after-delivry\""))).contains("did you mean 'after-delivery'?");
        assertThat(problems(id, forget.formatted("\"sometimes\"")))
                .contains("write never, after-delivery, or a time from 1d on, like 30d");
        assertThat(problems(id, "{\"size\":1,\"deliver\":{\"http\":\"http://h/\"}}"))
                .contains("write idempotent if");
        assertThat(problems(id, "{\"size\":1,\"deliver\":{\"file\":\"x-{number}\"},\"receiver\":\"once\"}"))
                .contains("is not possible with file, which is idempotent");
        assertThat(problems(id, "{\"size\":1,\"deliver\":{\"file\":\"x-{number}\",\"timeout\":\"5s\"}}"))
                .contains("is not for file");
        assertThat(problems("{\"format\":\"csv\",\"id\":\"id\"}", "{\"size\":1,\"deliver\":{\"file\":\"x-{number}\"}}"))
                .contains("csv without columns");
        assertThat(problems(
                        id,
                        "{\"size\":1,\"order\":\"strict\",\"concurrency\":4,\"deliver\":{\"file\":\"x-{number}\"}}"))
                .contains("is not for order: strict");
    }

    private static String problems(String input, String batch) {
        return switch (reading(input, batch)) {
            case Reading.Refused(var problems) -> problems.toString();
            case Reading.Read read -> throw new AssertionError("It was read: " + read);
        };
    }

    @Test
    void numbers_have_six_digits_or_more_and_are_in_the_order_of_their_parts() {
        List<String> texts = List.of("000001", "000042", "000042.1", "000042.1.2", "000042.2", "000043", "1234567");
        assertThat(texts.stream()
                        .map(text -> BatchNumber.read(text).orElseThrow())
                        .sorted())
                .map(BatchNumber::toString)
                .isEqualTo(texts);
        assertThat(Stream.of("", "0", "1.0", "x", "1.", "-1", "1.2.x", "9999999999999999999"))
                .allMatch(text -> BatchNumber.read(text).isEmpty());
    }

    @Test
    void a_manifest_is_read_as_it_was_written_and_nothing_else_is_a_manifest() {
        Instant at = Instant.parse("2026-01-02T03:04:05.678Z");
        Manifest manifest = new Manifest(
                "q-000042",
                BatchNumber.of(42),
                "q \"42\".gz",
                50_000,
                1 << 30,
                "ab".repeat(32),
                "cd".repeat(32),
                "",
                at,
                at,
                at);
        assertThat(Manifest.read(manifest.toJson())).contains(manifest);
        assertThat(Stream.of(
                        "", "[]", "{}", "{\"number\":\"1\"}", manifest.toJson().replace("abab", "ABAB")))
                .allMatch(text -> Manifest.read(text).isEmpty());
    }

    @Test
    void a_batch_is_cut_when_it_is_full_or_due_and_never_empty() {
        Batching batching = switch (reading(
                "{\"id\":\"id\"}",
                "{\"size\":3,\"bytes\":1000,\"wait\":\"5s\",\"deliver\":{\"file\":\"x-{number}\"}}")) {
            case Reading.Read(var pipeline) -> (Batching) pipeline.fold();
            case Reading.Refused(var problems) -> throw new AssertionError(problems.toString());
        };
        assertThat(SealDecision.cut(batching, new long[] {}, 0, 1_000_000)).isZero();
        assertThat(SealDecision.cut(batching, new long[] {10, 10}, 0, 4_999)).isZero();
        assertThat(SealDecision.cut(batching, new long[] {10, 10}, 0, 5_000)).isEqualTo(2);
        assertThat(SealDecision.cut(batching, new long[] {10, 10, 10}, 0, 0)).isEqualTo(3);
        assertThat(SealDecision.cut(batching, new long[] {10, 10, 10, 10}, 0, 0))
                .isEqualTo(3);
        assertThat(SealDecision.cut(batching, new long[] {600, 400, 1}, 0, 0))
                .as("by bytes")
                .isEqualTo(2);
        assertThat(SealDecision.cut(batching, new long[] {600, 401}, 0, 0)).isEqualTo(1);
    }

    @Test
    void members_are_halved_and_picked_by_their_places() {
        Members members = new Members(List.of(new Members.Range(0, 2), new Members.Range(5, 8)));
        assertThat(members.halves())
                .containsExactly(
                        new Members(List.of(new Members.Range(0, 2), new Members.Range(5, 6))),
                        new Members(List.of(new Members.Range(6, 8))));
        assertThat(members.only(List.of(1, 2, 3)))
                .isEqualTo(new Members(List.of(new Members.Range(1, 2), new Members.Range(5, 7))));
        assertThatThrownBy(() -> members.only(List.of(5))).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> members.only(List.of(1, 1))).isInstanceOf(IllegalArgumentException.class);
    }
}
