package dev.onefold.simulator.embedded;

import dev.onefold.core.DeadLetter;
import dev.onefold.core.Place;
import dev.onefold.core.event.Reason;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.query.Answer;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.simulator.generate.RandomCase;
import dev.onefold.simulator.judge.Judge;
import dev.onefold.simulator.oracle.Oracle;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// What an engine must hold, said by the oracle: of each source a beginning, with the redriven records as they were
/// edited, and without the dead letters that were purged.
final class Expected {
    private static final int LETTERS_MAX = 1_000_000;

    private final RandomCase dealt;
    private final List<Input> inputs;
    private final Map<LineOf, byte[]> edited = new HashMap<>();
    private final Set<LineOf> purged = new HashSet<>();

    /// A line of a source, counted from 1.
    record LineOf(String source, long line) {
        static LineOf of(Place place) {
            return new LineOf(place.source(), place.line());
        }
    }

    Expected(RandomCase dealt, List<Input> inputs) {
        this.dealt = dealt;
        this.inputs = inputs;
    }

    /// The record was sent through again as these bytes.
    void edit(LineOf line, byte @Nullable [] record) {
        if (record == null) {
            edited.remove(line);
        } else {
            edited.put(line, record);
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
        Input input = inputs.stream()
                .filter(each -> each.name().equals(line.source()))
                .findFirst()
                .orElseThrow();
        return input.lines().get((int) line.line() - 1);
    }

    /// Lines of a source that an engine has folded, a header included, which it does not count as a record.
    long lines(Answer.Progress source) {
        return source.records() + (dealt.hasHeader() && source.bytes() > 0 ? 1 : 0);
    }

    /// What is wrong with an engine; empty if nothing is.
    String difference(EmbeddedEngine engine) {
        Map<String, Long> progress = new LinkedHashMap<>();
        engine.status().sources().forEach(source -> progress.put(source.source(), lines(source)));
        List<DeadLetter> letters = engine.deadLetters().list(0, LETTERS_MAX);
        Set<LineOf> tooOld = new HashSet<>();
        letters.stream().filter(letter -> isOutOfTime(letter)).forEach(letter -> tooOld.add(LineOf.of(letter.place())));
        Oracle oracle = Oracle.of(dealt.pipeline().replaceFirst("horizon: .*", "horizon: 36500d"));
        for (Input input : inputs) {
            long records = progress.getOrDefault(input.name(), 0L);
            if (records > input.lines().size()) {
                return input.name() + " has " + input.lines().size() + " lines, but " + records + " were folded";
            }
            for (long line = 1; line <= records; line++) {
                LineOf lineOf = new LineOf(input.name(), line);
                if (!tooOld.contains(lineOf)) {
                    oracle.accept(input.name(), line, record(lineOf));
                }
            }
        }
        String wrong = Judge.wrongTotals(engine, oracle) + wrongLetters(engine, oracle, letters);
        if (engine.pipeline().identity() instanceof Identity.ByPlace) {
            return wrong; // No rows are kept to verify from.
        }
        var verification = engine.verify();
        return verification.isEqual() ? wrong : wrong + "verify differs: " + verification.differences() + "\n";
    }

    private static boolean isOutOfTime(DeadLetter letter) {
        return letter.reason() == Reason.TOO_OLD || letter.reason() == Reason.TOO_NEW;
    }

    private String wrongLetters(EmbeddedEngine engine, Oracle oracle, List<DeadLetter> letters) {
        TreeMap<String, String> right = new TreeMap<>();
        oracle.malformed()
                .forEach(refusal -> right.put(refusal.source() + ":" + refusal.line(), "refused: " + refusal.reason()));
        purged.forEach(line -> right.remove(line.source() + ":" + line.line()));
        List<String> twice = new ArrayList<>();
        StringBuilder wrong = new StringBuilder();
        Set<String> seen = new HashSet<>();
        for (DeadLetter letter : letters) {
            if (isOutOfTime(letter) || letter.reason() == Reason.CONFLICT) {
                continue;
            }
            LineOf line = LineOf.of(letter.place());
            String place = line.source() + ":" + line.line();
            if (!seen.add(place)) {
                twice.add(place);
            }
            if (right.remove(place) == null) {
                wrong.append("dead letter ").append(letter).append(" should not be\n");
            } else if (!Arrays.equals(
                    stripped(original(line)), engine.deadLetters().record(letter.id()))) {
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
