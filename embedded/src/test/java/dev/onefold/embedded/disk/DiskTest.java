package dev.onefold.embedded.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.EngineException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DiskTest {
    @TempDir
    private Path directory;

    @Test
    void a_disk_that_does_not_say_how_much_space_it_has_is_not_taken_for_full() {
        assertThat(Disk.usableBytes(directory)).isLessThan(Long.MAX_VALUE);
        assertThat(Disk.usableBytes(directory.resolve("nowhere"))).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void a_file_that_cannot_get_its_name_leaves_nothing_beside_it() throws IOException {
        Path file = Files.createDirectory(directory.resolve("taken"));
        Files.createFile(file.resolve("something"));
        assertThatThrownBy(() -> Disk.produce(file, out -> out.write(1))).isInstanceOf(EngineException.class);
        assertThat(directory.toFile().list()).containsExactly("taken");
    }
}
