package dev.onefold.server.flow;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/// Keeps an answer until it is whole, as far as there is memory; a larger one flows through. An answer that
/// flows holds one of the engine's places for answers as long as its reader takes, so few may flow at a time.
/// Written by one thread; any number of threads may read a kept answer once it is whole.
public final class Spool extends OutputStream {
    /// Memory is taken in pieces of this many bytes.
    static final int PIECE_BYTES = 64 << 10;

    /// A larger answer takes from another memory, so that large ones keep nobody from a small one.
    static final int SMALL_BYTES_MAX = 1 << 20;

    /// Answers that flow at a time, of one memory. The two memories of a service together are fewer than the 16 places
    /// of an engine, so that an answer that is kept finds one.
    static final int FLOWS_MAX = 6;

    private static final int PIECE_BYTES_MIN = 512;
    private static final int BUFFER_BYTES = 32 << 10;

    private final Memory memory;
    private final Target target;
    private final List<byte[]> pieces = new ArrayList<>(); // All but the last one are full.
    private int lastLength;
    private @Nullable Semaphore pool; // The pieces are of this pool; `null` while there are none.
    private boolean isFlowing; // Before it was whole.
    private boolean isWhole;
    private boolean isReleased;
    private @Nullable OutputStream out; // From when it flows.

    /// The receiver of the answer.
    public interface Target {
        OutputStream open() throws IOException;
    }

    /// Memory for all answers that are kept at a time. Any thread may call.
    public static final class Memory {
        private final Semaphore small;
        private final Semaphore large;
        private final Semaphore flows = new Semaphore(FLOWS_MAX);
        private final int piecesMax; // Of one answer.

        /// @param bytes half for small answers, of which one is kept in any case, and half for large ones, of which
        ///     one takes a quarter at most
        public Memory(long bytes) {
            int half = Math.toIntExact(bytes / 2 / PIECE_BYTES);
            int smallPieces = SMALL_BYTES_MAX / PIECE_BYTES;
            small = new Semaphore(Math.max(smallPieces, half));
            large = new Semaphore(half);
            piecesMax = Math.max(smallPieces, half / 4);
        }
    }

    /// Too many answers flow already, or wait: nothing of this one was sent.
    public static final class Crowded extends IOException {
        private static final long serialVersionUID = 1;

        public Crowded() {
            super("Too many large answers are being sent");
        }
    }

    public Spool(Memory memory, Target target) {
        this.memory = memory;
        this.target = target;
    }

    @Override
    public void write(int octet) throws IOException {
        write(new byte[] {(byte) octet}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        int done = 0;
        while (done < length && out == null && hasRoom()) {
            byte[] last = pieces.getLast();
            int some = Math.min(length - done, last.length - lastLength);
            System.arraycopy(bytes, offset + done, last, lastLength, some);
            lastLength += some;
            done += some;
        }
        if (done < length) {
            flow().write(bytes, offset + done, length - done);
        }
    }

    /// Whether the last piece has room, after it has grown or another one has come.
    private boolean hasRoom() {
        int last = pieces.size() - 1;
        if (last >= 0 && lastLength < pieces.get(last).length) {
            return true;
        }
        if (last == 0 && lastLength < PIECE_BYTES) {
            pieces.set(0, Arrays.copyOf(pieces.getFirst(), 2 * lastLength)); // Most answers are short.
            return true;
        }
        if (!takesPiece()) {
            return false;
        }
        pieces.add(new byte[last < 0 ? PIECE_BYTES_MIN : PIECE_BYTES]);
        lastLength = 0;
        return true;
    }

    private boolean takesPiece() {
        int more = pieces.size() + 1;
        if (more > memory.piecesMax) {
            return false;
        }
        Semaphore from = more * PIECE_BYTES > SMALL_BYTES_MAX ? memory.large : memory.small;
        if (!from.tryAcquire(from.equals(pool) ? 1 : more)) {
            return false;
        }
        if (pool != null && !from.equals(pool)) {
            pool.release(pieces.size());
        }
        pool = from;
        return true;
    }

    private OutputStream flow() throws IOException {
        OutputStream flowing = out;
        if (flowing == null) {
            if (!isWhole) {
                if (!memory.flows.tryAcquire()) {
                    throw new Crowded();
                }
                isFlowing = true;
            }
            flowing = new BufferedOutputStream(target.open(), BUFFER_BYTES);
            out = flowing;
            writeTo(flowing);
            releaseKept(); // An answer that flows keeps nothing, however slowly it does.
        }
        return flowing;
    }

    /// Whether it is not kept, but sent as it is made.
    public boolean isFlowing() {
        return out != null;
    }

    /// Length of an answer that is kept; empty if it flows.
    public OptionalLong length() {
        return out == null
                ? OptionalLong.of(pieces.isEmpty() ? 0 : (pieces.size() - 1L) * PIECE_BYTES + lastLength)
                : OptionalLong.empty();
    }

    /// Writes the kept answer.
    public void writeTo(OutputStream reader) throws IOException {
        for (int i = 0; i < pieces.size(); i++) {
            reader.write(pieces.get(i), 0, i < pieces.size() - 1 ? PIECE_BYTES : lastLength);
        }
    }

    /// Sends the rest of the answer, and ends it.
    @Override
    public void close() throws IOException {
        isWhole = true;
        flow().close();
    }

    /// Releases the memory. May be called twice.
    public void release() {
        if (isReleased) {
            return;
        }
        isReleased = true;
        releaseKept();
        if (isFlowing) {
            memory.flows.release();
        }
    }

    private void releaseKept() {
        if (pool != null) {
            pool.release(pieces.size());
            pool = null;
        }
        pieces.clear();
    }
}
