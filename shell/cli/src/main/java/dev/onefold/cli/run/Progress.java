package dev.onefold.cli.run;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.show.Words;
import java.io.PrintStream;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import org.jspecify.annotations.Nullable;

/// Shows on standard error how far a piece of work is: a bar on a terminal, now and then a line in a pipe. One
/// thread.
public final class Progress implements AutoCloseable {
    private static final Duration LINE_INTERVAL = Duration.ofSeconds(5);
    private static final int BAR_INTERVAL_MS = 200;
    private static final int BAR_WIDTH_MAX = 100;

    private final PrintStream err;
    private final Mode mode;
    private final String name;
    private final long total;
    private final @Nullable ProgressBar bar;
    private long startNanos;
    private long lineNanos = System.nanoTime();
    private long doneFrom;
    private long recordsFrom = -1;

    /// How progress is shown; the names are those of the option, hence in small letters.
    public enum Mode {
        /// A bar on a terminal, else lines.
        auto,
        bar,
        lines,
        /// For programs: a line of numbers ten times a second.
        ticks,
        none
    }

    /// The unit in which the work is measured.
    public enum Unit {
        BYTES(" MB", 1_000_000),
        RECORDS("k", 1_000);

        private final String name;
        private final long size;

        Unit(String name, long size) {
            this.name = name;
            this.size = size;
        }
    }

    private Progress(Caller caller, Mode mode, String name, Unit unit, long total) {
        err = caller.err();
        this.mode = mode == Mode.auto ? automatic(caller, unit, total) : mode;
        this.name = name;
        this.total = total;
        bar = this.mode != Mode.bar
                ? null
                : new ProgressBarBuilder()
                        .setTaskName(name)
                        .setInitialMax(total)
                        .setUnit(unit.name, unit.size)
                        .setStyle(ProgressBarStyle.ASCII)
                        .setUpdateIntervalMillis(BAR_INTERVAL_MS)
                        .setConsumer(new ConsoleProgressBarConsumer(
                                err, Math.min(caller.screen().width() - 1, BAR_WIDTH_MAX)))
                        .build();
    }

    private static Mode automatic(Caller caller, Unit unit, long total) {
        if (!caller.screen().errIsTerminal() || total == 0) { // A bar needs an end.
            return Mode.lines;
        }
        return total > 0 && total < unit.size ? Mode.none : Mode.bar; // So little is done before a bar could be read.
    }

    /// Begins to show work.
    ///
    /// @param total in the unit; 0 where it is not known
    public static Progress begin(Caller caller, Mode mode, String name, Unit unit, long total) {
        return new Progress(caller, mode, name, unit, total);
    }

    /// Notes how far it is.
    ///
    /// @param done of the total
    /// @param records in all; the rate is that of those that come from now on
    public void at(long done, long records) {
        long now = System.nanoTime();
        if (recordsFrom < 0) {
            recordsFrom = records;
            doneFrom = done;
            startNanos = now;
        }
        Duration elapsed = Duration.ofNanos(now - startNanos);
        switch (mode) {
            case bar -> moveBar(done, records, elapsed);
            case lines -> {
                if (now - lineNanos >= LINE_INTERVAL.toNanos()) {
                    lineNanos = now;
                    err.println(line(done, records, elapsed));
                }
            }
            case ticks -> err.println(done + " " + total + " " + records);
            case none, auto -> {}
        }
    }

    private void moveBar(long done, long records, Duration elapsed) {
        if (bar != null) {
            bar.maxHint(total == 0 ? -1 : Math.max(total, done));
            bar.stepTo(done);
            bar.setExtraMessage(" " + Words.rate(records - recordsFrom, elapsed));
        }
    }

    private String line(long done, long records, Duration elapsed) {
        String rate = Words.rate(records - recordsFrom, elapsed);
        String all = Words.time(Instant.now()) + " " + name + ": " + Words.count(records, "record") + ", " + rate;
        if (total == 0 || done <= doneFrom || elapsed.compareTo(LINE_INTERVAL) < 0) {
            return all; // So short a time says nothing about the rest.
        }
        double part = Math.min(1, (double) done / total);
        Duration left = Duration.ofMillis(elapsed.toMillis() * Math.max(total - done, 0) / (done - doneFrom));
        return String.format(Locale.ROOT, "%s, %.0f %%, %s left", all, 100 * part, Words.duration(left));
    }

    /// The bar is left where it is, and the line ended.
    @Override
    public void close() {
        if (bar != null) {
            bar.close();
        }
    }
}
