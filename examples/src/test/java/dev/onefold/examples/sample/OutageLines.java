package dev.onefold.examples.sample;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;

/// A stormy night in a country that does not exist.
final class OutageLines {
    private static final List<String> TOWNS =
            List.of("Ostermoor", "Veldkirk", "Saint Alban", "Kiln Hollow", "Brún", "Half Moon Quay", "O'Dare");
    private static final Instant START = Instant.parse("2031-11-02T21:00:00Z");
    private static final int LISTS = 36;

    private OutageLines() {}

    private record Outage(String town, String customers, long start) {}

    static List<String> make() {
        Random random = new Random(11);
        SortedMap<String, Outage> there = new TreeMap<>();
        SortedMap<String, Outage> gone = new TreeMap<>();
        List<String> lines = new ArrayList<>();
        for (int list = 1; list <= LISTS; list++) {
            Instant observed = START.plusSeconds(600L * list + random.nextInt(60));
            int changes = 2 + random.nextInt(4);
            List<String> touched = new ArrayList<>();
            for (int change = 0; change < changes; change++) {
                String event = change(random, there, gone, touched, observed);
                if (!event.isEmpty()) {
                    lines.add(
                            "{\"snapshot\":" + (7_000 + list) + ",\"observedAt\":\"" + observed + "\"," + event + "}");
                }
            }
        }
        List<String> sent = Sample.unreliably(random, lines, 0.05, 0.12);
        sent.add(60, "{\"snapshot\":7020,\"observedAt\":\"2031-11-03T00:2"); // The connection broke.
        sent.add(
                90,
                "{\"snapshot\":7029,\"observedAt\":\"2031-11-03T01:50:07Z\",\"op\":\"update\",\"outage\":\"X-104\",\"region\":\"Brún\","
                        + "\"customers\":\"many\",\"start\":1951428000}");
        return sent;
    }

    /// What became of one outage between two lists; an outage changes once at most.
    private static String change(
            Random random,
            SortedMap<String, Outage> there,
            SortedMap<String, Outage> gone,
            List<String> touched,
            Instant observed) {
        int dice = random.nextInt(12);
        if (dice < 3 && !there.isEmpty() || dice < 8 && there.size() > 4) {
            String key = Sample.any(random, List.copyOf(there.keySet()));
            if (touched.contains(key)) {
                return "";
            }
            touched.add(key);
            Outage old = there.get(key);
            if (dice < 2) {
                gone.put(key, there.remove(key));
                return "\"op\":\"delete\",\"outage\":\"" + key + "\"";
            }
            String town = random.nextInt(6) == 0 ? Sample.any(random, TOWNS) : old.town;
            Outage corrected = new Outage(town, customers(random), old.start);
            there.put(key, corrected);
            return facts("update", key, corrected);
        }
        if (dice == 8 && !gone.isEmpty() && !touched.contains(gone.firstKey())) {
            String key = gone.firstKey();
            touched.add(key);
            there.put(key, gone.remove(key));
            return facts("insert", key, there.get(key));
        }
        String key = "X-" + (100 + there.size() + gone.size());
        touched.add(key);
        Outage fresh = new Outage(
                Sample.any(random, TOWNS), customers(random), observed.getEpochSecond() - 60L * random.nextInt(90));
        there.put(key, fresh);
        return facts("insert", key, fresh);
    }

    private static String customers(Random random) {
        return random.nextInt(8) == 0 ? "null" : String.valueOf(1 + random.nextInt(30) * random.nextInt(30));
    }

    private static String facts(String op, String key, Outage outage) {
        return "\"op\":\"" + op + "\",\"outage\":\"" + key + "\",\"region\":\"" + outage.town + "\",\"customers\":"
                + outage.customers + ",\"start\":" + outage.start;
    }
}
