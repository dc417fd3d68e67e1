package dev.onefold.aws.event;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.event.Aggregated.UserRecord;
import dev.onefold.core.pipeline.Limits;
import dev.onefold.fixtures.Seeds;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

class AggregatedTest {
    private static byte[] bytes(String text) {
        return Events.utf8(text);
    }

    private static KplEncoder two() {
        return new KplEncoder().add("a", null, bytes("one")).add("b", "17", bytes("two"));
    }

    @Test
    void what_was_put_in_comes_out_with_its_keys_in_its_order() {
        assertThat(Aggregated.split(two().encode()))
                .usingRecursiveComparison()
                .isEqualTo(List.of(new UserRecord("a", null, bytes("one")), new UserRecord("b", "17", bytes("two"))));
    }

    @Test
    void any_records_that_are_aggregated_come_out_as_they_were() {
        Seeds.forAllSeeds(300, random -> {
            KplEncoder encoder = new KplEncoder();
            List<UserRecord> records = new ArrayList<>();
            int count = random.nextInt(1, 40);
            for (int i = 0; i < count; i++) {
                UserRecord record = new UserRecord(
                        "key-" + random.nextInt(300),
                        random.nextBoolean() ? null : String.valueOf(random.nextLong(Long.MAX_VALUE)),
                        randomBytes(random, random.nextInt(300)));
                records.add(record);
                encoder.add(record.partitionKey(), record.explicitHashKey(), record.data());
            }
            if (random.nextBoolean()) {
                encoder.tablesLast();
            }
            assertThat(texts(Objects.requireNonNull(Aggregated.split(encoder.encode()))))
                    .isEqualTo(texts(records));
        });
    }

    private static List<String> texts(List<UserRecord> records) {
        return records.stream()
                .map(record -> record.partitionKey() + " " + record.explicitHashKey() + " "
                        + HexFormat.of().formatHex(record.data()))
                .toList();
    }

    @Test
    void fields_that_a_later_library_might_write_are_passed_over() {
        ByteArrayOutputStream record = new ByteArrayOutputStream();
        KplEncoder.varintField(record, 9, -1);
        KplEncoder.bytesField(record, 4, bytes("a tag"));
        KplEncoder.bytesField(record, 3, bytes("one"));
        KplEncoder.varintField(record, 1, 0);
        record.writeBytes(new byte[] {10 << 3 | 1, 1, 2, 3, 4, 5, 6, 7, 8, 11 << 3 | 5, 1, 2, 3, 4});
        byte[] aggregated = new KplEncoder()
                .add("a", null, bytes("zero"))
                .addRaw(record.toByteArray())
                .encode();
        assertThat(Aggregated.split(aggregated))
                .extracting(UserRecord::data)
                .containsExactly(bytes("zero"), bytes("one"));
    }

    @Test
    void a_record_that_only_begins_like_one_is_taken_as_it_is() {
        assertThat(Aggregated.split(new byte[0])).isNull();
        assertThat(Aggregated.split(KplEncoder.MAGIC)).isNull();
        assertThat(Aggregated.split(Arrays.copyOf(KplEncoder.MAGIC, 30))).isNull();
        assertThat(Aggregated.split(bytes("{\"runner\":\"W2\",\"seq\":1,\"mat\":1}")))
                .isNull();
    }

    @Test
    void a_flipped_bit_makes_it_a_record_as_it_is() {
        byte[] good = two().encode();
        for (int bit = 0; bit < good.length * 8; bit++) {
            byte[] flipped = good.clone();
            flipped[bit / 8] ^= (byte) (1 << bit % 8);
            assertThat(Aggregated.split(flipped)).as("bit %d", bit).isNull();
        }
    }

    @Test
    void a_message_without_records_is_taken_as_it_is() {
        assertThat(Aggregated.split(KplEncoder.frame(new byte[0]))).isNull();
        ByteArrayOutputStream onlyKeys = new ByteArrayOutputStream();
        KplEncoder.bytesField(onlyKeys, 1, bytes("a"));
        assertThat(Aggregated.split(KplEncoder.frame(onlyKeys.toByteArray()))).isNull();
    }

    @Test
    void one_broken_part_makes_all_of_it_a_record_as_it_is() {
        ByteArrayOutputStream keyNotInTable = new ByteArrayOutputStream();
        KplEncoder.varintField(keyNotInTable, 1, 2);
        KplEncoder.bytesField(keyNotInTable, 3, bytes("x"));
        ByteArrayOutputStream noData = new ByteArrayOutputStream();
        KplEncoder.varintField(noData, 1, 0);
        ByteArrayOutputStream noKey = new ByteArrayOutputStream();
        KplEncoder.bytesField(noKey, 3, bytes("x"));
        ByteArrayOutputStream hashKeyNotInTable = new ByteArrayOutputStream();
        KplEncoder.varintField(hashKeyNotInTable, 1, 0);
        KplEncoder.varintField(hashKeyNotInTable, 2, -1);
        KplEncoder.bytesField(hashKeyNotInTable, 3, bytes("x"));
        byte[] lengthTooLong = {3 << 3 | 2, 100, 1};
        byte[] endlessVarint = {8, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 1};
        byte[] group = {1 << 3 | 3};
        byte[] fieldZero = {0, 0};
        for (byte[] broken : List.of(
                keyNotInTable.toByteArray(),
                noData.toByteArray(),
                noKey.toByteArray(),
                hashKeyNotInTable.toByteArray(),
                lengthTooLong,
                endlessVarint,
                group,
                fieldZero)) {
            assertThat(Aggregated.split(two().addRaw(broken).encode()))
                    .as(Arrays.toString(broken))
                    .isNull();
            assertThat(Aggregated.split(KplEncoder.frame(broken))).isNull();
        }
    }

    @Test
    void whatever_stands_between_magic_bytes_and_a_right_digest_nothing_is_thrown() {
        Seeds.forAllSeeds(1_000, random -> {
            byte[] message = two().encode();
            message = Arrays.copyOfRange(message, KplEncoder.MAGIC.length, message.length - 16);
            for (int i = random.nextInt(4); i >= 0; i--) {
                message[random.nextInt(message.length)] = (byte) random.nextInt();
            }
            List<UserRecord> parts =
                    Aggregated.split(KplEncoder.frame(Arrays.copyOf(message, random.nextInt(message.length + 1))));
            if (parts != null) {
                assertThat(parts).isNotEmpty();
            }
        });
    }

    @Test
    void a_record_over_10_mib_is_not_even_looked_into() {
        byte[] data = new byte[Limits.RECORD_BYTES_MAX];
        assertThat(Aggregated.split(new KplEncoder().add("a", null, data).encode()))
                .isNull();
        byte[] within = new byte[Limits.RECORD_BYTES_MAX - 100];
        assertThat(Aggregated.split(new KplEncoder().add("a", null, within).encode()))
                .hasSize(1);
    }

    private static byte[] randomBytes(RandomGenerator random, int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }
}
