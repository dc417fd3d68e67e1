package dev.onefold.simulator.embedded;

import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetter.Place;
import dev.onefold.core.DefinitionChange;
import dev.onefold.core.event.Reason;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.query.Answer;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.oracle.Oracle;
import dev.onefold.oracle.generate.RandomCase;
import dev.onefold.simulator.judge.Judge;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// What an engine must hold, said by the oracle: of each source a beginning, with the redriven records as they
/// were edited, and without the dead letters that were purged; under the definition that serves, whatever
/// served before.
///
/// A changed definition promises the totals of all these records under it. There is one exception, which the
/// engine states beforehand: where a decimal is narrower and the records cannot be read again, a record that
/// another one had replaced is in no row, and in no letter. Such records are forgotten here, too.
final class Expected {
    private static final int LETTERS_MAX = 1_000_000;

    private final RandomCase dealt;
    private final List<Input> inputs;
    private final Map<LineOf, Arrived> arrivals = new HashMap<>();
    private final Map<LineOf, Long> redriven = new HashMap<>(); // In which round.
    private long rounds;
    private final Map<LineOf, byte[]> edited = new HashMap<>();
    private final Set<LineOf> purged = new HashSet<>();
    private final Set<LineOf> forgotten = new HashSet<>();
    private @Nullable String narrowedFrom; // The definition before, until the records in no letter are forgotten.
    private String definition;

    /// A line of a source, counted from 1.
    record LineOf(String source, long line) {}

    /// @param round the number of the append that brought the line
    private record Arrived(Instant at, long round) {}

    /// The line of a place. That of a stored row is known by its offset alone.
    LineOf lineOf(Place place) {
        if (place.line() > 0) {
            return new LineOf(place.source(), place.line());
        }
        Input input = input(place.source());
        int line = 0;
        for (long at = 0; at < place.offset(); line++) {
            at += input.lines().get(line).length + 1;
        }
        return new LineOf(place.source(), line + 1L);
    }

    Expected(RandomCase dealt, List<Input> inputs) {
        this.dealt = dealt;
        this.inputs = inputs;
        definition = dealt.pipeline();
    }

    /// The text of the definition that serves.
    String definition() {
        return definition;
    }

    /// The definition that serves has other formulas now.
    void show(String other) {
        definition = other;
    }

    /// Whether all records are there as far as the totals are concerned.
    boolean isWhole() {
        return forgotten.isEmpty();
    }

    /// The lines that are dead letters.
    Set<LineOf> letters(EmbeddedEngine engine) {
        return places(engine.deadLetters().list(0, LETTERS_MAX));
    }

    /// Another definition serves from now on.
    ///
    /// @param before the lines that were dead letters before it; it may have accepted some of them
    void serve(String other, DefinitionChange change, Set<LineOf> before, EmbeddedEngine engine) {
        switch (change) {
            case DefinitionChange.FromRows(var _, var doubt)
            when !doubt.isEmpty() -> {
                Map<String, Long> progress = progress(engine);
                Oracle old = oracle(progress);
                Set<LineOf> kept = letters(engine);
                kept.addAll(before);
                Set<LineOf> replaced = new HashSet<>();
                forEachLine(progress, (line, record) -> {
                    Oracle.Outcome again = accept(old, line, record);
                    if (again == Oracle.Outcome.STALE && !kept.contains(line)) {
                        replaced.add(line);
                    }
                });
                forgotten.addAll(replaced);
                narrowedFrom = definition;
            }
            case DefinitionChange.FromSources _ -> forgotten.clear();
            default -> {}
        }
        definition = other;
    }

    /// Of equal records that are refused now, one is a letter; the others were duplicates of it. Without them
    /// and those that were replaced, the totals of the definition before are what they were.
    private String forget(Map<String, Long> progress, List<DeadLetter> letters, String before) {
        String after = definition;
        Set<LineOf> kept = places(letters);
        Oracle now = oracle(progress);
        definition = before;
        Oracle old = oracle(progress);
        Set<LineOf> wereLetters = places(old);
        places(now).stream()
                .filter(line -> !wereLetters.contains(line) && !kept.contains(line))
                .forEach(forgotten::add);
        Oracle without = oracle(progress);
        definition = after;
        for (String rollup : old.rollups()) {
            if (!old.totals(rollup).equals(without.totals(rollup))) {
                return "A record that counted is neither in a row nor a dead letter: " + old.totals(rollup) + " became "
                        + without.totals(rollup) + "\n";
            }
        }
        return "";
    }

    private static Set<LineOf> places(Oracle oracle) {
        Set<LineOf> places = new HashSet<>();
        oracle.malformed().forEach(refusal -> places.add(new LineOf(refusal.source(), refusal.line())));
        oracle.outOfTime().forEach(refusal -> places.add(new LineOf(refusal.source(), refusal.line())));
        return places;
    }

    private Set<LineOf> places(List<DeadLetter> letters) {
        Set<LineOf> places = new HashSet<>();
        letters.forEach(letter -> places.add(lineOf(letter.place())));
        return places;
    }

    /// Lines arrive together, those that were not in before.
    void arrive(List<LineOf> lines, Instant at) {
        rounds++;
        lines.forEach(line -> arrivals.put(line, new Arrived(at, rounds)));
    }

    private Oracle.Outcome accept(Oracle oracle, LineOf line, byte[] record) {
        Arrived arrived = arrivals.get(line);
        Instant at = arrived != null ? arrived.at : dealt.isKept() ? dealt.lastTime() : null;
        return oracle.accept(line.source(), line.line(), record, at == null ? null : at.toEpochMilli());
    }

    /// In which step a line was folded as it is now; 0 where order decides nothing.
    private long round(LineOf line) {
        Arrived arrived = arrivals.get(line);
        return !dealt.hasHorizon() || arrived == null ? 0 : redriven.getOrDefault(line, arrived.round);
    }

    /// The record was sent through again as these bytes.
    void edit(LineOf line, byte @Nullable [] record) {
        if (record == null) {
            edited.remove(line);
            redriven.remove(line);
        } else {
            edited.put(line, record);
            redriven.put(line, ++rounds);
        }
    }

    byte @Nullable [] edit(LineOf line) {
        return edited.get(line);
    }

    void purge(LineOf line) {
        purged.add(line);
    }

    /// The record of a line as it must be now.
    byte[] record(LineOf line) {
        byte[] changed = edited.get(line);
        return changed != null ? changed : original(line);
    }

    private byte[] original(LineOf line) {
        return input(line.source()).lines().get((int) line.line() - 1);
    }

    private Input input(String name) {
        return inputs.stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    /// Lines of a source that an engine has folded, a header included, which it does not count as a record.
    long lines(Answer.Progress source) {
        return source.records() + (dealt.hasHeader() && source.bytes() > 0 ? 1 : 0);
    }

    /// What is wrong with an engine; empty if nothing is.
    String difference(EmbeddedEngine engine) {
        Map<String, Long> progress = progress(engine);
        List<DeadLetter> letters = engine.deadLetters().list(0, LETTERS_MAX);
        for (Input input : inputs) {
            long records = progress.getOrDefault(input.name(), 0L);
            if (records > input.lines().size()) {
                return input.name() + " has " + input.lines().size() + " lines, but " + records + " were folded";
            }
        }
        String before = narrowedFrom;
        if (before != null) {
            narrowedFrom = null;
            String lost = forget(progress, letters, before);
            if (!lost.isEmpty()) {
                return lost;
            }
        }
        Oracle oracle = oracle(progress);
        String wrong = Judge.wrongTotals(engine, oracle) + wrongLetters(engine, oracle, letters);
        if (engine.pipeline().input().identity() instanceof Identity.ByPlace) {
            return wrong; // No rows are kept to verify from.
        }
        var verification = engine.verify();
        return verification.isEqual() ? wrong : wrong + "verify differs: " + verification.differences() + "\n";
    }

    private Map<String, Long> progress(EmbeddedEngine engine) {
        Map<String, Long> progress = new LinkedHashMap<>();
        engine.progress().forEach(source -> progress.put(source.source(), lines(source)));
        return progress;
    }

    /// An oracle that has all records that are in, under the definition.
    private Oracle oracle(Map<String, Long> progress) {
        Oracle oracle = Oracle.of(definition);
        long[] round = {0};
        forEachLine(progress, (line, record) -> {
            if (round(line) != round[0]) {
                round[0] = round(line);
                oracle.nextRound();
            }
            accept(oracle, line, record);
        });
        return oracle;
    }

    private void forEachLine(Map<String, Long> progress, BiConsumer<LineOf, byte[]> visitor) {
        List<LineOf> lines = new ArrayList<>();
        for (Input input : inputs) {
            long records = progress.getOrDefault(input.name(), 0L);
            for (long number = 1; number <= records; number++) {
                LineOf line = new LineOf(input.name(), number);
                if (!purged.contains(line) && !forgotten.contains(line)) {
                    lines.add(line);
                }
            }
        }
        lines.sort(Comparator.comparingLong(this::round)); // Those of one step stay as they are.
        lines.forEach(line -> visitor.accept(line, record(line)));
    }

    private String wrongLetters(EmbeddedEngine engine, Oracle oracle, List<DeadLetter> letters) {
        TreeMap<String, String> right = new TreeMap<>();
        oracle.malformed()
                .forEach(refusal -> right.put(refusal.source() + ":" + refusal.line(), "refused: " + refusal.reason()));
        oracle.outOfTime().forEach(refusal -> right.put(refusal.source() + ":" + refusal.line(), refusal.reason()));
        List<String> twice = new ArrayList<>();
        StringBuilder wrong = new StringBuilder();
        Set<String> seen = new HashSet<>();
        for (DeadLetter letter : letters) {
            if (letter.reason() == Reason.CONFLICT) {
                continue;
            }
            LineOf line = lineOf(letter.place());
            String place = line.source() + ":" + line.line();
            if (!seen.add(place)) {
                twice.add(place);
            }
            if (right.remove(place) == null) {
                wrong.append("dead letter ").append(letter).append(" should not be\n");
            } else if (letter.content() == DeadLetter.Content.RECORD
                    && !Arrays.equals(
                            stripped(record(line)), engine.deadLetters().record(letter.id()))) {
                wrong.append("dead letter ").append(letter).append(" holds ");
                wrong.append(new String(engine.deadLetters().record(letter.id()), StandardCharsets.UTF_8));
                wrong.append('\n');
            }
        }
        if (!right.isEmpty()) {
            wrong.append("dead letters are missing: ").append(right).append('\n');
        }
        return twice.isEmpty() ? wrong.toString() : wrong + "dead letters are there twice: " + twice + "\n";
    }

    /// A line may end in a carriage return, which is no part of the record.
    private static byte[] stripped(byte[] line) {
        return line.length > 0 && line[line.length - 1] == '\r' ? Arrays.copyOf(line, line.length - 1) : line;
    }
}
