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

    /// In place of a message's number.
    static final String NUMBER = "#";

    /// Numbers of edits begin here, above those of messages.
    private static final int EDITED = 1_000_000;

    private final SplittableRandom random;
    private final int poisonOneIn;

    /// Of each id, the contents that were sent.
    final Map<String, TreeSet<String>> contents = new TreeMap<>();

    /// How many bodies were sent that cannot be read.
    int bad;

    /// Letters of bodies that cannot be read, with the edits under which a person has redriven them.
    final Map<Long, String> edits = new TreeMap<>();

    /// Of each message: its id, its phase and when it was sent.
    final Map<Integer, Told> messages = new TreeMap<>();

    /// In each phase all ids of the phases before may come again.
    int phase;

    private final boolean forgets;
    int bursts;
    long firstMs;
    long takenMs;
    private int ids;

    /// What a message says.
    ///
    /// @param sentMs when it was sent
    record Told(String id, int phase, long sentMs) {}

    /// @param poisonOneIn one in so many bodies is one that a receiver refuses; 0 if none is
    /// @param forgets whether an id may come again; each body has the number of its message then
    Sent(SplittableRandom random, int poisonOneIn, boolean forgets) {
        this.random = random;
        this.forgets = forgets;
        this.poisonOneIn = poisonOneIn;
    }

    /// A message was deleted from the queue.
    void taken(long nowMs) {
        takenMs = nowMs;
    }

    /// A person redrives a letter under an edit; the same one each time. Where ids are forgotten, it has a number, as
    /// messages have.
    ///
    /// @param mayBeAgain whether it may bring an id that other messages bring, too
    String edit(long letter, boolean mayBeAgain, long nowMs) {
        String before = edits.get(letter);
        if (before != null) {
            return before;
        }
        String id = mayBeAgain && ids > 0 && random.nextBoolean() ? "m" + random.nextInt(ids) : "letter-" + letter;
        int number = EDITED + edits.size();
        String line = "{\"id\":\"" + id + "\",\"v\":" + number + ",\"text\":\"\"}";
        if (forgets) {
            messages.put(number, new Told(id, phase, nowMs));
        }
        edits.put(letter, line);
        contents.computeIfAbsent(id, _ -> new TreeSet<>()).add(line);
        return line;
    }

    /// What a record is known by: its message where ids are forgotten, else its id.
    String keyOf(String line) {
        return forgets ? Integer.toString(numberOf(line)) : Judgement.idOf(line);
    }

    /// The ids of all records that were sent, by their keys.
    Map<String, String> ids() {
        Map<String, String> ids = new TreeMap<>();
        if (forgets) {
            messages.forEach((number, told) -> ids.put(Integer.toString(number), told.id()));
        } else {
            contents.keySet().forEach(id -> ids.put(id, id));
        }
        return ids;
    }

    /// Whether a record is an edit that is known by its message: it is sent after each restore in another one, and is
    /// in no batch if another edit of its letter is.
    boolean isEdit(String key) {
        return forgets && Integer.parseInt(key) >= EDITED;
    }

    /// The message that a line was sent in.
    static int numberOf(String line) {
        int from = line.indexOf("\"v\":") + 4;
        return Integer.parseInt(line, from, line.indexOf(',', from), 10);
    }

    /// The body of a message with its number, which was sent now.
    String told(String body, int number, long nowMs) {
        if (!forgets || !body.contains(NUMBER)) {
            return body;
        }
        messages.put(number, new Told(Judgement.idOf(body), phase, nowMs));
        return body.replace(NUMBER, Integer.toString(number));
    }

    /// Bodies of another burst, in any order.
    List<String> burst(long nowMs) {
        if (bursts++ == 0) {
            firstMs = nowMs;
        }
        List<String> bodies = new ArrayList<>();
        for (int i = 1 + random.nextInt(random.nextBoolean() ? 20 : 150); i > 0; i--) {
            boolean isOld = ids > 0 && random.nextInt(forgets ? 3 : 10) == 0;
            String id = "m" + (isOld ? random.nextInt(ids) : ids++);
            String body = !forgets && isOld && random.nextBoolean()
                    ? contents.getOrDefault(id, NONE).first()
                    : "{\"id\":\"" + id + "\",\"v\":" + (forgets ? NUMBER : random.nextInt(1_000))
                            + (poisonOneIn > 0 && random.nextInt(poisonOneIn) == 0 ? ",\"poison\":1" : "")
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
