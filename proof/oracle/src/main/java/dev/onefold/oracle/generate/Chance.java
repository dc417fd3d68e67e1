package dev.onefold.oracle.generate;

import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/// Choices of one case, all from one random generator.
final class Chance {
    private final RandomGenerator random;

    Chance(RandomGenerator random) {
        this.random = random;
    }

    /// True in so many of a hundred cases.
    boolean percent(int percent) {
        return random.nextInt(100) < percent;
    }

    /// A number between these, both included.
    int between(int low, int high) {
        return random.nextInt(low, high + 1);
    }

    <T> T of(List<T> items) {
        return items.get(random.nextInt(items.size()));
    }

    /// Removes an item and returns it.
    <T> T take(List<T> items) {
        return items.remove(random.nextInt(items.size()));
    }

    <T> List<T> shuffled(List<T> items) {
        List<T> rest = new ArrayList<>(items);
        List<T> shuffled = new ArrayList<>();
        while (!rest.isEmpty()) {
            shuffled.add(take(rest));
        }
        return shuffled;
    }
}
