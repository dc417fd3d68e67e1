package dev.onefold.core.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.builder.PipelineBuilder.RollupBuilder;
import dev.onefold.core.pipeline.TimeType;
import dev.onefold.fixtures.Seeds;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/// For every record the decoder ends soon with an event or a reason, and never throws.
class RobustnessTest {
    private static final List<String> VALUES = List.of(
            "1",
            "-1.5e3",
            "1e999999999",
            "-1e-999999999",
            "0e-999999999",
            "100e2147483647",
            "1e99999999999999999999",
            "NaN",
            "\"2019-10-27T22:20:18Z\"",
            "\"2019-10-27T22:20:18.5+01:00\"",
            "\"\"",
            "\"x\"",
            "\"\\u0000\\ud834\\udd1e\"",
            "\"\\ud834\"",
            "null",
            "true",
            "{}",
            "[]",
            "[[[[",
            "{\"a\":{\"a\":1}}",
            "123456789012345678901234567890123456789",
            "1572214818123.456789",
            "\"99999999999999999999\"",
            "1e17",
            "1e-9",
            "31556889864403200",
            "é",
            "\"é\"");
    private static final List<String> NAMES =
            List.of("k", "v", "t", "u", "n", "s", "w", "f", "a.b", "x", "\\u006b", "é", "");

    private static List<Decoder> decoders() {
        List<Decoder> decoders = new ArrayList<>();
        for (TimeType type : TimeType.values()) {
            decoders.add(new Decoder(PipelineBuilder.named("p")
                    .key("k", "s")
                    .version("v", type == TimeType.AUTO ? TimeType.ISO : type)
                    .time("t", type)
                    .delete("f = \"x\" and n > 7")
                    .filter("not (f in (\"y\", \"2\") or n <= -5 and w is missing)")
                    .rollup(r -> levels(r, type).min("m", "n", 38, 19).distinct("d", "w"))
                    .build()));
            decoders.add(new Decoder(PipelineBuilder.named("p")
                    .csv("k", "v", "t", "u", "n", "s", "w", "f")
                    .id("k")
                    .time("t", type)
                    .filter("n != 5")
                    .rollup(r -> levels(r, type).sum("m", "n", 18, 2))
                    .build()));
        }
        decoders.add(new Decoder(PipelineBuilder.named("p")
                .key("k")
                .version("v")
                .rollup(r -> r.levels("a.b missing \"\"").measure("m", "sum(n) decimal(28,0) missing 0"))
                .build()));
        return decoders;
    }

    private static RollupBuilder levels(RollupBuilder rollup, TimeType type) {
        return rollup.levels(
                "bucket(t, 1h, " + type.word() + ")",
                "bucket(u, 36500d) missing \"-\"",
                "prefix(s, 2)",
                "step(n, 0.25)");
    }

    private static void decode(List<Decoder> decoders, byte[] record, RandomGenerator random) {
        byte[] framed = new byte[record.length + 3 + Decoder.PADDING];
        random.nextBytes(framed);
        System.arraycopy(record, 0, framed, 3, record.length);
        for (Decoder decoder : decoders) {
            Malformed malformed = decoder.decode(framed, 3, 3 + record.length);
            if (malformed != null) {
                assertThat(malformed.message().length()).isBetween(10, 1_000);
            }
        }
    }

    @Test
    void random_bytes_never_throw() {
        List<Decoder> decoders = decoders();
        assertTimeoutPreemptively(
                Duration.ofSeconds(30),
                () -> Seeds.forAllSeeds(3_000, random -> {
                    byte[] record = new byte[random.nextInt(64)];
                    random.nextBytes(record);
                    if (record.length > 0 && random.nextBoolean()) {
                        record[0] = '{';
                    }
                    decode(decoders, record, random);
                }));
    }

    @Test
    void any_value_in_any_field_never_throws_and_never_takes_long() {
        List<Decoder> decoders = decoders();
        int[] events = new int[1];
        assertTimeoutPreemptively(
                Duration.ofSeconds(30),
                () -> Seeds.forAllSeeds(5_000, random -> {
                    boolean csv = random.nextInt(4) == 0;
                    StringBuilder record = new StringBuilder(csv ? "" : "{");
                    for (String name : csv || random.nextInt(4) > 0 ? NAMES.subList(0, 8) : shuffled(random)) {
                        String value = VALUES.get(random.nextInt(VALUES.size()));
                        record.append(record.length() > 1 ? "," : "");
                        record.append(csv ? value.replace(",", "") : "\"" + name + "\":" + value);
                    }
                    byte[] bytes = record.append(csv ? "" : "}").toString().getBytes(StandardCharsets.UTF_8);
                    decode(decoders, bytes, random);
                    for (int i = random.nextInt(3); i > 0; i--) {
                        bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(-128, 128);
                        decode(decoders, Arrays.copyOf(bytes, random.nextInt(bytes.length + 1)), random);
                    }
                    events[0]++;
                }));
        assertThat(events[0]).isPositive();
    }

    private static List<String> shuffled(RandomGenerator random) {
        List<String> names = new ArrayList<>();
        for (int i = random.nextInt(10); i > 0; i--) {
            names.add(NAMES.get(random.nextInt(NAMES.size())));
        }
        return names;
    }

    @Test
    void large_records_take_time_that_grows_with_their_length_alone() {
        int many = 200_000; // A time that grew with the square would be a minute.
        List<Decoder> decoders = decoders();
        RandomGenerator random = new java.util.SplittableRandom(1);
        for (String record : List.of(
                "{" + "\"x\":1,".repeat(many) + "\"x\":1}",
                "{\"x\":\"" + "\\u0061".repeat(many) + "\"}",
                "{\"k\":\"" + "\\u0061".repeat(many) + "\",\"s\":1,\"v\":1}",
                "{\"k\":1,\"s\":1,\"v\":" + "9".repeat(many) + "}",
                "{\"k\":" + "9".repeat(many) + ".5,\"s\":1,\"v\":1}",
                "{\"k\":1,\"s\":1,\"v\":1,\"n\":0." + "0".repeat(many) + "1}",
                "{\"k\":1,\"s\":1,\"v\":1,\"t\":\"" + "9".repeat(many) + "\"}",
                "{\"x\":[" + "[],".repeat(many) + "[]]}",
                " ".repeat(18 * many),
                "{\"x\":\"" + "é".repeat(9 * many),
                "\"".repeat(many),
                ",".repeat(many),
                "\"" + "\"\"".repeat(many) + "\"" + ",1".repeat(7))) {
            assertTimeoutPreemptively(
                    Duration.ofSeconds(10),
                    () -> decode(decoders, record.getBytes(StandardCharsets.UTF_8), random),
                    () -> record.substring(0, 30));
        }
    }
}
