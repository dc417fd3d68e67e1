package dev.onefold.embedded.fold;

import dev.onefold.embedded.rows.RowBatch;
import dev.onefold.embedded.source.LineReader;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/// Some whole lines of one source on their way through a round: the bytes, then what they decode to, per shard.
/// Used again round after round.
public final class Chunk {
    public byte[] bytes = new byte[0];
    public int length;
    public Sources.Source source = Sources.NOWHERE;
    /// Offset of the first byte in the source.
    public long offset;
    /// Where the lines that are records begin: behind a header.
    public int from;
    /// Lines, a header included.
    public long records;
    /// What the source's digest is behind these lines.
    @Nullable
    public MessageDigest digest;
    /// A line over the limit that stands in place of lines, or -1.
    public long oversized = -1;

    public byte[] oversizedHash = new byte[0];
    /// Bytes of the source that this is.
    public long consumed;
    /// Lines of the source in front of these; for a redriven record, of its place. Known when the round has
    /// ended.
    public long recordsBefore;
    /// Whether the source's progress moves with it; not for a redriven record.
    public boolean progresses;
    /// The dead letter that is redriven, or 0: it keeps its id if it is rejected again.
    public long letter;
    /// Whether the dead letter that is redriven is one still, when the round has ended.
    public boolean letterStays;
    public long timeMsMax = Long.MIN_VALUE;
    /// When the lines arrived, which decides whether a time is in the future; [Long#MIN_VALUE] if they arrive now.
    public long arrivedMs = Long.MIN_VALUE;
    public final RowBatch[] rows;
    /// Where the lines begin that are no events. A bit each: a chunk may hold a hundred thousand of them, and why each
    /// is none is found out when its letter is written.
    public final BitSet rejectedAt = new BitSet();

    public int rejectedCount;
    /// Whether the lines are decoded. They are not if the letters of the chunks before are enough for a round.
    boolean isDecoded;
    /// Bytes of the lines that are no events.
    public long rejectedBytes;
    /// With a horizon: the watermark that each rejected line met, in their order.
    public long[] watermarksMs = {};

    public Chunk(int shards) {
        rows = new RowBatch[shards];
        Arrays.setAll(rows, _ -> new RowBatch());
    }

    public void set(LineReader.Lines lines, Sources.Source linesSource, long linesOffset) {
        set(lines.bytes(), lines.length(), linesSource, linesOffset);
        oversized = lines.oversized();
        oversizedHash = lines.oversizedHash();
        consumed = lines.consumed();
        digest = lines.digest();
    }

    public void set(byte[] lines, int linesLength, Sources.Source linesSource, long linesOffset) {
        bytes = lines;
        length = linesLength;
        source = linesSource;
        offset = linesOffset;
        from = 0;
        digest = null;
        oversized = -1;
        consumed = linesLength;
        progresses = true;
        letter = 0;
        letterStays = false;
        arrivedMs = Long.MIN_VALUE;
        clear();
    }

    /// Forgets what the lines were decoded to: they are decoded again in a later round.
    public void clear() {
        records = from > 0 ? 1 : 0; // What is in front of the records is a header.
        timeMsMax = Long.MIN_VALUE;
        isDecoded = false;
        rejectedAt.clear();
        rejectedCount = 0;
        rejectedBytes = 0;
        for (RowBatch batch : rows) {
            batch.clear();
        }
    }

    /// Notes a line that is no event.
    void reject(int lineFrom, int lineTo) {
        rejectedAt.set(lineFrom);
        rejectedCount++;
        rejectedBytes += lineTo - lineFrom;
    }

    /// Notes the watermark that the next rejected line has met.
    void met(long watermarkMs) {
        if (rejectedCount == watermarksMs.length) {
            watermarksMs = Arrays.copyOf(watermarksMs, Math.max(16, 2 * rejectedCount));
        }
        watermarksMs[rejectedCount] = watermarkMs;
    }
}
