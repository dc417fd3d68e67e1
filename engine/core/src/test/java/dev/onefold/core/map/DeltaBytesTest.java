package dev.onefold.core.map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.state.Amount;
import dev.onefold.core.state.Contribution;
import dev.onefold.core.state.ContributionBytes;
import dev.onefold.fixtures.Seeds;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class DeltaBytesTest {
    @Test
    void what_was_written_comes_back() {
        Seeds.forAllSeeds(500, random -> {
            Contribution contribution = RandomContributions.contribution(random);
            assertThat(ContributionBytes.read(ContributionBytes.of(contribution)))
                    .isEqualTo(contribution);
            ViewDeltas deltas = RandomContributions.deltas(random);
            assertThat(DeltaBytes.read(DeltaBytes.of(deltas))).isEqualTo(deltas);
            for (Amount amount : contribution.amounts()) {
                assertThat(ContributionBytes.amount(ContributionBytes.of(amount)))
                        .isEqualTo(amount);
            }
        });
    }

    @Test
    void bytes_that_are_cut_or_go_on_are_refused() {
        Seeds.forAllSeeds(200, random -> {
            byte[] bytes = DeltaBytes.of(RandomContributions.deltas(random));
            assertThatThrownBy(() -> DeltaBytes.read(Arrays.copyOf(bytes, random.nextInt(bytes.length))))
                    .isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> DeltaBytes.read(Arrays.copyOf(bytes, bytes.length + 1)))
                    .isInstanceOf(IllegalStateException.class);
            Contribution contribution = RandomContributions.contribution(random);
            byte[] row = ContributionBytes.of(contribution);
            byte[] amount = ContributionBytes.of(new Amount.Text("b"));
            for (int length : new int[] {random.nextInt(row.length), row.length + 1}) {
                assertThatThrownBy(() -> ContributionBytes.read(Arrays.copyOf(row, length)))
                        .isInstanceOf(IllegalStateException.class);
            }
            for (int length : new int[] {random.nextInt(amount.length), amount.length + 1}) {
                assertThatThrownBy(() -> ContributionBytes.amount(Arrays.copyOf(amount, length)))
                        .isInstanceOf(IllegalStateException.class);
            }
        });
    }

    @Test
    void another_format_is_refused_by_its_number() {
        byte[] bytes = DeltaBytes.of(ViewDeltas.NOTHING);
        bytes[0] = 2;
        assertThatThrownBy(() -> DeltaBytes.read(bytes)).hasMessageContaining("they have format 2");
    }
}
