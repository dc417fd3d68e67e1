package dev.onefold.aws.stream;

import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.state.Definitions;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.stream.Shards.Shard;
import dev.onefold.core.pipeline.Processing;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.function.Supplier;

/// Where a mapping begins that takes the place of another one, because it reads another stream or in another way.
/// CloudFormation makes such a mapping anew, and knows nothing of the place of the one before. So the update must say
/// it: the oldest record, which may be a week that is read and paid again, or a time up to which the rows cover the
/// stream.
public final class InputStart {
    /// As the parameter of the template has it: a time before all records.
    private static final String OLDEST = "1";

    private static final String NOT_GIVEN = "0";

    private static final String CONSUMER = "/consumer/";

    /// What an update asks for.
    ///
    /// @param input ARN of the stream, or of a consumer of it
    /// @param from what the parameter says
    /// @param isSame whether the parameter says what it said before the update
    /// @param isInOrder whether State takes a shard in its order: several batches of a shard at once do not
    public record Asked(String input, String from, boolean isSame, boolean isInOrder) {}

    private InputStart() {}

    /// Why the mapping may not begin there; empty if it may.
    public static Optional<String> refusal(Store store, Supplier<Streams> streams, Asked asked) {
        String from = asked.from;
        if (from.equals(OLDEST)
                || from.equals(NOT_GIVEN) && !asked.isSame) { // To none only a rollback brings it, or a person.
            return Optional.empty();
        }
        Optional<Instant> covered =
                asked.isInOrder ? covered(store, streams, asked.input.split(CONSUMER, 2)[0]) : Optional.empty();
        String what = "The update replaces the mapping of the input, and a new one knows no place of the one before. ";
        String choice = covered.map(at -> "Give InputFrom a time up to which the rows cover the stream: "
                        + at.getEpochSecond() + " is one, and a later one would lose records; or " + OLDEST
                        + ", to read all that the stream keeps once more.")
                .orElse((asked.isInOrder ? "Nothing" : "With a ParallelizationFactor that is or was not 1 nothing")
                        + " proves up to which time the rows cover the stream. Give InputFrom " + OLDEST
                        + ": all that the stream keeps is read once more.");
        boolean isCovered = !from.equals(NOT_GIVEN)
                && !asked.isSame
                && covered.filter(at ->
                                Instant.ofEpochSecond(Long.parseLong(from)).compareTo(at) <= 0)
                        .isPresent();
        return isCovered ? Optional.empty() : Optional.of(what + choice);
    }

    /// A time from which on reading a stream misses nothing: of each shard, the first records behind it are in the
    /// rows, and State takes a shard in its order. Empty if that cannot be shown, as for a function.
    static Optional<Instant> covered(Store store, Supplier<Streams> streams, String stream) {
        if (new Definitions(store).load().servedView().pipeline().fold() instanceof Processing) {
            return Optional.empty();
        }
        Shards shards = new KinesisShards(streams.get().kinesis(), stream);
        Duration retention = shards.retention(store);
        List<Shard> all = shards.list(store);
        Instant now = store.clock().instant();
        for (Duration latest = CatchUp.LATEST; latest.compareTo(retention) < 0; latest = latest.multipliedBy(2)) {
            Instant at = now.minus(latest);
            if (store.threads().all(all, shard -> isIn(store, shards.pages(shard.id()), at, now)).stream()
                    .allMatch(in -> in)) {
                return Optional.of(at);
            }
        }
        return Optional.empty();
    }

    /// Whether the first records from a time on are in.
    private static boolean isIn(Store store, Pages pages, Instant from, Instant now) {
        boolean[] areIn = new boolean[1];
        try {
            ShardReading.read(store, pages, new Position.Time(from), new Position.Time(now), arrivals -> {
                areIn[0] = areIn(store, arrivals);
                throw new CancellationException("The first page is enough");
            });
        } catch (CancellationException seen) {
            return areIn[0];
        }
        return false;
    }

    private static boolean areIn(Store store, List<Arrival> arrivals) {
        return StateAndMap.areIn(store, arrivals).orElse(false);
    }
}
