package dev.onefold.simulator.embedded;

import static dev.onefold.simulator.embedded.Trades.totals;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.EngineException;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.fakes.disk.SimulatedDisk;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Files of a data directory are removed, cut, or replaced by older ones of the same directory. The directory is
/// refused before anything is acknowledged into it, and is right when the files are back; or it is right without
/// them.
class MissingFilesTest {
    private static final List<String> LINES = IntStream.range(0, 1_300)
            .mapToObj(i -> Trades.trade("t" + i % 50, i, "desk" + i % 4, i % 7 + ".25"))
            .toList();
    private static final int IN = 1_200; // The others come later.
    private static final int SEGMENT_HEADER_BYTES = 32;
    private static final String REFUSED = "refused";
    private static final String RIGHT = "right";

    /// A disk, and what it was some checkpoints before.
    private record Left(SimulatedDisk disk, SimulatedDisk older) {}

    private static EmbeddedEngine open(SimulatedDisk disk, boolean keepJournal) {
        return Trades.open(Trades.directory(disk), Trades.settings(2).withKeepJournal(keepJournal));
    }

    private static Left left(boolean keepJournal, boolean killed) {
        SimulatedDisk disk = SimulatedDisk.empty();
        EmbeddedEngine engine = open(disk, keepJournal);
        engine.append("bad", List.of("poison"));
        append(engine, 0, 400);
        engine.checkpointNow();
        append(engine, 400, 900);
        SimulatedDisk older = synced(disk.copy());
        append(engine, 900, 1_000);
        engine.append("bad", List.of("more"));
        engine.checkpointNow();
        append(engine, 1_000, IN);
        if (!killed) {
            engine.close();
        }
        return new Left(synced(disk.kill()), older);
    }

    private static void append(EmbeddedEngine engine, int from, int to) {
        for (int at = from; at < to; at += 100) {
            engine.append("s", LINES.subList(at, at + 100));
        }
    }

    private static SimulatedDisk synced(SimulatedDisk disk) {
        disk.sync();
        return disk;
    }

    /// What is done to a file.
    private enum Damage {
        REMOVED,
        HALF,
        CUT,
        OLDER;

        /// Whether it changed the file.
        boolean on(SimulatedDisk disk, SimulatedDisk older, String name) throws IOException {
            Path file = disk.getPath(name);
            byte[] bytes = Files.readAllBytes(file);
            switch (this) {
                case REMOVED -> Files.delete(file);
                case HALF -> Files.write(file, Arrays.copyOf(bytes, bytes.length / 2));
                case CUT -> Files.write(file, Arrays.copyOf(bytes, Math.max(0, bytes.length - 1)));
                case OLDER -> {
                    Path before = older.getPath(name);
                    if (!Files.exists(before) || Arrays.equals(bytes, Files.readAllBytes(before))) {
                        return false;
                    }
                    Files.write(file, Files.readAllBytes(before));
                }
            }
            return true;
        }
    }

    private static String kind(SimulatedDisk disk, Path file) {
        String kind = file.toString().replaceAll(".*/", "").replaceAll("-[0-9]+", "");
        return kind.matches("journal(\\.new)?") && isEmpty(disk.getPath(file.toString())) ? "journal ahead" : kind;
    }

    /// Whether a segment of the journal holds no entry: it was made ahead, perhaps in part.
    private static boolean isEmpty(Path segment) {
        try {
            byte[] bytes = Files.readAllBytes(segment);
            return IntStream.range(SEGMENT_HEADER_BYTES, bytes.length).allMatch(i -> bytes[i] == 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean isOpenedRight(EmbeddedEngine engine, int lines) {
        try (engine) {
            assertThat(engine.acknowledged("s")).isEqualTo(lines);
            assertThat(totals(engine)).isEqualTo(Trades.right(LINES.subList(0, lines)));
            assertThat(engine.deadLetters().size()).isEqualTo(2);
            assertThat(engine.verify().isEqual()).isTrue();
            return true;
        }
    }

    /// What becomes of a directory with damaged files.
    private static String verdict(SimulatedDisk disk, boolean keepJournal) {
        String read;
        try {
            isOpenedRight(EmbeddedEngine.read(Trades.directory(disk), Trades.settings(2)), IN);
            read = RIGHT;
        } catch (EngineException refused) {
            read = REFUSED;
        }
        try {
            EmbeddedEngine engine = open(disk, keepJournal);
            assertThat(engine.acknowledged("s")).isEqualTo(IN);
            append(engine, IN, LINES.size());
        } catch (EngineException refused) {
            assertThat(refused.kind()).as(refused.getMessage()).isEqualTo(EngineException.Kind.CORRUPT);
            assertThat(read)
                    .as("a reader's verdict; the owner's is: %s", refused.getMessage())
                    .isEqualTo(REFUSED);
            return REFUSED;
        }
        isOpenedRight(open(synced(disk.kill()), keepJournal), LINES.size());
        return RIGHT;
    }

    private static void requireMendable(SimulatedDisk disk, SimulatedDisk left, boolean keepJournal)
            throws IOException {
        SimulatedDisk mended = synced(disk.kill());
        for (Path file : left.fileSizes().keySet()) {
            Files.write(mended.getPath(file.toString()), Files.readAllBytes(left.getPath(file.toString())));
        }
        isOpenedRight(open(mended, keepJournal), IN);
    }

    private static String verdict(Left left, Damage damage, Predicate<Path> chosen, boolean keepJournal)
            throws IOException {
        SimulatedDisk disk = left.disk.copy();
        boolean changed = false;
        for (Path file : left.disk.fileSizes().keySet()) {
            if (chosen.test(file)) {
                changed |= damage.on(disk, left.older, file.toString());
            }
        }
        if (!changed) {
            return "";
        }
        try {
            String verdict = verdict(disk, keepJournal);
            if (verdict.equals(REFUSED)) {
                requireMendable(disk, left.disk, keepJournal);
            }
            return verdict;
        } catch (AssertionError | RuntimeException wrong) {
            throw new AssertionError(damage + " of " + left.disk.fileSizes().keySet() + ": " + wrong, wrong);
        }
    }

    /// What became of the directory: per kind of file, and per damage of one such file, and of all of them.
    private final SortedMap<String, Map<Damage, Set<String>>> verdicts = new TreeMap<>();

    private void decide(String kind, Left left, Damage damage, Predicate<Path> chosen, boolean keepJournal)
            throws IOException {
        String verdict = verdict(left, damage, chosen, keepJournal);
        if (!verdict.isEmpty()) {
            verdicts.computeIfAbsent(kind, _ -> new EnumMap<>(Damage.class))
                    .computeIfAbsent(damage, _ -> new TreeSet<>())
                    .add(verdict);
        }
    }

    private void decideAll(boolean keepJournal, boolean killed) throws IOException {
        Left left = left(keepJournal, killed);
        Set<String> kinds = new TreeSet<>();
        for (Damage damage : Damage.values()) {
            for (Path each : left.disk.fileSizes().keySet()) {
                String kind = kind(left.disk, each);
                kinds.add(kind);
                decide(kind, left, damage, each::equals, keepJournal);
            }
            for (String kind : kinds) {
                decide(kind, left, damage, file -> kind(left.disk, file).equals(kind), keepJournal);
            }
            decide("journal*", left, damage, file -> kind(left.disk, file).startsWith("journal"), keepJournal);
        }
    }

    /// A file without the zeros at its end is right. So is half a kept segment of the journal whose entries a
    /// checkpoint covers: a fold from the sources finds that it is not whole. An older mark is behind, as after
    /// a power cut. A segment that was made ahead may be missing. From an older checkpoint a kept journal leads
    /// to the same totals.
    @Test
    @Tag("campaign")
    void whichever_file_is_missing_cut_or_older_the_directory_is_refused_or_right_after_a_stop_and_a_kill()
            throws IOException {
        for (boolean keepJournal : new boolean[] {false, true}) {
            decideAll(keepJournal, false);
            decideAll(keepJournal, true);
        }
        assertThat(verdicts.entrySet().stream().map(of -> of.getKey() + " " + of.getValue()))
                .containsExactly(
                        "CHECKPOINT {REMOVED=[refused], HALF=[refused], CUT=[refused], OLDER=[refused, right]}",
                        "CURRENT {REMOVED=[refused], HALF=[refused], CUT=[refused]}",
                        "LOCK {REMOVED=[right], HALF=[right], CUT=[right]}",
                        "LOCK.holder {REMOVED=[right], HALF=[right], CUT=[right]}",
                        "groups {REMOVED=[refused], HALF=[refused], CUT=[refused], OLDER=[refused]}",
                        "journal {REMOVED=[refused], HALF=[refused, right], CUT=[right], OLDER=[refused]}",
                        "journal ahead {REMOVED=[right], HALF=[right], CUT=[right]}",
                        "journal* {REMOVED=[refused], HALF=[refused], CUT=[right], OLDER=[refused]}",
                        "journal-mark {REMOVED=[refused], HALF=[refused], CUT=[right], OLDER=[right]}",
                        "letters {REMOVED=[refused], HALF=[refused], CUT=[refused], OLDER=[refused]}",
                        "rows {REMOVED=[refused], HALF=[refused, right], CUT=[right], OLDER=[refused]}");
    }
}
