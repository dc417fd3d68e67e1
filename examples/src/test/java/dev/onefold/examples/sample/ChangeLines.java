package dev.onefold.examples.sample;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;

/// A table's change log in Debezium's envelope, whose connector crashed once and repeated itself.
final class ChangeLines {
    private static final List<String> TOWNS = List.of("Ostermoor", "Veldkirk", "Saint Alban", "Kiln Hollow");
    private static final int CHANGES = 70;
    private static final int CRASH_AT = 45;
    private static final int REPEATED = 12;

    private ChangeLines() {}

    static List<String> make() {
        Random random = new Random(5);
        SortedMap<Integer, String> table = new TreeMap<>();
        List<String> lines = new ArrayList<>();
        long lsn = 480_000;
        int keyNext = 900;
        for (int change = 0; change < CHANGES; change++) {
            lsn += 56 + random.nextInt(400);
            int dice = random.nextInt(10);
            if (table.isEmpty() || dice < 4) {
                int key = keyNext++;
                table.put(key, row(key, Sample.any(random, TOWNS), random));
                lines.add(line(key, "null", table.get(key), lsn, "c"));
            } else {
                int key = Sample.any(random, List.copyOf(table.keySet()));
                String before = table.get(key);
                if (dice < 8) {
                    table.put(key, row(key, Sample.any(random, TOWNS), random));
                    lines.add(line(key, before, table.get(key), lsn, "u"));
                } else {
                    table.remove(key);
                    lines.add(line(key, before, "null", lsn, "d"));
                    lines.add("{\"topic\":\"grid.public.outage\",\"key\":{\"outage_id\":" + key + "},\"value\":null}");
                }
            }
        }
        List<String> sent = new ArrayList<>(lines.subList(0, CRASH_AT));
        sent.addAll(lines.subList(CRASH_AT - REPEATED, lines.size()));
        return sent;
    }

    private static String row(int key, String town, Random random) {
        String customers = random.nextInt(8) == 0 ? "null" : String.valueOf(1 + random.nextInt(500));
        return "{\"outage_id\":" + key + ",\"region\":\"" + town + "\",\"customers\":" + customers + "}";
    }

    private static String line(int key, String before, String after, long lsn, String op) {
        return "{\"topic\":\"grid.public.outage\",\"key\":{\"outage_id\":" + key + "},\"value\":{\"before\":" + before
                + ",\"after\":" + after
                + ",\"source\":{\"connector\":\"postgresql\",\"schema\":\"public\",\"table\":\"outage\",\"sequence\":\"[\\\""
                + lsn + "\\\",\\\"" + lsn + "\\\"]\",\"lsn\":" + lsn
                + "},\"op\":\"" + op + "\"}}";
    }
}
