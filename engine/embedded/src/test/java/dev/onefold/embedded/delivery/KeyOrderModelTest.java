package dev.onefold.embedded.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.batch.BatchNumber;
import dev.onefold.fixtures.Seeds;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// The model of `order: key`: random walks of a receiver that fails, a process that crashes and a person who
/// decides. It shares no code with the engine. The rule: a delivery (a batch, or a part of one) may be handed
/// over while no earlier delivery that has not ended has a record of one of its keys.
///
/// The oracle sees what the receiver got: a record is handed over only when each earlier record of its key has
/// had its effect or was discarded, and the last effect of a key is that of its last record. Each [Rule] is a
/// mutant: the walks without it go wrong.
///
/// It is one idea: the walk, its rules and its oracle.
class KeyOrderModelTest {
    private static final int WALKS = 2_000;
    private static final int KEYS = 4;

    /// What each part of the rule says.
    private enum Rule {
        /// A delivery that waits for its next try holds its keys.
        A_RETRY_HOLDS,
        /// A delivery that waits for a person holds its keys.
        A_PERSON_HOLDS,
        /// A delivery that was never tried, because one of its keys is held, holds its other keys.
        A_WAITING_ONE_HOLDS,
        /// The parts of a divided batch hold their keys.
        A_PART_HOLDS,
        /// A part waits for the earlier parts of its batch.
        A_PART_WAITS,
        /// After a crash all deliveries hold that have not ended, also those that were never noted.
        ALL_HOLD_AFTER_A_CRASH,
        /// A crash loses the last notes, and none before one that is kept.
        NOTES_ARE_IN_ORDER,
        /// A delivery that a person releases stays in its place.
        A_RELEASED_ONE_STAYS,
        /// A record that has no key by the definition of today shares one key with all such records.
        RECORDS_WITHOUT_KEY_SHARE_ONE,
        /// A batch is halved between its keys, so that a refused record holds no other key of its batch.
        HALVES_ARE_OF_KEYS,
        /// A receiver that names the failed records has the others, so their keys are free.
        A_PARTIAL_END_FREES
    }

    private enum State {
        WAITING,
        ACTIVE,
        ASIDE,
        IN_DOUBT,
        ENDED,
        DIVIDED
    }

    /// A delivery, as memory or the log has it.
    private record Delivery(BatchNumber number, List<Integer> records, State state, int tries, boolean perhapsIn) {
        Delivery with(State other) {
            return new Delivery(number, records, other, tries, perhapsIn);
        }

        boolean holds() {
            return state != State.ENDED && state != State.DIVIDED;
        }
    }

    /// One note in the log: the deliveries that it changes together.
    private record Note(List<Delivery> changed) {}

    private static final class Walk {
        private final RandomGenerator random;
        private final Set<Rule> without;
        private final boolean isOnce;
        private final boolean bisects;
        private final int size;
        private final int hashes; // Keys with one hash hold each other, which is harmless.
        private final List<Integer> keys = new ArrayList<>(); // By record.
        private final Set<Integer> poison = new HashSet<>();
        private int changedAt; // Records before it have no key by the definition of today.
        private final List<List<Integer>> batches = new ArrayList<>();
        private final List<Note> log = new ArrayList<>();
        private int forced;
        private NavigableMap<BatchNumber, Delivery> begun = new TreeMap<>();
        private final Map<BatchNumber, Integer> places = new HashMap<>(); // Of released ones, for a mutant.
        private int next = 1;
        // What is true, and the engine cannot see:
        private final List<Integer> effects = new ArrayList<>();
        private final Set<Integer> discarded = new HashSet<>();

        Walk(RandomGenerator random, Set<Rule> without) {
            this.random = random;
            this.without = without;
            size = random.nextInt(3) == 0 ? 1 : random.nextInt(1, 5);
            isOnce = random.nextInt(4) == 0;
            bisects = !isOnce && random.nextBoolean();
            hashes = random.nextInt(3) == 0 ? 2 : KEYS;
        }

        private boolean has(Rule rule) {
            return !without.contains(rule);
        }

        private int key(int record) {
            return record < changedAt ? -1 : keys.get(record) % hashes;
        }

        private Set<Integer> keys(Delivery delivery) {
            Set<Integer> found = new HashSet<>();
            for (int record : delivery.records) {
                int key = key(record);
                if (key >= 0 || has(Rule.RECORDS_WITHOUT_KEY_SHARE_ONE)) {
                    found.add(key);
                }
            }
            return found;
        }

        // The engine.

        private long place(BatchNumber number) {
            return places.getOrDefault(number, 0);
        }

        private boolean isFree(Delivery delivery) {
            Set<Integer> wanted = keys(delivery);
            for (Delivery other : begun.values()) {
                boolean isEarlier = place(other.number) != place(delivery.number)
                        ? place(other.number) < place(delivery.number)
                        : other.number.compareTo(delivery.number) < 0;
                if (isEarlier
                        && other.holds()
                        && doesHold(other, delivery)
                        && keys(other).stream().anyMatch(wanted::contains)) {
                    return false;
                }
            }
            return true;
        }

        private boolean doesHold(Delivery other, Delivery delivery) {
            boolean isSibling = other.number.number() == delivery.number.number();
            return switch (other.state) {
                        case WAITING ->
                            has(other.tries > 0 ? Rule.A_RETRY_HOLDS : Rule.A_WAITING_ONE_HOLDS)
                                    || isSibling
                                    || !other.number.isWhole();
                        case ASIDE, IN_DOUBT -> has(Rule.A_PERSON_HOLDS);
                        case ACTIVE, ENDED, DIVIDED -> true;
                    }
                    && (other.number.isWhole() || isSibling || has(Rule.A_PART_HOLDS))
                    && (!isSibling || has(Rule.A_PART_WAITS));
        }

        private void note(Delivery... changed) {
            List<Delivery> all = List.of(changed);
            all.forEach(each -> begun.put(each.number, each));
            log.add(new Note(all));
        }

        private void begin() {
            if (next <= batches.size()) {
                BatchNumber number = BatchNumber.of(next);
                begun.put(number, new Delivery(number, batches.get(next++ - 1), State.WAITING, 0, false));
            }
        }

        private void handOver() {
            List<Delivery> free = begun.values().stream()
                    .filter(each -> each.state == State.WAITING && isFree(each))
                    .toList();
            if (free.isEmpty()) {
                return;
            }
            Delivery due = free.get(random.nextInt(free.size()));
            Delivery active = new Delivery(due.number, due.records, State.ACTIVE, due.tries + 1, due.perhapsIn);
            begun.put(active.number, active);
            if (isOnce || bisects) { // A start mark.
                note(active);
                forced = log.size();
            }
            checkHandOver(active);
        }

        private void answer() {
            List<Delivery> active = begun.values().stream()
                    .filter(each -> each.state == State.ACTIVE)
                    .toList();
            if (!active.isEmpty()) {
                answer(active.get(random.nextInt(active.size())), random.nextInt(8));
            }
        }

        private void answer(Delivery delivery, int what) {
            boolean isPoisoned = delivery.records.stream().anyMatch(poison::contains);
            switch (isPoisoned ? 7 : what) {
                case 0 -> note(delivery.with(State.WAITING));
                case 1, 2 -> { // Unknown, with an effect or without one.
                    if (what == 1) {
                        effects.addAll(delivery.records);
                    }
                    State after = isOnce ? State.IN_DOUBT : delivery.tries > 2 ? State.ASIDE : State.WAITING;
                    note(new Delivery(delivery.number, delivery.records, after, delivery.tries, true));
                }
                case 3 -> partial(delivery);
                case 7 -> refused(delivery);
                default -> {
                    effects.addAll(delivery.records);
                    note(delivery.with(State.ENDED));
                }
            }
        }

        /// The receiver names failed records, and with each of them the later ones of its key.
        private void partial(Delivery delivery) {
            Set<Integer> failing = new HashSet<>();
            List<Integer> failed = new ArrayList<>();
            for (int record : delivery.records) {
                if (failing.contains(keys.get(record)) || random.nextInt(3) == 0) {
                    failing.add(keys.get(record));
                    failed.add(record);
                }
            }
            if (isOnce || failed.size() == delivery.records.size()) {
                note(delivery.with(isOnce ? State.ASIDE : State.WAITING)); // Refused as a whole, or all is tried again.
                return;
            }
            delivery.records.stream().filter(each -> !failed.contains(each)).forEach(effects::add);
            if (failed.isEmpty()) {
                note(delivery.with(State.ENDED));
                return;
            }
            List<Integer> rest = has(Rule.A_PARTIAL_END_FREES) ? failed : delivery.records;
            note(
                    delivery.with(State.DIVIDED),
                    new Delivery(delivery.number.part(1), rest, State.WAITING, delivery.tries, false));
        }

        private void refused(Delivery delivery) {
            if (!bisects || delivery.perhapsIn || delivery.records.size() == 1) {
                note(delivery.with(State.ASIDE));
                return;
            }
            List<List<Integer>> halves = halves(delivery.records);
            note(
                    delivery.with(State.DIVIDED),
                    new Delivery(delivery.number.part(1), halves.getFirst(), State.WAITING, 0, false),
                    new Delivery(delivery.number.part(2), halves.getLast(), State.WAITING, 0, false));
        }

        private List<List<Integer>> halves(List<Integer> records) {
            List<Integer> all = records.stream().map(this::key).distinct().toList();
            if (all.size() < 2 || !has(Rule.HALVES_ARE_OF_KEYS)) {
                int middle = (records.size() + 1) / 2;
                return List.of(records.subList(0, middle), records.subList(middle, records.size()));
            }
            List<Integer> first = all.subList(0, (all.size() + 1) / 2);
            return List.of(
                    records.stream().filter(each -> first.contains(key(each))).toList(),
                    records.stream().filter(each -> !first.contains(key(each))).toList());
        }

        /// A person releases a delivery, says that the receiver has it, or discards it.
        private void person() {
            for (Delivery delivery : List.copyOf(begun.values())) {
                if (delivery.state != State.ASIDE && delivery.state != State.IN_DOUBT) {
                    continue;
                }
                boolean isIn = effects.containsAll(delivery.records);
                boolean isPoisoned = delivery.records.stream().anyMatch(poison::contains);
                if (isIn && random.nextBoolean()) {
                    note(delivery.with(State.ENDED));
                } else if (isPoisoned || random.nextInt(4) == 0) {
                    discarded.addAll(delivery.records);
                    note(delivery.with(State.ENDED));
                } else {
                    note(new Delivery(delivery.number, delivery.records, State.WAITING, 0, false));
                    if (!has(Rule.A_RELEASED_ONE_STAYS)) {
                        places.merge(delivery.number, 1, Integer::sum);
                    }
                }
                forced = log.size(); // A decision is durable when it returns.
            }
        }

        private void crash() {
            List<Note> kept = new ArrayList<>(log.subList(0, forced));
            for (Note note : log.subList(forced, log.size())) {
                if (random.nextInt(3) == 0) {
                    if (has(Rule.NOTES_ARE_IN_ORDER)) {
                        break;
                    }
                    continue;
                }
                kept.add(note);
            }
            log.clear();
            log.addAll(kept);
            forced = log.size();
            begun = new TreeMap<>();
            next = 1;
            for (Note note : log) {
                for (Delivery each : note.changed) {
                    for (; next <= each.number.number(); next++) {
                        BatchNumber number = BatchNumber.of(next);
                        if (has(Rule.ALL_HOLD_AFTER_A_CRASH) || each.number.number() == next) {
                            begun.put(number, new Delivery(number, batches.get(next - 1), State.WAITING, 0, false));
                        }
                    }
                    begun.put(each.number, each);
                }
            }
            for (Delivery each : List.copyOf(begun.values())) {
                if (each.state == State.ACTIVE) { // Its owner is gone.
                    State after = isOnce ? State.IN_DOUBT : State.WAITING;
                    note(new Delivery(each.number, each.records, after, each.tries, true));
                }
            }
            forced = log.size();
        }

        // The oracle.

        private void checkHandOver(Delivery active) {
            for (int record : active.records) {
                for (int earlier = 0; earlier < record; earlier++) {
                    boolean isSame = keys.get(earlier).equals(keys.get(record))
                            && earlier < changedAt == record < changedAt
                            && !active.records.contains(earlier);
                    if (isSame && !effects.contains(earlier) && !discarded.contains(earlier)) {
                        throw new AssertionError(record + " of key " + keys.get(record) + " is handed over in "
                                + active.number + " before " + earlier);
                    }
                }
            }
        }

        private void checkLastEffects() {
            Map<Integer, Integer> last = new HashMap<>();
            Map<Integer, Integer> greatest = new HashMap<>();
            for (int record : effects) {
                int key = record < changedAt ? keys.get(record) : KEYS + keys.get(record);
                last.put(key, record);
                greatest.merge(key, record, Math::max);
            }
            for (int record : discarded) { // What a person discards may be in: then nothing comes after it.
                int key = record < changedAt ? keys.get(record) : KEYS + keys.get(record);
                if (effects.contains(record)) {
                    last.remove(key);
                    greatest.remove(key);
                }
            }
            if (!last.equals(greatest)) {
                throw new AssertionError("the last effects are of " + last + " and not of " + greatest);
            }
        }

        private void collect() {
            List<Integer> batch = new ArrayList<>();
            for (int count = random.nextInt(1, size + 1); count > 0; count--) {
                if (random.nextInt(12) == 0) {
                    poison.add(keys.size());
                }
                batch.add(keys.size());
                keys.add(random.nextInt(KEYS));
            }
            batches.add(batch);
        }

        void chaos() {
            for (int step = 0; step < 120; step++) {
                switch (random.nextInt(12)) {
                    case 0, 1 -> collect();
                    case 2, 3 -> begin();
                    case 4, 5, 6 -> handOver();
                    case 7, 8 -> answer();
                    case 9 -> forced = random.nextInt(4) == 0 ? log.size() : forced;
                    case 10 -> {
                        if (random.nextInt(3) == 0) {
                            person();
                        }
                    }
                    default -> {
                        if (random.nextInt(3) == 0) {
                            crash();
                            changedAt = changedAt == 0 && random.nextInt(4) == 0 ? keys.size() : changedAt;
                        }
                    }
                }
            }
            for (int rounds = 0; rounds < 10 * (batches.size() + 1); rounds++) {
                begin();
                handOver();
                begun.values().stream()
                        .filter(each -> each.state == State.ACTIVE)
                        .toList()
                        .forEach(each -> answer(each, 6));
                person();
            }
            if (begun.values().stream().anyMatch(Delivery::holds) || next <= batches.size()) {
                throw new AssertionError("never ended: " + begun);
            }
            checkLastEffects();
        }

        /// Poison alone fails, and nobody decides: exactly the records of keys that a poison record holds are
        /// left.
        void calm(boolean isPartial) {
            for (int count = random.nextInt(1, 10); count > 0; count--) {
                collect();
            }
            for (int rounds = 0; rounds < 200; rounds++) {
                begin();
                handOver();
                for (Delivery each : List.copyOf(begun.values())) {
                    if (each.state == State.ACTIVE && isPartial) {
                        answerPartly(each);
                    } else if (each.state == State.ACTIVE) {
                        answer(each, 6);
                    }
                }
            }
            Set<Integer> left = new TreeSet<>();
            Set<Integer> held = new HashSet<>();
            for (List<Integer> batch : batches) {
                Set<Integer> own = new HashSet<>(batch.stream().map(this::key).toList());
                if (own.stream().anyMatch(held::contains)) { // A sealed batch is handed over as one.
                    held.addAll(own);
                    left.addAll(batch);
                    continue;
                }
                for (int record : batch) {
                    boolean isWhole = !isPartial && !bisects && batch.stream().anyMatch(poison::contains);
                    if (poison.contains(record) || isWhole) {
                        held.add(key(record));
                    }
                    if (held.contains(key(record)) || isWhole) {
                        left.add(record);
                    }
                }
            }
            Set<Integer> undone = new TreeSet<>();
            for (int record = 0; record < keys.size(); record++) {
                if (!effects.contains(record)) {
                    undone.add(record);
                }
            }
            if (!undone.equals(left)) {
                throw new AssertionError("left are " + undone + " and not " + left + " of " + batches);
            }
        }

        private void answerPartly(Delivery delivery) {
            Set<Integer> failing = new HashSet<>();
            List<Integer> failed = new ArrayList<>();
            for (int record : delivery.records) {
                if (poison.contains(record) || failing.contains(key(record))) {
                    failing.add(key(record));
                    failed.add(record);
                }
            }
            delivery.records.stream().filter(each -> !failed.contains(each)).forEach(effects::add);
            if (failed.isEmpty()) {
                note(delivery.with(State.ENDED));
            } else if (failed.size() == delivery.records.size()) {
                note(delivery.with(State.WAITING));
            } else {
                List<Integer> rest = has(Rule.A_PARTIAL_END_FREES) ? failed : delivery.records;
                note(
                        delivery.with(State.DIVIDED),
                        new Delivery(delivery.number.part(1), rest, State.WAITING, delivery.tries, false));
            }
        }
    }

    private static void walk(RandomGenerator random, Set<Rule> without) {
        int kind = random.nextInt(4);
        Walk walk = new Walk(random, without);
        if (kind > 1) {
            walk.chaos();
        } else {
            walk.calm(kind == 1 && !walk.isOnce);
        }
    }

    @Test
    void with_all_rules_no_walk_goes_wrong() {
        Seeds.forAllSeeds(WALKS, random -> walk(random, Set.of()));
    }

    @ParameterizedTest
    @EnumSource(Rule.class)
    void without_any_one_rule_some_walks_go_wrong(Rule rule) {
        int[] wrong = {0};
        Seeds.forAllSeeds(WALKS, random -> {
            try {
                walk(random, Set.of(rule));
            } catch (AssertionError found) {
                wrong[0]++;
            }
        });
        assertThat(wrong[0]).as("walks of " + WALKS + " that went wrong").isPositive();
    }
}
