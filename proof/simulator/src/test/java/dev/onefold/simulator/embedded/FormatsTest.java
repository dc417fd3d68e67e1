package dev.onefold.simulator.embedded;

import static dev.onefold.simulator.embedded.Trades.open;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.onefold.core.EngineException;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.fakes.disk.SimulatedDisk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

/// A file that another version of Onefold wrote, newer or older, is recognised as that: neither taken for damage nor
/// for the end of a log, and never misread.
class FormatsTest {
    /// Without conflicts and with few values: many dead letters or values would bring a checkpoint forward.
    private static final List<String> LINES = IntStream.range(0, 900)
            .mapToObj(i -> Trades.trade("t" + i % 50, i, "desk" + i % 4, i % 7 + ".25"))
            .toList();
    private static final Set<String> WITHOUT_FORMAT = Set.of("LOCK", "LOCK.holder");
    private static final int FORMAT_AT = 8;

    private static boolean hasFormat(String name) {
        return !WITHOUT_FORMAT.contains(name) && !name.endsWith(".new"); // That is not whole, and nobody's yet.
    }

    /// A disk as a kill leaves it, with more than one segment of the journal behind the checkpoint.
    private static SimulatedDisk left() {
        SimulatedDisk disk = SimulatedDisk.empty();
        EmbeddedEngine engine = open(disk);
        engine.append("s", LINES.subList(0, 300));
        engine.append("bad", List.of("poison"));
        engine.checkpointNow();
        for (int from = 300; from < 900; from += 100) {
            engine.append("s", LINES.subList(from, from + 100));
        }
        SimulatedDisk killed = disk.kill();
        killed.sync();
        return killed;
    }

    private static final Map<String, Integer> CHECKSUM_AT =
            Map.of("groups", 20, "letters", 20, "journal-mark", 20, "journal", 28, "rows", 32);

    /// Writes another number where the format stands, and the checksum over it: what another version would
    /// write.
    private static void setFormat(Path file, int format) throws IOException {
        byte[] bytes = Files.readAllBytes(file);
        String name = file.getFileName().toString();
        if (name.equals("CURRENT")) {
            String text = new String(bytes, StandardCharsets.US_ASCII).replace("onefold 2 ", "onefold " + format + " ");
            String body = text.substring(0, text.length() - 9);
            bytes = "%s%08x\n"
                    .formatted(body, checksum(body.getBytes(StandardCharsets.US_ASCII)))
                    .getBytes(StandardCharsets.US_ASCII);
        } else if (name.equals("CHECKPOINT")) {
            ByteBuffer checkpoint = ByteBuffer.wrap(bytes).putInt(FORMAT_AT, format);
            CRC32C crc = new CRC32C();
            crc.update(bytes, FORMAT_AT, 8);
            crc.update(bytes, 20, bytes.length - 20);
            checkpoint.putInt(16, (int) crc.getValue());
        } else {
            int at = CHECKSUM_AT.getOrDefault(name.replaceAll("-[0-9]+", ""), 0);
            ByteBuffer header =
                    ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putInt(FORMAT_AT, format);
            header.putInt(at, checksum(Arrays.copyOf(bytes, at)));
        }
        Files.write(file, bytes);
    }

    private static int checksum(byte[] bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes);
        return (int) crc.getValue();
    }

    private static EngineException refusal(SimulatedDisk disk) {
        return assertThatExceptionOfType(EngineException.class)
                .isThrownBy(() -> open(disk).close())
                .actual();
    }

    @Test
    void whichever_file_has_another_format_is_refused_by_its_number() throws IOException {
        SimulatedDisk left = left();
        Set<String> kinds = new TreeSet<>();
        for (Path each : left.fileSizes().keySet()) {
            String name = each.getFileName().toString();
            if (!hasFormat(name)) {
                continue;
            }
            kinds.add(name.replaceAll("-[0-9]+", ""));
            for (int format : List.of(0, 1, 77)) {
                SimulatedDisk disk = left.copy();
                setFormat(disk.getPath(each.toString()), format);
                EngineException refused = refusal(disk);
                assertThat(refused.kind()).describedAs(refused.getMessage()).isEqualTo(EngineException.Kind.FORMAT);
                assertThat(refused.getMessage())
                        .contains(name + " has format " + format + ";", "Use the version that wrote it");
            }
        }
        assertThat(kinds)
                .containsExactly("CHECKPOINT", "CURRENT", "groups", "journal", "journal-mark", "letters", "rows");
        try (EmbeddedEngine engine = open(left)) {
            assertThat(Trades.totals(engine)).isEqualTo(Trades.right(LINES));
        }
    }

    @Test
    void a_damaged_number_of_a_format_is_told_as_damage() throws IOException {
        SimulatedDisk left = left();
        for (Path each : left.fileSizes().keySet()) {
            if (hasFormat(each.getFileName().toString())) {
                SimulatedDisk disk = left.copy();
                disk.flipBit(disk.getPath(each.toString()), (each.endsWith("CHECKPOINT") ? 11 : FORMAT_AT) * 8L + 2);
                assertThat(refusal(disk).kind()).as(each.toString()).isEqualTo(EngineException.Kind.CORRUPT);
            }
        }
    }

    @Test
    void a_later_segment_of_another_format_is_not_the_end_of_the_journal() throws IOException {
        SimulatedDisk left = left();
        List<Path> segments = left.fileSizes().keySet().stream()
                .filter(file -> file.getFileName().toString().matches("journal-[0-9]+"))
                .toList();
        assertThat(segments).hasSizeGreaterThan(1);
        Path mark = left.getPath("/data/journal-mark");
        byte[] bytes = Files.readAllBytes(mark);
        bytes[32] ^= 1; // Unreadable: it cannot say that something is missing.
        Files.write(mark, bytes);
        setFormat(left.getPath(segments.getLast().toString()), 77);
        assertThat(refusal(left).kind()).isEqualTo(EngineException.Kind.FORMAT);
    }

    @Test
    void a_segment_in_the_place_of_another_is_damage() throws IOException {
        SimulatedDisk left = left();
        Files.write(left.getPath("/data/journal-2"), Files.readAllBytes(left.getPath("/data/journal-1")));
        assertThat(refusal(left).kind()).isEqualTo(EngineException.Kind.CORRUPT);
    }

    @Test
    void data_from_before_files_had_formats_are_recognised() throws IOException {
        SimulatedDisk left = left();
        Files.writeString(left.getPath("/data/CURRENT"), "view-1\n");
        assertThat(refusal(left)).hasMessageContaining("CURRENT has format 0;");
    }

    @Test
    void the_name_of_another_view_is_damage_unless_its_checksum_is_right() throws IOException {
        SimulatedDisk left = left();
        Path current = left.getPath("/data/CURRENT");
        String text = Files.readString(current);
        String body = text.substring(0, text.length() - 9);
        assertThat(body).matches("onefold 2 view-1 [0-9a-f]{16} journal-released ");
        assertThat(text).isEqualTo("%s%08x\n".formatted(body, checksum(body.getBytes(StandardCharsets.US_ASCII))));
        Files.writeString(current, text.replace("view-1", "view-2"));
        assertThat(refusal(left)).hasMessageContaining("it does not name a view");
    }
}
