package dev.onefold.cli.seed;

import dev.onefold.cli.show.Words;
import dev.onefold.core.Sync;
import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Input.Format;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.tables.RowSource.Extent;
import dev.onefold.tables.TableRows;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.stream.Collectors;

/// The announcement of a seeding or a comparison: its reads, writes and costs, shown before it begins. Prices are
/// those of on-demand units in us-east-1.
final class Announcement {
    /// Of a million read units, in dollars.
    private static final BigDecimal READ_PRICE = new BigDecimal("0.125");

    /// Of a million write units, in dollars.
    private static final BigDecimal WRITE_PRICE = new BigDecimal("0.625");

    /// Write units of the table of rows for a new row.
    private static final long ROWS_UNITS = 2;

    /// Write units of all tables for a new row in hundredths, with few groups and with many, as docs/aws-figures.md has
    /// them.
    private static final long FEW_GROUPS = 210;

    private static final long MANY_GROUPS = 415;

    /// The write units a second that a table takes at the default quota.
    private static final long QUOTA = 40_000;

    private static final long MILLION = 1_000_000;

    private Announcement() {}

    /// The announcement of a seeding: its source, the size of the source, and the cost and time of reading it.
    ///
    /// @param rate read units of a table a second; 0 without a limit
    static String of(Pipeline pipeline, Opened opened, long rate) {
        return read(new StringBuilder("Seeds ").append(pipeline.name()).append(" from "), opened, rate) + key(pipeline);
    }

    /// The announcement of a comparison: its source, the size of the source, and the cost and time of reading it.
    static String compared(Pipeline pipeline, Opened opened, long rate) {
        StringBuilder text =
                new StringBuilder("Compares ").append(pipeline.name()).append(" with ");
        return read(text, opened, rate) + key(pipeline) + " If rows differ, the source is read once more.";
    }

    /// The cost, for a comparison, of reading the rows of a deployment.
    static String ofRows(Sync.Cost cost) {
        return "Reads the table of rows, too: " + Words.count(cost.listing(), "read unit") + " ($"
                + price(READ_PRICE, cost.listing()) + " on demand), at most " + Words.count(cost.readsASecond())
                + " a second; if rows differ, once more for each further"
                + " reading of the source. After each reading the latest five minutes of the stream are folded again,"
                + " about half a read unit a record. A repair costs what a seed row costs.";
    }

    /// An export, a file or a query does not say what the key of its table is.
    private static String key(Pipeline pipeline) {
        return pipeline.input().format() instanceof Format.Changes
                        && pipeline.input().identity() instanceof Identity.Versioned versioned
                ? " The key of the table is taken to be "
                        + versioned.key().stream().map(FieldPath::toString).collect(Collectors.joining(", ")) + "."
                : "";
    }

    private static String read(StringBuilder text, Opened opened, long rate) {
        Extent extent = opened.source().extent();
        text.append(opened.shown());
        if (extent.rows() > 0) {
            text.append(": about ").append(Words.count(extent.rows(), "row"));
        } else if (extent.total() > 0) {
            text.append(": ").append(Words.bytes(extent.total()));
        }
        if (opened.source() instanceof TableRows) {
            text.append(", ").append(Words.count(extent.readUnits(), "read unit"));
            text.append(" ($").append(price(READ_PRICE, extent.readUnits())).append(" on demand)");
            if (rate > 0) {
                text.append("; at ").append(Words.count(rate)).append(" a second at least ");
                text.append(time(extent.readUnits(), rate));
            }
        }
        return text.append('.').toString();
    }

    /// The writes of a seeding to a deployment, with their cost and time.
    ///
    /// @param rate write units a second for the table of rows
    static String ofWrites(Opened opened, long rate) {
        long known = opened.source().extent().rows();
        long rows = known > 0 ? known : MILLION;
        long few = rows * FEW_GROUPS / 100;
        long many = rows * MANY_GROUPS / 100;
        return (known > 0 ? "Writes " : "Writes, for each million rows, ") + Words.count(few) + " to "
                + Words.count(many) + " units ($" + price(WRITE_PRICE, few) + " to $" + price(WRITE_PRICE, many)
                + " on demand), " + Words.count(rows * ROWS_UNITS) + " of them in the table of rows: "
                + time(rows * ROWS_UNITS, rate) + " at " + Words.count(rate)
                + " units a second (--rate). A new table takes 4,000; at the default quota it takes 40,000: "
                + time(rows * ROWS_UNITS, QUOTA) + ".";
    }

    /// The rows a second that the table of rows takes at `rate` write units a second; at least 1.
    static long rowsASecond(long rate) {
        return Math.max(1, rate / ROWS_UNITS);
    }

    private static String time(long units, long rate) {
        return Words.duration(Duration.ofSeconds(Math.ceilDiv(units, rate)));
    }

    private static String price(BigDecimal ofMillion, long units) {
        return ofMillion
                .multiply(BigDecimal.valueOf(units))
                .divide(BigDecimal.valueOf(MILLION), 2, RoundingMode.UP)
                .toPlainString();
    }
}
