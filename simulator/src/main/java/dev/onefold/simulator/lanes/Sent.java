package dev.onefold.simulator.lanes;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;

/// What was sent, and what is right for it.
final class Sent {
    static final TreeSet<String> NONE = new TreeSet<>();

    private final SplittableRandom random;
    private final boolean hasPoison;

    /// Of each id, the contents that were sent.
    final Map<String, TreeSet<String>> contents = new TreeMap<>();

    /// How many bodies were sent that cannot be read.
    int bad;

    /// Letters of bodies that cannot be read, with the edits under which a person has redriven them.
    final Map<Long, String> edits = new TreeMap<>();

    int bursts;
    long firstMs;
    long takenMs;
    private int ids;

    Sent(SplittableRandom random, boolean hasPoison) {
        this.random = random;
        this.hasPoison = hasPoison;
    }

    /// A message was deleted from the queue.
    void taken(long nowMs) {
        takenMs = nowMs;
    }

    /// A person redrives a letter under an edit; the same one each time.
    String edit(long letter) {
        String line = "{\"id\":\"letter-" + letter + "\"}";
        edits.put(letter, line);
        contents.computeIfAbsent("letter-" + letter, _ -> new TreeSet<>()).add(line);
        return line;
    }

    /// Bodies of another burst, in any order.
    List<String> burst(long nowMs) {
        if (bursts++ == 0) {
            firstMs = nowMs;
        }
        List<String> bodies = new ArrayList<>();
        for (int i = 1 + random.nextInt(random.nextBoolean() ? 20 : 150); i > 0; i--) {
            boolean isOld = ids > 0 && random.nextInt(10) == 0;
            String id = "m" + (isOld ? random.nextInt(ids) : ids++);
            String body = isOld && random.nextBoolean()
                    ? contents.getOrDefault(id, NONE).first()
                    : "{\"id\":\"" + id + "\",\"v\":" + random.nextInt(1_000)
                            + (hasPoison && random.nextInt(60) == 0 ? ",\"poison\":1" : "")
                            + ",\"text\":\"" + "x".repeat(random.nextInt(60)) + "\"}";
            contents.computeIfAbsent(id, _ -> new TreeSet<>()).add(body);
            for (int times = random.nextInt(5) == 0 ? 3 : 1; times > 0; times--) {
                bodies.add(random.nextInt(bodies.size() + 1), body);
            }
            if (random.nextInt(20) == 0) {
                bodies.add(random.nextInt(bodies.size() + 1), "{\"id\":");
                bad++;
            }
        }
        return bodies;
    }
}
