package dev.onefold.core.batch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.seal.SealDecision;
import java.time.Instant;
import java.util.Arrays;
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
                "{\"size\":1,\"direct\":true,\"deliver\":{\"http\":\"https://host/x\"},\"receiver\":\"idempotent\"}",
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
    void beside_direct_all_is_refused_that_needs_a_batch_a_number_or_an_order() {
        String http =
                "{\"size\":1,\"direct\":true,\"deliver\":{\"http\":\"http://h/x\"},\"receiver\":\"idempotent\"%s}";
        String id = "{\"id\":\"id\"}";
        assertThat(reading(id, http.formatted(""))).isInstanceOf(Reading.Read.class);
        assertThat(problems(id, http.formatted("").replace("\"size\":1", "\"size\":20")))
                .contains("batch.direct", "is for batches of one record, and size is 20", "write 'size: 1'");
        assertThat(problems(id, "{\"size\":1,\"direct\":true,\"deliver\":{\"file\":\"x-{number}\"}}"))
                .contains("is not for file, which names each content by the number of its batch", "leave direct out");
        assertThat(problems(id, http.formatted(",\"order\":\"strict\"")))
                .contains("is not for order: strict", "leave order out");
        assertThat(problems("{\"id\":\"id\",\"key\":\"k\"}", http.formatted(",\"order\":\"key\"")))
                .contains("is not for order: key");
        for (String forget : List.of("after-delivery", "30d")) {
            assertThat(problems(id, http.formatted(",\"forget\":\"" + forget + "\"")))
                    .contains("is not for a pipeline that forgets ids", "leave forget out");
        }
        assertThat(problems(id, http.formatted(",\"bisect\":true")))
                .contains("is not for bisect: true, because one record has no halves");
    }

    @Test
    void two_ids_have_two_numbers_that_are_read_as_they_are_written() {
        byte[] hash = new byte[32];
        assertThat(BatchNumber.ofId(hash).toString()).isEqualTo("000001.1.1.1");
        Arrays.fill(hash, (byte) -1);
        BatchNumber last = BatchNumber.ofId(hash);
        assertThat(BatchNumber.read(last.toString())).contains(last);
        for (int bit = 0; bit < 20 * 8; bit++) {
            byte[] other = hash.clone();
            other[bit / 8] ^= (byte) (0x80 >> bit % 8);
            boolean isUsed = bit < 59 || bit >= 64 && bit % 32 < 29;
            assertThat(BatchNumber.ofId(other).equals(last)).as("bit " + bit).isEqualTo(!isUsed);
        }
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
        String key = "{\"id\":\"id\",\"key\":\"k\"}";
        assertThat(problems(key, "{\"size\":1,\"deliver\":{\"file\":\"x-{number}\"}}"))
                .contains("input.key", "is for batches in the order of keys");
        assertThat(problems(id, "{\"size\":1,\"order\":\"key\",\"deliver\":{\"file\":\"x-{number}\"}}"))
                .contains("batch.order", "write 'key: FIELD' under input");
        assertThat(problems(key, "{\"size\":10001,\"order\":\"key\",\"deliver\":{\"file\":\"x-{number}\"}}"))
                .contains("batch.size", "is more than 10000");
        assertThat(problems(
                        "{\"key\":\"k\",\"version\":\"v\"}",
                        "{\"size\":1,\"order\":\"key\",\"deliver\":{\"file\":\"x-{number}\"}}"))
                .contains("cannot be replaced by a higher one");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"id\":\"id\",\"key\":[{\"field\":\"k\",\"type\":\"integer\"},\"l\"]}",
                "{\"key\":\"k\"}",
                "{\"id\":\"message\",\"key\":\"k\"}"
            })
    void an_order_by_key_has_its_key_in_the_input_whatever_the_identity_is(String input) {
        String batch = "{\"size\":1,\"order\":\"key\",\"concurrency\":9,\"deliver\":{\"file\":\"x-{number}\"}}";
        assertThat(reading(input, batch)).isInstanceOfSatisfying(Reading.Read.class, read -> {
            assertThat(PipelineText.read(PipelineText.write(read.pipeline()))).isEqualTo(read);
            assertThat(((Batching) read.pipeline().fold()).key()).isNotEmpty();
            assertThat(((Batching) read.pipeline().fold().stored()).key()).isEmpty();
        });
    }

    @Test
    void members_are_halved_between_their_keys() {
        Members members = Members.all(9).only(List.of(0, 1, 2, 4, 5, 7));
        assertThat(members.halves(new long[] {1, 2, 1, 3, 1, 2}))
                .containsExactly(
                        Members.all(9).only(List.of(0, 1, 2, 5, 7)),
                        Members.all(9).only(List.of(4)));
        assertThat(members.halves(new long[] {1, 1, 1, 1, 1, 1})).isEqualTo(members.halves());
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
