package dev.onefold.simulator.batches;

import static dev.onefold.simulator.batches.Receiving.require;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// The oracle of the order by key. It notes what the receiver got and what people discarded, and judges in the
/// end, when all batches are known: a record is handed over only when each earlier record of its key has had
/// its effect or was discarded, and the last effect of a key is that of its last record.
final class KeyOrder {
    private enum What {
        HANDED_OVER,
        EFFECT,
        DISCARDED
    }

    private record Step(What what, List<String> records) {}

    private final List<Step> steps = new ArrayList<>();

    void handedOver(List<String> records) {
        steps.add(new Step(What.HANDED_OVER, records));
    }

    void effect(Collection<String> records) {
        steps.add(new Step(What.EFFECT, List.copyOf(records)));
    }

    void discarded(List<String> records) {
        steps.add(new Step(What.DISCARDED, records));
    }

    /// The key of a record, which is its last field.
    static String key(String record) {
        return record.substring(record.lastIndexOf(':'));
    }

    /// Judges.
    ///
    /// @param batches the records of all batches, in the order of their numbers
    void check(Collection<List<String>> batches) {
        Map<String, List<String>> byKey = new HashMap<>();
        batches.forEach(batch -> batch.forEach(record ->
                byKey.computeIfAbsent(key(record), _ -> new ArrayList<>()).add(record)));
        Set<String> over = new HashSet<>();
        Set<String> discarded = new HashSet<>();
        Map<String, String> last = new HashMap<>();
        for (Step step : steps) {
            switch (step.what) {
                case HANDED_OVER ->
                    step.records.forEach(record -> {
                        List<String> line = byKey.getOrDefault(key(record), List.of());
                        line.subList(0, line.indexOf(record))
                                .forEach(earlier -> require(
                                        over.contains(earlier) || step.records.contains(earlier),
                                        record + " was handed over before " + earlier));
                    });
                case EFFECT -> {
                    over.addAll(step.records);
                    step.records.forEach(record -> last.put(key(record), record));
                }
                case DISCARDED -> {
                    over.addAll(step.records);
                    discarded.addAll(step.records);
                }
            }
        }
        byKey.forEach((key, line) -> {
            List<String> left =
                    line.stream().filter(each -> !discarded.contains(each)).toList();
            require(
                    left.isEmpty() || left.getLast().equals(last.get(key)),
                    "the last effect of " + key + " is that of " + last.get(key) + ", and the last record of " + left);
        });
    }
}
