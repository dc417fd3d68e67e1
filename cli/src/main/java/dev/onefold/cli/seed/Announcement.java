package dev.onefold.cli.seed;

import dev.onefold.cli.show.Words;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.tables.RowSource.Extent;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;

/// What a seeding reads and costs, said before it begins.
final class Announcement {
    /// Of a million read units, on demand, in us-east-1, in dollars.
    private static final BigDecimal PRICE = new BigDecimal("0.125");

    private static final int MILLION = 6;

    private Announcement() {}

    static String of(Pipeline pipeline, Opened opened, SeedOptions options) {
        Extent extent = opened.source().extent();
        StringBuilder text = new StringBuilder("Seeds ").append(pipeline.name());
        text.append(" from ").append(opened.shown());
        if (extent.rows() > 0) {
            text.append(": about ").append(Words.count(extent.rows(), "row"));
        } else if (extent.total() > 0) {
            text.append(": ").append(Words.bytes(extent.total()));
        }
        if (opened.source() instanceof dev.onefold.tables.TableRows) {
            text.append(", ").append(Words.count(extent.readUnits(), "read unit"));
            text.append(" ($").append(price(extent.readUnits())).append(" on demand)");
            if (options.rate() > 0) {
                Duration time = Duration.ofSeconds(Math.ceilDiv(extent.readUnits(), options.rate()));
                text.append("; at ").append(Words.count(options.rate())).append(" a second at least ");
                text.append(Words.duration(time));
            }
        }
        return text.append('.').toString();
    }

    static String price(long readUnits) {
        return PRICE.multiply(BigDecimal.valueOf(readUnits))
                .movePointLeft(MILLION)
                .setScale(2, RoundingMode.UP)
                .toPlainString();
    }
}
