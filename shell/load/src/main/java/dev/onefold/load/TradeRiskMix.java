package dev.onefold.load;

import java.math.BigDecimal;

/// How many of a million messages are of which kind; the rest are new trades.
///
/// @param corrections a higher version of a trade, with other value and hierarchy
/// @param duplicates one of the last 1,000 messages again
/// @param late an older version of a trade, after a newer one
/// @param deletes a higher version that ends a trade
/// @param malformed a record that is no event
public record TradeRiskMix(int corrections, int duplicates, int late, int deletes, int malformed) {
    /// 70 % new, 20 % corrections, 5 % duplicates, 5 % late: the workload that benchmarks are run with.
    public static final TradeRiskMix BENCHMARK = new TradeRiskMix(200_000, 50_000, 50_000, 0, 0);

    /// The benchmark's, and 1 % deletes, 0.1 % malformed.
    public static final TradeRiskMix DEMO = new TradeRiskMix(200_000, 50_000, 50_000, 10_000, 1_000);

    /// Of a hundred late versions that are wanted, so many are skipped: chance must not run out of them.
    private static final long SKIPPED_PERCENT = 108;

    public TradeRiskMix {
        if (corrections < 0 || duplicates < 0 || late < 0 || deletes < 0 || malformed < 0) {
            throw new IllegalArgumentException("A share of messages is negative: corrections " + percent(corrections)
                    + " %, duplicates " + percent(duplicates) + " %, late " + percent(late) + " %, deletes "
                    + percent(deletes) + " %, malformed " + percent(malformed) + " %.");
        }
        long sum = (long) corrections + duplicates + late + deletes + malformed;
        if (sum > Dice.MILLION) {
            throw new IllegalArgumentException("Corrections, duplicates, late, deletes and malformed are "
                    + percent(sum) + " % together, more than 100 %.");
        }
        long newer = Dice.MILLION - sum + corrections + deletes;
        if (late > newer) {
            throw new IllegalArgumentException("A late message follows a newer one of its trade: with "
                    + percent(newer) + " % of new trades, corrections and deletes there cannot be " + percent(late)
                    + " % of late ones.");
        }
    }

    /// The share that a percentage stands for, in messages of a million.
    ///
    /// @throws IllegalArgumentException when it has more than four decimals or is not from 0 to 100
    public static int ofMillion(BigDecimal percent) {
        if (percent.signum() < 0 || percent.compareTo(BigDecimal.valueOf(100)) > 0) {
            throw new IllegalArgumentException(percent.toPlainString() + " is not a percentage from 0 to 100.");
        }
        if (percent.stripTrailingZeros().scale() > 4) {
            throw new IllegalArgumentException(percent.toPlainString() + " has more than 4 decimals.");
        }
        return percent.movePointRight(4).intValueExact();
    }

    int newTrades() {
        return Dice.MILLION - corrections - duplicates - late - deletes - malformed;
    }

    /// In so many of a million corrections and deletes, one version is skipped, to be sent late.
    int skippedWhenChanged() {
        return late == 0 ? 0 : perMillion(late * SKIPPED_PERCENT / 100, (long) corrections + deletes);
    }

    /// In so many of a million new trades, the first version is skipped; in none while changes alone are enough.
    int skippedWhenNew() {
        return perMillion(Math.max(0, late * SKIPPED_PERCENT / 100 - corrections - deletes), newTrades());
    }

    private static int perMillion(long wanted, long among) {
        return among == 0 ? 0 : (int) Math.min(Dice.MILLION, Math.ceilDiv(wanted * Dice.MILLION, among));
    }

    private static String percent(long ofMillion) {
        return BigDecimal.valueOf(ofMillion, 4).stripTrailingZeros().toPlainString();
    }
}
