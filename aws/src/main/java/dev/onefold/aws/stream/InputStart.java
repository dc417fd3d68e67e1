package dev.onefold.aws.stream;

import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.event.StreamName;
import dev.onefold.aws.letter.Places;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.stream.Shards.Shard;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Where a mapping begins that takes the place of another one, because it reads another stream or in another
/// way. CloudFormation recreates such a mapping, and knows nothing of the place of the one before. So the
/// update must say it: the oldest record, which may be a week that is read and paid again, or a time up to
/// which State has taken the stream, as its [Places] say.
public final class InputStart {
    /// As the parameter of the template has it: a time before all records.
    private static final String OLDEST = "1";

    private static final String NOT_GIVEN = "0";

    /// More than clocks are apart, and more than the times of records of one shard are out of their order.
    private static final Duration MARGIN = Duration.ofMinutes(5);

    /// The start of the input as an update requests it.
    ///
    /// @param input ARN of the stream, or of a consumer of it
    /// @param from text of the parameter
    /// @param isSameInput whether it was the input before the update, too
    /// @param isSame whether the parameter says what it said before the update
    public record Asked(String input, String from, boolean isSameInput, boolean isSame) {}

    private InputStart() {}

    /// Why the mapping may not begin there; empty if it may.
    ///
    /// Only the new input is looked at. When State is asked, its role no longer allows it to read a former
    /// stream, so State cannot say whether it has taken all of that one.
    public static Optional<String> refusal(Store store, Supplier<Streams> streams, Asked asked) {
        String from = asked.from;
        if (asked.isSameInput) {
            return Optional.of("InputFrom cannot change alone: Lambda refuses a second mapping of the same input. Leave"
                    + " InputFrom as it was; to read records again, use 'onefold aws replay'.");
        }
        if (from.equals(OLDEST)
                || from.equals(NOT_GIVEN) && !asked.isSame) { // To none only a rollback brings it, or a person.
            return Optional.empty();
        }
        Optional<Instant> covered = covered(store, streams, StreamName.arn(asked.input));
        String what = "The update replaces the mapping of the input, and a new one knows no place of the one before. ";
        String choice = covered.map(at -> "Give InputFrom a time up to which State has taken the stream: "
                        + at.getEpochSecond() + " is one, and a later one would lose records; or " + OLDEST
                        + ", to read all that the stream keeps once more.")
                .orElse("Nothing proves how far State has taken the stream: it notes that only while"
                        + " ParallelizationFactor is 1, from the first update on that found it at 1. Give InputFrom "
                        + OLDEST + ": all that the stream keeps is read once more.");
        boolean isCovered = !from.equals(NOT_GIVEN)
                && !asked.isSame
                && covered.filter(at ->
                                Instant.ofEpochSecond(Long.parseLong(from)).compareTo(at) <= 0)
                        .isPresent();
        return isCovered ? Optional.empty() : Optional.of(what + choice);
    }

    /// A time from which on reading a stream misses nothing: before the first record of any shard that State
    /// may not have taken. Empty if no places are noted.
    ///
    /// Lambda begins with a shard when it is done with its parents. So a shard is done if State has taken a
    /// record of one that follows it, though the last batches before its end were not noted. The stream must
    /// still have this record: a stream that was deleted and recreated has the same ARN and the same shards,
    /// and the places that are noted are of the former one. If the record has expired, so have those of the
    /// parents.
    ///
    /// @param stream its ARN
    static Optional<Instant> covered(Store store, Supplier<Streams> streams, String stream) {
        Places places = new Places(store);
        Optional<String> order = places.order();
        if (order.isEmpty()) {
            return Optional.empty();
        }
        Instant now = store.clock().instant();
        Shards shards = new KinesisShards(streams.get().kinesis(), stream);
        List<Shard> all = shards.list(store);
        Map<String, Found> taken = new ConcurrentHashMap<>();
        store.threads()
                .each(
                        all,
                        shard -> places.find(order.get(), stream, shard.id())
                                .map(place -> Found.at(place, store, shards.pages(shard.id()), now))
                                .filter(found -> found.isAtPlace)
                                .ifPresent(found -> taken.put(shard.id(), found)));
        Set<String> done = new HashSet<>();
        for (List<Shard> wave : List.copyOf(Replay.waves(all)).reversed()) {
            wave.stream()
                    .filter(shard -> done.contains(shard.id()) || taken.containsKey(shard.id()))
                    .forEach(shard -> done.addAll(shard.parents()));
        }
        List<Shard> open =
                all.stream().filter(shard -> !done.contains(shard.id())).toList();
        Instant first = store
                .threads()
                .all(open, shard -> notTaken(taken.get(shard.id()), store, shards.pages(shard.id()), now))
                .stream()
                .min(Instant::compareTo)
                .orElse(now);
        return Optional.of(first.minus(MARGIN));
    }

    /// When the first record of a shard came that State may not have taken, or now. If the shard does not have
    /// the record at the place any more, State may have taken none of those that are left.
    private static Instant notTaken(@Nullable Found taken, Store store, Pages pages, Instant now) {
        Found found = taken == null ? Found.oldest(store, pages, now) : taken;
        return found.behind == null ? now : found.behind;
    }

    /// The first record behind a place.
    private static final class Found {
        private final @Nullable String place;
        private boolean isAtPlace;
        private @Nullable Instant behind;

        private Found(@Nullable String place) {
            this.place = place;
        }

        static Found at(String place, Store store, Pages pages, Instant now) {
            Found found = new Found(place);
            found.look(store, pages, new Position.Sequence(place), now);
            return found;
        }

        static Found oldest(Store store, Pages pages, Instant now) {
            Found found = new Found(null);
            found.look(store, pages, new Position.Time(Instant.EPOCH), now);
            return found;
        }

        private void look(Store store, Pages pages, Position from, Instant now) {
            try {
                ShardReader.read(store, pages, from, new Position.Time(now), this::take);
            } catch (CancellationException seen) {
                return;
            }
        }

        private void take(List<Arrival> arrivals) {
            for (Arrival arrival : arrivals) {
                if (!arrival.sequence().equals(place)) {
                    behind = Instant.ofEpochMilli(arrival.atMs());
                    throw new CancellationException("The first record is enough");
                }
                isAtPlace = true;
            }
        }
    }
}
