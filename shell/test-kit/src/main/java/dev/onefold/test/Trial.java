package dev.onefold.test;

import dev.onefold.core.event.Tuple;
import dev.onefold.core.pipeline.Processing.Order;
import dev.onefold.core.state.Key;
import dev.onefold.test.Failure.Kind;
import dev.onefold.test.Plan.Move;
import dev.onefold.test.Sample.Item;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/// Runs plans with one function and one sample, and judges what they come to.
///
/// @param older the sample as the older version of the function reads it
/// @param anyOrder whether the result must be the same in any order of arrival
record Trial(Subject subject, Sample sample, Sample older, boolean anyOrder) {
    /// The mistake that a run shows; empty if it shows none.
    Optional<Failure> judge(Plan plan) {
        Life life = new Life(subject);
        Map<Tuple, Folded> expected;
        try {
            live(life, plan);
            expected = life.expected();
        } catch (RuntimeException e) {
            return Optional.of(new Failure(Kind.BROKEN, e.getClass().getName() + ": " + e.getMessage() + "\n"));
        }
        if (subject.mistake().isPresent()) {
            return subject.mistake();
        }
        Map<Tuple, Folded> stored = life.stored();
        String wrong = differences(expected, stored);
        if (!wrong.isEmpty()) {
            return Optional.of(new Failure(Kind.WRONG, wrong));
        }
        String owners = anyOrder ? life.owners() : "";
        if (!owners.isEmpty()) {
            return Optional.of(new Failure(Kind.OWNERS, owners + "\n"));
        }
        if (!anyOrder || subject.older() != null || subject.processing().order() == Order.IN_ORDER) {
            return Optional.empty();
        }
        String dependence = inOtherOrder(life, plan, stored);
        return dependence.isEmpty() ? Optional.empty() : Optional.of(new Failure(Kind.ORDER, dependence));
    }

    private void live(Life life, Plan plan) {
        boolean isUpgraded = subject.older() == null;
        for (Move move : plan.moves()) {
            switch (move) {
                case Move.Deliver(List<Integer> lines, Fate fate) -> {
                    Sample read = isUpgraded ? sample : older;
                    life.deliver(
                            lines.stream()
                                    .flatMap(line -> read.item(line).stream())
                                    .toList(),
                            fate);
                }
                case Move.Upgrade _ -> {
                    life.upgrade();
                    isUpgraded = true;
                }
            }
        }
        if (!isUpgraded) {
            life.upgrade();
        }
    }

    private String differences(Map<Tuple, Folded> expected, Map<Tuple, Folded> actual) {
        return Failure.differences(
                subject.processing(), key -> Key.parts(subject.pipeline(), key.bytes()), expected, actual);
    }

    /// The differences from folding the same records in the order of their versions. They are empty for a run
    /// in which a number was too old to tell whether it is in.
    private String inOtherOrder(Life life, Plan plan, Map<Tuple, Folded> stored) {
        Map<Tuple, TreeMap<BigInteger, byte[]>> versions = versions(plan.lines());
        boolean allIn = subject.processing().order() == Order.LATEST
                || versions.entrySet().stream()
                        .allMatch(key ->
                                life.versions(key.getKey()) == key.getValue().size());
        return allIn ? differences(folded(versions), stored) : "";
    }

    /// The state that a plan comes to.
    Map<Tuple, Folded> stored(Plan plan) {
        Life life = new Life(subject);
        live(life, plan);
        return life.stored();
    }

    /// The result of folding records in the order of their versions.
    Map<Tuple, Folded> inOrder(List<Integer> lines) {
        return folded(versions(lines));
    }

    private Map<Tuple, TreeMap<BigInteger, byte[]>> versions(List<Integer> lines) {
        boolean greatest = subject.processing().order() == Order.IN_ORDER;
        Map<Tuple, TreeMap<BigInteger, byte[]>> versions = new TreeMap<>();
        lines.stream()
                .flatMap(line -> sample.item(line).stream())
                .forEach(item -> versions.computeIfAbsent(item.key(), _ -> new TreeMap<>())
                        .merge(
                                item.number(),
                                item.content(),
                                (one, other) -> greatest && Arrays.compareUnsigned(one, other) < 0 ? other : one));
        return versions;
    }

    private Map<Tuple, Folded> folded(Map<Tuple, TreeMap<BigInteger, byte[]>> versions) {
        Map<Tuple, Folded> folded = new TreeMap<>();
        versions.forEach((key, contents) ->
                folded.put(key, Folded.inOrder(subject, key.bytes(), List.copyOf(contents.values()), Folded.NEVER)));
        return folded;
    }

    /// The report of a failure for a person.
    String report(long seed, Plan plan, Failure failure) {
        String name = subject.processing().programName();
        String order = subject.processing().order().word();
        String what = switch (failure.kind()) {
            case IMPURE ->
                "The function " + name + " is not pure: equal arguments had different results."
                        + " It must not read a clock, a random number or anything that changes.";
            case SLOW ->
                "The function " + name + " did not return within 1 s, the limit of a call: an engine makes a dead"
                        + " letter of such an event.";
            case BROKEN -> "The function " + name + " cannot go on.";
            case WRONG -> "The function " + name + " does not come to what its events come to from the beginning.";
            case ORDER ->
                "The function " + name + " depends on the order of arrival, and with order: " + order
                        + " events are folded as they come. Use order: in-order; or, if the events of a key"
                        + " always come in order, allow it.";
            case OWNERS ->
                "Two keys of the function " + name + " write one row, and the one that comes first owns it: the result"
                        + " depends on the order of arrival. Let the keys of such rows differ, or allow it.";
        };
        Plan shortest = plan;
        Failure shown = failure;
        boolean isOfCall = failure.kind() == Kind.IMPURE || failure.kind() == Kind.SLOW;
        if (!isOfCall) { // It may not come again.
            shortest = PlanShrinker.shortest(
                    plan,
                    shorter -> judge(shorter)
                            .filter(other -> other.kind() == failure.kind())
                            .isPresent());
            shown = judge(shortest).orElse(failure);
        }
        return what + "\n\n" + shown.details() + (isOfCall ? "" : arrivals(shortest)) + "\nSeed " + seed + ", order: "
                + order + ". The same seed repeats it.";
    }

    private String arrivals(Plan plan) {
        List<String> lines = new ArrayList<>();
        for (Move move : plan.moves()) {
            switch (move) {
                case Move.Deliver(List<Integer> batch, Fate fate) -> {
                    batch.forEach(line -> lines.add("  line " + line + "  "
                            + sample.item(line).map(Item::text).orElse("")));
                    if (!fate.words().isEmpty()) {
                        lines.add("    " + fate.words());
                    }
                }
                case Move.Upgrade _ -> lines.add("  the newer version of the function goes on");
            }
        }
        if (subject.older() != null && !plan.moves().contains(new Move.Upgrade())) {
            lines.add("  the newer version of the function goes on");
        }
        return "\nShortest order of arrival that was found to fail, "
                + plan.lines().size() + " of " + sample.items().size() + " records:\n" + String.join("\n", lines)
                + "\n";
    }
}
