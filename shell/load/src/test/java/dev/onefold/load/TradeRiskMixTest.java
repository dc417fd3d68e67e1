package dev.onefold.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import org.junit.jupiter.api.Test;

class TradeRiskMixTest {
    @Test
    void a_percentage_may_have_four_decimals() {
        assertThat(TradeRiskMix.ofMillion(new BigDecimal("0.1"))).isEqualTo(1_000);
        assertThat(TradeRiskMix.ofMillion(new BigDecimal("33.3333000"))).isEqualTo(333_333);
        assertThat(TradeRiskMix.ofMillion(new BigDecimal("1e2"))).isEqualTo(1_000_000);
        assertThatThrownBy(() -> TradeRiskMix.ofMillion(new BigDecimal("0.00001")))
                .hasMessage("0.00001 has more than 4 decimals.");
        assertThatThrownBy(() -> TradeRiskMix.ofMillion(new BigDecimal("-1")))
                .hasMessage("-1 is not a percentage from 0 to 100.");
    }

    @Test
    void shares_above_100_percent_are_refused() {
        assertThatThrownBy(() -> new TradeRiskMix(500_000, 300_000, 200_000, 0, 1_000))
                .hasMessageContaining("100.1 % together");
    }

    @Test
    void more_late_messages_than_newer_ones_are_refused() {
        assertThatThrownBy(() -> new TradeRiskMix(100_000, 200_000, 600_000, 0, 0))
                .hasMessageContaining("with 20 % of new trades, corrections and deletes there cannot be 60 %");
    }

    @Test
    void a_negative_share_is_refused() {
        assertThatThrownBy(() -> new TradeRiskMix(0, 0, 0, -10_000, 0)).hasMessageContaining("deletes -1 %");
    }
}
