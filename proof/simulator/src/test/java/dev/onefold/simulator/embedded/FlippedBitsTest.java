package dev.onefold.simulator.embedded;

import static dev.onefold.simulator.embedded.Trades.open;
import static dev.onefold.simulator.embedded.Trades.totals;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.onefold.core.DeadLetter;
import dev.onefold.core.EngineException;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.fakes.disk.SimulatedDisk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// A bit is flipped in every kind of file: it is detected, and then nothing was damaged that flipping it back would not
/// mend; or it is harmless.
class FlippedBitsTest {
    private static final List<String> LINES = Trades.trades(90);
    private static final int HEAD_BYTES = 256;
    private static final int SMALL_BYTES = 16;

    private final Map<String, String> right = Trades.right(LINES);
    private int detected;
    private int harmless;

    /// A disk as a kill leaves it: rows, groups, dead letters and checkpoint, and entries of the journal behind it.
    private static SimulatedDisk left() {
        SimulatedDisk disk = SimulatedDisk.empty();
        EmbeddedEngine engine = open(disk);
        engine.append("bad", List.of("poison", "more", "of it"));
        Trades.fold(engine, Trades.file("file", LINES.subList(0, 30)));
        engine.append("s", LINES.subList(30, 60));
        engine.checkpointNow();
        engine.append("s", LINES.subList(60, 90));
        engine.append("bad", List.of("still more"));
        SimulatedDisk killed = disk.kill();
        killed.sync();
        return killed;
    }

    private void flip(SimulatedDisk left, Path path, long bit) throws IOException {
        SimulatedDisk disk = left.copy();
        Path file = disk.getPath(path.toString());
        disk.flipBit(file, bit);
        try (EmbeddedEngine engine = open(disk)) {
            requireRight(engine);
            harmless++;
        } catch (EngineException refused) {
            assertThat(refused.kind())
                    .describedAs("bit %d of %s: %s", bit, path, refused.getMessage())
                    .isIn(EngineException.Kind.CORRUPT, EngineException.Kind.FORMAT);
            detected++;
            SimulatedDisk mended = disk.kill();
            mended.flipBit(mended.getPath(path.toString()), bit);
            try (EmbeddedEngine engine = open(mended)) {
                requireRight(engine);
            }
        } catch (AssertionError | RuntimeException wrong) {
            throw new AssertionError("Bit " + bit + " of " + path + ": " + wrong, wrong);
        }
    }

    private void requireRight(EmbeddedEngine engine) {
        assertThat(engine.acknowledged("s")).isEqualTo(60);
        assertThat(totals(engine)).isEqualTo(right);
        assertThat(engine.verify().isEqual()).isTrue();
        List<String> records = engine.deadLetters().list(0, 99).stream()
                .filter(letter -> letter.place().source().equals("bad"))
                .map(DeadLetter::id)
                .map(id -> new String(engine.deadLetters().record(id), java.nio.charset.StandardCharsets.UTF_8))
                .toList();
        assertThat(records).containsExactly("poison", "more", "of it", "still more");
    }

    private void flipAll(int everyByte, int everyByteBehind) throws IOException {
        SimulatedDisk left = left();
        Set<String> kinds = new TreeSet<>();
        for (Map.Entry<Path, Long> file : left.fileSizes().entrySet()) {
            kinds.add(file.getKey().getFileName().toString().replaceAll("-[0-9]+", ""));
            byte[] content = Files.readAllBytes(left.getPath(file.getKey().toString()));
            int used = content.length;
            while (used > 0 && content[used - 1] == 0) {
                used--;
            }
            if (content.length <= SMALL_BYTES) {
                for (int bit = 0; bit < content.length * 8; bit++) {
                    flip(left, file.getKey(), bit);
                }
                continue;
            }
            for (int at = 0; at < content.length; ) {
                flip(left, file.getKey(), at * 8L + (at * 5 + at / 8) % 8);
                at += at < HEAD_BYTES ? everyByte : at < used ? everyByte * 3 : everyByteBehind;
            }
        }
        assertThat(kinds)
                .contains(
                        "CHECKPOINT", "CURRENT", "LOCK.holder", "groups", "journal", "journal-mark", "letters", "rows");
        assertThat(detected).isGreaterThan(50);
        assertThat(harmless).isGreaterThan(20);
    }

    @Test
    void hazard_49_a_flipped_bit_is_detected_or_harmless_and_never_a_wrong_total() throws IOException {
        flipAll(23, 4_500);
    }

    @Test
    @Tag("campaign")
    void a_flipped_bit_in_any_byte_is_detected_or_harmless_and_never_a_wrong_total() throws IOException {
        flipAll(1, 64);
    }

    /// The same records in the same steps, another identity.
    @Test
    void each_file_of_another_directory_of_the_same_shape_is_refused_as_that() throws IOException {
        SimulatedDisk one = left();
        SimulatedDisk other = left();
        Set<String> refused = new TreeSet<>();
        for (Path file : one.fileSizes().keySet()) {
            String name = file.getFileName().toString();
            SimulatedDisk disk = one.copy();
            Files.write(disk.getPath(file.toString()), Files.readAllBytes(other.getPath(file.toString())));
            if (name.startsWith("LOCK")) {
                continue;
            }
            assertThatExceptionOfType(EngineException.class)
                    .as(name)
                    .isThrownBy(() -> open(disk).close())
                    .withMessageContaining("belongs to another data directory")
                    .satisfies(failure -> assertThat(failure.kind()).isEqualTo(EngineException.Kind.CORRUPT));
            refused.add(name.replaceAll("-[0-9]+", ""));
        }
        assertThat(refused)
                .containsExactly("CHECKPOINT", "CURRENT", "groups", "journal", "journal-mark", "letters", "rows");
        try (EmbeddedEngine engine = open(one)) {
            requireRight(engine);
        }
    }

    @Test
    void a_directory_whose_first_process_was_killed_before_it_had_a_name_keeps_the_identity_of_its_journal()
            throws IOException {
        SimulatedDisk disk = SimulatedDisk.empty();
        open(disk).close();
        Files.delete(disk.getPath("/data/CURRENT"));
        try (EmbeddedEngine engine = open(disk)) {
            engine.append("s", LINES);
            assertThat(totals(engine)).isEqualTo(right);
        }
        open(disk).close();
    }
}
