package dev.onefold.aws.stream;

import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.state.Fate;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Futures;
import dev.onefold.aws.store.Store;
import dev.onefold.core.Counts;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/// Brings records that were read again into the rows. Any thread may call.
final class Batches {
    static final Counts NONE = new Counts(0, 0, 0, 0, 0);

    private Batches() {}

    /// What came of a batch.
    ///
    /// @param counts of the records that are done
    /// @param failure why others are not; `null` if all are
    record Taken(Counts counts, @Nullable Throwable failure) {
        Taken plus(Taken other) {
            return new Taken(counts.plus(other.counts), failure == null ? other.failure : failure);
        }
    }

    /// Takes all records that can be taken. A batch that fails is halved until the ones that are to blame are alone, so
    /// that each of these costs only itself.
    static CompletableFuture<Taken> take(Store store, List<Arrival> arrivals) {
        return StateAndMap.process(store, arrivals)
                .thenApply(fates -> new Taken(Fate.counts(fates), null))
                .exceptionallyCompose(failure -> {
                    if (arrivals.size() <= 1) {
                        return CompletableFuture.completedFuture(new Taken(NONE, Futures.cause(failure)));
                    }
                    int middle = arrivals.size() / 2;
                    return take(store, arrivals.subList(0, middle))
                            .thenCompose(left -> take(store, arrivals.subList(middle, arrivals.size()))
                                    .thenApply(left::plus));
                });
    }
}
