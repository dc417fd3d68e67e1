package dev.onefold.fakes.disk;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@EnabledOnOs(OS.LINUX)
class LinuxLikenessTest {
    private static final int SCRIPTS = 400;
    private static final int STEPS = 60;

    @Test
    @Tag("campaign")
    void a_program_cannot_tell_it_from_the_file_system_of_linux(@TempDir Path temporary) throws Exception {
        Set<String> kinds = new TreeSet<>();
        for (int seed = 0; seed < SCRIPTS; seed++) {
            Path real = Files.createDirectory(temporary.resolve("seed" + seed));
            SimulatedDisk disk = SimulatedDisk.empty();
            Path simulated = Files.createDirectory(disk.getPath("/seed" + seed));
            try (FileScript onReal = new FileScript(real);
                    FileScript onSimulated = new FileScript(simulated)) {
                RandomGenerator one = new Random(seed);
                RandomGenerator other = new Random(seed);
                for (int step = 0; step < STEPS; step++) {
                    String expected = onReal.step(one);
                    assertThat(onSimulated.step(other))
                            .as("step %d, failed with seed %d", step, seed)
                            .isEqualTo(expected);
                    kinds.add(expected.replaceFirst("(?s)^(\\w+).*?(\\w*Exception.*)?$", "$1 $2"));
                }
                List<String> tree = onReal.tree();
                assertThat(onSimulated.tree()).as("seed %d", seed).isEqualTo(tree);
            }
        }
        assertThat(kinds).as("what the scripts came across").hasSizeGreaterThan(35);
    }
}
