package dev.onefold.simulator.lanes;

import dev.onefold.aws.event.Arrival;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeMap;

/// A queue as SQS is one: a message is delivered at least once, in any order, and comes again until it is deleted.
final class MessageQueue {
    private final SplittableRandom random;
    private final TreeMap<Integer, Entry> messages = new TreeMap<>();
    private int sent;

    /// A message.
    ///
    /// @param sentMs when it was sent
    /// @param visibleMs from when on it may be delivered
    private record Entry(String body, long sentMs, long visibleMs) {}

    MessageQueue(SplittableRandom random) {
        this.random = random;
    }

    void send(String body, long nowMs) {
        messages.put(sent++, new Entry(body, nowMs, 0));
    }

    boolean isEmpty() {
        return messages.isEmpty();
    }

    /// Some messages, which are hidden for a while from now on; rarely one is not, and is delivered twice.
    ///
    /// @param hiddenMs for how long
    List<Arrival> receive(int most, long nowMs, long hiddenMs, double faultChance) {
        List<Integer> visible = new ArrayList<>();
        messages.forEach((number, entry) -> {
            if (entry.visibleMs <= nowMs) {
                visible.add(number);
            }
        });
        List<Arrival> received = new ArrayList<>();
        while (received.size() < most && !visible.isEmpty()) {
            int place = random.nextInt(visible.size());
            int number = visible.get(place);
            visible.subList(place, place + 1).clear();
            Entry entry = messages.get(number);
            if (entry == null) {
                continue;
            }
            received.add(new Arrival(
                    "queue", Integer.toString(number), 0, entry.body.getBytes(StandardCharsets.UTF_8), entry.sentMs));
            if (random.nextDouble() >= faultChance) {
                messages.put(number, new Entry(entry.body, entry.sentMs, nowMs + hiddenMs));
            }
        }
        return received;
    }

    void delete(Arrival message) {
        messages.remove(Integer.valueOf(message.sequence()));
    }
}
