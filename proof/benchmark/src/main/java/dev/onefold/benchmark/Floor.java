package dev.onefold.benchmark;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

/// The floor: what the benchmark's work costs with nothing of what makes it safe. Two threads read the file, block
/// by block, pick the needed fields out of each message at the places where the generator writes them, append the
/// raw bytes to a log that is forced every 10,000 messages, and keep the highest version of each trade and the sums
/// in arrays of longs. No checks, no recovery, one fixed message.
final class Floor {
    private static final int THREADS = 2;
    private static final int BLOCK_BYTES = 1 << 20;
    private static final int FORCE_EVERY = 10_000;
    private static final int BATCH_LONGS = 4 * 512;
    static final int LEAVES = 12;

    private final Path input;
    private final Path log;
    private final long size;
    private final Table[] tables = new Table[THREADS];
    private final List<BlockingQueue<long[]>> inboxes = new ArrayList<>();

    Floor(Path input, Path log) throws IOException {
        this.input = input;
        this.log = log;
        size = Files.size(input);
        for (int i = 0; i < THREADS; i++) {
            tables[i] = new Table();
            inboxes.add(new ArrayBlockingQueue<>(64));
        }
    }

    /// Rows of four longs (key hi, key lo, cents, version << 8 | leaf + 1) in open addressing, and sums per leaf.
    private static final class Table {
        long[] rows = new long[4 << 16];
        int count;
        final long[] sums = new long[LEAVES];
        final long[] counts = new long[LEAVES];

        void put(long hi, long lo, long cents, long versionAndLeaf) {
            int mask = rows.length / 4 - 1;
            int slot = (int) (hi * 0x9e3779b97f4a7c15L >>> 32 ^ lo) & mask;
            while (rows[slot * 4 + 3] != 0 && (rows[slot * 4] != hi || rows[slot * 4 + 1] != lo)) {
                slot = slot + 1 & mask;
            }
            int at = slot * 4;
            long old = rows[at + 3];
            if (old != 0 && old >>> 8 >= versionAndLeaf >>> 8) {
                return;
            }
            if (old != 0) {
                int leaf = (int) (old & 0xff) - 1;
                sums[leaf] -= rows[at + 2];
                counts[leaf]--;
            }
            int leaf = (int) (versionAndLeaf & 0xff) - 1;
            sums[leaf] += cents;
            counts[leaf]++;
            rows[at] = hi;
            rows[at + 1] = lo;
            rows[at + 2] = cents;
            rows[at + 3] = versionAndLeaf;
            if (old == 0 && ++count > rows.length / 4 * 6 / 10) {
                grow();
            }
        }

        private void grow() {
            long[] old = rows;
            rows = new long[old.length * 2];
            int mask = rows.length / 4 - 1;
            for (int i = 0; i < old.length; i += 4) {
                if (old[i + 3] != 0) {
                    int slot = (int) (old[i] * 0x9e3779b97f4a7c15L >>> 32 ^ old[i + 1]) & mask;
                    while (rows[slot * 4 + 3] != 0) {
                        slot = slot + 1 & mask;
                    }
                    System.arraycopy(old, i, rows, slot * 4, 4);
                }
            }
        }
    }

    /// Runs it; the counts of trades and sums in cents per leaf, and how many messages there were.
    Result run() throws InterruptedException {
        long[] messages = new long[THREADS];
        List<Throwable> failures = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            int me = i;
            threads.add(Thread.ofPlatform().start(() -> {
                try {
                    messages[me] = work(me);
                } catch (IOException | InterruptedException | RuntimeException e) {
                    synchronized (failures) {
                        failures.add(e);
                    }
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        if (!failures.isEmpty()) {
            throw new IllegalStateException("The floor failed", failures.getFirst());
        }
        Result result = new Result(Arrays.stream(messages).sum(), new long[LEAVES], new long[LEAVES]);
        for (Table table : tables) {
            for (int leaf = 0; leaf < LEAVES; leaf++) {
                result.sums[leaf] += table.sums[leaf];
                result.counts[leaf] += table.counts[leaf];
            }
        }
        return result;
    }

    /// What came out.
    record Result(long messages, long[] sums, long[] counts) {}

    private final class Worker {
        final int me;
        final byte[] bytes = new byte[BLOCK_BYTES + 4_096];
        final ByteBuffer direct = ByteBuffer.allocateDirect(BLOCK_BYTES + 4_096);
        long[] outgoing = new long[BATCH_LONGS];
        int outgoingLength;
        boolean otherEnded;
        long hi;
        long lo;
        long cents;
        long versionAndLeaf;

        Worker(int me) {
            this.me = me;
        }

        void route() {
            if ((lo >>> 40 & 1) == me) {
                tables[me].put(hi, lo, cents, versionAndLeaf);
                return;
            }
            outgoing[outgoingLength] = hi;
            outgoing[outgoingLength + 1] = lo;
            outgoing[outgoingLength + 2] = cents;
            outgoing[outgoingLength + 3] = versionAndLeaf;
            outgoingLength += 4;
            if (outgoingLength == outgoing.length) {
                send(outgoing);
                outgoing = new long[BATCH_LONGS];
                outgoingLength = 0;
            }
        }

        void send(long[] batch) {
            while (!inboxes.get(1 - me).offer(batch)) {
                receive();
            }
            receive();
        }

        void receive() {
            for (long[] batch = inboxes.get(me).poll();
                    batch != null;
                    batch = inboxes.get(me).poll()) {
                take(batch);
            }
        }

        void take(long[] batch) {
            otherEnded |= batch.length == 0;
            for (int i = 0; i < batch.length && batch[i + 3] != 0; i += 4) {
                tables[me].put(batch[i], batch[i + 1], batch[i + 2], batch[i + 3]);
            }
        }

        void finish() throws InterruptedException {
            send(outgoing);
            send(new long[0]);
            while (!otherEnded) {
                take(inboxes.get(me).take());
            }
        }

        int parse(int from) {
            int at = from + 12; // {"TradeID":"
            hi = hex(at, 8) << 32 | hex(at + 9, 4) << 16 | hex(at + 14, 4);
            lo = hex(at + 19, 4) << 48 | hex(at + 24, 12);
            at += 36 + 10; // ","Value":
            long value = 0;
            for (; bytes[at] != ','; at++) {
                value = bytes[at] == '.' ? value : value * 10 + bytes[at] - '0';
            }
            cents = value;
            at += 11; // ,"Version":
            long version = 0;
            for (; bytes[at] != ','; at++) {
                version = version * 10 + bytes[at] - '0';
            }
            while (bytes[at] != '{') {
                at++;
            }
            at += 13; // {"RiskType":"
            int leaf = bytes[at] == 'P' ? 6 : 0;
            while (bytes[at] != ':') {
                at++;
            }
            leaf += bytes[at + 2] == 'E' ? 2 : bytes[at + 3] == 'P' ? 1 : 0;
            at += 2;
            while (bytes[at] != ':') {
                at++;
            }
            leaf += bytes[at + 4] == 'S' ? 3 : 0;
            versionAndLeaf = version << 8 | leaf + 1L;
            while (bytes[at] != '\n') {
                at++;
            }
            return at + 1;
        }

        private long hex(int from, int digits) {
            long value = 0;
            for (int i = from; i < from + digits; i++) {
                int c = bytes[i];
                value = value << 4 | (c <= '9' ? c - '0' : c - 'a' + 10);
            }
            return value;
        }
    }

    private long work(int me) throws IOException, InterruptedException {
        Worker worker = new Worker(me);
        Path file = Path.of(log + "." + me);
        long messages = 0;
        try (FileChannel in = FileChannel.open(input);
                FileChannel out = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            for (long block = me; block * BLOCK_BYTES < size; block += THREADS) {
                long offset = block * BLOCK_BYTES;
                int length = read(in, worker.bytes, Math.max(0, offset - 1));
                int at = 0;
                if (offset > 0) {
                    while (worker.bytes[at++] != '\n') {}
                }
                int end = Math.min(BLOCK_BYTES + (offset > 0 ? 1 : 0), length);
                int logged = at;
                while (at < end) {
                    at = worker.parse(at);
                    worker.route();
                    if (++messages % FORCE_EVERY == 0) {
                        append(out, worker, logged, at);
                        logged = at;
                        out.force(false);
                    }
                }
                append(out, worker, logged, at);
            }
            out.force(false);
            worker.finish();
        } finally {
            Files.deleteIfExists(file);
        }
        return messages;
    }

    private static int read(FileChannel in, byte[] bytes, long offset) throws IOException {
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        long at = offset;
        while (buffer.hasRemaining()) {
            int read = in.read(buffer, at);
            if (read < 0) {
                break;
            }
            at += read;
        }
        return buffer.position();
    }

    private static void append(FileChannel out, Worker worker, int from, int to) throws IOException {
        worker.direct.clear().put(worker.bytes, from, to - from).flip();
        while (worker.direct.hasRemaining()) {
            out.write(worker.direct);
        }
    }
}
