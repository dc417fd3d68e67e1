package dev.onefold.server.flow;

import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/// Keeps an answer until it is whole, up to a size; one that is larger flows through. An answer that flows holds one of
/// the engine's places for answers as long as its reader takes, so few may flow at a time. Not thread-safe.
public final class Spool extends OutputStream {
    static final int KEPT_BYTES_MAX = 1 << 20;

    /// Answers that flow at a time, of one memory. The two memories of a service together are fewer than the 16 places
    /// of an engine, so that an answer that is kept finds one.
    static final int FLOWS_MAX = 6;

    private static final int BUFFER_BYTES = 32 << 10;

    private final Memory memory;
    private final Target target;
    private boolean isKeeping;
    private boolean isFlowing; // Before it was whole.
    private boolean isWhole;
    private boolean isReleased;
    private @Nullable ByteArrayOutputStream kept; // Until the answer flows.
    private @Nullable OutputStream out; // From then on.

    /// Where the answer goes.
    public interface Target {
        OutputStream open() throws IOException;
    }

    /// Memory for all answers that are kept at a time. Any thread may call.
    public static final class Memory {
        private final Semaphore answers;
        private final Semaphore flows = new Semaphore(FLOWS_MAX);

        /// @param bytes for all of them; one is kept in any case
        public Memory(long bytes) {
            answers = new Semaphore(Math.toIntExact(Math.max(1, bytes / KEPT_BYTES_MAX)));
        }
    }

    /// Too many answers flow already: nothing of this one was sent.
    public static final class Crowded extends IOException {
        private static final long serialVersionUID = 1;

        Crowded() {
            super("Too many large answers are being sent");
        }
    }

    public Spool(Memory memory, Target target) {
        this(memory, target, memory.answers.tryAcquire());
    }

    private Spool(Memory memory, Target target, boolean isKeeping) {
        this.memory = memory;
        this.target = target;
        this.isKeeping = isKeeping;
        kept = new ByteArrayOutputStream();
    }

    /// One that keeps an answer; empty if there is no memory for it now.
    public static Optional<Spool> keeping(Memory memory, Target target) {
        return memory.answers.tryAcquire() ? Optional.of(new Spool(memory, target, true)) : Optional.empty();
    }

    @Override
    public void write(int octet) throws IOException {
        write(new byte[] {(byte) octet}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        ByteArrayOutputStream whole = kept;
        if (whole != null && whole.size() + length <= (isKeeping ? KEPT_BYTES_MAX : 0)) {
            whole.write(bytes, offset, length);
            return;
        }
        flow().write(bytes, offset, length);
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
            ByteArrayOutputStream whole = kept;
            kept = null;
            if (whole != null) {
                whole.writeTo(flowing);
            }
            releaseKept();
        }
        return flowing;
    }

    /// Length of an answer that is kept; empty if it flows.
    public OptionalLong length() {
        return kept == null ? OptionalLong.empty() : OptionalLong.of(kept.size());
    }

    /// Sends what is left of the answer, and ends it.
    @Override
    public void close() throws IOException {
        isWhole = true;
        flow().close();
    }

    /// May be called twice.
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

    /// An answer that flows keeps nothing, however slowly it does.
    private void releaseKept() {
        if (isKeeping) {
            isKeeping = false;
            memory.answers.release();
        }
    }
}
