package dev.onefold.cli.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.cli.Cli;
import dev.onefold.cli.call.Screen;
import dev.onefold.core.Verification;
import dev.onefold.core.Verification.Difference;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.yaml.PipelineFile;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class VerificationTextTest {
    @TempDir
    Path folder;

    @Test
    void each_group_that_differs_is_named_and_by_how_much() {
        Verification verification = verification();
        assertThat(new VerificationText(pipeline(), verification, false, EmbeddedEngine.CAPABILITIES)
                        .verified(Screen.pipe()))
                .isEqualTo("""
                        Different: 1 group of 12 groups recomputed from 7,000 rows.

                        group    measure    served  recomputed  difference
                        FX/EMEA  value    1,100.00    1,000.50      -99.50

                        The recomputed values follow from the rows. 'onefold rebuild' puts them in place.
                        """);
        assertThat(new VerificationText(pipeline(), verification, false, EmbeddedEngine.CAPABILITIES)
                        .rebuilt(Screen.pipe()))
                .contains("1 were different", "before", "now", "-99.50");
    }

    private static Verification verification() {
        return new Verification(
                "7,000 rows",
                12,
                List.of(new Difference(
                        "main",
                        List.of("FX", "EMEA"),
                        List.of(new BigDecimal("1100.00"), new BigDecimal("3")),
                        List.of(new BigDecimal("1000.50"), new BigDecimal("3")))));
    }

    private Pipeline pipeline() {
        Path file = Cli.in(folder).write("trades.yaml", Cli.TRADES);
        return ((Reading.Read) PipelineFile.read(file)).pipeline();
    }

    @Test
    void what_was_recomputed_from_the_sources_is_put_in_place_from_the_sources() {
        String text = new VerificationText(pipeline(), verification(), true, EmbeddedEngine.CAPABILITIES)
                .verified(Screen.pipe());
        assertThat(text).contains("follow from the sources. 'onefold rebuild --from-sources' puts them in place.");
    }
}
