package dev.onefold.embedded.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.Counts;
import dev.onefold.core.EngineException;
import dev.onefold.embedded.checkpoint.Checkpoint.Extent;
import dev.onefold.embedded.disk.Journal;
import dev.onefold.embedded.disk.OutOfSpaceException;
import dev.onefold.embedded.framing.Position;
import dev.onefold.embedded.framing.Source;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CheckpointTest {
    private static final List<Source.Known> SOURCES = List.of(
            new Source.Known("/a.csv", 3, new byte[] {'n'}, new Position.File(40, new byte[] {1, 2}, true)),
            new Source.Known("producer", 5, new byte[0], new Position.Lines(60)),
            new Source.Known(
                    "trades/3",
                    7,
                    new byte[0],
                    new Position.Partition(5, 1L << 40, "mark", List.of(new Position.Gap(7, 9, Instant.EPOCH)))));

    @TempDir
    Path directory;

    @BeforeEach
    void write() throws OutOfSpaceException {
        new Checkpoint(
                        42,
                        9,
                        Instant.EPOCH.plusNanos(5),
                        "definition",
                        List.of(List.of(new Extent(1, 100)), List.of()),
                        List.of(new Checkpoint.Log(2, 200)),
                        new Checkpoint.Log(3, 300),
                        Journal.Position.START,
                        SOURCES,
                        new Counts(1, 2, 3, 4, 5),
                        Map.of("silent: tombstone", 8L),
                        new byte[] {7},
                        6)
                .write(directory);
    }

    @Test
    void what_was_written_is_read_with_the_position_of_each_kind_of_source() {
        Checkpoint read = Checkpoint.read(directory);
        assertThat(read).isNotNull();
        assertThat(read.sources()).usingRecursiveComparison().isEqualTo(SOURCES);
        assertThat(read.rows()).isEqualTo(List.of(List.of(new Extent(1, 100)), List.of()));
        assertThat(read.groupLogs()).containsExactly(new Checkpoint.Log(2, 200));
        assertThat(List.of(read.identity(), read.number(), read.seenMs())).containsExactly(42L, 9L, 6L);
        assertThat(read.at()).isEqualTo(Instant.EPOCH.plusNanos(5));
        assertThat(read.counts()).isEqualTo(new Counts(1, 2, 3, 4, 5));
        assertThat(read.causes()).isEqualTo(Map.of("silent: tombstone", 8L));
        assertThat(read.batches()).containsExactly(7);
    }

    @Test
    void a_directory_without_one_has_none() {
        assertThat(Checkpoint.read(directory.resolve("other"))).isNull();
    }

    @Test
    void each_flipped_bit_is_found_out() throws IOException {
        Path file = directory.resolve("CHECKPOINT");
        byte[] whole = Files.readAllBytes(file);
        for (int at = 0; at < whole.length; at++) {
            byte[] damaged = whole.clone();
            damaged[at] ^= 4;
            Files.write(file, damaged);
            assertThatThrownBy(() -> Checkpoint.read(directory)).isInstanceOf(EngineException.class);
        }
    }
}
