package dev.onefold.aws.batch;

import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.store.Parts;
import dev.onefold.aws.store.Store;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Delivery;
import dev.onefold.core.batch.Manifest;
import dev.onefold.core.batch.Members;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Batching.Forget;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.seal.DeliveryRules;
import dev.onefold.core.seal.DeliveryRules.Attempt;
import java.io.ByteArrayInputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// Hands new records over in the invocation that takes them, between two writes to the claim of each:
///
///     absent --start mark--> begun --end mark--> done
///                              |
///                              +--> in a lane      by [Collect], with the record and how far its delivery is
///
/// There is no other edge. Whatever does not end in *done* at the first attempt is from then on a batch of one
/// record. Its receiver gets the same id and content at each attempt, because the id is made of the record's
/// ([BatchNumber#ofId]) and is the same in a lane.
///
/// An attempt begins only if its invocation can wait for its end, and only while the receiver answers: after
/// some attempts in a row that were answered by *not now*, or not at all, the records of this invocation are
/// collected without an attempt. So a receiver that is down costs an invocation a few attempts, and intake goes
/// on. A single failure moves its own record alone, because a record in a lane costs several times as much.
///
/// What a frozen or killed invocation leaves is *begun*. While its owner may live, nothing is said of the id.
final class Direct {
    /// From the last moment at which an attempt may be under way until the invocation begins nothing more: the
    /// time in which a record moves to a lane.
    static final Duration MOVING = Duration.ofSeconds(10);

    private static final int FAILED_MAX = 3;

    private final Store store;
    private final Pipeline pipeline;
    private final Batching batching;
    private final Deliver.Receiver receiver;
    private final Deliver.Limits limits;

    /// The result for one record.
    sealed interface Handed {
        /// The receiver has it, and its claim says so.
        record Done() implements Handed {}

        /// It is begun, and is to move to a lane.
        ///
        /// @param delivery how far it is; `null` if nothing was handed over
        record Left(Begun begun, @Nullable Delivery delivery) implements Handed {}

        /// Its claim tells.
        record Known() implements Handed {}
    }

    Direct(Store store, Pipeline pipeline, Deliver.Receiver receiver, Deliver.Limits limits) {
        this.store = store;
        this.pipeline = pipeline;
        batching = (Batching) pipeline.fold();
        this.receiver = receiver;
        this.limits = limits;
    }

    /// Hands records over, as many as there is time for.
    ///
    /// @param messages of different ids
    /// @param endMs until when the invocation begins anything
    /// @return the result of each message that has one; the others are as they were
    Map<Message.Good, Handed> handOver(List<Message.Good> messages, long endMs) {
        Invocation invocation = new Invocation(endMs);
        Map<Message.Good, Handed> results = new HashMap<>();
        for (List<Message.Good> some : Parts.of(messages, batching.concurrency())) {
            BatchDefinition.requireKnownTables(store);
            if (!invocation.isPossible()) {
                break;
            }
            List<Handed> handed = store.threads().all(some, invocation::handOver);
            for (int i = 0; i < some.size(); i++) {
                results.put(some.get(i), handed.get(i));
            }
        }
        return results;
    }

    /// How far a delivery is whose owner is gone without an answer.
    static Delivery unanswered(DeliveryRules rules, Begun begun, long nowMs) {
        return rules.ownerIsGone(
                begun.started(), "The invocation that delivered it has ended without an answer", nowMs);
    }

    private long nowMs() {
        return store.clock().millis();
    }

    private final class Invocation {
        private final long endMs;
        private final AtomicInteger failed = new AtomicInteger(); // In a row.

        Invocation(long endMs) {
            this.endMs = endMs;
        }

        /// Whether another attempt may begin.
        boolean isPossible() {
            return failed.get() < Math.max(FAILED_MAX, batching.concurrency()) && isInTime();
        }

        private boolean isInTime() {
            return nowMs() + limits.attempt().plus(MOVING).toMillis() <= endMs;
        }

        Handed handOver(Message.Good message) {
            long nowMs = nowMs();
            Begun begun = new Begun(
                    store.newId(),
                    message.content(),
                    nowMs,
                    endMs + limits.margin().toMillis(),
                    Sha256.of(message.line()));
            try {
                return isMarked(message, begun) ? attempt(message, begun) : new Handed.Known();
            } catch (SdkException unreachable) {
                return new Handed.Known(); // The tables are busy: the claim tells, now or when the message comes again.
            }
        }

        /// The answer to a mark may be lost, and the SDK sends a request twice: then the mark itself refuses
        /// it.
        private boolean isMarked(Message.Good message, Begun begun) {
            boolean isPut = put(begun.item(message.idHash()), "attribute_not_exists(k)", Map.of());
            if (isPut) {
                return true;
            }
            Map<String, AttributeValue> item = store.get(store.tables().rows(), Claim.key(message.idHash()));
            return Begun.is(item) && Begun.of(item).owner().equals(begun.owner());
        }

        private Handed attempt(Message.Good message, Begun begun) {
            // A sandbox may have been frozen since; an attempt that outlives its owner could meet its successor.
            if (!isPossible()) {
                return new Handed.Left(begun, null);
            }
            BatchNumber number = BatchNumber.ofId(message.idHash());
            Outcome outcome = deliver(handover(message, begun, number));
            boolean isFailed = outcome instanceof Outcome.NotNow || outcome instanceof Outcome.Unknown;
            failed.updateAndGet(before -> isFailed ? before + 1 : 0);
            Delivery next =
                    receiver.rules().after(new Attempt(number, Members.all(1), begun.started()), outcome, nowMs());
            if (!(next instanceof Delivery.Done)) {
                return new Handed.Left(begun, next);
            }
            Claim done = new Claim(Claim.DONE, 0, begun.content(), 0);
            boolean isDone =
                    put(done.item(message.idHash(), new Forget.Never(), Duration.ZERO), Begun.SAME, begun.names());
            return isDone ? new Handed.Done() : new Handed.Known();
        }

        private boolean put(Map<String, AttributeValue> item, String condition, Map<String, AttributeValue> values) {
            return store.retriedIf(() -> store.client()
                    .putItem(request -> request.tableName(store.tables().rows())
                            .item(item)
                            .conditionExpression(condition)
                            .expressionAttributeValues(values.isEmpty() ? null : values)));
        }
    }

    private Deliver.Handover handover(Message.Good message, Begun begun, BatchNumber number) {
        byte[] content = Arrays.copyOf(message.line(), message.line().length + 1);
        content[content.length - 1] = '\n';
        Instant begunAt = Instant.ofEpochMilli(begun.startedMs());
        long atMs = message.arrival().atMs();
        Instant arrived = atMs == Arrival.NOT_KNOWN ? begunAt : Instant.ofEpochMilli(atMs);
        Manifest manifest = new Manifest(
                Manifest.id(pipeline.name(), number),
                number,
                "",
                1,
                content.length,
                Sha256.hex(content),
                "",
                "",
                arrived,
                arrived,
                begunAt);
        return new Deliver.Handover(manifest, 1, () -> new ByteArrayInputStream(content), Optional.empty());
    }

    private Outcome deliver(Deliver.Handover handover) {
        try {
            return receiver.deliver().apply(handover);
        } catch (RuntimeException failed) {
            return new Outcome.Unknown("The receiver failed: " + failed.getMessage());
        }
    }
}
