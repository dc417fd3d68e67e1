package dev.onefold.aws;

import dev.onefold.aws.letter.LetterTable;
import dev.onefold.aws.state.Fate;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/// The dead letters as the verbs see them.
final class AwsDeadLetters implements DeadLetters {
    private static final int LIST_MAX = 1_000;

    private final Store store;
    private final Runnable reduce;
    private final LetterTable table;
    private final AwsEngine.Await await;

    /// @param reduce brings what was redriven into the totals, without waiting for the function that does
    AwsDeadLetters(Store store, AwsEngine.Await await, Runnable reduce) {
        this.store = store;
        this.await = await;
        this.reduce = reduce;
        table = new LetterTable(store);
    }

    @Override
    public List<DeadLetter> list(long after, int limit) {
        return await.of(table.list(after, limit));
    }

    @Override
    public long size() {
        long size = 0;
        List<DeadLetter> some = list(0, LIST_MAX);
        while (!some.isEmpty()) {
            size += some.size();
            some = list(some.getLast().id(), LIST_MAX);
        }
        return size;
    }

    @Override
    public byte[] record(long id) {
        Arrival arrival = await.of(table.arrival(id));
        if (arrival == null) {
            throw new IllegalArgumentException("There is no dead letter " + id + ", perhaps no more");
        }
        return arrival.data();
    }

    /// Not one step: the letter goes when its record is in. In between, a crash leaves both, and the record is a
    /// duplicate when it is redriven again.
    @Override
    public Redriven redrive(long id, byte @Nullable [] edited) {
        Redriven redriven = await.of(table.arrival(id).thenCompose(kept -> {
            if (kept == null) {
                return CompletableFuture.completedFuture(Redriven.GONE);
            }
            Arrival arrival = new Arrival(
                    kept.shard(), kept.sequence(), kept.subSequence(), edited == null ? kept.data() : edited);
            return StateAndMap.redrive(store, arrival).thenCompose(fate -> switch (fate) {
                case Fate.Rejected(var malformed) ->
                    table.rejectedAgain(id, malformed, arrival.data())
                            .thenApply(isThere -> isThere ? Redriven.REJECTED : Redriven.GONE);
                case Fate.Accepted _ -> removed(id, edited).thenApply(_ -> Redriven.ACCEPTED);
                case Fate.Duplicate _ -> removed(id, edited).thenApply(_ -> Redriven.DUPLICATE);
                case Fate.Stale _ -> table.remove(id).thenApply(_ -> Redriven.STALE);
                case Fate.Conflicting(var loser) ->
                    loser.map(identity -> table.isOf(id, identity))
                            .orElseGet(() -> CompletableFuture.completedFuture(false))
                            .thenCompose(isLoser -> isLoser // And so it stays.
                                    ? CompletableFuture.completedFuture(true)
                                    : removed(id, edited))
                            .thenApply(_ -> Redriven.CONFLICTING);
            });
        }));
        if (redriven == Redriven.ACCEPTED || redriven == Redriven.CONFLICTING) {
            reduce.run();
        }
        return redriven;
    }

    /// A loser of a conflict stays, as it is, even if it is in: then the greater record was seen and is not in yet. It
    /// comes again, and who loses then is known already and not kept anew.
    private CompletableFuture<Boolean> removed(long id, byte @Nullable [] edited) {
        return edited == null
                ? table.isConflict(id)
                        .thenCompose(stays -> stays ? CompletableFuture.completedFuture(false) : table.remove(id))
                : table.remove(id);
    }

    @Override
    public int purge(List<Long> ids) {
        int removed = 0;
        for (long id : ids) {
            removed += await.of(table.remove(id)) ? 1 : 0;
        }
        return removed;
    }
}
