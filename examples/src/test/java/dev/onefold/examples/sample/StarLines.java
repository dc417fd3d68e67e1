package dev.onefold.examples.sample;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/// Six people who like projects that nobody has written.
final class StarLines {
    private static final List<String> USERS = List.of("ada", "bo", "chidi", "dana", "eskil", "farah");
    private static final List<String> ITEMS = List.of(
            "acme/rocket",
            "acme/anvil",
            "owl/night-shift",
            "owl/moth",
            "tin/can",
            "tin/string",
            "zephyr/kite",
            "zephyr/über-kite",
            "pier/lamp",
            "pier/rope");
    private static final List<String> GROUPS = List.of("Java", "Rust", "Tools", "C++");
    private static final Instant START = Instant.parse("2031-03-01T08:00:00Z");

    private StarLines() {}

    static List<String> make() {
        Random random = new Random(4);
        SortedMap<String, Integer> sequences = new TreeMap<>();
        SortedSet<String> starred = new TreeSet<>();
        List<String> lines = new ArrayList<>();
        for (int event = 0; event < 110; event++) {
            String user = Sample.any(random, USERS);
            String item = Sample.any(random, ITEMS);
            boolean star = starred.add(user + " " + item);
            if (!star) {
                starred.remove(user + " " + item);
            }
            String head = "{\"at\":\"" + START.plusSeconds(3_600L * event + random.nextInt(3_600)) + "\",\"user\":\""
                    + user + "\",\"userSeq\":" + sequences.merge(user, 1, Integer::sum) + ",\"op\":\""
                    + (star ? "star" : "unstar") + "\",\"item\":\"" + item + "\"";
            lines.add(star ? head + ",\"group\":" + group(random, item) + "}" : head + "}");
        }
        return Sample.unreliably(random, lines, 0.05, 0.08);
    }

    private static String group(Random random, String item) {
        return item.startsWith("pier") || random.nextInt(20) == 0
                ? "null"
                : "\"" + GROUPS.get(ITEMS.indexOf(item) % GROUPS.size()) + "\"";
    }
}
