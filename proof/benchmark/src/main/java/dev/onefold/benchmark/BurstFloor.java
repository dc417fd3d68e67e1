package dev.onefold.benchmark;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.zip.GZIPOutputStream;

/// What batches of distinct messages cost without any guarantee: one thread reads, takes the id from the place where
/// the generator writes it and keeps the ids in an array of longs; two threads compress and force the files. No checks,
/// no recovery, one fixed message. It shares no code with the engine.
final class BurstFloor {
    private static final int BLOCK_BYTES = 4 << 20;
    private static final int COMPRESSORS = 2;
    private static final int ID_AT = 7;
    private static final int MESSAGE_BYTES_MAX = 330;
    private static final int GZIP_BUFFER_BYTES = 1 << 16;

    private final Path folder;
    private final int size;
    private final BlockingQueue<byte[]> free = new ArrayBlockingQueue<>(COMPRESSORS + 1);
    private final List<Future<?>> files = new ArrayList<>();
    private byte[] batch = new byte[0];
    private int length;
    private int records;

    private long[] ids = new long[2 << 16]; // Pairs; two zeros are a free slot, which no id is.
    private int mask = (1 << 16) - 1;
    private int count;

    BurstFloor(Path folder, int size) {
        this.folder = folder;
        this.size = size;
    }

    /// Makes the files; how many messages were read.
    long run(Path input) throws IOException, InterruptedException, ExecutionException {
        for (int i = 0; i <= COMPRESSORS; i++) {
            free.add(new byte[size * MESSAGE_BYTES_MAX]);
        }
        batch = free.take();
        long messages = 0;
        try (InputStream in = Files.newInputStream(input);
                ExecutorService compressors = Executors.newFixedThreadPool(COMPRESSORS)) {
            byte[] block = new byte[BLOCK_BYTES];
            int filled = 0;
            for (int read = in.read(block); read > 0; read = in.read(block, filled, block.length - filled)) {
                filled += read;
                int at = 0;
                for (int end = lineEnd(block, 0, filled); end > 0; end = lineEnd(block, at, filled)) {
                    messages++;
                    if (add(hex(block, at + ID_AT, 0), hex(block, at + ID_AT, 19))) {
                        member(compressors, block, at, end);
                    }
                    at = end;
                }
                System.arraycopy(block, at, block, 0, filled - at);
                filled -= at;
            }
            if (records > 0) {
                end(compressors);
            }
            for (Future<?> file : files) {
                file.get();
            }
        }
        return messages;
    }

    /// Behind the line's end; 0 if it is not in these bytes.
    private static int lineEnd(byte[] block, int from, int to) {
        for (int i = from; i < to; i++) {
            if (block[i] == '\n') {
                return i + 1;
            }
        }
        return 0;
    }

    /// Half of a UUID: 16 digits from a place in it, without the hyphens.
    private static long hex(byte[] block, int id, int from) {
        long bits = 0;
        int digits = 0;
        for (int i = id + from; digits < 16; i++) {
            int digit = block[i];
            if (digit != '-') {
                bits = bits << 4 | (digit <= '9' ? digit - '0' : digit - 'a' + 10);
                digits++;
            }
        }
        return bits;
    }

    private boolean add(long high, long low) {
        for (int slot = (int) (low ^ low >>> 32) & mask; ; slot = slot + 1 & mask) {
            int at = slot << 1;
            if (ids[at] == 0 && ids[at + 1] == 0) {
                ids[at] = high;
                ids[at + 1] = low;
                if (++count > mask * 0.6) {
                    grow();
                }
                return true;
            }
            if (ids[at + 1] == low && ids[at] == high) {
                return false;
            }
        }
    }

    private void grow() {
        long[] old = ids;
        mask = mask * 2 + 1;
        ids = new long[(mask + 1) << 1];
        count = 0;
        for (int i = 0; i < old.length; i += 2) {
            if (old[i] != 0 || old[i + 1] != 0) {
                add(old[i], old[i + 1]);
            }
        }
    }

    private void member(ExecutorService compressors, byte[] block, int from, int to) throws InterruptedException {
        System.arraycopy(block, from, batch, length, to - from);
        length += to - from;
        if (++records == size) {
            end(compressors);
        }
    }

    private void end(ExecutorService compressors) throws InterruptedException {
        byte[] content = batch;
        int bytes = length;
        Path file = folder.resolve("burst-%06d.ndjson.gz".formatted(files.size() + 1));
        files.add(compressors.submit(() -> {
            try (FileOutputStream out = new FileOutputStream(file.toFile())) {
                GZIPOutputStream gzip = new GZIPOutputStream(out, GZIP_BUFFER_BYTES);
                gzip.write(content, 0, bytes);
                gzip.finish();
                out.getFD().sync();
            }
            return free.add(content);
        }));
        length = 0;
        records = 0;
        batch = free.take();
    }
}
