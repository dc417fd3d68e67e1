package dev.onefold.simulator.batches;

import static dev.onefold.simulator.batches.Receiving.require;

import dev.onefold.core.pipeline.Batching.Forget;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The oracle of ids that may come again. It knows when each record was sent and when it was handled, and judges which
/// records of one id are in batches. No record is sent twice under another name, so each has a text of its own.
final class Comings {
    private final Forget forget;
    private final Map<String, Sent> sent = new HashMap<>();
    private final Map<String, Integer> handled = new HashMap<>(); // When a receiver or a person had done with it first.
    private final Map<String, Integer> free = new HashMap<>(); // When its id could come again at the latest.
    private int step;

    Comings(Forget forget) {
        this.forget = forget;
    }

    private record Sent(int step, int place, Instant at) {}

    /// Records are sent now. A record that was sent before was not taken then.
    void send(List<String> records, Instant now) {
        step++;
        for (int i = 0; i < records.size(); i++) {
            sent.put(records.get(i), new Sent(step, i, now));
        }
    }

    /// A receiver or a person has done with a record.
    void handle(String record) {
        handled.putIfAbsent(record, ++step);
    }

    /// A checkpoint is durable that knows the end of these records' batch.
    void free(List<String> records) {
        step++;
        records.forEach(record -> free.putIfAbsent(record, step));
    }

    private static String id(String record) {
        return record.substring(0, record.indexOf(','));
    }

    /// Judges which records are in batches.
    void check(Set<String> members) {
        Map<String, List<String>> byId = new HashMap<>();
        for (String record : sent.keySet()) {
            byId.computeIfAbsent(id(record), _ -> new ArrayList<>()).add(record);
        }
        for (List<String> records : byId.values()) {
            records.sort((one, other) -> {
                int steps = Integer.compare(at(one).step, at(other).step);
                return steps != 0 ? steps : Integer.compare(at(one).place, at(other).place);
            });
            @Nullable String last = null;
            for (String record : records) {
                boolean isMember = members.contains(record);
                require(isMember || last != null, record + " is in no batch, and is the first of its id");
                if (last != null) {
                    require(!isMember || mayCome(last, record), record + " came too early after " + last);
                    require(
                            isMember || !mustCome(last, record),
                            record + " was not taken, though " + last + " is over");
                }
                last = isMember ? record : last;
            }
        }
    }

    private Sent at(String record) {
        return Objects.requireNonNull(sent.get(record), record);
    }

    private boolean mayCome(String before, String record) {
        return switch (forget) {
            case Forget.Never _ -> false;
            case Forget.AfterDelivery _ -> handled.getOrDefault(before, Integer.MAX_VALUE) < at(record).step;
            case Forget.After(Duration time) -> at(before).at.plus(time).isBefore(at(record).at);
        };
    }

    private boolean mustCome(String before, String record) {
        return switch (forget) {
            case Forget.Never _ -> false;
            case Forget.AfterDelivery _ -> free.getOrDefault(before, Integer.MAX_VALUE) < at(record).step;
            case Forget.After _ -> mayCome(before, record);
        };
    }
}
