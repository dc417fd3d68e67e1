package dev.onefold.api.sync;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SeedLogTest {
    @TempDir
    Path folder;

    private SeedLog log() {
        return new SeedLog(folder.resolve("seeds"));
    }

    @Test
    void each_number_is_above_all_before_though_the_clock_goes_back() throws IOException {
        try (SeedLog.Seed first = log().begin("a", SeedLog.Numbers.of(1_000, Optional.empty()), false)) {
            first.finish();
            assertThat(first.number()).isEqualTo(1_000);
        }
        try (SeedLog.Seed second = log().begin("b", SeedLog.Numbers.of(5, Optional.empty()), false)) {
            assertThat(second.number()).isEqualTo(1_001);
        }
        try (SeedLog.Seed third = log().begin("b", SeedLog.Numbers.of(2_000, Optional.empty()), false)) {
            assertThat(third.number()).isEqualTo(2_000);
        }
    }

    @Test
    void rows_that_were_kept_are_below_all_that_was_read_since_and_above_all_that_is_older() throws IOException {
        Optional<Instant> kept = Optional.of(Instant.ofEpochMilli(1_500));
        try (SeedLog.Seed read = log().begin("a", SeedLog.Numbers.of(2_000, Optional.empty()), false)) {
            assertThat(read.number()).isEqualTo(2_000);
        }
        for (long number : List.of(1_500L, 1_501L, 1_502L)) {
            try (SeedLog.Seed seed = log().begin("b", SeedLog.Numbers.of(3_000, kept), true)) {
                assertThat(seed.number()).isEqualTo(number);
            }
        }
        Optional<Instant> ofAFastClock = Optional.of(Instant.ofEpochMilli(9_000));
        try (SeedLog.Seed seed = log().begin("c", SeedLog.Numbers.of(3_000, ofAFastClock), true)) {
            assertThat(seed.number()).isEqualTo(3_000);
        }
    }

    @Test
    void an_interrupted_seeding_goes_on_at_its_marks_under_a_new_number() throws IOException {
        try (SeedLog.Seed first = log().begin("a", SeedLog.Numbers.of(10, Optional.empty()), false)) {
            first.save(Map.of("0", "half", "1", "end"));
        }
        try (SeedLog.Seed again = log().begin("a", SeedLog.Numbers.of(10, Optional.empty()), false)) {
            assertThat(again.number()).isEqualTo(11);
            assertThat(again.continued()).isEqualTo(10);
            assertThat(again.marks()).isEqualTo(Map.of("0", "half", "1", "end"));
        }
        try (SeedLog.Seed other = log().begin("another source", SeedLog.Numbers.of(10, Optional.empty()), false);
                SeedLog.Seed restarted = log().begin("a", SeedLog.Numbers.of(10, Optional.empty()), true)) {
            assertThat(other.marks()).isEmpty();
            assertThat(restarted.marks()).isEmpty();
            restarted.finish();
        }
        try (SeedLog.Seed afresh = log().begin("a", SeedLog.Numbers.of(10, Optional.empty()), false)) {
            assertThat(afresh.marks()).isEmpty();
        }
    }

    @Test
    void a_seeding_whose_rows_are_not_there_any_more_is_not_continued() throws IOException {
        try (SeedLog.Seed first = log().begin("a", SeedLog.Numbers.of(10, Optional.empty()), false)) {
            first.save(Map.of("0", "half"));
        }
        SeedLog.Numbers lost = new SeedLog.Numbers() {
            @Override
            public long draw(long last) {
                return last + 5;
            }

            @Override
            public boolean holds(long number) {
                return number != 10;
            }
        };
        try (SeedLog.Seed afresh = log().begin("a", lost, false)) {
            assertThat(afresh.number()).isEqualTo(15);
            assertThat(afresh.marks()).isEmpty();
        }
    }

    @Test
    void a_seeding_that_is_running_is_not_continued_by_another_one() throws IOException {
        try (SeedLog.Seed first = log().begin("a", SeedLog.Numbers.of(10, Optional.empty()), false)) {
            first.save(Map.of("0", "half"));
            try (SeedLog.Seed beside = log().begin("a", SeedLog.Numbers.of(10, Optional.empty()), false)) {
                assertThat(beside.number()).isEqualTo(11);
                assertThat(beside.marks()).isEmpty();
            }
        }
    }

    /// Whether a seeding runs, asked by another process.
    static final class Asking {
        private Asking() {}

        public static void main(String[] arguments) throws IOException {
            System.out.print(new SeedLog(Path.of(arguments[0])).isRunning(Long.MAX_VALUE));
        }
    }

    @Test
    void whoever_asks_in_the_same_process_whether_a_seeding_runs_other_processes_find_it_running_still()
            throws IOException, InterruptedException {
        try (SeedLog.Seed _ = log().begin("a", SeedLog.Numbers.of(10, Optional.empty()), false)) {
            assertThat(log().isRunning(Long.MAX_VALUE)).isTrue();
            try (SeedLog.Seed beside = log().begin("a", SeedLog.Numbers.of(10, Optional.empty()), false)) {
                assertThat(beside.number()).isEqualTo(11);
            }
            Process asking = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-XX:TieredStopAtLevel=1",
                            "-cp",
                            System.getProperty("java.class.path"),
                            Asking.class.getName(),
                            folder.resolve("seeds").toString())
                    .redirectErrorStream(true)
                    .start();
            assertThat(new String(asking.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                    .isEqualTo("true");
            assertThat(asking.waitFor()).isZero();
        }
    }
}
