package dev.onefold.fakes.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.ProviderMismatchException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;

class SimulatedPathTest {
    private final SimulatedDisk disk = SimulatedDisk.empty();

    @Test
    @DisabledOnOs(OS.WINDOWS)
    void its_algebra_is_that_of_a_unix_path() {
        Random random = new Random(7);
        for (int i = 0; i < 20_000; i++) {
            String text = randomText(random);
            String other = randomText(random);
            assertThat(algebra(disk.getPath(text), disk.getPath(other)))
                    .as("'%s' and '%s'", text, other)
                    .isEqualTo(algebra(Path.of(text), Path.of(other)));
        }
    }

    @Test
    void it_is_absolute_from_the_root_and_normal_where_it_is_real() throws Exception {
        assertThat(disk.getPath("a", "b")).hasToString("a/b");
        assertThat(disk.getPath("a").toAbsolutePath()).isEqualTo(disk.getPath("/a"));
        assertThat(disk.getPath("/x/../").toRealPath()).isEqualTo(disk.getPath("/"));
    }

    @Test
    void its_uri_has_a_scheme_of_its_own_and_leads_back() {
        Path path = disk.getPath("/data/a b");
        assertThat(path.toUri()).hasToString("simulated:/data/a%20b");
        assertThat(disk.provider().getPath(path.toUri())).isEqualTo(path);
    }

    @Test
    void it_is_no_file_of_the_real_file_system() {
        assertThatThrownBy(() -> disk.getPath("/a").toFile()).isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(() -> disk.getPath("/a").resolve(Path.of("b")))
                .isInstanceOf(ProviderMismatchException.class);
        assertThatThrownBy(() -> disk.getPath("a\0b")).isInstanceOf(InvalidPathException.class);
    }

    @Test
    void paths_of_two_disks_differ() {
        assertThat(disk.getPath("/a"))
                .isEqualTo(disk.getPath("/a"))
                .hasSameHashCodeAs(disk.getPath("/a"))
                .isNotEqualTo(SimulatedDisk.empty().getPath("/a"));
    }

    private static String randomText(Random random) {
        StringBuilder text = new StringBuilder();
        for (int length = random.nextInt(8); length > 0; length--) {
            text.append("//.ab".charAt(random.nextInt(5)));
        }
        return text.toString();
    }

    private static List<String> algebra(Path path, Path other) {
        List<String> results = new ArrayList<>();
        List<Supplier<Object>> questions = List.of(
                path::toString,
                path::isAbsolute,
                path::getRoot,
                path::getFileName,
                path::getParent,
                path::getNameCount,
                () -> path.getName(0),
                () -> path.subpath(0, 2),
                path::normalize,
                () -> path.resolve(other),
                () -> path.resolve(other.toString()),
                () -> path.resolveSibling(other),
                () -> path.relativize(other),
                () -> path.startsWith(other),
                () -> path.endsWith(other),
                () -> path.equals(other),
                () -> Integer.signum(path.compareTo(other)),
                () -> {
                    List<String> names = new ArrayList<>();
                    path.forEach(name -> names.add(name.toString()));
                    return names;
                });
        for (Supplier<Object> question : questions) {
            try {
                results.add(String.valueOf(question.get()));
            } catch (IllegalArgumentException refused) {
                results.add(refused.getClass().getSimpleName());
            }
        }
        return results;
    }
}
