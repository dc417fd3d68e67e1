package dev.onefold.aws.batch;

import dev.onefold.aws.batch.Deliveries.Listed;
import dev.onefold.aws.batch.DeliveryItem.Proof;
import dev.onefold.aws.content.StagedContents;
import dev.onefold.aws.content.StagedContents.Hashed;
import dev.onefold.aws.store.Store;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Delivery;
import dev.onefold.core.batch.Manifest;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Batching.Order;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.seal.DeliveryRules;
import dev.onefold.core.seal.DeliveryRules.Attempt;
import java.io.InputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;

/// Hands sealed batches over until they are done. What becomes of a delivery, [DeliveryRules] decides; this class
/// records it before and after each attempt:
///
///     proof of the content    once, before the first attempt
///     start mark              state `sealed` becomes `started`, with an owner of its own for each attempt
///     attempt                 the receiver gets the same id and content each time
///     end mark                by the owner, conditional on its start mark
///
/// All receivers have start marks here, so that two invocations do not deliver one batch at once. Each mark takes a
/// slot, so that all invocations together do not deliver more batches at once than `concurrency` says. Only of a
/// receiver that is `once` a mark whose owner is gone is in doubt. An owner is gone when it cannot live any more:
/// after the time that its invocation had left, the client's time-out, and a margin. The mark says when that is,
/// because another deployment may have other times.
///
/// A delivery may end its invocation, for example because the receiver needs more memory than the function has. So a
/// delivery whose owner was gone without an answer is from then on delivered alone: its invocation delivers no other
/// batch at the same time.
public final class Deliver {
    private static final int ROUNDS_MAX = 10_000;

    /// Longer than the items of a transaction take to be seen.
    private static final Duration AWAITED_MAX = Duration.ofMinutes(1);

    private static final int LISTED_MAX = 20_000;

    /// Chunks that are read at once, for all contents together.
    private static final int AHEAD_MAX = 32;

    /// So many records that failed are kept as members of a part; an item has at most 400 KB.
    private static final int FAILED_MAX = 10_000;

    /// So often in a row an invocation may be too late with a delivery before that is an attempt that has failed.
    private static final int LATE_MAX = 2;

    private final Store store;
    private final Pipeline pipeline;
    private final Batching batching;
    private final Receiver receiver;
    private final Limits limits;
    private final Deliveries deliveries;
    private final Chunks chunks;
    private final Optional<StagedContents> staged;

    /// The input of one attempt to deliver a batch.
    ///
    /// @param attempt number of the attempt, from 1
    /// @param content of the batch; each call opens it again
    /// @param object place of the content in the bucket, for a receiver that reads it there
    public record Handover(
            Manifest manifest, int attempt, Supplier<InputStream> content, Optional<StoredObject> object) {}

    /// An object of S3.
    public record StoredObject(String bucket, String key) {}

    /// A receiver of batches, as Deliver calls it.
    ///
    /// @param rules for the attempts and the ends of its deliveries
    /// @param deliver hands one batch over; an exception leaves open whether the batch is in
    /// @param isLeftRunning whether an abandoned call still runs in this process
    public record Receiver(DeliveryRules rules, Function<Handover, Outcome> deliver, BooleanSupplier isLeftRunning) {
        /// One whose calls end with their attempts.
        public Receiver(DeliveryRules rules, Function<Handover, Outcome> deliver) {
            this(rules, deliver, () -> false);
        }
    }

    /// How long things take.
    ///
    /// @param margin from the end of an invocation until nothing that it has sent can be under way
    /// @param attempt the longest attempt: it is not begun if the invocation ends before
    public record Limits(Duration margin, Duration attempt) {}

    public Deliver(Store store, Pipeline pipeline, Receiver receiver, Limits limits) {
        this.store = store;
        this.pipeline = pipeline;
        if (!(pipeline.fold() instanceof Batching found)) {
            throw new IllegalArgumentException("Pipeline " + pipeline.name() + " has no batch section");
        }
        batching = found;
        this.receiver = receiver;
        this.limits = limits;
        deliveries = new Deliveries(store);
        chunks = new Chunks(store);
        staged = StagedContents.isNeeded(batching)
                ? Optional.of(new StagedContents(store, batching.deliver()))
                : Optional.empty();
    }

    /// Makes the attempts that are due.
    ///
    /// @param timeLeft of the invocation
    /// @return how many attempts were made
    public int run(Supplier<Duration> timeLeft) {
        int attempts = 0;
        Slots slots = new Slots();
        for (int round = 0; round < ROUNDS_MAX && isTimeLeft(timeLeft); round++) {
            int made = round(slots, timeLeft);
            if (made == 0) {
                return attempts;
            }
            attempts += made;
        }
        return attempts;
    }

    /// The slots as one invocation sees them.
    private final class Slots {
        private boolean isLooked;

        /// Slots that are free. That there are fewer than the due deliveries need is usual beside another invocation.
        /// So it is asked once whether there are some that nobody frees.
        List<Integer> free(int due) {
            List<Integer> free = deliveries.freeSlots(batching.concurrency());
            if (isLooked || free.size() >= Math.min(due, batching.concurrency())) {
                return free;
            }
            isLooked = true;
            return deliveries.freeLeftSlots() ? deliveries.freeSlots(batching.concurrency()) : free;
        }
    }

    private int round(Slots slots, Supplier<Duration> timeLeft) {
        BatchDefinition.requireKnownTables(store);
        List<Listed> due = batching.order() == Order.STRICT ? next() : due();
        List<Listed> begun = due.stream().filter(Listed::isStarted).toList();
        if (!begun.isEmpty()) {
            return count(store.threads().all(begun, listed -> isGone(listed.number())));
        }
        List<Integer> free = slots.free(due.size());
        if (free.isEmpty() && !due.isEmpty() && batching.order() == Order.STRICT) {
            // After a restore the one slot may be that of a later delivery.
            List<Listed> later = due().stream().filter(Listed::isStarted).toList();
            return count(store.threads().all(later, listed -> isGone(listed.number())));
        }
        // It may end this invocation, too, and would take its neighbours along.
        List<Listed> alone = due.stream().filter(Listed::isAlone).limit(1).toList();
        List<Listed> now = alone.isEmpty() ? due : alone;
        return count(store.threads()
                .all(Math.min(now.size(), free.size()), i -> attempt(now.get(i).number(), free.get(i), timeLeft)));
    }

    private static int count(List<Boolean> made) {
        return (int) made.stream().filter(isMade -> isMade).count();
    }

    private boolean isTimeLeft(Supplier<Duration> timeLeft) {
        return timeLeft.get().compareTo(limits.attempt) >= 0;
    }

    private long nowMs() {
        return store.clock().millis();
    }

    /// The first delivery that is not ended, if all before it are. The list may show it before it shows an
    /// earlier one.
    private List<Listed> next() {
        return deliveries.listed(Deliveries.OPEN, 1).stream()
                .filter(this::isDue)
                .filter(listed -> isNext(listed.number()))
                .toList();
    }

    private boolean isNext(BatchNumber number) {
        BatchNumber at = number;
        while (!at.isWhole()) {
            BatchNumber whole = new BatchNumber(
                    at.number(), at.parts().subList(0, at.parts().size() - 1));
            for (int part = 1; part < at.parts().getLast(); part++) {
                if (!deliveries.isEnded(whole.part(part))) {
                    return false;
                }
            }
            at = whole;
        }
        if (BatchesRestored.begins(at.number())) {
            // All numbers of before a restore are less; none of them is open, because this is the first that is.
            return deliveries.listed(Deliveries.PERSON, 1).stream()
                    .allMatch(held -> held.number().number() >= number.number());
        }
        return before(at.number()).stream().anyMatch(deliveries::isEnded);
    }

    /// The batch before one. It is not there if it is not seen yet; it is freed only when this one is ended.
    private Optional<DeliveryItem> before(long number) {
        Optional<DeliveryItem> before = deliveries.find(BatchNumber.of(number - 1));
        if (before.isEmpty() && nowMs() - batch(BatchNumber.of(number)).sealedMs() > AWAITED_MAX.toMillis()) {
            throw missing(number - 1, "batch " + BatchNumber.of(number) + " is delivered after it, or proves it");
        }
        return before;
    }

    private IllegalStateException missing(long number, String consequence) {
        return new IllegalStateException("Batch " + BatchNumber.of(number) + " is not in table "
                + store.tables().rows() + ", and " + consequence
                + ". If the table was restored, or items were deleted by hand, run 'onefold aws restored --anyway'.");
    }

    private List<Listed> due() {
        return deliveries.due(nowMs(), LISTED_MAX);
    }

    private boolean isDue(Listed listed) {
        return nowMs() >= listed.atMs();
    }

    /// Whether an attempt was begun whose owner is gone, and this call has noted that.
    private boolean isGone(BatchNumber number) {
        Optional<DeliveryItem> found = deliveries.find(number);
        if (found.isEmpty()
                || !(found.get().delivery() instanceof Delivery.Started started)
                || nowMs() < found.get().goneMs()) {
            return false;
        }
        Delivery next = receiver.rules.ownerIsGone(
                started, "The invocation that delivered it has ended without an answer", nowMs());
        return deliveries.change(found.get().unanswered(), next).isPresent();
    }

    /// Whether an attempt was made, or a state changed.
    private boolean attempt(BatchNumber number, int slot, Supplier<Duration> timeLeft) {
        Optional<DeliveryItem> found = deliveries.find(number);
        if (found.isEmpty()) {
            return false; // Listed, and not seen yet.
        }
        DeliveryItem item = found.get();
        long nowMs = nowMs();
        if (!(item.delivery() instanceof Delivery.Waiting waiting) || !DeliveryRules.isDue(waiting, nowMs)) {
            return false;
        }
        Optional<Delivery> late = receiver.rules.tooLate(waiting, "", nowMs);
        if (late.isPresent()) {
            return deliveries.change(item, late.get()).isPresent();
        }
        Optional<DeliveryItem> proven = proven(item);
        return proven.isPresent() && attempt(proven.get(), waiting, slot, timeLeft);
    }

    private boolean attempt(DeliveryItem item, Delivery.Waiting waiting, int slot, Supplier<Duration> timeLeft) {
        // All reading comes before the mark: a failure behind it would leave the delivery in doubt.
        SealedBatch batch = batch(item.number());
        Handover handover = handover(item, batch, waiting.tries().count() + 1);
        Delivery.Started started = receiver.rules.begin(waiting, store.newId(), nowMs());
        long goneMs = started.atMs() + timeLeft.get().plus(limits.margin).toMillis();
        Optional<DeliveryItem> marked = deliveries.change(item.ownedUntil(goneMs, slot), started);
        if (marked.isEmpty()) {
            return false;
        }
        // A sandbox may have been frozen since; an attempt that outlives its owner could meet its successor.
        boolean isLate = nowMs() - started.atMs() > limits.attempt.toMillis() || !isTimeLeft(timeLeft);
        Attempt attempt = new Attempt(item.number(), item.members(), started);
        if (isLate) {
            late(marked.get(), waiting, attempt);
            return false;
        }
        Outcome outcome = handOver(handover);
        Delivery next = receiver.rules.after(attempt, outcome, nowMs());
        return deliveries.change(marked.get().inTime(), next).isPresent();
    }

    /// Nothing was begun. That happens once where the content was written in this invocation; from the second time in a
    /// row on a person is to see it.
    private void late(DeliveryItem marked, Delivery.Waiting waiting, Attempt attempt) {
        DeliveryItem late = marked.late();
        Delivery next = late.lateTimes() < LATE_MAX
                ? waiting
                : receiver.rules.after(
                        attempt,
                        new Outcome.NotNow(
                                "Nothing was handed over: " + late.lateTimes() + " invocations in a row had no time"
                                        + " left when all was ready. Give the function more memory (DeliverMemory)",
                                null),
                        nowMs());
        deliveries.change(late, next);
    }

    private Handover handover(DeliveryItem item, SealedBatch batch, int attempt) {
        Manifest manifest = manifest(item, batch);
        return staged.map(contents -> new Handover(
                        manifest,
                        attempt,
                        () -> contents.open(item.number(), manifest.sha256()),
                        Optional.of(new StoredObject(contents.bucket(), object(contents, item)))))
                .orElseGet(() -> new Handover(manifest, attempt, () -> content(batch, item), Optional.empty()));
    }

    /// The object that is proven, which an earlier receiver may have had compressed.
    private static String object(StagedContents contents, DeliveryItem item) {
        Proof proof = item.proof().orElseThrow();
        return proof.object().isEmpty() ? contents.key(item.number(), proof.sha256()) : proof.object();
    }

    private InputStream content(SealedBatch batch, DeliveryItem item) {
        return new Content(chunks, batch, item.members(), Math.max(1, AHEAD_MAX / batching.concurrency()));
    }

    private Outcome handOver(Handover handover) {
        try {
            Outcome outcome = receiver.deliver.apply(handover);
            return outcome instanceof Outcome.Partial partial
                            && partial.records().size() > FAILED_MAX
                    ? new Outcome.Unknown(partial.records().size() + " records failed; at most " + FAILED_MAX
                            + " can be delivered as a part of their own")
                    : outcome;
        } catch (RuntimeException failed) {
            return new Outcome.Unknown("The receiver failed: " + failed.getMessage());
        }
    }

    private SealedBatch batch(BatchNumber number) {
        return SealedBatch.of(deliveries
                .find(BatchNumber.of(number.number()))
                .orElseThrow(() -> missing(number.number(), "its records are to be delivered"))
                .attributes());
    }

    private Manifest manifest(DeliveryItem item, SealedBatch batch) {
        BatchNumber number = item.number();
        Proof proof = item.proof().orElseThrow();
        if (batching.direct()) {
            return direct(chunks.numberFor(batching, number, batch), proof, batch);
        }
        Proof whole = number.isWhole()
                ? proof
                : deliveries.load(BatchNumber.of(number.number())).proof().orElseThrow();
        return new Manifest(
                Manifest.id(pipeline.name(), number),
                number,
                "",
                item.members().count(),
                proof.bytes(),
                proof.sha256(),
                whole.previous(),
                number.isWhole() ? "" : whole.sha256(),
                Instant.ofEpochMilli(batch.cut().firstMs()),
                Instant.ofEpochMilli(batch.cut().lastMs()),
                Instant.ofEpochMilli(batch.sealedMs()));
    }

    /// As the attempt before it was sealed had it, which knew no batch before.
    private Manifest direct(BatchNumber number, Proof proof, SealedBatch batch) {
        return new Manifest(
                Manifest.id(pipeline.name(), number),
                number,
                "",
                1,
                proof.bytes(),
                proof.sha256(),
                "",
                "",
                Instant.ofEpochMilli(batch.cut().firstMs()),
                Instant.ofEpochMilli(batch.cut().lastMs()),
                Instant.ofEpochMilli(batch.sealedMs()));
    }

    /// The delivery with its proof; empty if somebody else has changed it meanwhile, or if the batch before is not
    /// seen yet.
    private Optional<DeliveryItem> proven(DeliveryItem item) {
        if (item.proof().isPresent()) {
            Proof proof = item.proof().get();
            // An earlier attempt may have been to another receiver, for which no object was made.
            if (proof.object().isEmpty()
                    && staged.filter(StagedContents::isPlain).isPresent()) {
                return deliveries.prove(item, proof.in(hash(item).object()));
            }
            return Optional.of(item);
        }
        BatchNumber number = item.number();
        Optional<String> previous = number.isWhole() && !BatchesRestored.begins(number.number())
                ? before(number.number()).flatMap(this::hashOf)
                : Optional.of("");
        if (previous.isEmpty()) {
            return Optional.empty();
        }
        Hashed own = hash(item);
        return deliveries.prove(item, new Proof(own.sha256(), previous.get(), own.bytes(), own.object()));
    }

    /// The SHA-256 of a batch's content, as its own manifest has it or will have it; empty if it is not seen yet.
    private Optional<String> hashOf(DeliveryItem before) {
        if (before.proof().isPresent()) {
            return before.proof().map(Proof::sha256);
        }
        if (staged.isEmpty()) {
            // Its own attempt records its proof, which is of the same content.
            return Optional.of(hash(before).sha256());
        }
        BatchNumber number = before.number();
        // Compressed again it could have other bytes. So its proof is recorded now, after those of all before it.
        long first = number.number();
        for (boolean isProven = false; !BatchesRestored.begins(first) && !isProven; ) {
            Optional<DeliveryItem> earlier = deliveries.find(BatchNumber.of(first - 1));
            if (earlier.isEmpty()) {
                return Optional.empty();
            }
            isProven = earlier.get().proof().isPresent();
            first -= isProven ? 0 : 1;
        }
        for (long each = first; each < number.number(); each++) {
            prove(BatchNumber.of(each));
        }
        return Optional.of(prove(number).sha256());
    }

    private Proof prove(BatchNumber number) {
        for (int attempt = 1; ; attempt++) {
            Optional<Proof> proof = proven(deliveries.load(number)).flatMap(DeliveryItem::proof);
            if (proof.isPresent()) {
                return proof.get();
            }
            store.backOff(attempt); // Somebody else has changed the delivery meanwhile.
        }
    }

    private Hashed hash(DeliveryItem item) {
        SealedBatch batch = batch(item.number());
        Supplier<InputStream> lines = () -> content(batch, item);
        return staged.map(contents -> contents.stage(item.number(), lines))
                .orElseGet(() -> StagedContents.hash(lines.get()));
    }

    /// The deliveries that are left to do.
    ///
    /// @param oldestSealedMs time at which the first batch to be delivered was sealed, epoch ms; empty if there
    ///     is none
    /// @param inDoubt number of deliveries that are in doubt
    /// @param aside number of deliveries that were put aside
    public record Backlog(OptionalLong oldestSealedMs, int inDoubt, int aside) {}

    /// Counts the deliveries that are left to do.
    public Backlog backlog() {
        Optional<DeliveryItem> open = deliveries.listed(Deliveries.OPEN, 1).stream()
                .findFirst()
                .flatMap(listed -> deliveries.find(listed.number()));
        List<Listed> person = deliveries.listed(Deliveries.PERSON, LISTED_MAX);
        int inDoubt = (int) person.stream().filter(Listed::isInDoubt).count();
        return new Backlog(
                open.isEmpty()
                        ? OptionalLong.empty()
                        : OptionalLong.of(batch(open.get().number()).sealedMs()),
                inDoubt,
                person.size() - inDoubt);
    }
}
