package dev.onefold.examples.sample;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/// Three networks on a quiet planet, polled every hour.
final class QuakeLines {
    private static final List<String> NETWORKS = List.of("ka", "mo", "vy");
    private static final long START_MS = Instant.parse("2031-06-10T00:00:00Z").toEpochMilli();
    private static final long HOUR_MS = 3_600_000;
    private static final int POLLS = 14;
    private static final int POLLS_SEEN = 3;

    private QuakeLines() {}

    private record Quake(String id, long updatedMs, long timeMs, BigDecimal magnitude, int place) {}

    static List<String> make() {
        Random random = new Random(23);
        List<Quake> quakes = new ArrayList<>();
        List<String> lines = new ArrayList<>();
        List<String> late = new ArrayList<>();
        for (int poll = 1; poll <= POLLS; poll++) {
            long nowMs = START_MS + poll * HOUR_MS;
            for (int fresh = random.nextInt(4); fresh > 0; fresh--) {
                String id = Sample.any(random, NETWORKS) + (3_000 + quakes.size());
                quakes.add(new Quake(
                        id,
                        nowMs - random.nextInt(1_800_000),
                        nowMs - 1_800_000 - random.nextInt(1_800_000),
                        BigDecimal.valueOf(random.nextInt(-40, 580), 2),
                        random.nextInt(90)));
            }
            for (int i = 0; i < quakes.size(); i++) {
                Quake quake = quakes.get(i);
                if (quake.timeMs > nowMs - POLLS_SEEN * HOUR_MS) { // The feed lists what is younger.
                    if (random.nextInt(5) == 0) {
                        late.add(line(poll, quake));
                        quake = revised(random, quake, nowMs);
                        quakes.set(i, quake);
                    }
                    lines.add(line(poll, quake));
                }
            }
        }
        // One version, two magnitudes: somebody's clock stood still between two revisions.
        Quake twice = quakes.get(5);
        lines.add(line(
                POLLS,
                new Quake(
                        twice.id,
                        twice.updatedMs,
                        twice.timeMs,
                        twice.magnitude.add(new BigDecimal("0.14")),
                        twice.place)));
        lines.add(line(POLLS, twice));
        lines.addAll(late.subList(late.size() - 3, late.size())); // Older versions, behind newer ones.
        return lines;
    }

    private static Quake revised(Random random, Quake quake, long nowMs) {
        BigDecimal magnitude = quake.magnitude.add(BigDecimal.valueOf(random.nextInt(-60, 40), 2));
        return new Quake(quake.id, nowMs - random.nextInt(600_000), quake.timeMs, magnitude, quake.place);
    }

    private static String line(int poll, Quake quake) {
        return "{\"poll\":" + poll + ",\"id\":\"" + quake.id + "\",\"updated\":" + quake.updatedMs + ",\"time\":"
                + quake.timeMs + ",\"mag\":" + quake.magnitude + ",\"place\":\"" + quake.place + " km off Nowhere\"}";
    }
}
