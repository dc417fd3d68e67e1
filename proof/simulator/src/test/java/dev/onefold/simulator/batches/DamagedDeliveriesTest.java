package dev.onefold.simulator.batches;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.onefold.core.EngineException;
import dev.onefold.core.SealedBatches;
import dev.onefold.core.batch.Manifest;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.embedded.delivery.Carrier;
import dev.onefold.embedded.source.SpaceListener;
import dev.onefold.fakes.disk.SimulatedDisk;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// The files of deliveries are flipped, cut, deleted or replaced by older ones. Then the directory is refused, or what
/// nobody knows is in doubt: a receiver never gets a second time what it does not bear.
class DamagedDeliveriesTest {
    private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");
    private static final String VIEW = "/data/q/view-1/";
    private static final String LOG = VIEW + "deliveries";
    private static final String MARK = VIEW + "deliveries-mark";
    private static final int BLOCK_BYTES = 4096;
    private static final int USED_BYTES = 33;
    private static final int CHECKPOINT_HEADER_BYTES = 20;
    private static final int NAMED_BYTES = 25; // Checksum of the open batch 4, whether a log is named 1, its extent 20.
    private static final String REFUSED = "refused";
    private static final String ONCE = "\"size\":2,\"receiver\":\"once\"";
    private static final String DIVIDED = "\"size\":4,\"receiver\":\"idempotent\",\"bisect\":true";

    private final Map<String, List<String>> effects = new TreeMap<>(); // Of each record: the numbers that had it.
    private final List<String> seconds = new ArrayList<>();

    private static Pipeline pipeline(String batch) {
        String text = "{\"pipeline\":\"q\",\"input\":{\"id\":\"id\"},\"batch\":{\"deliver\":{\"http\":\"http://h/\"},"
                + batch + "}}";
        return switch (PipelineText.read(text)) {
            case Reading.Read(var pipeline) -> pipeline;
            case Reading.Refused(var problems) -> throw new IllegalArgumentException(problems.toString());
        };
    }

    private EmbeddedEngine open(SimulatedDisk disk, String batch) {
        EmbeddedEngine engine = EmbeddedEngine.open(
                disk.getPath("/data/q"),
                pipeline(batch),
                new Settings(
                        1,
                        0,
                        Duration.ofDays(1),
                        1L << 28,
                        Settings.UNDELIVERED_BYTES_MAX,
                        false,
                        new Settings.Machine(() -> NOW, new SplittableRandom(1), () -> {}, SpaceListener.silent())));
        engine.deliver((manifest, _, content) -> take(manifest, content, batch));
        return engine;
    }

    private Outcome take(Manifest manifest, Carrier.Content content, String batch) {
        String number = manifest.number().toString();
        try (InputStream in = content.open()) {
            List<String> records = new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .toList();
            if (records.stream().anyMatch(record -> record.contains(":5"))
                    && batch.equals(DIVIDED)
                    && records.size() > 1) {
                return new Outcome.Refused("poison");
            }
            for (String record : records) {
                List<String> numbers = effects.computeIfAbsent(record, _ -> new ArrayList<>());
                if (!numbers.isEmpty() && (batch.equals(ONCE) || !numbers.contains(number))) {
                    seconds.add(number);
                }
                numbers.add(number);
            }
            return new Outcome.Done();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static List<String> records(int from, int to) {
        return IntStream.range(from, to).mapToObj(id -> "{\"id\":" + id + "}").toList();
    }

    /// What a kill leaves while deliveries were made behind the last checkpoint, and what it was before these.
    ///
    /// @param older the same at the last checkpoint
    private record Left(SimulatedDisk disk, SimulatedDisk older, Map<String, List<String>> effects) {}

    private Left left(String batch) {
        effects.clear();
        seconds.clear();
        SimulatedDisk disk = SimulatedDisk.empty();
        EmbeddedEngine engine = open(disk, batch);
        engine.append("a", records(0, 4));
        engine.checkpointNow();
        engine.deliverDue();
        engine.append("a", records(4, 8));
        engine.checkpointNow();
        SimulatedDisk older = disk.copy();
        older.sync();
        engine.deliverDue();
        SimulatedDisk killed = disk.kill();
        killed.sync();
        Map<String, List<String>> before = new TreeMap<>();
        effects.forEach((record, numbers) -> before.put(record, List.copyOf(numbers)));
        assertThat(before).hasSize(8);
        assertThat(seconds).isEmpty();
        return new Left(killed, older, before);
    }

    /// What becomes of a damaged directory: refused, or the states of its batches.
    private String verdict(Left left, SimulatedDisk damaged, String batch) {
        effects.clear();
        left.effects.forEach((record, numbers) -> effects.put(record, new ArrayList<>(numbers)));
        seconds.clear();
        try (EmbeddedEngine engine = open(damaged, batch)) {
            engine.deliverDue();
            engine.append("a", records(8, 9));
            engine.batches().seal();
            engine.deliverDue();
            SealedBatches.Summary summary = engine.batches().summary();
            String states = summary.done() + " of " + summary.sealed() + " done";
            assertThat(seconds).as("delivered a second time; %s", states).isEmpty();
            return states;
        } catch (EngineException refused) {
            assertThat(refused.kind())
                    .as(refused.getMessage())
                    .isIn(EngineException.Kind.CORRUPT, EngineException.Kind.FORMAT);
            assertThat(seconds).isEmpty();
            return REFUSED;
        }
    }

    private SortedMap<String, Integer> verdicts(String file, String batch, int every) throws IOException {
        Left left = left(batch);
        byte[] whole = Files.readAllBytes(left.disk.getPath(file));
        SortedMap<String, Integer> verdicts = new TreeMap<>();
        int bytes = file.equals(MARK) ? USED_BYTES : whole.length; // Of each block, the others are zeros.
        List<Integer> places = IntStream.range(0, whole.length)
                .filter(at -> at % BLOCK_BYTES < bytes && (at % BLOCK_BYTES) % every == 0)
                .boxed()
                .toList();
        for (int at : places) {
            SimulatedDisk flipped = left.disk.copy();
            flipped.flipBit(flipped.getPath(file), at * 8L + at % 8);
            SimulatedDisk cut = left.disk.copy();
            Files.write(cut.getPath(file), Arrays.copyOf(whole, at));
            for (SimulatedDisk damaged : List.of(flipped, cut)) {
                try {
                    verdicts.merge(verdict(left, damaged, batch), 1, Integer::sum);
                } catch (AssertionError e) {
                    throw new AssertionError((damaged.equals(cut) ? "Cut at byte " : "Flip in byte ") + at, e);
                }
            }
        }
        return verdicts;
    }

    private void requireRefusals(int every) throws IOException {
        assertThat(verdicts(LOG, ONCE, every)).containsOnlyKeys(REFUSED);
        assertThat(verdicts(LOG, DIVIDED, every)).containsOnlyKeys(REFUSED);
        assertThat(verdicts(MARK, ONCE, every)).containsOnlyKeys(REFUSED, "5 of 5 done");
    }

    @Test
    void a_flipped_or_cut_log_of_deliveries_is_refused_and_a_flipped_mark_harmless_or_refused() throws IOException {
        requireRefusals(17);
    }

    @Test
    @Tag("campaign")
    void a_flip_or_cut_at_any_byte_of_the_log_of_deliveries_is_refused() throws IOException {
        requireRefusals(1);
    }

    /// Also its checkpoint may be the last one of before, or a later one.
    @Test
    void a_missing_or_older_file_is_refused() throws IOException {
        for (String batch : List.of(ONCE, DIVIDED)) {
            Left left = left(batch);
            for (boolean isCheckpointed : new boolean[] {false, true}) {
                Left now = isCheckpointed ? checkpointed(left, batch) : left;
                for (String file : List.of(LOG, MARK, VIEW + "seals-1", VIEW + "bodies-1")) {
                    SimulatedDisk gone = now.disk.copy();
                    Files.delete(gone.getPath(file));
                    assertThat(verdict(now, gone, batch)).as(file).isEqualTo(REFUSED);
                }
                SimulatedDisk older = now.disk.copy();
                Files.write(older.getPath(LOG), Files.readAllBytes(now.older.getPath(LOG)));
                assertThat(verdict(now, older, batch)).isEqualTo(REFUSED);
                if (isCheckpointed) { // Else both would be those of before, as in a restored directory.
                    Files.write(older.getPath(MARK), Files.readAllBytes(now.older.getPath(MARK)));
                    assertThat(verdict(now, older, batch)).isEqualTo(REFUSED);
                }
            }
        }
    }

    private Left checkpointed(Left left, String batch) {
        SimulatedDisk disk = left.disk.copy();
        EmbeddedEngine engine = open(disk, batch);
        engine.checkpointNow();
        SimulatedDisk killed = disk.kill();
        killed.sync();
        return new Left(killed, left.older, left.effects);
    }

    /// As a version before format 10 of the checkpoint has written it: no mark, a log without a number, a checkpoint
    /// that names neither.
    private static void makeOld(SimulatedDisk disk) throws IOException {
        Files.delete(disk.getPath(MARK));
        Path log = disk.getPath(LOG);
        ByteBuffer header = ByteBuffer.wrap(Files.readAllBytes(log)).order(ByteOrder.LITTLE_ENDIAN);
        header.putInt(8, 1).putLong(20, 0).putInt(28, 0).putInt(20, crc(header.array(), 0, 20));
        Files.write(log, header.array());
        Path file = disk.getPath(VIEW + "CHECKPOINT");
        byte[] whole = Files.readAllBytes(file);
        // Behind what is known of batches stand the latest time, and how many causes there are: none.
        int seen = whole.length - Integer.BYTES - Long.BYTES;
        byte[] old = new byte[whole.length - Integer.BYTES - NAMED_BYTES];
        System.arraycopy(whole, 0, old, 0, seen - NAMED_BYTES);
        System.arraycopy(whole, seen, old, seen - NAMED_BYTES, Long.BYTES);
        ByteBuffer bytes = ByteBuffer.wrap(old).putInt(8, 9).putInt(12, old.length - CHECKPOINT_HEADER_BYTES);
        int lengthAt = CHECKPOINT_HEADER_BYTES;
        while (bytes.getInt(lengthAt) != seen - lengthAt - Integer.BYTES) {
            lengthAt++;
        }
        bytes.putInt(lengthAt, bytes.getInt(lengthAt) - NAMED_BYTES);
        byte[] checked = Arrays.copyOf(old, old.length - CHECKPOINT_HEADER_BYTES + 8);
        System.arraycopy(old, 8, checked, 0, 8);
        System.arraycopy(old, CHECKPOINT_HEADER_BYTES, checked, 8, old.length - CHECKPOINT_HEADER_BYTES);
        bytes.putInt(16, crc(checked, 0, checked.length));
        Files.write(file, old);
    }

    private static int crc(byte[] bytes, int from, int to) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, from, to - from);
        return (int) crc.getValue();
    }

    @Test
    void a_directory_of_format_9_is_taken_over() throws IOException {
        Left left = left(ONCE);
        makeOld(left.disk);
        SimulatedDisk taken = left.disk.copy();
        assertThat(verdict(left, taken, ONCE)).isEqualTo("5 of 5 done");
        SimulatedDisk killed = taken.kill();
        Files.delete(killed.getPath(LOG));
        assertThat(verdict(left, killed, ONCE)).isEqualTo(REFUSED);
        Files.delete(left.disk.getPath(LOG)); // Its checkpoint says that deliveries have ended.
        assertThat(verdict(left, left.disk, ONCE)).isEqualTo(REFUSED);
    }

    @Test
    void without_a_log_the_sealed_batches_of_a_directory_of_format_9_are_in_doubt() throws IOException {
        SimulatedDisk disk = SimulatedDisk.empty();
        EmbeddedEngine engine = open(disk, ONCE);
        engine.append("a", records(0, 4));
        engine.checkpointNow();
        engine.deliverDue();
        SimulatedDisk old = disk.kill();
        old.sync();
        makeOld(old);
        Files.delete(old.getPath(LOG));
        Left left = new Left(old, old, Map.copyOf(effects));
        assertThat(verdict(left, old, ONCE)).isEqualTo("1 of 3 done");
    }

    @Test
    void a_damaged_entry_of_a_seal_and_a_damaged_record_of_the_open_batch_are_told_as_damage() throws IOException {
        SimulatedDisk disk = SimulatedDisk.empty();
        try (EmbeddedEngine engine = open(disk, ONCE)) {
            engine.append("a", records(0, 5)); // Two batches are sealed, and one is open.
            engine.checkpointNow();
        }
        for (String file : List.of("seals-1", "bodies-1")) {
            byte[] whole = Files.readAllBytes(disk.getPath(VIEW + file));
            SimulatedDisk damaged = disk.copy();
            int at = file.startsWith("seals")
                    ? 32 + 60
                    : 32 + 4 * records(0, 1).getFirst().length() + 4 + 3;
            whole[at] ^= 1;
            Files.write(damaged.getPath(VIEW + file), whole);
            assertThatExceptionOfType(EngineException.class)
                    .isThrownBy(() -> open(damaged, ONCE).close())
                    .withMessageContaining("File is corrupt: " + VIEW + file)
                    .satisfies(refused -> assertThat(refused.kind()).isEqualTo(EngineException.Kind.CORRUPT));
        }
    }
}
