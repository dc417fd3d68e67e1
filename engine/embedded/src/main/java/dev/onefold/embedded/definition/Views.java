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
import dev.onefold.embedded.view.View;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The view that serves, and its exchange for another one. Three locks, taken in this order:
///
/// - *turn*: one long work at a time: a fold, the filling of a view, a rebuild;
/// - *standing*: shared by requests that are under way, and held alone while a view is filled and exchanged. Fair, or
///   requests that keep coming would never let the exchange begin;
/// - the guard's lock, for the exchange itself.
public final class Views {
    private static final System.Logger LOG = System.getLogger("dev.onefold.embedded");

    private final View.Opening opening;
    private final Guard guard;
    private final Rounds rounds;
    private final ReentrantLock turn = new ReentrantLock();
    private final ReentrantReadWriteLock standing = new ReentrantReadWriteLock(true);
    private volatile View serving;
    private volatile Counts counts; // Made behind each change.
    private volatile @Nullable Pipeline wanted;

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

    public DefinitionChange change(Pipeline definition, Function<String, @Nullable FileSource> reopen) {
        return new ViewFill(opening, serving, definition).change(reopen);
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
    private <T> T alone(Supplier<T> work) {
        return inTurn(() -> {
            try (OwnThread apart = new OwnThread(opening.settings().threads() > 0, "onefold-fill")) {
                Submissions.hold(standing.writeLock(), "the end of what is being committed");
                try {
                    guard.requireWorking();
                    return apart.call(() -> guard.beside(work));
                } finally {
                    standing.writeLock().unlock();
                }
            }
        });
    }

    /// Fills a view of the wanted definition and lets it serve; does nothing if that one serves already.
    public void fill(Function<String, @Nullable FileSource> reopen, boolean acceptLoss) {
        if (wanted == null) {
            guard.requireWorking();
            return;
        }
        alone(() -> {
            Pipeline definition = wanted;
            if (definition != null) {
                checkpoint(); // After a crash the old view needs journal that the new one deletes.
                replace(serving, new ViewFill(opening, serving, definition).fill(reopen, acceptLoss));
            }
            return true;
        });
    }

    /// Recomputes the totals from the sources and the journal, and compares.
    ///
    /// @param keep whether the recomputed totals take the place of the old ones
    public Verification recompute(Function<String, @Nullable FileSource> reopen, boolean keep) {
        return alone(() -> {
            View served = serving;
            if (!opening.reading()) {
                checkpoint(); // After a crash it needs journal that the shadow's checkpoints delete.
            }
            View shadow = new ViewFill(opening, served, served.pipeline).shadow(reopen);
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
        standing.writeLock().lock();
        try {
            last.run();
        } finally {
            standing.writeLock().unlock();
        }
    }
}
