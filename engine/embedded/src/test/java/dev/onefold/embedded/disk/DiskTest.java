package dev.onefold.embedded.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.EngineException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
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

    @Test
    void a_directory_is_measured_beside_a_thread_that_renames_and_deletes_in_it() throws Exception {
        Files.write(directory.resolve("stays"), new byte[1_000]);
        AtomicBoolean isOver = new AtomicBoolean();
        FutureTask<Integer> checkpoints = new FutureTask<>(() -> {
            int count = 0;
            for (; !isOver.get(); count++) {
                Path view = Files.createDirectory(directory.resolve("view-" + count));
                Path fresh = Files.createFile(view.resolve("CHECKPOINT.new"));
                Files.move(fresh, view.resolve("CHECKPOINT"));
                Files.delete(view.resolve("CHECKPOINT"));
                Files.delete(view);
            }
            return count;
        });
        Thread.ofPlatform().start(checkpoints);
        try {
            for (int i = 0; i < 3_000; i++) {
                assertThat(Disk.bytes(directory)).isEqualTo(1_000);
            }
        } finally {
            isOver.set(true);
        }
        assertThat(checkpoints.get()).isPositive();
    }
}
