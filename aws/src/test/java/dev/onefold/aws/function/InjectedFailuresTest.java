package dev.onefold.aws.function;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.Random;
import org.junit.jupiter.api.Test;

class InjectedFailuresTest {
    private static final int INVOCATIONS = 10_000;

    private final ByteArrayOutputStream log = new ByteArrayOutputStream();

    private InjectedFailures failures(int ofMillion) {
        Metrics metrics = new Metrics(new PrintStream(log, true, StandardCharsets.UTF_8), "stack");
        return new InjectedFailures(ofMillion, metrics, InstantSource.system(), new Random(42));
    }

    private String log() {
        return log.toString(StandardCharsets.UTF_8);
    }

    @Test
    void half_of_those_that_fail_have_done_nothing_and_half_have_done_all() {
        InjectedFailures failures = failures(20_000);
        assertThat(log()).contains("WARN Of a million invocations 20000 fail on purpose");
        int[] done = {0};
        int failed = 0;
        int failedUndone = 0;
        for (int i = 0; i < INVOCATIONS; i++) {
            int before = done[0];
            try {
                failures.around(() -> {
                    done[0]++;
                    return new byte[0];
                });
            } catch (IllegalStateException onPurpose) {
                assertThat(onPurpose).hasMessageContaining("fails on purpose");
                failed++;
                failedUndone += done[0] == before ? 1 : 0;
            }
        }
        assertThat(failed).isBetween(150, 250);
        assertThat(failedUndone).isBetween(failed / 3, failed * 2 / 3);
        assertThat(done[0]).isEqualTo(INVOCATIONS - failedUndone);
        assertThat(log().lines().filter(line -> line.contains("\"InjectedFailures\":1")))
                .hasSize(failed);
    }

    @Test
    void none_fails_and_nothing_is_said_where_the_parameter_is_zero() {
        InjectedFailures failures = failures(0);
        for (int i = 0; i < INVOCATIONS; i++) {
            assertThat(failures.around(() -> new byte[1])).hasSize(1);
        }
        assertThat(log()).isEmpty();
    }

    @Test
    void all_fail_at_a_hundred_percent() {
        InjectedFailures failures = failures(1_000_000);
        for (int i = 0; i < 100; i++) {
            assertThatThrownBy(() -> failures.around(() -> new byte[1])).hasMessageContaining("fails on purpose");
        }
    }
}
