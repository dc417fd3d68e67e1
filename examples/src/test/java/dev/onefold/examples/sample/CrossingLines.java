package dev.onefold.examples.sample;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;

/// Thirty runners over four mats, one of which misses some of them.
final class CrossingLines {
    private static final int[] METRES = {5_000, 10_000, 15_000, 21_097};
    private static final List<String> AGE_GROUPS = List.of("18-39", "40-49", "50+");
    private static final List<String> COUNTRIES = List.of("AAA", "BBB", "CCC");
    private static final List<String> STATES = List.of("North", "South");
    private static final int RUNNERS = 30;
    /// The race is not over yet.
    private static final int NOW_SECONDS = 4_700;

    private CrossingLines() {}

    private record Crossing(int elapsedSeconds, String line) {}

    static List<String> make() {
        Random random = new Random(8);
        List<Crossing> crossings = new ArrayList<>();
        for (int runner = 1; runner <= RUNNERS; runner++) {
            String country = Sample.any(random, COUNTRIES);
            String who = ",\"gender\":\"" + (random.nextBoolean() ? "F" : "M") + "\",\"ageGroup\":\""
                    + Sample.any(random, AGE_GROUPS) + "\",\"country\":\"" + country + "\",\"state\":"
                    + (country.equals("AAA") ? "\"" + Sample.any(random, STATES) + "\"" : "null") + "}";
            double secondsPerMetre = 0.18 + random.nextInt(160) / 1_000.0;
            for (int mat = 1; mat <= METRES.length; mat++) {
                int seconds = (int) (METRES[mat - 1] * secondsPerMetre) + random.nextInt(60);
                boolean recorded = mat != 2 || random.nextInt(6) > 0;
                if (recorded && seconds <= NOW_SECONDS) {
                    crossings.add(new Crossing(
                            seconds,
                            "{\"runner\":\"" + runner + "\",\"mat\":" + mat + ",\"metres\":" + METRES[mat - 1]
                                    + ",\"elapsedS\":" + seconds + who));
                }
            }
        }
        crossings.sort(Comparator.comparingInt(Crossing::elapsedSeconds));
        return Sample.unreliably(random, crossings.stream().map(Crossing::line).toList(), 0.04, 0.06);
    }
}
