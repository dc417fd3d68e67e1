package dev.onefold.simulator.keyed;

import dev.onefold.core.DeadLetter;
import dev.onefold.core.event.Reason;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.fakes.disk.SimulatedDisk;
import dev.onefold.oracle.KeyedOracle;
import dev.onefold.oracle.KeyedOracle.Event;
import dev.onefold.oracle.KeyedOracle.Verdict;
import dev.onefold.oracle.generate.RandomFunction;
import dev.onefold.simulator.keyed.History.Step;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// What a fold of all sources comes to: each event is decided afresh, in its order; an edit that was accepted
/// stands in the place of its record, and what was purged does not come back.
final class FreshFold {
    private final DrawnCase dealt;
    private final RandomFunction function;
    private final List<Step> steps;
    private final Map<List<Object>, Event> edits = new HashMap<>(); // By feed and number.
    private final Map<List<Object>, Reason> purged = new HashMap<>();

    /// @param function that serves
    FreshFold(DrawnCase dealt, RandomFunction function, List<Step> steps) {
        this.dealt = dealt;
        this.function = function;
        this.steps = steps;
        for (Step step : steps) {
            switch (step) {
                case Step.Redriven(Feed feed, int index, var edit, Verdict verdict) -> {
                    if (verdict != Verdict.REJECTED) {
                        edit.ifPresent(event -> edits.put(List.of(feed, index), event));
                    }
                }
                case Step.Purged(Feed feed, int index, Reason reason) -> {
                    Reason before = purged.get(List.of(feed, index));
                    if (before == null || !before.isOfStep()) { // That stays what it was purged as.
                        purged.put(List.of(feed, index), reason);
                    }
                }
                case Step.Came _, Step.Raised _ -> {}
            }
        }
    }

    boolean hasPurged() {
        return !purged.isEmpty();
    }

    KeyedOracle oracle() {
        KeyedOracle oracle = new KeyedOracle(dealt.order(), dealt.keep(), function);
        for (Step step : steps) {
            if (step instanceof Step.Came came) {
                Reason reason = purged.get(List.of(came.feed(), came.index()));
                switch (reason) {
                    case null -> oracle.accept(event(came), false);
                    case FAILED, NOT_THE_OWNER, CONFLICT -> oracle.acceptPurged(event(came), reason != Reason.CONFLICT);
                    default -> oracle.reject();
                }
            }
        }
        return oracle;
    }

    private Event event(Step.Came came) {
        return edits.getOrDefault(
                List.of(came.feed(), came.index()), came.feed().events.get(came.index()));
    }

    /// The letters of an engine that has never seen anything but these records.
    List<String> letters(Settings settings, int code, boolean refold) {
        SimulatedDisk disk = SimulatedDisk.empty();
        try (EmbeddedEngine engine =
                EmbeddedEngine.open(disk.getPath("/data/fresh"), dealt.loaded(function, code, refold), settings)) {
            for (Step step : steps) {
                if (step instanceof Step.Came came) {
                    engine.append(came.feed().name(), List.of(DrawnCase.record(event(came))));
                }
            }
            return letters(engine);
        }
    }

    /// The letters of an engine, by their reasons and what is kept of their records.
    static List<String> letters(EmbeddedEngine engine) {
        return engine.deadLetters().list(0, 1_000).stream()
                .map((DeadLetter letter) -> letter.reason() + " "
                        + new String(engine.deadLetters().record(letter.id()), StandardCharsets.UTF_8))
                .sorted()
                .toList();
    }
}
