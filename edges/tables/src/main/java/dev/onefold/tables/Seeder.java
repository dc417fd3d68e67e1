package dev.onefold.tables;

import dev.onefold.core.Counts;
import dev.onefold.core.Engine.Appended;
import dev.onefold.core.Sync;
import dev.onefold.core.event.RecordEnds;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Pipeline;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// Brings the rows of a source to an engine: reads and appends at the same time, and notes the progress of
/// each part in the engine. One thread runs it.
public final class Seeder {
    private static final int WAITING_MAX = 6;
    private static final long STOP_POLL_MS = 100;
    private static final long SAVE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final RowSource source;
    private final Sync.Run run;
    private final RowForm form;
    private final RecordEnds ends;
    private final Rate rate;
    private final Intake intake;
    private final Listener listener;
    private final Map<String, String> marks;
    private final BlockingQueue<Optional<RowSource.Rows>> waiting = new ArrayBlockingQueue<>(WAITING_MAX);
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private volatile boolean stopped;
    private long done;
    private long rows;
    private Counts counts = new Counts(0, 0, 0, 0, 0);

    /// @param run notes the progress
    public Seeder(RowSource source, Sync.Run run, Way way, Intake intake, Listener listener) {
        this.source = source;
        this.run = run;
        form = way.form();
        rate = way.rate();
        ends = way.ends();
        this.intake = intake;
        this.listener = listener;
        marks = new HashMap<>(run.marks());
    }

    /// Requires that a row of a table counts once, beside the live record of the same row and at each seeding.
    ///
    /// @throws IllegalArgumentException with the reason if it would not
    public static void requireSeedable(Pipeline pipeline) {
        switch (pipeline.input().identity()) {
            case Identity.Versioned _, Identity.ById _ -> {}
            case Identity.ByPlace _, Identity.ByMessage _ ->
                throw new IllegalArgumentException("Pipeline " + pipeline.name()
                        + " has neither a version nor an id: a row of a table would count beside the live record of the"
                        + " same row, and at each seeding again. Name 'key' and 'version', or 'id', in its input");
        }
        if (pipeline.recordsKnownFor().isPresent()) { // A seeding that goes on reads some rows again, whenever that is.
            throw new IllegalArgumentException("Pipeline " + pipeline.name()
                    + " forgets ids ('forget'): a row of a table would be delivered beside the live record of the same"
                    + " row, and at each seeding again. Seed a pipeline that forgets none, or give the rows to 'onefold"
                    + " run' as a file");
        }
    }

    /// The form of the rows, and their rate.
    ///
    /// @param ends of the rows in lines
    /// @param rate of rows
    public record Way(RowForm form, RecordEnds ends, Rate rate) {}

    /// The receiver of the records.
    @FunctionalInterface
    public interface Intake {
        /// Takes lines. They are durable when it returns.
        Appended append(byte[] lines, int length);
    }

    /// Receives the progress of the seeding.
    public interface Listener {
        /// @param done of the source's extent
        void at(long done, long rows);

        /// Whether to stop.
        boolean stop();
    }

    /// The result of a seeding.
    ///
    /// @param rows number of the rows that were read
    /// @param finished whether all parts are read
    public record Report(long rows, Counts counts, boolean finished) {}

    /// Seeds to the end, or until the listener wants to stop.
    ///
    /// @throws IOException if the source cannot be read; rows that were read before stay
    public Report run() throws IOException, InterruptedException {
        Thread reader = Thread.ofPlatform().name("onefold-seed-reader").daemon().start(this::read);
        try {
            appendAll();
        } finally {
            stopped = true;
            reader.interrupt();
            reader.join();
        }
        boolean finished = !listener.stop() || source.parts().stream().allMatch(this::isRead);
        Throwable failed = failure.get();
        if (failed != null) {
            run.save(marks);
            throw failed instanceof IOException e ? e : new IOException(failed.toString(), failed);
        }
        if (finished) {
            run.finish();
        } else {
            run.save(marks);
        }
        return new Report(rows, counts, finished);
    }

    private boolean isRead(String part) {
        return RowSource.END.equals(marks.get(part));
    }

    private void read() {
        try {
            source.read(Map.copyOf(marks), this::take);
            waiting.put(Optional.empty());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // It is stopped.
        } catch (Throwable e) { // Also an OutOfMemoryError: somebody waits for the end.
            failure.set(e);
            end();
        }
    }

    /// Marks the end of the rows after a failure. The rows that were read before it are still appended.
    private void end() {
        try {
            waiting.put(Optional.empty());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean take(RowSource.Rows read) throws InterruptedException {
        RowSource.Rows rest = form.records(read);
        for (int most = rate.ofSecond(); rest.count() > most && !stopped; ) {
            int end = endOfRow(rest, most);
            put(new RowSource.Rows(rest.part(), rest.lines(), end, most, RowSource.BEGINNING, 0));
            rest = new RowSource.Rows(
                    rest.part(),
                    Arrays.copyOfRange(rest.lines(), end, rest.length()),
                    rest.length() - end,
                    rest.count() - most,
                    rest.mark(),
                    rest.done());
        }
        if (!stopped) {
            put(rest);
        }
        return !stopped;
    }

    private void put(RowSource.Rows some) throws InterruptedException {
        waiting.put(Optional.of(some));
        rate.spend(some.count());
    }

    /// The end of the first `some` rows.
    private int endOfRow(RowSource.Rows rows, int some) {
        int end = 0;
        for (int found = 0; found < some; found++) {
            end = ends.endAnyhow(rows.lines(), end, rows.length());
        }
        return end;
    }

    private void appendAll() throws IOException, InterruptedException {
        long saved = System.nanoTime();
        while (!listener.stop()) {
            Optional<RowSource.Rows> next = waiting.poll(STOP_POLL_MS, TimeUnit.MILLISECONDS);
            if (next == null) {
                continue; // The source needs time.
            }
            if (next.isEmpty()) {
                return;
            }
            RowSource.Rows some = next.get();
            if (some.length() > 0) {
                counts = counts.plus(intake.append(some.lines(), some.length()).counts());
            }
            if (!some.mark().equals(RowSource.BEGINNING)) { // The rows that were read with it are not all appended yet.
                marks.put(some.part(), some.mark());
            }
            rows += some.count();
            done += some.done();
            listener.at(done, rows);
            if (System.nanoTime() - saved > SAVE_NANOS) {
                run.save(marks);
                saved = System.nanoTime();
            }
        }
    }
}
