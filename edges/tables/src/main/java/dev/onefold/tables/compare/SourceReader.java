package dev.onefold.tables.compare;

import dev.onefold.core.event.Decoder;
import dev.onefold.core.event.Event;
import dev.onefold.core.event.Malformed;
import dev.onefold.core.event.RecordEnds;
import dev.onefold.core.event.Version;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.seal.RecordLine;
import dev.onefold.core.state.Contribution;
import dev.onefold.core.state.RowMark;
import dev.onefold.tables.Rate;
import dev.onefold.tables.RowForm;
import dev.onefold.tables.RowSource;
import java.io.IOException;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// Reads a source from its beginning to its end, each row through the pipeline's own decoder. One thread runs
/// it.
final class SourceReader {
    private final Pipeline pipeline;
    private final Way way;
    private final boolean hasHeader;
    private final RecordEnds ends;
    private final ConcurrentLinkedQueue<Decoder> decoders = new ConcurrentLinkedQueue<>();
    private final ReentrantLock lock = new ReentrantLock();
    private long rows;
    private long withoutKey;
    private long bytes;
    private boolean headerRead;
    private @Nullable String wrongHeader;

    /// @param rate of rows
    record Way(RowSource source, RowForm form, Rate rate) {}

    SourceReader(Pipeline pipeline, Way way) {
        this.pipeline = pipeline;
        this.way = way;
        hasHeader = Decoder.wantsHeader(pipeline);
        ends = RecordEnds.of(pipeline);
    }

    /// Takes rows one by one.
    interface Taker {
        /// @param read rows so far
        /// @return whether to continue
        boolean take(SourceRow row, long read);
    }

    /// Reads it.
    ///
    /// @throws IOException if it cannot be read
    void read(Taker taker, Progress progress) throws IOException, InterruptedException {
        rows = 0;
        withoutKey = 0;
        bytes = 0;
        headerRead = false;
        way.source().read(Map.of(), some -> {
            way.rate().spend(some.count());
            return take(some, taker, progress);
        });
        if (wrongHeader != null) {
            throw new IOException(wrongHeader);
        }
    }

    /// Receives the progress of a reading.
    interface Progress {
        /// @param done of the source's extent, since the last call
        /// @param rows of the source, since the last call
        /// @return whether to continue
        boolean read(long done, long rows);
    }

    /// Rows that were read.
    long rows() {
        return rows;
    }

    /// Bytes of a row on average.
    long rowBytes() {
        return bytes / Math.max(1, rows);
    }

    /// Rows whose keys cannot be read.
    long withoutKey() {
        return withoutKey;
    }

    private boolean take(RowSource.Rows some, Taker taker, Progress progress) {
        Decoder decoder = decoders.poll();
        if (decoder == null) {
            decoder = new Decoder(pipeline);
        }
        byte[] lines = some.lines();
        int count = 0;
        for (int from = 0, next; from < some.length(); from = next) {
            next = ends.endAnyhow(lines, from, some.length());
            byte[] row = Arrays.copyOfRange(lines, from, RecordLine.end(lines, from, next));
            if (hasHeader && !headerRead) {
                headerRead = true;
                Malformed malformed = decoder.header(Arrays.copyOf(row, row.length + Decoder.PADDING), 0, row.length);
                if (malformed != null) {
                    wrongHeader = malformed.message();
                    return false;
                }
                continue;
            }
            if (row.length > 0) {
                count++;
                if (!take(decoder, row, taker)) {
                    return false;
                }
            }
        }
        decoders.add(decoder);
        lock.lock();
        try {
            return progress.read(some.done(), count);
        } finally {
            lock.unlock();
        }
    }

    private boolean take(Decoder decoder, byte[] row, Taker taker) {
        SourceRow read = decoded(decoder, row);
        if (decoder.event().silence != null) {
            return true; // A header again, comments, or a change of another table.
        }
        lock.lock();
        try {
            rows++;
            bytes += row.length;
            if (read == null) {
                withoutKey++;
                return true;
            }
            return taker.take(read, rows);
        } finally {
            lock.unlock();
        }
    }

    /// The row; `null` if its key cannot be read.
    private @Nullable SourceRow decoded(Decoder decoder, byte[] row) {
        byte[] record = way.form().record(row, Decoder.PADDING);
        Malformed malformed = decoder.decode(way.form().kind(), record, 0, record.length - Decoder.PADDING);
        Event event = decoder.event();
        Decoder.RecordIdentity identity = event.identity();
        byte[] key = identity.key();
        if (key == null) {
            return null;
        }
        if (malformed != null) {
            return new SourceRow(
                    new RowMark(key, Version.of(pipeline, identity), SourceRow.REFUSED),
                    null,
                    malformed.message(),
                    row);
        }
        Version version = Version.of(pipeline, identity);
        Contribution contribution = Contribution.of(pipeline, event);
        long content = RowMark.content(pipeline, version, contribution);
        return new SourceRow(new RowMark(key, version, content), contribution, "", row);
    }
}
