package dev.onefold.embedded.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.embedded.disk.Scale;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The fate of a copy that is not finished.
class HeldRecordsTest {
    private static final int SIZE = 1 << 20;

    @TempDir
    private Path directory;

    private static InputStream opened() {
        return new ByteArrayInputStream(new byte[SIZE]);
    }

    @Test
    void a_copy_that_is_not_wanted_any_more_leaves_no_file() {
        HeldRecords held = new HeldRecords(directory);
        int[] asked = {0};
        assertThat(held.hold(1, SIZE, HeldRecordsTest::opened, () -> asked[0]++ < 3))
                .isFalse();
        assertThat(held.has(1)).isFalse();
        assertThat(directory.toFile().list()).isEmpty();
        assertThat(held.hold(1, SIZE, HeldRecordsTest::opened, () -> true)).isTrue();
        assertThat(held.has(1)).isTrue();
        assertThat(held.open(1)).hasBinaryContent(new byte[SIZE]);
    }

    @Test
    void a_copy_that_would_fill_the_disk_is_not_begun() {
        HeldRecords held = new HeldRecords(directory);
        long usable = directory.toFile().getUsableSpace();
        assertThat(held.hold(1, usable + Scale.of(1 << 30), HeldRecordsTest::opened, () -> true))
                .isFalse();
        assertThat(directory.toFile().list()).isEmpty();
    }
}
