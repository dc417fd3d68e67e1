package dev.onefold.cli.trial;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/// Records as an unreliable producer sends them: some twice, some late, and between them some that are no
/// event. Equal arguments give equal records. Not thread-safe.
final class FaultyLines implements Lines {
    /// A record comes again, or late, among so many that follow it.
    private static final int AROUND = 1_000;

    private static final int MILLION = 1_000_000;

    private final Lines lines;
    private final Shares shares;
    private final Random random;
    private final List<byte[]> recent = new ArrayList<>();
    private final PriorityQueue<Held> held =
            new PriorityQueue<>(Comparator.comparingLong(Held::due).thenComparingLong(Held::number));
    private long given;
    private long read;

    /// How many of a million records.
    ///
    /// @param duplicates one of the last 1,000 again
    /// @param late up to 1,000 records later
    /// @param poison a text that is no event
    record Shares(int duplicates, int late, int poison) {}

    private record Held(long due, long number, byte[] record) {}

    FaultyLines(Lines lines, Shares shares, long seed) {
        this.lines = lines;
        this.shares = shares;
        random = new Random(seed);
    }

    @Override
    public byte @Nullable [] next() throws IOException {
        given++;
        if (falls(shares.poison)) {
            return ("onefold trial: no event " + given).getBytes(StandardCharsets.UTF_8);
        }
        if (!recent.isEmpty() && falls(shares.duplicates)) {
            return recent.get(random.nextInt(recent.size()));
        }
        byte[] record = inTime();
        if (record == null) {
            return null;
        }
        if (recent.size() < AROUND) {
            recent.add(record);
        } else {
            recent.set((int) (given % AROUND), record);
        }
        return record;
    }

    private byte @Nullable [] inTime() throws IOException {
        for (Held due = held.peek(); due == null || due.due > given; due = held.peek()) {
            byte[] record = lines.next();
            if (record == null) {
                break;
            }
            read++;
            if (!falls(shares.late)) {
                return record;
            }
            held.add(new Held(given + 1 + random.nextInt(AROUND), read, record));
        }
        Held late = held.poll();
        return late == null ? null : late.record;
    }

    private boolean falls(int ofMillion) {
        return ofMillion > 0 && random.nextInt(MILLION) < ofMillion;
    }

    @Override
    public void close() throws IOException {
        lines.close();
    }
}
