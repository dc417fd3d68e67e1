package dev.onefold.core.keyed;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.codec.Codec;
import dev.onefold.core.event.Reason;
import dev.onefold.core.keyed.Change.Letter;
import dev.onefold.core.keyed.Steps.Event;
import dev.onefold.core.keyed.Steps.Seen;
import dev.onefold.fixtures.Seeds;
import dev.onefold.process.Step;
import dev.onefold.process.Write;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// The rules against plain maps that fold all accepted events from the first one, each time from the
/// beginning.
class KeyFoldTest {
    private static final Codec<Event> EVENTS = Codec.of(Event.class);

    private static StepFunction function(String order, int keep, int version, String onNewVersion) {
        String keeps = order.equals("latest") ? "" : ",\"keep\":" + keep;
        String process = "\"class\":\"X\",\"version\":" + version + ",\"on-new-version\":\"" + onNewVersion
                + "\",\"order\":\"" + order + "\"" + keeps
                + ",\"tables\":{\"latest\":\"k\",\"buckets\":[\"k\",\"bucket\"]}";
        return StoredKey.function(process, "", new Steps(version));
    }

    /// The accepted events of a key as plain maps. The kept ones are folded again with every event, from the
    /// result of those that were folded below them for good.
    private static final class Plain {
        final int keep;
        Steps steps;
        final TreeMap<Integer, byte[]> accepted = new TreeMap<>();
        final TreeSet<Integer> kept = new TreeSet<>();
        final TreeSet<Integer> failed = new TreeSet<>();
        int below = Integer.MIN_VALUE;
        Seen seenBelow = new Seen(7, 0);
        Map<String, String> tableBelow = Map.of();
        Map<String, String> table = Map.of();
        Seen seen = new Seen(7, 0);

        Plain(int keep, Steps steps) {
            this.keep = keep;
            this.steps = steps;
        }

        Verdict take(int version, byte[] content, boolean redriven) {
            if (version <= below) {
                return accepted.containsKey(version) && !redriven ? Verdict.DUPLICATE : Verdict.REJECTED;
            }
            byte[] there = accepted.get(version);
            Verdict verdict = Verdict.ACCEPTED;
            if (there != null && !(redriven && failed.contains(version))) {
                int order = Arrays.compareUnsigned(content, there);
                if (order <= 0) {
                    return order == 0 ? Verdict.DUPLICATE : Verdict.CONFLICTING;
                }
                verdict = Verdict.CONFLICTING;
            }
            boolean isFirst = accepted.isEmpty();
            boolean isAppend = isFirst || version > accepted.lastKey();
            accepted.put(version, content);
            kept.add(version);
            fold();
            if (redriven && !isFirst && failed.contains(version)) {
                if (there == null) {
                    accepted.remove(version);
                    kept.remove(version);
                    failed.remove(version);
                } else {
                    accepted.put(version, there);
                }
                fold();
                return Verdict.REJECTED;
            }
            Verdict result = failed.contains(version) ? Verdict.REJECTED : verdict;
            if (!isAppend || kept.size() > 2 * keep) {
                letGo();
            }
            int newer = 0;
            for (int each : accepted.descendingKeySet()) {
                if (newer++ == keep) {
                    below = Math.max(below, each);
                    break;
                }
            }
            return result;
        }

        void letGo() {
            TreeSet<Integer> all = new TreeSet<>(kept);
            while (kept.size() > keep) {
                kept.pollFirst();
            }
            all.removeAll(kept);
            seen = seenBelow;
            table = new TreeMap<>(tableBelow);
            all.forEach(this::step);
            seenBelow = seen;
            tableBelow = table;
            fold();
        }

        void upgrade(Steps newer, boolean refold) {
            steps = newer;
            if (!refold && !accepted.isEmpty()) {
                below = accepted.lastKey();
                kept.clear();
                seenBelow = seen;
                tableBelow = table;
            } else {
                fold();
                letGo();
            }
        }

        void fold() {
            failed.removeAll(kept);
            seen = seenBelow;
            table = new TreeMap<>(tableBelow);
            kept.forEach(this::step);
        }

        private void step(int version) {
            byte[] content = accepted.get(version);
            if (content[0] == 0) {
                return;
            }
            try {
                Step<Seen> step = steps.step(seen, EVENTS.decode(Arrays.copyOfRange(content, 1, content.length), null));
                seen = step.context();
                step.writes().forEach(this::write);
            } catch (IllegalArgumentException e) {
                failed.add(version);
            }
        }

        private void write(Write write) {
            switch (write) {
                case Write.Put(String _, Steps.Latest row) ->
                    table.put("0[k]", "{\"k\":\"k\",\"trail\":" + row.trail() + "}");
                case Write.Put(String _, Steps.Bucket row) ->
                    table.put(
                            "1[k, " + row.bucket() + "]",
                            "{\"k\":\"k\",\"bucket\":" + row.bucket() + ",\"trail\":" + row.trail() + ",\"count\":"
                                    + row.count() + "}");
                case Write.Remove(String _, List<Object> key) -> table.remove("1[k, " + key.get(1) + "]");
                default -> throw new AssertionError(write.toString());
            }
        }

        String context() {
            return "{\"trail\":" + seen.trail() + ",\"count\":" + seen.count() + "}";
        }
    }

    private static byte[] content(@Nullable Event event) {
        return event == null ? Arrival.filtered() : StoredKey.content(EVENTS, event);
    }

    private static @Nullable Event event(RandomGenerator random, int version) {
        int kind = random.nextInt(10);
        String what = kind == 0 ? "throw:k" : kind == 1 ? "remove:k" : "put:k";
        return kind == 2 ? null : new Event(version * 10 + random.nextInt(3) / 2, what);
    }

    @Test
    void in_order_is_the_fold_of_all_accepted_events_in_the_order_of_their_versions_also_across_versions_of_the_code() {
        Seeds.forAllSeeds(100, KeyFoldTest::foldInOrder);
    }

    @Tag("campaign")
    @Test
    void in_order_is_that_fold_under_many_more_seeds() {
        Seeds.forEachSeed(100, 1_200, seed -> foldInOrder(new SplittableRandom(seed)));
    }

    private static void foldInOrder(RandomGenerator random) {
        int keep = 1 + random.nextInt(6);
        int code = 1;
        StepFunction function = function("in-order", keep, code, "refold");
        StoredKey stored = new StoredKey();
        Plain plain = new Plain(keep, new Steps(code));
        int top = 0;
        for (int i = 0; i < 60; ) {
            if (random.nextInt(20) == 0 && stored.head != null) {
                boolean refold = random.nextBoolean();
                function = function("in-order", keep, ++code, refold ? "refold" : "continue");
                plain.upgrade(new Steps(code), refold);
            }
            Head before = stored.head();
            KeyFold fold = new KeyFold(function, StoredKey.KEY, before, stored);
            for (int inBatch = random.nextInt(3); inBatch >= 0; inBatch--, i++) {
                top += random.nextInt(3) == 0 ? 1 : 0;
                int version = random.nextInt(3) == 0 ? top : Math.max(0, top - random.nextInt(2 * keep + 2));
                byte[] content = content(event(random, version));
                boolean redriven = random.nextInt(8) == 0;
                Verdict expected = plain.take(version, content, redriven);
                assertThat(fold.fold(StoredKey.arrival(version, content, redriven)))
                        .as("event %s, version %s", i, version)
                        .isEqualTo(expected);
            }
            if (fold.hasChanged()) {
                stored.put(fold.change());
                assertThat(stored.table()).isEqualTo(plain.table);
                assertThat(stored.context()).isEqualTo(plain.context());
            }
        }
    }

    @Test
    void a_letter_is_there_for_each_event_that_contributes_nothing_and_for_each_loser() {
        Seeds.forAllSeeds(60, random -> {
            StepFunction function = function("in-order", 100, 1, "refold");
            StoredKey stored = new StoredKey();
            Plain plain = new Plain(100, new Steps(1));
            TreeSet<String> failed = new TreeSet<>();
            for (int i = 0; i < 40; i++) {
                int version = random.nextInt(20);
                byte[] content = content(event(random, version));
                plain.take(version, content, false);
                KeyFold fold = new KeyFold(function, StoredKey.KEY, stored.head(), stored);
                fold.fold(StoredKey.arrival(version, content, false));
                if (!fold.hasChanged()) {
                    continue;
                }
                Change change = fold.change();
                stored.put(change);
                change.withdrawn()
                        .forEach(event -> assertThat(failed.remove(new String(event.origin(), StandardCharsets.UTF_8)))
                                .isEqualTo(event.hadLetter()));
                for (Letter letter : change.letters()) {
                    String origin = new String(letter.origin(), StandardCharsets.UTF_8);
                    if (letter.why().reason() == Reason.FAILED) {
                        assertThat(failed.add(origin)).isTrue();
                    } else {
                        assertThat(letter.why().reason()).isEqualTo(Reason.CONFLICT);
                        byte[] lost = letter.content() == null ? content : letter.content();
                        assertThat(origin).as("of what has lost").isEqualTo(version + "/" + Arrays.hashCode(lost));
                        assertThat(Arrays.equals(lost, plain.accepted.get(version)))
                                .isFalse();
                    }
                }
                List<String> wanted = new ArrayList<>();
                plain.failed.forEach(each -> wanted.add(each + "/" + Arrays.hashCode(plain.accepted.get(each))));
                assertThat(failed).containsExactlyInAnyOrderElementsOf(wanted);
            }
        });
    }

    @Test
    void an_event_above_all_others_reads_nothing_of_what_is_kept_but_once_in_keep_events() {
        StepFunction function = function("in-order", 50, 1, "refold");
        StoredKey stored = new StoredKey();
        int longest = 0;
        for (int version = 1; version <= 1_000; version++) {
            KeyFold fold = new KeyFold(function, StoredKey.KEY, stored.head(), stored);
            fold.fold(StoredKey.arrival(version, content(new Event(version, "put:k")), false));
            stored.put(fold.change());
            longest = Math.max(longest, java.util.Objects.requireNonNull(stored.head).length);
        }
        assertThat(stored.reads).isEqualTo((1_000 - 100 + 49) / 51);
        assertThat(longest).isLessThan(80);
    }

    @Test
    void every_folds_each_version_once_as_it_comes_and_latest_only_what_is_above() {
        Seeds.forAllSeeds(250, random -> {
            for (String order : List.of("every", "latest")) {
                StepFunction function = function(order, 100, 1, "continue");
                StoredKey stored = new StoredKey();
                Steps steps = new Steps(1);
                Seen seen = steps.start();
                TreeMap<Integer, byte[]> in = new TreeMap<>();
                for (int i = 0; i < 40; i++) {
                    int version = random.nextInt(25);
                    byte[] content = content(event(random, version));
                    KeyFold fold = new KeyFold(function, StoredKey.KEY, stored.head(), stored);
                    Verdict verdict = fold.fold(StoredKey.arrival(version, content, false));
                    int highest = in.isEmpty() ? -1 : in.lastKey();
                    if (in.containsKey(version) && (order.equals("every") || version == highest)) {
                        boolean same = Arrays.equals(content, in.get(version));
                        assertThat(verdict)
                                .isEqualTo(same || version != highest ? Verdict.DUPLICATE : Verdict.CONFLICTING);
                    } else if (order.equals("latest") && version < highest) {
                        assertThat(verdict).isEqualTo(Verdict.STALE);
                    } else {
                        in.put(version, content);
                        try {
                            if (content[0] == 1) {
                                seen = steps.step(
                                                seen,
                                                EVENTS.decode(Arrays.copyOfRange(content, 1, content.length), null))
                                        .context();
                            }
                            assertThat(verdict).isEqualTo(Verdict.ACCEPTED);
                        } catch (IllegalArgumentException e) {
                            assertThat(verdict).isEqualTo(Verdict.REJECTED);
                        }
                    }
                    if (fold.hasChanged()) {
                        stored.put(fold.change());
                    }
                    assertThat(stored.context())
                            .isEqualTo("{\"trail\":" + seen.trail() + ",\"count\":" + seen.count() + "}");
                }
            }
        });
    }
}
