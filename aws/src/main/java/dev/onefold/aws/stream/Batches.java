package dev.onefold.aws.stream;

import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.state.Fate;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Store;
import dev.onefold.core.Fates;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// Brings records that were read again to where they belong. Any thread may call.
public final class Batches {
    private Batches() {}

    /// The result of a batch.
    ///
    /// @param fates of the records that are done
    /// @param failure reason why the other records are not done; `null` if all are
    public record Taken(Fates fates, @Nullable Throwable failure) {
        Taken plus(Taken other) {
            return new Taken(fates.plus(other.fates), failure == null ? other.failure : failure);
        }
    }

    /// Takes records into the rows.
    static Taken intoRows(Store store, List<Arrival> arrivals) {
        List<Fate> fates = StateAndMap.process(store, arrivals);
        return new Taken(
                Fate.sum(fates),
                fates.stream()
                        .map(fate -> fate instanceof Fate.HandedBack(var why) ? why : null)
                        .filter(Objects::nonNull)
                        .findFirst()
                        .orElse(null));
    }

    /// Takes all records that can be taken. A batch that fails is halved until the ones that are to blame are alone, so
    /// that each of these costs only itself.
    static Taken take(Function<List<Arrival>, Taken> intake, List<Arrival> arrivals) {
        try {
            return intake.apply(arrivals);
        } catch (RuntimeException | Error failed) { // One record may cost a stack or a heap of its own.
            if (arrivals.size() <= 1) {
                return new Taken(Fates.NONE, failed);
            }
            int middle = arrivals.size() / 2;
            return take(intake, arrivals.subList(0, middle))
                    .plus(take(intake, arrivals.subList(middle, arrivals.size())));
        }
    }
}
