package dev.onefold.core.process;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.event.Reason;
import dev.onefold.core.event.VersionBytes;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.process.Change.Letter;
import dev.onefold.core.process.Steps.Event;
import dev.onefold.core.process.Steps.Seen;
import dev.onefold.core.shape.Codec;
import dev.onefold.core.shape.Value;
import dev.onefold.fixtures.Seeds;
import dev.onefold.process.Step;
import dev.onefold.process.Write;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// The rules against plain maps that fold all accepted events from the first one, each time anew.
class KeyFoldTest {
    private static final byte[] KEY = "k".getBytes(StandardCharsets.UTF_8);
    private static final Codec<Event> EVENTS = Codec.of(Event.class);

    private static Pipeline pipeline(String order, int keep, int version, String onNewVersion) {
        String keeps = order.equals("latest") ? "" : ",\"keep\":" + keep;
        String text = "{\"pipeline\":\"p\",\"input\":{\"key\":\"k\",\"version\":\"v\"},\"process\":{\"class\":\"X\","
                + "\"version\":" + version + ",\"on-new-version\":\"" + onNewVersion + "\",\"order\":\"" + order + "\""
                + keeps + ",\"tables\":{\"latest\":\"k\",\"buckets\":[\"k\",\"bucket\"]}}}";
        return switch (PipelineText.read(text)) {
            case Reading.Read(Pipeline read) -> read;
            case Reading.Refused refused -> throw new AssertionError(refused.toString());
        };
    }

    private static StepFunction function(String order, int keep, int version, String onNewVersion) {
        return new StepFunction(
                LoadedFunction.of(pipeline(order, keep, version, onNewVersion), new Steps(version)),
                StepFunction.Caller.DIRECT,
                impurity -> {
                    throw new AssertionError(impurity.toString());
                });
    }

    /// What a runtime stores of a key, as bytes.
    private static final class Stored implements Store {
        byte @Nullable [] head;
        final TreeMap<Long, byte[]> kept = new TreeMap<>();
        byte @Nullable [] base;
        final Map<RowId, byte[]> rows = new TreeMap<>();
        int reads;

        @Override
        public List<Kept> kept(long from) {
            reads++;
            return kept.tailMap(from).values().stream().map(Kept::read).toList();
        }

        @Override
        public Base base() {
            return Base.read(java.util.Objects.requireNonNull(base));
        }

        @Override
        public Map<RowId, byte[]> rows(Collection<RowId> wanted) {
            Map<RowId, byte[]> found = new HashMap<>(rows);
            found.keySet().retainAll(wanted);
            return found;
        }

        @Nullable
        Head head() {
            return head == null ? null : Head.read(head);
        }

        void put(Change change) {
            Head before = head();
            assertThat(change.head().revision()).isEqualTo(before == null ? 1 : before.revision() + 1);
            head = change.head().encoded();
            change.kept().forEach(each -> assertThat(kept.put(each.ordinal(), each.encoded()))
                    .isNull());
            change.dropped().forEach(ordinal -> assertThat(kept.remove(ordinal)).isNotNull());
            if (change.dropsBase()) {
                base = null;
            } else if (change.base() != null) {
                base = change.base().encoded();
            }
            change.rows().forEach(row -> {
                assertThat(rows.get(row.row())).isEqualTo(row.before());
                if (row.after() == null) {
                    rows.remove(row.row());
                } else {
                    rows.put(row.row(), row.after());
                }
            });
            assertThat(kept).hasSize(change.head().window().count());
        }

        Map<String, String> table() {
            Map<String, String> table = new TreeMap<>();
            rows.forEach((row, content) ->
                    table.put(row.table() + row.key().toString(), Value.read(content).toJson()));
            return table;
        }

        String context() {
            return Value.read(Head.read(java.util.Objects.requireNonNull(head)).context())
                    .toJson();
        }
    }

    private static Arrival arrival(int version, byte[] content, boolean redriven) {
        byte[] origin = (version + "/" + Arrays.hashCode(content)).getBytes(StandardCharsets.UTF_8);
        return new Arrival(VersionBytes.of(BigInteger.valueOf(version)), content, origin, redriven);
    }

    private static byte[] content(@Nullable Event event) {
        if (event == null) {
            return Arrival.filtered();
        }
        byte[] fields = EVENTS.encode(event);
        return Arrival.counted(fields, 0, fields.length);
    }

    /// All accepted events of a key, folded from the first one.
    private static final class Plain {
        final int keep;
        final Steps steps;
        final TreeMap<Integer, byte[]> accepted = new TreeMap<>();
        final TreeSet<Integer> failed = new TreeSet<>();
        int below = Integer.MIN_VALUE;

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
            accepted.put(version, content);
            state();
            int newer = 0;
            for (int each : accepted.descendingKeySet()) {
                if (newer++ == keep) {
                    below = Math.max(below, each);
                    break;
                }
            }
            return failed.contains(version) ? Verdict.REJECTED : verdict;
        }

        Map<String, String> table = Map.of();
        Seen seen = new Seen(7, 0);

        /// Computes context, rows and failures from scratch.
        void state() {
            Map<String, String> rows = new TreeMap<>();
            seen = steps.start();
            failed.clear();
            accepted.forEach((version, content) -> {
                if (content[0] == 1) {
                    try {
                        Event event = EVENTS.decode(Arrays.copyOfRange(content, 1, content.length), null);
                        Step<Seen> step = steps.step(seen, event);
                        seen = step.context();
                        for (Write write : step.writes()) {
                            switch (write) {
                                case Write.Put(String name, Steps.Latest row) ->
                                    rows.put("0[k]", "{\"k\":\"k\",\"trail\":" + row.trail() + "}");
                                case Write.Put(String name, Steps.Bucket row) ->
                                    rows.put(
                                            "1[k, " + row.bucket() + "]",
                                            "{\"k\":\"k\",\"bucket\":" + row.bucket() + ",\"trail\":" + row.trail()
                                                    + ",\"count\":" + row.count() + "}");
                                case Write.Remove(String name, List<Object> key) ->
                                    rows.remove("1[k, " + key.get(1) + "]");
                                default -> throw new AssertionError(write.toString());
                            }
                        }
                    } catch (IllegalArgumentException e) {
                        failed.add(version);
                    }
                }
            });
            table = rows;
        }

        String context() {
            return "{\"trail\":" + seen.trail() + ",\"count\":" + seen.count() + "}";
        }
    }

    private static @Nullable Event event(RandomGenerator random, int version) {
        int kind = random.nextInt(10);
        String what = kind == 0 ? "throw:k" : kind == 1 ? "remove:k" : "put:k";
        return kind == 2 ? null : new Event(version * 10 + random.nextInt(3) / 2, what);
    }

    @Test
    void in_order_is_the_fold_of_all_accepted_events_in_the_order_of_their_versions() {
        Seeds.forAllSeeds(1_500, random -> {
            int keep = 1 + random.nextInt(6);
            StepFunction function = function("in-order", keep, 1, "refold");
            Stored stored = new Stored();
            Plain plain = new Plain(keep, new Steps(1));
            int top = 0;
            for (int i = 0; i < 60; ) {
                Head before = stored.head();
                KeyFold fold = new KeyFold(function, KEY, before, stored);
                for (int inBatch = random.nextInt(3); inBatch >= 0; inBatch--, i++) {
                    top += random.nextInt(3) == 0 ? 1 : 0;
                    int version = random.nextInt(3) == 0 ? top : Math.max(0, top - random.nextInt(2 * keep + 2));
                    byte[] content = content(event(random, version));
                    boolean redriven = random.nextInt(8) == 0;
                    Verdict expected = plain.take(version, content, redriven);
                    assertThat(fold.fold(arrival(version, content, redriven)))
                            .as("event %s, version %s", i, version)
                            .isEqualTo(expected);
                }
                if (fold.hasChanged()) {
                    stored.put(fold.change());
                    assertThat(stored.table()).isEqualTo(plain.table);
                    assertThat(stored.context()).isEqualTo(plain.context());
                }
            }
        });
    }

    @Test
    void a_letter_is_there_for_each_event_that_contributes_nothing_and_for_each_loser() {
        Seeds.forAllSeeds(500, random -> {
            StepFunction function = function("in-order", 100, 1, "refold");
            Stored stored = new Stored();
            Plain plain = new Plain(100, new Steps(1));
            TreeSet<String> failed = new TreeSet<>();
            for (int i = 0; i < 40; i++) {
                int version = random.nextInt(20);
                byte[] content = content(event(random, version));
                plain.take(version, content, false);
                KeyFold fold = new KeyFold(function, KEY, stored.head(), stored);
                fold.fold(arrival(version, content, false));
                if (!fold.hasChanged()) {
                    continue;
                }
                Change change = fold.change();
                stored.put(change);
                change.withdrawn().forEach(origin -> assertThat(
                                failed.remove(new String(origin, StandardCharsets.UTF_8)))
                        .isTrue());
                for (Letter letter : change.letters()) {
                    String origin = new String(letter.origin(), StandardCharsets.UTF_8);
                    if (letter.why().reason() == Reason.FAILED) {
                        assertThat(failed.add(origin)).isTrue();
                    } else {
                        assertThat(letter.why().reason()).isEqualTo(Reason.CONFLICT);
                    }
                }
                List<String> wanted = new ArrayList<>();
                plain.failed.forEach(each ->
                        wanted.add(each + "/" + Arrays.hashCode(plain.accepted.get(each))));
                assertThat(failed).containsExactlyInAnyOrderElementsOf(wanted);
            }
        });
    }

    @Test
    void an_event_above_all_others_reads_nothing_of_what_is_kept_but_once_in_keep_events() {
        StepFunction function = function("in-order", 50, 1, "refold");
        Stored stored = new Stored();
        int longest = 0;
        for (int version = 1; version <= 1_000; version++) {
            KeyFold fold = new KeyFold(function, KEY, stored.head(), stored);
            fold.fold(arrival(version, content(new Event(version, "put:k")), false));
            stored.put(fold.change());
            longest = Math.max(longest, java.util.Objects.requireNonNull(stored.head).length);
        }
        assertThat(stored.reads).isEqualTo((1_000 - 100 + 49) / 51);
        assertThat(longest).isLessThan(80);
    }

    @Test
    void every_folds_each_version_once_as_it_comes_and_latest_only_what_is_above() {
        Seeds.forAllSeeds(500, random -> {
            for (String order : List.of("every", "latest")) {
                StepFunction function = function(order, 100, 1, "continue");
                Stored stored = new Stored();
                Steps steps = new Steps(1);
                Seen seen = steps.start();
                TreeMap<Integer, byte[]> in = new TreeMap<>();
                for (int i = 0; i < 40; i++) {
                    int version = random.nextInt(25);
                    byte[] content = content(event(random, version));
                    KeyFold fold = new KeyFold(function, KEY, stored.head(), stored);
                    Verdict verdict = fold.fold(arrival(version, content, false));
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
