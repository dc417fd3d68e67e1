package dev.onefold.embedded.commit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.DeadLetter;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.bytes.RecordKind;
import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.state.Key;
import dev.onefold.embedded.disk.Entry;
import dev.onefold.embedded.disk.Journal;
import dev.onefold.embedded.disk.OutOfSpaceException;
import dev.onefold.embedded.fold.FoldRounds;
import dev.onefold.embedded.fold.ShardFold;
import dev.onefold.embedded.fold.State;
import dev.onefold.embedded.fold.Workers;
import dev.onefold.embedded.guard.EngineLimits;
import dev.onefold.embedded.letters.Letters;
import dev.onefold.embedded.rows.Memory;
import dev.onefold.embedded.source.SpaceListener;
import dev.onefold.fixtures.Seeds;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The commits and their journal, without an engine.
class CommitsTest {
    private static final Pipeline PIPELINE = PipelineBuilder.named("p")
            .key("id")
            .version("v")
            .rollup(r -> r.levels("g").count("rows").sum("sum", "n", 18, 0))
            .build();
    private static final int KEYS = 12;

    @TempDir
    Path folder;

    /// From an opening of the journal to a power cut.
    private final class Life implements AutoCloseable {
        final State state;
        final Letters letters;
        final Journal journal;
        final Commits commits;

        Life(Path directory) throws IOException, OutOfSpaceException {
            Memory memory = new Memory(1L << 30);
            Path view = Files.createTempDirectory(folder, "letters");
            letters = new Letters(view, 42, memory);
            List<Entry> entries = new ArrayList<>();
            journal =
                    Journal.open(directory, 42, Journal.Position.START, payload -> entries.add(Entry.decode(payload)));
            EngineLimits settings = new EngineLimits(
                    2,
                    0,
                    Duration.ZERO,
                    memory.bytesMax(),
                    0,
                    () -> Instant.EPOCH,
                    () -> {},
                    SpaceListener.silent(),
                    _ -> {});
            Workers workers = new Workers(0);
            ShardFold fold = ShardFold.of(
                    new ShardFold.Parts(PIPELINE, view, 42, settings, memory, letters, workers, Optional.empty()));
            state = fold.state();
            commits = new Commits(
                    fold, new FoldRounds(fold, letters, settings.clock(), workers), letters, journal, _ -> {});
            entries.forEach(commits::replay);
        }

        void commit(Request... requests) throws OutOfSpaceException {
            Deque<Request> queue = new ArrayDeque<>(List.of(requests));
            while (!queue.isEmpty()) {
                commits.commit(queue);
            }
            for (Request request : requests) {
                assertThat(request.isDone()).isTrue();
            }
        }

        /// All that a query, a status and the letters would show.
        List<Object> seen() {
            List<Object> seen = new ArrayList<>(List.of(state.allCounts(), state.sources.progress()));
            for (int key = 0; key < KEYS; key++) {
                seen.add(state.row(Key.bytes(PIPELINE, List.of("k" + key))));
            }
            Map<String, List<Long>> totals = new TreeMap<>();
            for (int leaf = 0; leaf < state.groups[0].size(); leaf++) {
                long[] cell = new long[state.cells()[0][0].stride()];
                for (var shard : state.cells()) {
                    shard[0].addTo(cell, leaf);
                }
                totals.put(String.valueOf(state.groups[0].tuple(leaf)), List.of(cell[0], cell[2]));
            }
            seen.add(totals);
            for (DeadLetter letter : letters.list(0, 1_000)) {
                seen.add(letter);
                if (letter.content() == DeadLetter.Content.RECORD) {
                    seen.add(new String(letters.record(letter.id()), StandardCharsets.UTF_8));
                }
            }
            return seen;
        }

        @Override
        public void close() {
            journal.close();
            letters.close();
            letters.free();
            state.close();
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String line(RandomGenerator random) {
        if (random.nextInt(6) == 0) {
            return "garbage " + random.nextInt(1_000) + "\n";
        }
        return "{\"id\":\"k%d\",\"v\":%d,\"g\":\"g%d\",\"n\":%d}\n"
                .formatted(random.nextInt(KEYS), random.nextInt(9), random.nextInt(3), random.nextInt(1_000));
    }

    private static Request lines(String source, long first, String text) {
        return Request.lines(source, first, bytes(text), bytes(text).length);
    }

    /// Lines that come for the first time, again, or too early; `sent` are those of the source that are
    /// acknowledged.
    private static Request lines(String source, List<String> sent, RandomGenerator random) {
        int from = Math.max(0, sent.size() - random.nextInt(4));
        StringBuilder text = new StringBuilder(String.join("", sent.subList(from, sent.size())));
        if (random.nextInt(8) == 0) {
            return lines(source, sent.size() + 2, line(random));
        }
        boolean numbered = random.nextBoolean();
        if (!numbered) {
            from = sent.size();
            text.setLength(0);
        }
        for (int more = random.nextInt(numbered ? 0 : 1, 5); more > 0; more--) {
            String line = line(random);
            sent.add(line);
            text.append(line);
        }
        return lines(source, numbered ? from + 1 : Request.NEXT, text.toString());
    }

    private static Request ofLetter(Life life, RandomGenerator random) {
        List<DeadLetter> letters = life.letters.list(0, 100);
        if (letters.isEmpty()) {
            return Request.purge(List.of(7L));
        }
        DeadLetter letter = letters.get(random.nextInt(letters.size()));
        return random.nextInt(4) == 0
                ? Request.purge(List.of(letter.id(), 999L))
                : Request.redrive(new Entry.Redrive(
                        letter.id(),
                        letter.place(),
                        0,
                        0,
                        Entry.Settles.NOTHING,
                        RecordKind.SENT,
                        bytes(line(random).strip())));
    }

    @Test
    void what_a_journal_brings_back_is_what_was_acknowledged() {
        Seeds.forAllSeeds(12, random -> {
            Path directory = Files.createTempDirectory(folder, "journal");
            Map<String, List<String>> sent = new HashMap<>();
            Life life = new Life(directory);
            for (int step = 0; step < 25; step++) {
                List<Request> batch = new ArrayList<>();
                Map<Request, Long> acknowledged = new HashMap<>();
                for (int i = random.nextInt(1, 4); i > 0; i--) {
                    if (random.nextInt(4) == 0) {
                        batch.add(ofLetter(life, random));
                    } else {
                        String source = "s" + random.nextInt(2);
                        List<String> before = sent.computeIfAbsent(source, _ -> new ArrayList<>());
                        Request request = lines(source, before, random);
                        batch.add(request);
                        acknowledged.put(request, (long) before.size());
                    }
                }
                life.commit(batch.toArray(Request[]::new));
                acknowledged.forEach((request, lines) -> {
                    if (request.refused() == null) {
                        assertThat(request.acknowledged()).isEqualTo(lines);
                    } else {
                        assertThat(request.refused()).hasMessageContaining("Lines are missing", "Send from line");
                    }
                });
                if (random.nextInt(6) == 0) {
                    List<Object> seen = life.seen();
                    life.close();
                    life = new Life(directory);
                    assertThat(life.seen()).isEqualTo(seen);
                }
            }
            life.close();
        });
    }

    @Test
    void a_refused_request_of_a_batch_leaves_no_trace_and_the_others_are_done() throws Exception {
        try (Life life = new Life(folder)) {
            Request first = lines("a", 1, "{\"id\":\"k1\",\"v\":1,\"g\":\"g\",\"n\":5}\n");
            Request gap = lines("b", 3, "{\"id\":\"k2\",\"v\":1,\"g\":\"g\",\"n\":5}\n");
            Request last = lines("a", Request.NEXT, "{\"id\":\"k1\",\"v\":2,\"g\":\"g\",\"n\":7}\n");
            life.commit(first, gap, last);
            assertThat(Objects.requireNonNull(gap.refused())).hasMessageContaining("Send from line 1 on");
            assertThat(List.of(first.acknowledged(), last.acknowledged())).containsExactly(1L, 2L);
            assertThat(life.state.allCounts().accepted()).isEqualTo(2);
            assertThat(life.state.rows()).isEqualTo(1);
        }
    }

    @Test
    void a_line_over_the_limit_takes_its_number_and_is_known_when_it_comes_again() throws Exception {
        byte[] hash = Sha256.of(bytes("large"));
        try (Life life = new Life(folder)) {
            Request once = Request.oversized("s", 1, 1L << 40, hash);
            Request again = Request.oversized("s", 1, 1L << 40, hash);
            Request behind = lines("s", 2, "{\"id\":\"k1\",\"v\":1,\"g\":\"g\",\"n\":5}\n");
            life.commit(once, again, behind);
            assertThat(List.of(once.acknowledged(), again.acknowledged(), behind.acknowledged()))
                    .containsExactly(1L, 1L, 2L);
        }
        try (Life again = new Life(folder)) {
            assertThat(again.letters.list(0, 9)).singleElement().satisfies(letter -> {
                assertThat(letter.bytes()).isEqualTo(1L << 40);
                assertThat(letter.place().line()).isEqualTo(1);
            });
            assertThat(again.state.allCounts().accepted()).isEqualTo(1);
        }
    }
}
