package dev.onefold.simulator.embedded;

import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.DeadLetters.Redriven;
import dev.onefold.core.DefinitionChange;
import dev.onefold.core.EngineException;
import dev.onefold.core.event.Decoder;
import dev.onefold.core.event.Reason;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.state.Derivation;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.FoldListener;
import dev.onefold.embedded.source.FoldReport;
import dev.onefold.oracle.generate.RandomCase;
import dev.onefold.oracle.generate.RandomChange;
import dev.onefold.simulator.embedded.Expected.LineOf;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/// Sends the input of a run, as one may who has to do with a process that can end at any instant: knows what
/// was acknowledged, sends the rest again, and checks at each step that it was told the truth.
final class Client {
    private static final int CHANGES = 3;
    private static final Duration DAY = Duration.ofDays(1);

    private final RandomCase dealt;
    private final List<Input> inputs;
    private final RandomGenerator random;
    private final List<String> story;
    private final Expected expected;
    private final Map<String, Long> acknowledged = new HashMap<>();
    private final List<String> definitions = new ArrayList<>();
    private final Map<String, Pipeline> pipelines = new HashMap<>();
    private Instant now;
    private @Nullable Doubt doubt;
    private @Nullable Filling filling;

    /// A change of the definition whose end was not seen.
    ///
    /// @param letters the lines that were dead letters before it
    private record Filling(String wanted, DefinitionChange change, Set<LineOf> letters) {}

    /// A change whose answer never came: it may be in or not.
    private sealed interface Doubt {
        LineOf line();

        record Edited(LineOf line, byte[] record) implements Doubt {}

        record Purged(LineOf line) implements Doubt {}
    }

    Client(RandomCase dealt, List<Input> inputs, RandomGenerator random, List<String> story) {
        this.dealt = dealt;
        this.inputs = inputs;
        this.random = random;
        this.story = story;
        expected = new Expected(dealt, inputs);
        now = dealt.firstTime();
        definitions.add(dealt.pipeline());
        pipelines.put(dealt.pipeline(), PipelineYaml.read(dealt.pipeline()));
        for (int i = mayForget() ? 0 : CHANGES; i > 0; i--) {
            change(RandomChange.of(definitions.get(random.nextInt(definitions.size())), random));
        }
    }

    /// Whether ids are forgotten or groups end while the records come: then another definition counts other
    /// ones.
    private boolean mayForget() {
        return dealt.isKept() || dealt.hasHorizon() && !dealt.pipeline().contains("horizon: 7d");
    }

    private void change(String definition) {
        try {
            pipelines.put(definition, PipelineYaml.read(definition));
            definitions.add(definition);
        } catch (IllegalArgumentException invalid) {
            story.add("no definition: " + invalid.getMessage());
        }
    }

    /// What a definition says.
    Pipeline pipeline(String definition) {
        return Objects.requireNonNull(pipelines.get(definition));
    }

    /// Whether a change of the definition may have come to its end without an answer.
    boolean isFilling() {
        return filling != null;
    }

    /// The definition that serves.
    String definition() {
        return expected.definition();
    }

    /// The definition for another life: that which serves, or another one.
    String wanted() {
        return random.nextInt(3) > 0 ? definition() : definitions.get(random.nextInt(definitions.size()));
    }

    /// What the clock says: any time; where it decides something, when the lines that are being sent arrive.
    Instant now() {
        if (dealt.isKept()) {
            return dealt.lastTime();
        }
        return dealt.hasHorizon() ? now : Instant.ofEpochSecond(random.nextLong(0, 4_000_000_000L));
    }

    /// Meets a process that has just started: all that was acknowledged is in, and the totals are right.
    void meet(EmbeddedEngine engine) {
        Filling begun = filling;
        filling = null;
        Pipeline served = engine.pipeline();
        if (begun != null
                && Derivation.storesSame(served, pipeline(begun.wanted).ofDataOf(served))) {
            story.add("the new definition serves already");
            expected.serve(begun.wanted, begun.change, begun.letters, engine);
        }
        if (Derivation.storesSame(served, pipeline(definition()).ofDataOf(served))) {
            definitions.stream()
                    .filter(each -> pipeline(each).ofDataOf(served).equals(served))
                    .findFirst()
                    .ifPresent(expected::show); // It was opened with other formulas.
        }
        engine.progress().forEach(source -> {
            long promised = acknowledged.getOrDefault(source.source(), 0L);
            if (expected.lines(source) < promised) {
                throw new IllegalStateException("Of " + source.source() + " " + promised
                        + " lines were acknowledged, but " + expected.lines(source) + " are in");
            }
        });
        acknowledged.forEach((name, promised) -> {
            if (promised > 0
                    && engine.progress().stream()
                            .noneMatch(source -> source.source().equals(name))) {
                throw new IllegalStateException("Of " + name + " " + promised + " lines were acknowledged: it is gone");
            }
        });
        check(engine);
    }

    /// Takes another definition over, if the data can follow it.
    ///
    /// @return whether the engine takes records now
    boolean follow(EmbeddedEngine engine, String wanted) {
        if (engine.wanted().isEmpty()) {
            return true;
        }
        boolean readable = random.nextInt(3) > 0;
        Function<String, @Nullable FileSource> reopen = readable ? this::reopen : _ -> null;
        DefinitionChange change = engine.change(pipeline(wanted), reopen);
        story.add("wanted is\n" + wanted + "by " + change);
        if (change instanceof DefinitionChange.Impossible) {
            try {
                engine.fillView(reopen, true);
            } catch (EngineException refused) {
                if (refused.kind() == EngineException.Kind.DEFINITION_CHANGED) {
                    check(engine);
                    return false;
                }
                throw refused;
            }
            throw new IllegalStateException("An impossible change was made");
        }
        Filling begun = new Filling(wanted, change, expected.letters(engine));
        filling = begun;
        engine.fillView(reopen, true);
        filling = null;
        expected.serve(wanted, change, begun.letters, engine);
        check(engine);
        return true;
    }

    private @Nullable FileSource reopen(String name) {
        return inputs.stream()
                .filter(input -> input.isFile() && input.name().equals(name))
                .map(input -> input.file(input.lines().size(), false))
                .findFirst()
                .orElse(null);
    }

    private void check(EmbeddedEngine engine) {
        Doubt open = doubt;
        String difference = expected.difference(engine);
        if (!difference.isEmpty() && open != null) {
            byte[] before = expected.edit(open.line());
            switch (open) {
                case Doubt.Edited edited -> expected.edit(edited.line, edited.record);
                case Doubt.Purged purged -> expected.purge(purged.line);
            }
            String other = expected.difference(engine);
            if (!other.isEmpty() && open instanceof Doubt.Edited) {
                expected.edit(open.line(), before);
            }
            difference = other.isEmpty() ? "" : difference + "or, with " + open + ":\n" + other;
        }
        doubt = null;
        if (!difference.isEmpty()) {
            throw new IllegalStateException(difference);
        }
    }

    /// Does one thing.
    void step(EmbeddedEngine engine) {
        Input input = inputs.get(random.nextInt(inputs.size()));
        switch (random.nextInt(16)) {
            case 0 -> {
                story.add("checkpoint");
                engine.checkpointNow();
            }
            case 1 -> {
                story.add("rebuild");
                if (isKeyed(engine) && !engine.rebuild().isEqual()) {
                    throw new IllegalStateException("rebuild found a difference");
                }
            }
            case 2, 3 -> check(engine);
            case 4 -> redrive(engine);
            case 5 -> purge(engine);
            default -> {
                if (input.isFile()) {
                    foldSome(engine, input);
                } else {
                    append(engine, input, random.nextInt(1, 12));
                }
            }
        }
    }

    private static boolean isKeyed(EmbeddedEngine engine) {
        return !(engine.pipeline().input().identity() instanceof dev.onefold.core.pipeline.Identity.ByPlace);
    }

    private void append(EmbeddedEngine engine, Input input, int count) {
        long before = acknowledged.getOrDefault(input.name(), 0L);
        int from = (int) Math.max(0, before - random.nextInt(3));
        int to = Math.min(input.lines().size(), from + count);
        if (random.nextInt(20) == 0 && before + 2 < input.lines().size()) {
            refuseGap(engine, input, (int) before);
        }
        byte[] bytes = input.bytes(from, to);
        arrive(engine, input, to);
        story.add("append lines " + (from + 1) + " to " + to + " of " + input.name());
        long now = engine.append(input.name(), from + 1L, bytes, bytes.length).acknowledged();
        if (now < to || now > input.lines().size()) {
            throw new IllegalStateException("Sent up to line " + to + ", acknowledged is " + now);
        }
        acknowledged.put(input.name(), now);
    }

    /// Lines that are not in yet arrive now, if an earlier try has not brought them in.
    private void arrive(EmbeddedEngine engine, Input input, int to) {
        Duration span = RandomCase.TIMES.plusDays(2);
        now = dealt.firstTime().minus(DAY).plusMillis(random.nextLong(span.toMillis()));
        expected.arrive(
                LongStream.rangeClosed(engine.acknowledged(input.name()) + 1, to)
                        .mapToObj(line -> new LineOf(input.name(), line))
                        .toList(),
                dealt.isKept() ? dealt.lastTime() : now);
    }

    private void refuseGap(EmbeddedEngine engine, Input input, int before) {
        long known = engine.acknowledged(input.name()); // Also what an answer never came for.
        int from = (int) Math.max(before, known) + 1;
        if (from >= input.lines().size()) {
            return;
        }
        byte[] bytes = input.bytes(from, from + 1);
        try {
            engine.append(input.name(), from + 1L, bytes, bytes.length);
            throw new IllegalStateException("A gap in " + input.name() + " was taken");
        } catch (EngineException refused) {
            if (refused.kind() != EngineException.Kind.SOURCE_CHANGED) {
                throw refused;
            }
        }
    }

    private void foldSome(EmbeddedEngine engine, Input input) {
        long before = acknowledged.getOrDefault(input.name(), 0L);
        int size = input.lines().size();
        switch (random.nextInt(4)) {
            case 0 -> { // The file grows, from where nobody may have seen it.
                int count = random.nextInt(size);
                if (count >= progress(engine, input)) {
                    fold(engine, input, count, FoldListener.silent());
                }
            }
            case 1 -> fold(engine, input, size, new Stopping(random.nextInt(1, 4)));
            case 2 -> {
                if (before == size) {
                    copy(engine, input);
                }
            }
            default -> fold(engine, input, size, random.nextBoolean() ? new Meanwhile(engine) : FoldListener.silent());
        }
    }

    private long progress(EmbeddedEngine engine, Input input) {
        return engine.progress().stream()
                .filter(source -> source.source().equals(input.name()))
                .mapToLong(expected::lines)
                .findFirst()
                .orElse(0);
    }

    private void fold(EmbeddedEngine engine, Input input, int count, FoldListener listener) {
        boolean growing = count < input.lines().size() && random.nextBoolean();
        story.add("fold " + count + " lines of " + input.name());
        FoldReport report = engine.fold(input.file(count, growing), listener);
        long now = progress(engine, input);
        boolean whole = !(listener instanceof Stopping);
        if (!(report instanceof FoldReport.Folded) || (whole && now != count)) {
            throw new IllegalStateException(input.name() + " has " + count + " lines, but it says " + report);
        }
        acknowledged.put(input.name(), now);
    }

    private void copy(EmbeddedEngine engine, Input input) {
        story.add("fold a copy of " + input.name());
        FoldReport report = engine.fold(input.file("copy", input.lines().size(), false), FoldListener.silent());
        if (!report.equals(new FoldReport.AlreadyFolded(input.name()))) {
            throw new IllegalStateException("A copy of " + input.name() + " was taken for another file: " + report);
        }
    }

    /// Stops a fold after so many rounds.
    private static final class Stopping implements FoldListener {
        private int rounds;

        Stopping(int rounds) {
            this.rounds = rounds;
        }

        @Override
        public void folded(long durableBytes, long foldedBytes, dev.onefold.core.Counts counts) {
            rounds--;
        }

        @Override
        public boolean stop() {
            return rounds <= 0;
        }
    }

    /// Others are at work beside a fold: what they were told must hold even if the fold never ends.
    private final class Meanwhile implements FoldListener {
        private final EmbeddedEngine engine;

        Meanwhile(EmbeddedEngine engine) {
            this.engine = engine;
        }

        @Override
        public void folded(long durableBytes, long foldedBytes, dev.onefold.core.Counts counts) {
            Input other = inputs.get(random.nextInt(inputs.size()));
            switch (random.nextInt(4)) {
                case 0 -> redrive(engine);
                case 1 -> purge(engine);
                case 2 -> check(engine);
                default -> {
                    if (!other.isFile()) {
                        append(engine, other, random.nextInt(1, 5));
                    }
                }
            }
        }

        @Override
        public boolean stop() {
            return false;
        }
    }

    private @Nullable DeadLetter anyLetter(EmbeddedEngine engine) {
        List<DeadLetter> letters = engine.deadLetters().list(0, 1_000).stream()
                .filter(letter -> letter.reason() != Reason.CONFLICT)
                .toList();
        return letters.isEmpty() ? null : letters.get(random.nextInt(letters.size()));
    }

    private void redrive(EmbeddedEngine engine) {
        DeadLetter letter = anyLetter(engine);
        if (letter == null) {
            return;
        }
        LineOf line = expected.lineOf(letter.place());
        byte[] edit = random.nextInt(3) == 0
                ? null
                : dealt.lines()
                        .get(random.nextInt(
                                dealt.hasHeader() ? 1 : 0, dealt.lines().size()));
        if (edit != null
                && new String(edit, StandardCharsets.ISO_8859_1).chars().allMatch(c -> c <= ' ')) {
            return; // An empty edit is refused.
        }
        if (edit != null && new Decoder(engine.pipeline()).isSilent(edit)) {
            return; // So is one that tells of no row.
        }
        if (edit == null && letter.content() != DeadLetter.Content.RECORD) {
            return; // There is no record to redrive.
        }
        story.add("redrive letter " + letter.id() + " of " + line + (edit == null ? "" : ", edited"));
        if (edit != null) {
            doubt = new Doubt.Edited(line, edit);
        }
        Redriven redriven = engine.deadLetters().redrive(letter.id(), edit, DeadLetters.Keys.ANY);
        doubt = null;
        if (edit != null && redriven != Redriven.REJECTED) {
            expected.edit(line, edit); // One that is no event has changed nothing, under whatever definition.
        }
        boolean back = engine.deadLetters().list(0, 1_000).stream()
                .filter(other -> other.reason() != Reason.CONFLICT)
                .anyMatch(other -> expected.lineOf(other.place()).equals(line));
        if (redriven == Redriven.GONE || back != (redriven == Redriven.REJECTED)) {
            throw new IllegalStateException("Letter " + letter + " was redriven: " + redriven + ", back: " + back);
        }
    }

    private void purge(EmbeddedEngine engine) {
        DeadLetter letter = anyLetter(engine);
        if (letter == null) {
            return;
        }
        LineOf line = expected.lineOf(letter.place());
        story.add("purge letter " + letter.id() + " of " + line);
        doubt = new Doubt.Purged(line);
        int removed = engine.deadLetters().purge(List.of(letter.id()));
        doubt = null;
        expected.purge(line);
        if (removed != 1) {
            throw new IllegalStateException("Of one letter " + removed + " were purged");
        }
    }

    /// Sends all that is left, and checks all.
    void finish(EmbeddedEngine engine) {
        for (Input input : inputs) {
            int size = input.lines().size();
            if (input.isFile()) {
                fold(engine, input, size, FoldListener.silent());
            }
            while (!input.isFile() && acknowledged.getOrDefault(input.name(), 0L) < size) {
                append(engine, input, random.nextInt(3, 20));
            }
        }
        check(engine);
        for (Input input : inputs) {
            if (progress(engine, input) != input.lines().size()) {
                throw new IllegalStateException(input.name() + " is not whole: " + engine.status());
            }
        }
    }

    /// Recomputes all from the files, read again, and from the journal.
    void verifyFromSources(EmbeddedEngine engine) {
        if (!expected.isWhole()) {
            return; // The rows of a narrower decimal were told to hold less.
        }
        var verification = engine.verify(this::reopen);
        if (!verification.isEqual()) {
            throw new IllegalStateException("Recomputed from the sources: " + verification.differences());
        }
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(dealt.pipeline());
        for (Input input : inputs) {
            text.append(input.name())
                    .append(input.ended() ? "" : " (last line without end)")
                    .append(":\n");
            for (int line = 0; line < input.lines().size(); line++) {
                text.append("%4d ".formatted(line + 1));
                text.append(new String(input.lines().get(line), java.nio.charset.StandardCharsets.UTF_8))
                        .append('\n');
            }
        }
        return text.toString();
    }
}
