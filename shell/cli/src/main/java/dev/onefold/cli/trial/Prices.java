package dev.onefold.cli.trial;

import dev.onefold.cli.show.Table;
import dev.onefold.cli.show.Words;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// The cost of a trial at list prices of us-east-1, without free tier. docs/aws-figures.md has the prices, and
/// the origin of the units of a message.
final class Prices {
    private static final BigDecimal WRITE_UNIT = new BigDecimal("0.000000625");
    private static final BigDecimal READ_UNIT = new BigDecimal("0.000000125");
    private static final BigDecimal INVOCATION = new BigDecimal("0.0000002");
    private static final BigDecimal GB_SECOND = new BigDecimal("0.0000133334");
    private static final BigDecimal STREAM_HOUR = new BigDecimal("0.04");
    private static final BigDecimal STREAM_GB = new BigDecimal("0.12"); // 0.08 to put it and 0.04 to read it.
    private static final BigDecimal QUEUE_REQUEST = new BigDecimal("0.0000004"); // Of up to ten messages.
    private static final BigDecimal OBJECT = new BigDecimal("0.000005");
    private static final BigDecimal METRIC_ASKED = new BigDecimal("0.00001");

    /// Of each custom metric and hour: 0.30 a month.
    private static final BigDecimal METRIC_HOUR = new BigDecimal("0.00042");

    private static final int METRICS = 6;
    private static final int SHARDS = 4; // A new stream on demand has so many.
    private static final long RECORD_BYTES = 1_024; // A record is rounded up to as much.
    private static final BigDecimal GB = BigDecimal.valueOf(1L << 30);
    private static final BigDecimal MEMORY_GB =
            new BigDecimal("1769").divide(new BigDecimal("1024"), 6, RoundingMode.UP);
    private static final BigDecimal INVOCATION_SECONDS = new BigDecimal("0.12");
    private static final BigDecimal THOUSAND = BigDecimal.valueOf(1_000);
    private static final BigDecimal CENT = new BigDecimal("0.01");

    /// Totals: a message's write and read units, in hundredths.
    static final Work TOTALS = new Work(
            List.of(new Batch(1_000, 186, 48), new Batch(100, 233, 54), new Batch(10, 550, 83), new Batch(1, 834, 237)),
            0);

    /// A function that writes two rows an event, in-order.
    static final Work FUNCTION = new Work(List.of(new Batch(100, 1_100, 900), new Batch(1, 1_100, 900)), 0);

    /// A batch pipeline.
    static Work batches(int size) {
        return new Work(List.of(new Batch(100, 284, 132), new Batch(1, 600, 300)), size);
    }

    /// What records cost.
    ///
    /// @param batches by the records of an invocation, the most first
    /// @param size records of a batch that is delivered; 0: the pipeline makes none
    record Work(List<Batch> batches, int size) {
        private boolean hasQueue() {
            return size > 0;
        }

        private BigDecimal input(long records, long bytes, Duration time) {
            return hasQueue() ? of(QUEUE_REQUEST, 3 * records / 10 + 1) : stream(bytes, time);
        }

        private BigDecimal deliveries(long records) {
            return hasQueue() ? of(OBJECT, 2 * Math.ceilDiv(records, size)) : BigDecimal.ZERO;
        }
    }

    /// Write and read units of a message in an invocation of so many, in hundredths.
    record Batch(long records, long writeUnits, long readUnits) {}

    private record Line(String what, String count, BigDecimal price) {}

    private Prices() {}

    /// An estimate from above, before anything is made.
    ///
    /// @param time for which the stream is there
    static BigDecimal estimate(Work work, long rate, Duration time, long records) {
        long inBatch = Math.max(1, rate / SHARDS);
        Batch batch = work.batches.stream()
                .filter(each -> each.records <= inBatch)
                .findFirst()
                .orElseThrow();
        long first = Math.ceilDiv(records, Math.min(inBatch, batch.records));
        long invocations = 2 * first; // As many again of the function that follows it.
        return of(WRITE_UNIT, records * batch.writeUnits / 100)
                .add(of(READ_UNIT, records * batch.readUnits / 100))
                .add(of(INVOCATION, invocations))
                .add(of(GB_SECOND.multiply(MEMORY_GB).multiply(INVOCATION_SECONDS), invocations))
                .add(work.deliveries(records))
                .add(work.input(records, records * RECORD_BYTES, time));
    }

    /// The usage of the services and its cost, as the lines of a table.
    static List<String> bill(Work work, Figures.Usage usage, Sink.Sent sent, Duration time, int width) {
        BigDecimal gbSeconds = BigDecimal.valueOf(usage.functionMs())
                .divide(THOUSAND, 3, RoundingMode.UP)
                .multiply(MEMORY_GB);
        long streamBytes =
                sent.records() * Math.max(RECORD_BYTES, Math.ceilDiv(sent.bytes(), Math.max(1, sent.records())));
        List<Line> lines = new ArrayList<>(List.of(
                new Line("write units of tables", Words.count(usage.writeUnits()), of(WRITE_UNIT, usage.writeUnits())),
                new Line("read units of tables", Words.count(usage.readUnits()), of(READ_UNIT, usage.readUnits())),
                new Line(
                        "invocations of functions",
                        Words.count(usage.invocations()),
                        of(INVOCATION, usage.invocations())),
                new Line(
                        "GB-seconds of functions",
                        Words.number(gbSeconds.setScale(0, RoundingMode.UP)),
                        GB_SECOND.multiply(gbSeconds)),
                new Line(
                        "records in the input",
                        Words.count(sent.records()),
                        work.input(sent.records(), streamBytes, time)),
                new Line(
                        "metrics, kept and asked for",
                        Words.count(usage.asked()),
                        of(METRIC_ASKED, usage.asked()).add(of(METRIC_HOUR, METRICS * hours(time))))));
        if (work.hasQueue()) {
            long most = 2 * Math.ceilDiv(sent.records(), work.size);
            lines.add(new Line("objects, at most", Words.count(most), work.deliveries(sent.records())));
        }
        Table table = new Table(List.of("", "counted", "price"));
        lines.forEach(line -> table.add(List.of(line.what, line.count, dollars(line.price))));
        BigDecimal all = lines.stream().map(Line::price).reduce(BigDecimal.ZERO, BigDecimal::add);
        table.add(List.of("all", "", dollars(all)));
        return table.text(width, false).lines().map(String::stripTrailing).toList();
    }

    private static BigDecimal stream(long bytes, Duration time) {
        return of(STREAM_HOUR, hours(time))
                .add(STREAM_GB.multiply(BigDecimal.valueOf(bytes)).divide(GB, 9, RoundingMode.UP));
    }

    /// An hour that has begun is paid.
    private static long hours(Duration time) {
        return Math.max(1, Math.ceilDiv(time.toSeconds(), 3_600));
    }

    private static BigDecimal of(BigDecimal price, long count) {
        return price.multiply(BigDecimal.valueOf(count));
    }

    /// To the cent, rounded up.
    static String dollars(BigDecimal price) {
        BigDecimal rounded = price.setScale(2, RoundingMode.UP);
        return price.signum() > 0 && price.compareTo(CENT) < 0 ? "below $0.01" : "$" + rounded.toPlainString();
    }
}
