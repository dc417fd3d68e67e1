package dev.onefold.simulator.lanes;

import dev.onefold.aws.batch.Collect;
import dev.onefold.aws.event.Arrival;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.IntFunction;

/// A queue as SQS is one: a message is delivered at least once, in any order, and comes again until it is
/// deleted; rarely also after that, for as long as a queue may keep a message.
final class MessageQueue {
    private static final String ID = "message-";

    private final SplittableRandom random;
    private final TreeMap<Integer, Entry> messages = new TreeMap<>();
    private final TreeMap<Integer, Entry> deleted = new TreeMap<>();
    private int sent;

    /// A message.
    ///
    /// @param sentMs when it was sent
    /// @param visibleMs from when on it may be delivered, again if it was deleted then
    private record Entry(String body, long sentMs, long visibleMs) {}

    MessageQueue(SplittableRandom random) {
        this.random = random;
    }

    /// @param body of a message, by its number
    void send(IntFunction<String> body, long nowMs) {
        messages.put(sent, new Entry(body.apply(sent), nowMs, 0));
        sent++;
    }

    /// Some messages that were deleted come again.
    void haunt(long nowMs) {
        deleted.values().removeIf(entry -> nowMs - entry.sentMs >= Collect.REDELIVERY_OF_QUEUES.toMillis());
        List<Integer> numbers = new ArrayList<>(deleted.keySet());
        for (int i = Math.min(numbers.size(), 1 + random.nextInt(10)); i > 0; i--) {
            int number = numbers.get(random.nextInt(numbers.size()));
            Entry entry = deleted.get(number);
            if (entry != null) {
                messages.putIfAbsent(number, entry);
            }
        }
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
            received.add(
                    new Arrival("queue", ID + number, 0, entry.body.getBytes(StandardCharsets.UTF_8), entry.sentMs));
            if (random.nextDouble() >= faultChance) {
                messages.put(number, new Entry(entry.body, entry.sentMs, nowMs + hiddenMs));
            }
        }
        return received;
    }

    /// Messages that were deleted since a moment come again.
    void again(long sinceMs) {
        deleted.forEach((number, entry) -> {
            if (entry.visibleMs >= sinceMs) {
                messages.putIfAbsent(number, entry);
            }
        });
    }

    void delete(Arrival message, long nowMs) {
        int number = number(message);
        Entry entry = messages.remove(number);
        if (entry != null) {
            deleted.put(number, new Entry(entry.body, entry.sentMs, nowMs));
        }
    }

    private static int number(Arrival message) {
        return Integer.parseInt(message.sequence().substring(ID.length()));
    }
}
