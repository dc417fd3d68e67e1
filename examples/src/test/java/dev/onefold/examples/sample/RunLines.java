package dev.onefold.examples.sample;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;

/// Nine watches, each with a few runs of some messages.
final class RunLines {
    private static final List<String> CLUBS = List.of("Harbour", "Old Town", "Uplands");
    private static final int WATCHES = 9;
    private static final long MORNING_MS = 1_790_000_000_000L;

    private RunLines() {}

    private record Message(long atMs, String line) {}

    static List<String> make() {
        Random random = new Random(10);
        List<Message> messages = new ArrayList<>();
        for (int watch = 1; watch <= WATCHES; watch++) {
            String club = CLUBS.get(watch % CLUBS.size());
            int sequence = 1;
            long atMs = MORNING_MS + random.nextInt(1_800) * 1_000L;
            for (int run = 1; run <= 1 + random.nextInt(3); run++) {
                long metres = 0;
                int pace = 180 + random.nextInt(120);
                for (int left = 3 + random.nextInt(6); left > 0; left--) {
                    messages.add(new Message(
                            atMs,
                            "{\"user_id\":\"u" + watch + "\",\"club\":\"" + club + "\",\"run_id\":" + run
                                    + ",\"sequence_id\":" + sequence++ + ",\"timestamp_utc\":" + atMs
                                    + ",\"distance_meters\":" + metres + "}"));
                    pace = Math.max(120, pace + random.nextInt(-30, 31));
                    metres += pace;
                    atMs += 60_000;
                }
                atMs += 3_600_000;
            }
        }
        messages.sort(Comparator.comparingLong(Message::atMs));
        return Sample.unreliably(random, messages.stream().map(Message::line).toList(), 0.08, 0.1);
    }
}
