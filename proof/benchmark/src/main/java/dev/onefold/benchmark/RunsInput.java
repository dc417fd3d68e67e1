package dev.onefold.benchmark;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.UUID;

/// Messages of runners' watches, about 152 bytes each: a tenth as many runs as messages, picked evenly, so that
/// there is no locality to profit from; 5 % exact duplicates of one of the last 1,000 messages, 5 % that come
/// late. Beside the file it writes what the clubs come to in each order. Equal arguments write equal files.
final class RunsInput {
    private static final int CLUBS = 100;
    private static final int RECENT = 1_000;
    private static final int LATE_MAX = 4_096;
    private static final long SEED = 20_251_121;
    private static final long START_MILLIS = 1_763_683_200_000L;

    private final SplittableRandom random = new SplittableRandom(SEED);
    private final Message[] recent = new Message[RECENT];
    private final List<Message> late = new ArrayList<>();
    private final int[] sequence; // Of each run: how far it is ...
    private final int[] metres;
    private final long[] millis;
    private final long[] seen; // A bit for each sequence that has come ...
    private final long[] in; // ... and for each that is not too late where one newer message is kept.
    private final Fold latest;
    private final Fold inOrder;
    private final Fold keepsOne;
    private final Fold every;

    private record Message(int run, int sequence, int metres, long millis) {}

    /// What a run comes to under one rule.
    private static final class Fold {
        final int[] low;
        final int[] high;
        final int[] metres;
        final long[] first;
        final long[] last;

        Fold(int runs) {
            low = new int[runs];
            high = new int[runs];
            metres = new int[runs];
            first = new long[runs];
            last = new long[runs];
        }

        /// Takes a message in where it belongs.
        void put(Message message) {
            int run = message.run;
            if (low[run] == 0 || message.sequence < low[run]) {
                begin(message);
            }
            if (message.sequence > high[run]) {
                end(message);
            }
            metres[run] = Math.max(metres[run], message.metres);
        }

        void begin(Message message) {
            low[message.run] = message.sequence;
            first[message.run] = message.millis;
        }

        void end(Message message) {
            high[message.run] = message.sequence;
            last[message.run] = message.millis;
        }
    }

    private RunsInput(int runs) {
        sequence = new int[runs];
        metres = new int[runs];
        millis = new long[runs];
        seen = new long[runs];
        in = new long[runs];
        latest = new Fold(runs);
        inOrder = new Fold(runs);
        keepsOne = new Fold(runs);
        every = new Fold(runs);
    }

    /// The file of totals beside a file of messages: order, club, runs, metres, seconds.
    static Path totals(Path file) {
        return Path.of(file + ".totals");
    }

    /// Writes so many messages, and their totals beside them.
    static void write(Path file, int messages) throws IOException {
        RunsInput input = new RunsInput(Math.max(1, messages / 10));
        try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(file), 1 << 20)) {
            for (int i = 0; i < messages; i++) {
                Message message = input.next(i);
                input.recent[i % RECENT] = message;
                input.fold(message);
                out.write(text(message).getBytes(StandardCharsets.ISO_8859_1));
            }
        }
        List<String> lines = new ArrayList<>();
        input.total("latest", input.latest, lines);
        input.total("in-order", input.inOrder, lines);
        input.total("in-order 1", input.keepsOne, lines);
        input.total("every", input.every, lines);
        Files.write(totals(file), lines);
    }

    private Message next(int number) {
        int dice = random.nextInt(100);
        if (dice < 5 && number > 0) {
            return recent[random.nextInt(Math.min(number, RECENT))];
        }
        if (dice < 10 && !late.isEmpty()) {
            Message message = late.set(random.nextInt(late.size()), late.getLast());
            late.removeLast();
            return message;
        }
        int run = random.nextInt(sequence.length);
        long now = START_MILLIS + number / 10;
        if (random.nextInt(1_000) < 57 && late.size() < LATE_MAX) {
            late.add(step(run, now));
        }
        return step(run, now);
    }

    private Message step(int run, long now) {
        sequence[run]++;
        metres[run] += 1 + random.nextInt(500);
        millis[run] = Math.max(millis[run] + 1, now);
        return new Message(run, sequence[run], metres[run], millis[run]);
    }

    private void fold(Message message) {
        int run = message.run;
        if (message.sequence > latest.high[run]) {
            if (latest.high[run] == 0) {
                latest.begin(message);
            }
            latest.end(message);
            latest.metres[run] = Math.max(latest.metres[run], message.metres);
        }
        inOrder.put(message);
        if (Long.bitCount(in[run] >>> message.sequence >>> 1) <= 1) {
            in[run] |= 1L << message.sequence;
            keepsOne.put(message);
        }
        foldOnce(message);
    }

    private void foldOnce(Message message) {
        int run = message.run;
        if (message.sequence >= Long.SIZE) {
            throw new IllegalStateException("Run " + run + " has more than " + Long.SIZE + " messages");
        }
        if ((seen[run] & 1L << message.sequence) != 0) {
            return;
        }
        seen[run] |= 1L << message.sequence;
        if (every.low[run] == 0) {
            every.begin(message);
        }
        every.end(message);
        every.metres[run] = Math.max(every.metres[run], message.metres);
    }

    private void total(String order, Fold fold, List<String> lines) {
        long[][] clubs = new long[CLUBS][3];
        for (int run = 0; run < sequence.length; run++) {
            if (fold.high[run] > 0) {
                long[] club = clubs[club(run)];
                club[0]++;
                club[1] += fold.metres[run];
                club[2] += (fold.last[run] - fold.first[run]) / 1_000;
            }
        }
        for (int club = 0; club < CLUBS; club++) {
            if (clubs[club][0] > 0) {
                lines.add(order + "\tclub-" + club + "\t" + clubs[club][0] + "\t" + clubs[club][1] + "\t"
                        + clubs[club][2]);
            }
        }
    }

    private static int club(int run) {
        return (int) Long.remainderUnsigned(run * 0x9e3779b97f4a7c15L >>> 20, CLUBS);
    }

    private static String text(Message message) {
        long high = message.run * 0xc2b2ae3d27d4eb4fL & ~0xf000L | 0x4000L;
        long low = message.run * 0x9e3779b97f4a7c15L >>> 2 | 1L << 63;
        UUID id = new UUID(high, low);
        return "{\"run_id\":\"" + id + "\",\"sequence_id\":" + message.sequence + ",\"distance_meters\":"
                + message.metres + ",\"timestamp_utc\":" + message.millis + ",\"user\":\"u-" + message.run % 100_000
                + "\",\"club\":\"club-" + club(message.run) + "\"}\n";
    }
}
