package dev.onefold.cli.data;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// What two processes say to each other over the socket in a data directory, frame by frame. First the visitor sends
/// COMMAND; then the owner sends OUT, ERR and WANT as the command runs, each WANT answered by one GIVE, and EXIT
/// last.
///
///     frame   kind 1, length 4, payload
///     COMMAND JSON of a [Request]
///     OUT     bytes of standard output
///     ERR     bytes of standard error
///     WANT    nothing: the command reads its standard input
///     GIVE    bytes of standard input; none at its end
///     EXIT    exit code 1
///
/// Not thread-safe.
final class Frames implements AutoCloseable {
    static final byte COMMAND = 'C';
    static final byte OUT = 'O';
    static final byte ERR = 'E';
    static final byte WANT = 'W';
    static final byte GIVE = 'G';
    static final byte EXIT = 'X';

    static final int PAYLOAD_BYTES_MAX = 1 << 20;

    private final SocketChannel channel;
    private final DataInputStream in;
    private final DataOutputStream out;
    private volatile long waitingSince = System.nanoTime(); // 0 while this side works.
    private volatile Duration patience = ChronoUnit.FOREVER.getDuration();

    /// @param payload as said for each kind
    record Frame(byte kind, byte[] payload) {}

    Frames(SocketChannel channel) {
        this.channel = channel;
        in = new DataInputStream(new BufferedInputStream(Channels.newInputStream(channel)));
        out = new DataOutputStream(Channels.newOutputStream(channel));
    }

    SocketChannel channel() {
        return channel;
    }

    /// For how long this side has waited for the other one to send or to receive, in nanoseconds.
    long waitedNanos() {
        long since = waitingSince;
        return since == 0 ? 0 : System.nanoTime() - since;
    }

    /// Sets for how long this side waits for the other one to send or to receive.
    void patience(Duration most) {
        patience = most;
    }

    boolean isOverdue() {
        return Duration.ofNanos(waitedNanos()).compareTo(patience) > 0;
    }

    void send(byte kind, byte[] bytes, int from, int to) throws IOException {
        int at = from;
        waitingSince = System.nanoTime();
        do {
            int length = Math.min(to - at, PAYLOAD_BYTES_MAX);
            byte[] frame = new byte[5 + length];
            frame[0] = kind;
            for (int i = 0; i < 4; i++) {
                frame[1 + i] = (byte) (length >>> 24 - 8 * i);
            }
            System.arraycopy(bytes, at, frame, 5, length);
            out.write(frame); // In one piece, as each write is a call of the system.
            at += length;
        } while (at < to);
        waitingSince = 0;
    }

    void send(byte kind, byte... payload) throws IOException {
        send(kind, payload, 0, payload.length);
    }

    /// The next frame; `null` when the other side is gone.
    @Nullable
    Frame read() throws IOException {
        waitingSince = System.nanoTime();
        int kind = in.read();
        if (kind < 0) {
            return null;
        }
        int length = in.readInt();
        if (length < 0 || length > PAYLOAD_BYTES_MAX) {
            throw new IOException("A frame of " + length + " bytes came through the engine's socket; at most "
                    + PAYLOAD_BYTES_MAX + " are possible");
        }
        byte[] payload = new byte[length];
        in.readFully(payload);
        waitingSince = 0;
        return new Frame((byte) kind, payload);
    }

    /// What is written here is sent as frames of this kind.
    OutputStream stream(byte kind) {
        return new OutputStream() {
            @Override
            public void write(int one) throws IOException {
                send(kind, (byte) one);
            }

            @Override
            public void write(byte[] bytes, int offset, int length) throws IOException {
                if (length > 0) {
                    send(kind, bytes, offset, offset + length);
                }
            }
        };
    }

    /// The standard input of the other side, asked for when it is read.
    InputStream input() {
        return new InputStream() {
            private byte[] given = new byte[0];
            private int next;
            private boolean ended;

            @Override
            public int read() throws IOException {
                byte[] one = new byte[1];
                return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
            }

            @Override
            public int read(byte[] target, int offset, int length) throws IOException {
                if (length == 0) {
                    return 0;
                }
                if (next == given.length && !ended) {
                    send(WANT);
                    Frame frame = Frames.this.read();
                    given = frame == null || frame.kind() != GIVE ? new byte[0] : frame.payload();
                    ended = given.length == 0;
                    next = 0;
                }
                int copied = Math.min(length, given.length - next);
                System.arraycopy(given, next, target, offset, copied);
                next += copied;
                return ended ? -1 : copied;
            }
        };
    }

    /// Hands standard input on, as it was wanted: whatever there is at once.
    void give(InputStream from) throws IOException {
        byte[] bytes = new byte[1 << 16];
        int read = from.read(bytes);
        send(GIVE, Arrays.copyOf(bytes, Math.max(read, 0)));
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
