package dev.onefold.simulator.keyed;

import dev.onefold.core.event.Reason;
import dev.onefold.oracle.KeyedOracle;
import dev.onefold.oracle.KeyedOracle.Event;
import dev.onefold.oracle.KeyedOracle.Verdict;
import dev.onefold.oracle.generate.RandomFunction;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.ToIntFunction;

/// What came to a data directory, in its order, and the oracle of it.
///
/// After a crash, the sources go on from positions that differ: lines are in the journal as far as they were
/// acknowledged, while files and logs are read again from the last checkpoint. The events that are still in are in
/// their old order: those that a checkpoint holds, and behind them lines alone. The others come again later.
final class History {
    private final DrawnCase dealt;
    private final List<Step> steps = new ArrayList<>();
    private KeyedOracle oracle;
    private boolean isRedriven;

    sealed interface Step {
        record Came(Feed feed, int index) implements Step {}

        record Raised(RandomFunction function, boolean refold) implements Step {}

        /// @param edit that was sent; none: the record as it arrived
        /// @param verdict of it
        record Redriven(Feed feed, int index, Optional<Event> edit, Verdict verdict) implements Step {}

        record Purged(Feed feed, int index, Reason reason) implements Step {}
    }

    History(DrawnCase dealt) {
        this.dealt = dealt;
        oracle = dealt.oracle();
    }

    KeyedOracle oracle() {
        return oracle;
    }

    /// Whether a person has sent a rejected event again.
    boolean isRedriven() {
        return isRedriven;
    }

    /// Notes events that are handed over now. If the process ends meanwhile, [#recover] says which ones are in.
    void send(Feed feed, int from, int to) {
        for (int at = from; at < to; at++) {
            add(new Step.Came(feed, at));
        }
    }

    /// Notes that a newer function serves.
    void raise(RandomFunction function, boolean refold) {
        add(new Step.Raised(function, refold));
    }

    /// Notes that a rejected event was sent again; what becomes of it.
    Verdict redrive(Feed feed, int index, Optional<Event> edit) {
        isRedriven = true;
        Verdict verdict = oracle.accept(edit.orElse(feed.events.get(index)), true);
        steps.add(new Step.Redriven(feed, index, edit, verdict));
        return verdict;
    }

    /// Notes that the letter of an event was purged.
    void purge(Feed feed, int index, Reason reason) {
        steps.add(new Step.Purged(feed, index, reason));
    }

    /// Forgets the last step, if it is one of these.
    void undo(Class<? extends Step> decision, ToIntFunction<Feed> in) {
        if (!steps.isEmpty() && decision.isInstance(steps.getLast())) {
            steps.removeLast();
        }
        recover(in);
    }

    /// All of it.
    List<Step> steps() {
        return List.copyOf(steps);
    }

    private void add(Step step) {
        steps.add(step);
        take(step);
    }

    private void take(Step step) {
        switch (step) {
            case Step.Came(Feed feed, int index) -> oracle.accept(feed.events.get(index), false);
            case Step.Raised(RandomFunction function, boolean refold) -> oracle.upgrade(function, refold);
            case Step.Redriven(Feed feed, int index, Optional<Event> edit, var _) ->
                oracle.accept(edit.orElse(feed.events.get(index)), true);
            case Step.Purged _ -> {}
        }
    }

    /// Forgets what was lost with a process.
    ///
    /// @param in how many events of a source are in the results
    void recover(ToIntFunction<Feed> in) {
        steps.removeIf(step -> switch (step) {
            case Step.Came(Feed feed, int index) -> index >= in.applyAsInt(feed);
            case Step.Redriven(Feed feed, int index, var _, var _) -> index >= in.applyAsInt(feed);
            case Step.Purged(Feed feed, int index, var _) -> index >= in.applyAsInt(feed);
            case Step.Raised _ -> false;
        });
        oracle = dealt.oracle();
        steps.forEach(this::take);
    }
}
