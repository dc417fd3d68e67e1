package dev.onefold.oracle;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;

/// What may be seen while records are on their way, in any order and any number of times: each key has none of its
/// states yet or one of them, and goes from lower to higher ones only.
public final class Possible {
    private final Map<List<String>, NavigableSet<BigDecimal>> versions = new HashMap<>();
    private final Map<String, Map<List<String>, Bound>> bounds = new HashMap<>();

    /// How many keys may be in a group.
    ///
    /// @param max at most
    /// @param grows no key that is in it ever leaves it
    public record Bound(long max, boolean grows) {
        private static final Bound NONE = new Bound(0, true);

        private Bound plus(boolean stays) {
            return new Bound(max + 1, grows && stays);
        }
    }

    /// A state that a key may have, and the version that it has then.
    record Step(BigDecimal version, State state) implements Comparable<Step> {
        @Override
        public int compareTo(Step other) {
            int byVersion = version.compareTo(other.version);
            return byVersion != 0 ? byVersion : state.compareTo(other.state);
        }
    }

    Possible(List<String> rollups, Map<List<String>, NavigableSet<Step>> keys) {
        keys.forEach((key, steps) -> {
            TreeSet<BigDecimal> known = new TreeSet<>();
            steps.forEach(step -> known.add(step.version()));
            versions.put(key, Collections.unmodifiableNavigableSet(known));
        });
        for (int rollup = 0; rollup < rollups.size(); rollup++) {
            Map<List<String>, Bound> ofRollup = new HashMap<>();
            for (NavigableSet<Step> steps : keys.values()) {
                add(rollup, steps, ofRollup);
            }
            bounds.put(rollups.get(rollup), ofRollup);
        }
    }

    private static void add(int rollup, NavigableSet<Step> steps, Map<List<String>, Bound> to) {
        Set<List<String>> in = new HashSet<>();
        Set<List<String>> left = new HashSet<>();
        for (Step step : steps) {
            Set<List<String>> now = groups(rollup, step.state());
            in.stream().filter(group -> !now.contains(group)).forEach(left::add);
            in.addAll(now);
        }
        in.forEach(group -> to.put(group, to.getOrDefault(group, Bound.NONE).plus(!left.contains(group))));
    }

    /// All groups that a state is in, at each depth.
    private static Set<List<String>> groups(int rollup, State state) {
        Set<List<String>> groups = new HashSet<>();
        if (state instanceof State.Contributing contributing) {
            List<String> leaf = contributing.groups().get(rollup);
            for (int depth = 0; depth <= leaf.size(); depth++) {
                groups.add(List.copyOf(leaf.subList(0, depth)));
            }
        }
        return groups;
    }

    /// How many keys may be in a group; none in one that no record names.
    public Bound bound(String rollup, List<String> group) {
        return bounds.getOrDefault(rollup, Map.of()).getOrDefault(group, Bound.NONE);
    }

    /// The keys that there may be.
    public List<List<String>> keys() {
        List<List<String>> keys = new ArrayList<>(versions.keySet());
        keys.sort(State.GROUPS);
        return keys;
    }

    /// The versions that a key may have: a number, of a time its seconds, and zero where there are none.
    public NavigableSet<BigDecimal> versions(List<String> key) {
        return versions.getOrDefault(key, Collections.emptyNavigableSet());
    }
}
