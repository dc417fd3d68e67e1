package dev.onefold.core.seal;

import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Delivery;
import dev.onefold.core.batch.Members;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Batching.Receiver;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// Decides the next state of a delivery. A runtime records the new state before it acts on it: a start mark
/// before the effect, a division before a part is delivered.
///
///     Waiting --begin--> Started --after--> Done | Waiting | InDoubt | Aside | Divided
///        ^                  | its owner is gone
///        |                  v
///        +--release--- InDoubt, Aside --settle--> Done
///
/// Start marks are for a receiver that is `once` or knows ids for a limited time, and for batches that may be
/// divided. Any other receiver accepts a second try, so a lost attempt is tried again.
public final class DeliveryRules {
    private final Batching batching;
    /// The least delay that a receiver can ask for.
    private static final Duration ASKED_MIN = Duration.ofSeconds(1);

    /// The least time between the tries of processes that start and end again and again.
    private static final long STARTS_MS_MIN = 60_000;

    private final @Nullable Duration remembers;

    /// @param remembers for how long the receiver knows ids that it has seen; `null`: for ever
    public DeliveryRules(Batching batching, @Nullable Duration remembers) {
        this.batching = batching;
        this.remembers = remembers;
    }

    /// A batch that was just sealed.
    public static Delivery sealed(long nowMs) {
        return new Delivery.Waiting(Delivery.Tries.NONE, nowMs, "");
    }

    /// Whether an attempt is to be made now.
    public static boolean isDue(Delivery delivery, long nowMs) {
        return delivery instanceof Delivery.Waiting waiting && nowMs >= waiting.notBeforeMs();
    }

    /// Whether a start mark has to be durable before an attempt: if the attempt must not be repeated, if it
    /// must not be repeated once the receiver has forgotten the id, or if a batch that the receiver may have
    /// must not be divided.
    public boolean needsStartMark() {
        return batching.receiver() == Receiver.ONCE || remembers != null || batching.bisect();
    }

    /// The in-doubt state of a due delivery that the receiver may have, and whose id it may have forgotten;
    /// empty for any other delivery.
    public Optional<Delivery> tooLate(Delivery.Waiting waiting, String owner, long nowMs) {
        Delivery.Tries tries = waiting.tries();
        return isForgotten(tries, nowMs)
                ? Optional.of(new Delivery.InDoubt(tries, owner, nowMs, forgotten(waiting.reason())))
                : Optional.empty();
    }

    private boolean isForgotten(Delivery.Tries tries, long atMs) {
        return remembers != null && tries.isPerhapsIn() && atMs >= tries.firstMs() + remembers.toMillis();
    }

    private String forgotten(String reason) {
        return reason + "; the receiver knows ids for " + remembers
                + " only, so another attempt could have a second effect";
    }

    /// An attempt begins.
    public Delivery.Started begin(Delivery.Waiting waiting, String owner, long nowMs) {
        return new Delivery.Started(waiting.tries().plus(nowMs), owner, nowMs);
    }

    /// An attempt was begun, and its owner is gone for certain.
    ///
    /// @param nowMs when this was found: the delay before the next attempt counts from then
    public Delivery ownerIsGone(Delivery.Started started, String reason, long nowMs) {
        Delivery.Tries tries = started.tries().perhapsIn();
        return batching.receiver() == Receiver.ONCE
                ? new Delivery.InDoubt(tries, started.owner(), started.atMs(), reason)
                : again(started, tries, reason, null, nowMs);
    }

    /// An attempt has ended.
    ///
    /// @param nowMs when it ended
    public Delivery after(Attempt attempt, Outcome outcome, long nowMs) {
        Delivery.Tries tries = attempt.started.tries();
        return switch (outcome) {
            case Outcome.Done _ -> new Delivery.Done(tries, nowMs, Delivery.How.DELIVERED);
            case Outcome.NotNow(var reason, var after) -> again(attempt.started, tries, reason, after, nowMs);
            case Outcome.Unknown(var reason) -> unknown(attempt, reason, nowMs);
            case Outcome.Refused(var reason) -> refused(attempt, reason, nowMs);
            case Outcome.Partial(var failed) -> partial(attempt, failed, nowMs);
            case Outcome.Conflict(var reason) -> new Delivery.Aside(tries, nowMs, reason, true);
        };
    }

    /// An attempt that has ended.
    ///
    /// @param members the records that were handed over
    /// @param halving halves them
    public record Attempt(
            BatchNumber number, Members members, Delivery.Started started, Function<Members, List<Members>> halving) {
        /// One that is halved at its middle.
        public Attempt(BatchNumber number, Members members, Delivery.Started started) {
            this(number, members, started, Members::halves);
        }
    }

    private Delivery unknown(Attempt attempt, String reason, long nowMs) {
        Delivery.Tries tries = attempt.started.tries().perhapsIn();
        return switch (batching.receiver()) {
            case ONCE -> new Delivery.InDoubt(tries, attempt.started.owner(), attempt.started.atMs(), reason);
            case TRANSACTIONAL, IDEMPOTENT -> again(attempt.started, tries, reason, null, nowMs);
        };
    }

    /// Tries again after the next delay, or gives up.
    private Delivery again(
            Delivery.Started started, Delivery.Tries tries, String reason, @Nullable Duration asked, long nowMs) {
        List<Duration> delays = batching.retry().delays();
        if (delays.isEmpty()) {
            return givenUp(tries, reason, nowMs);
        }
        Duration delay = asked == null ? delay(tries) : atLeast(asked, delays);
        Duration limit = batching.retry().limit();
        if (delay.compareTo(limit) > 0 || nowMs + delay.toMillis() > tries.firstMs() + limit.toMillis()) {
            return givenUp(tries, reason, nowMs);
        }
        long nextMs = nowMs + delay.toMillis();
        if (isForgotten(tries, nextMs)) {
            return new Delivery.InDoubt(tries, started.owner(), started.atMs(), forgotten(reason));
        }
        return new Delivery.Waiting(tries, nextMs, reason);
    }

    /// The delay of the schedule after the last of these tries.
    private Duration delay(Delivery.Tries tries) {
        List<Duration> delays = batching.retry().delays();
        return delays.isEmpty() || tries.count() == 0
                ? Duration.ZERO
                : delays.get(Math.min(tries.count(), delays.size()) - 1);
    }

    /// The time of the next try in a process that starts now: at once, because a person may have repaired the
    /// cause, but not within a minute of the last try, because a process that crashes is started again.
    public long firstMs(Delivery.Waiting waiting, long nowMs) {
        long lastMs = waiting.notBeforeMs() - delay(waiting.tries()).toMillis();
        return Math.min(waiting.notBeforeMs(), Math.max(nowMs, lastMs + STARTS_MS_MIN));
    }

    /// The state to record before a try that a start has brought forward: it shows the next start that the try
    /// was made.
    public Delivery.Waiting broughtForward(Delivery.Waiting waiting, long nowMs) {
        return new Delivery.Waiting(
                waiting.tries(), nowMs + delay(waiting.tries()).toMillis(), waiting.reason());
    }

    /// Raises the delay that a receiver asks for to the least one: a delay of zero, or a time in the past,
    /// would mean tries without a pause.
    private static Duration atLeast(Duration asked, List<Duration> delays) {
        Duration least = delays.getFirst().compareTo(ASKED_MIN) < 0 ? delays.getFirst() : ASKED_MIN;
        return asked.compareTo(least) < 0 ? least : asked;
    }

    private static Delivery givenUp(Delivery.Tries tries, String reason, long nowMs) {
        String times = tries.count() == 1 ? "1 attempt" : tries.count() + " attempts";
        return new Delivery.Aside(tries, nowMs, times + " failed, the last one: " + reason, false);
    }

    private Delivery refused(Attempt attempt, String reason, long nowMs) {
        Delivery.Tries tries = attempt.started.tries();
        // A part has another id than its batch. So the receiver could get a record twice if it may have the
        // batch.
        boolean isDivisible = batching.bisect()
                && batching.receiver() == Receiver.IDEMPOTENT
                && attempt.members.count() > 1
                && attempt.number.parts().size() < BatchNumber.DEPTH_MAX;
        if (!isDivisible || tries.isPerhapsIn()) {
            String whole = isDivisible
                    ? ". It is not halved, because an earlier attempt may have arrived. If it has not, release it"
                    : "";
            return new Delivery.Aside(tries, nowMs, reason + whole, false);
        }
        List<Delivery.Part> parts = new ArrayList<>();
        for (Members half : attempt.halving.apply(attempt.members)) {
            parts.add(new Delivery.Part(attempt.number.part(parts.size() + 1), half, sealed(nowMs)));
        }
        return new Delivery.Divided(tries, parts);
    }

    /// Divides off the failed records as a part. The part keeps the attempts, so its time is not longer than
    /// that of the whole batch.
    private Delivery partial(Attempt attempt, List<Outcome.Failed> failed, long nowMs) {
        Delivery.Tries tries = attempt.started.tries();
        List<Integer> places =
                failed.stream().map(Outcome.Failed::record).sorted().distinct().toList();
        boolean isPossible = !places.isEmpty() && places.getFirst() >= 0 && places.getLast() < attempt.members.count();
        if (batching.receiver() != Receiver.IDEMPOTENT || !isPossible) {
            return unknown(attempt, "The receiver reports records that failed: " + places, nowMs);
        }
        String reason = places.size() + " of " + attempt.members.count() + " records failed, the first one: "
                + failed.getFirst().reason();
        if (places.size() == attempt.members.count()) {
            return again(attempt.started, tries, reason, null, nowMs);
        }
        if (attempt.number.parts().size() >= BatchNumber.DEPTH_MAX) {
            return new Delivery.Aside(tries, nowMs, reason, false);
        }
        BatchNumber number = attempt.number.part(1);
        Members rest = attempt.members.only(places);
        Delivery next = again(attempt.started, tries, reason, null, nowMs);
        return new Delivery.Divided(tries, List.of(new Delivery.Part(number, rest, next)));
    }

    /// Whether a person can let it be tried again: it waits for a person, or for a later time.
    public static boolean canRelease(Delivery delivery, long nowMs) {
        return delivery.awaitsPerson() || delivery instanceof Delivery.Waiting waiting && waiting.notBeforeMs() > nowMs;
    }

    /// Releases a delivery for another try, on the word of a person. A process that has begun an attempt must
    /// be gone for certain. If the delivery waits for its next try, that try is due now.
    ///
    /// @throws IllegalArgumentException if it waits neither for a person nor for a later time
    public static Delivery release(Delivery delivery, long nowMs) {
        if (!canRelease(delivery, nowMs)) {
            throw new IllegalArgumentException("It waits neither for a person nor for a later time");
        }
        return delivery instanceof Delivery.Waiting waiting
                ? new Delivery.Waiting(waiting.tries(), nowMs, waiting.reason())
                : new Delivery.Waiting(delivery.tries().again(), nowMs, "");
    }

    /// A person ends it.
    ///
    /// @throws IllegalArgumentException if it does not wait for a person
    public static Delivery settle(Delivery delivery, Delivery.How how, long nowMs) {
        if (!delivery.awaitsPerson()) {
            throw new IllegalArgumentException("It does not wait for a person");
        }
        return new Delivery.Done(delivery.tries(), nowMs, how);
    }

    /// A person wants a batch to be delivered again that is done: with the same id and the same content.
    ///
    /// @throws IllegalArgumentException if it is not done
    public static Delivery redeliver(Delivery delivery, long nowMs) {
        if (!(delivery instanceof Delivery.Done)) {
            throw new IllegalArgumentException("It is not done");
        }
        return new Delivery.Waiting(delivery.tries().again(), nowMs, "");
    }
}
