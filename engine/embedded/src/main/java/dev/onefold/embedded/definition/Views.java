package dev.onefold.embedded.definition;

import dev.onefold.core.Counts;
import dev.onefold.core.DefinitionChange;
import dev.onefold.core.Verification;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.disk.FileNames;
import dev.onefold.embedded.guard.Guard;
import dev.onefold.embedded.guard.OwnThread;
import dev.onefold.embedded.intake.Rounds;
import dev.onefold.embedded.intake.Submissions;
import dev.onefold.embedded.source.FileSource;
import dev.onefold.embedded.source.LogSource;
import dev.onefold.embedded.view.View;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The view that serves, and its exchange for another one. Four locks, taken in this order:
///
/// - *turn*: one long work at a time: a fold, the filling of a view, a rebuild;
/// - *filling*: held while a view is filled, beside the intake as well: the engine is not closed before it is
/// discarded;
/// - *standing*: shared by requests that are under way, and held alone while a view is filled and exchanged. Fair, or
///   requests that keep coming would never let the exchange begin;
/// - the guard's lock, for the exchange itself.
public final class Views {
    private static final System.Logger LOG = System.getLogger("dev.onefold.embedded");

    private final View.Opening opening;
    private final Guard guard;
    private final Rounds rounds;
    private final ReentrantLock turn = new ReentrantLock();
    private final ReentrantLock filling = new ReentrantLock();
    private final Map<String, LogSource> logs = new ConcurrentHashMap<>();
    private final ReentrantReadWriteLock standing = new ReentrantReadWriteLock(true);
    private volatile View serving;
    private volatile Counts counts; // Made behind each change.
    private volatile @Nullable Pipeline wanted;
    private volatile boolean isPutOff; // The wanted definition needs its sources.

    public Views(View.Opening opening, View serving, @Nullable Pipeline wanted) {
        this.opening = opening;
        this.serving = serving;
        this.wanted = wanted;
        guard = opening.guard();
        rounds = new Rounds(() -> this.serving, opening);
        counts = serving.state.allCounts();
        guard.behindChanges(() -> counts = this.serving.state.allCounts());
    }

    public View serving() {
        return serving;
    }

    /// The counts of all records by their fates, as of the last change. Any thread, without the lock.
    public Counts counts() {
        guard.requireWorking();
        return counts;
    }

    public Rounds rounds() {
        return rounds;
    }

    /// While it is held, no view is exchanged.
    public Lock standing() {
        return standing.readLock();
    }

    /// The definition that is wanted, but does not serve yet.
    public Optional<Pipeline> wanted() {
        return Optional.ofNullable(wanted);
    }

    /// From now on a log can be read a second time.
    public void rereads(LogSource log) {
        logs.put(log.name(), log);
    }

    public DefinitionChange change(Pipeline definition, Function<String, @Nullable FileSource> reopen) {
        return filling(serving, definition).change(reopen);
    }

    private ViewFill filling(View old, Pipeline definition) {
        return new ViewFill(opening, old, definition, logs);
    }

    /// Does something while no view is exchanged.
    public <T> T still(Supplier<T> work) {
        Submissions.hold(standing(), "another call that recomputes the totals");
        try {
            return work.get();
        } finally {
            standing().unlock();
        }
    }

    /// Does long work beside requests, when the other long work has ended.
    public <T> T inTurn(Supplier<T> work) {
        if (turn.isHeldByCurrentThread()) {
            throw new IllegalArgumentException(
                    "A fold is under way on this thread: its listener may neither fold nor rebuild from sources");
        }
        Submissions.hold(turn, "another fold or rebuild");
        try {
            return work.get();
        } finally {
            turn.unlock();
        }
    }

    /// Does long work that needs the view unchanged: nothing is committed or folded meanwhile, answers
    /// continue. On a thread of its own: an interrupt of the caller must not close the engine's files.
    ///
    /// @param plan begins to fold the sources again beside the intake; empty if that is not possible
    /// @param end ends it, or does all of it
    private <T> T alone(Supplier<Optional<Supplier<Refold>>> plan, Function<Optional<Refold>, T> end) {
        return inTurn(() -> {
            filling.lock();
            try (OwnThread apart = new OwnThread(opening.settings().threads() > 0, "onefold-fill")) {
                guard.requireWorking();
                Optional<Refold> beside = apart.call(() -> guard.beside(plan)).map(begin -> alone(apart, begin));
                try {
                    beside.ifPresent(refold -> apart.call(() -> guard.beside(() -> {
                        refold.catchUp();
                        return refold;
                    })));
                    return alone(apart, () -> end.apply(beside));
                } finally {
                    beside.ifPresent(refold -> apart.call(() -> {
                        refold.close();
                        return refold;
                    }));
                }
            } finally {
                filling.unlock();
            }
        });
    }

    private <T> T alone(OwnThread apart, Supplier<T> work) {
        Submissions.hold(standing.writeLock(), "the end of what is being committed");
        try {
            guard.requireWorking();
            return apart.call(() -> guard.beside(work));
        } finally {
            standing.writeLock().unlock();
        }
    }

    /// Fills a view of the wanted definition and lets it serve; does nothing if that one serves already.
    public void fill(Function<String, @Nullable FileSource> reopen, boolean acceptLoss) {
        if (wanted == null) {
            guard.requireWorking();
            return;
        }
        alone(
                () -> Optional.ofNullable(wanted)
                        .flatMap(definition -> filling(serving, definition).beside(reopen, acceptLoss)),
                beside -> {
                    Pipeline definition = wanted;
                    if (definition != null) {
                        checkpoint(); // After a crash the old view needs journal that the new one deletes.
                        ViewFill fill = filling(serving, definition);
                        replace(serving, ended(beside, () -> fill.fill(reopen, acceptLoss)));
                    }
                    return true;
                });
    }

    /// The view that was folded beside the intake, if it is right; or else one that is filled now.
    private static View ended(Optional<Refold> beside, Supplier<View> otherwise) {
        Optional<Refold> right = beside.filter(Refold::isStill);
        beside.filter(_ -> right.isEmpty()).ifPresent(Refold::close); // Both have the same directory.
        return right.map(Refold::end).orElseGet(otherwise);
    }

    /// Lets the wanted definition serve if the rows are enough for it. If not, the old one goes on, and folds on,
    /// until a view is filled from the sources: no intake from a log is stopped by another definition.
    public void fillFromRows() {
        Pipeline definition = wanted;
        if (definition == null || isPutOff) {
            return;
        }
        isPutOff = serving.pipeline.otherRules().isEmpty() && !isFromRows(change(definition, _ -> null));
        if (!isPutOff) {
            fill(_ -> null, false);
        }
    }

    private static boolean isFromRows(DefinitionChange change) {
        return switch (change) {
            case DefinitionChange.FromRows(var lost, var _) -> lost.isEmpty();
            case DefinitionChange.None _ -> true;
            case DefinitionChange.FromSources _, DefinitionChange.Impossible _ -> false;
        };
    }

    /// Recomputes the totals from the sources and the journal, and compares.
    ///
    /// @param keep whether the recomputed totals take the place of the old ones
    public Verification recompute(Function<String, @Nullable FileSource> reopen, boolean keep) {
        return alone(() -> filling(serving, serving.pipeline).shadowBeside(reopen), beside -> {
            View served = serving;
            if (!opening.reading()) {
                checkpoint(); // After a crash it needs journal that the shadow's checkpoints delete.
            }
            View shadow = ended(beside, () -> filling(served, served.pipeline).shadow(reopen));
            Verification difference = guard.reading(() -> served.fold.verify(shadow.fold, "the sources, read again"));
            if (keep) {
                replace(served, shadow);
            } else {
                shadow.close(false);
                if (!opening.reading()) {
                    FileNames.deleteOtherViews(opening.root(), served.number);
                }
            }
            return difference;
        });
    }

    private void checkpoint() {
        rounds.checkpointNow(opening.space()::isClosing);
    }

    /// Nothing is committed or folded meanwhile, so only the exchange itself needs the lock.
    private void replace(View old, View fresh) {
        Future<?> writing = guard.locked(old.checkpoints::writing);
        if (writing != null) {
            rounds.awaitWritten(writing, () -> false);
        }
        try {
            fresh.serve(opening);
        } catch (RuntimeException | Error e) {
            fresh.close(!opening.space().isClosing()); // Given up on a full disk, it takes no memory any more.
            throw e;
        }
        guard.locked(() -> {
            serving = fresh;
            wanted = null;
            old.close(false);
            fresh.letters.log(fresh.pipeline.name());
            return fresh;
        });
        LOG.log(
                System.Logger.Level.INFO,
                "In " + opening.root() + " view " + fresh.number + " of pipeline " + fresh.pipeline.name()
                        + " serves now.");
        FileNames.deleteOtherViews(opening.root(), fresh.number);
    }

    /// Does the last work, when requests and long work have ended.
    public void close(Runnable last) {
        filling.lock();
        standing.writeLock().lock();
        try {
            last.run();
        } finally {
            standing.writeLock().unlock();
            filling.unlock();
        }
    }
}
