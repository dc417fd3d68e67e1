package dev.onefold.aws.batch;

import dev.onefold.aws.batch.CutItem.LaneHeader;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.item.Items;
import dev.onefold.aws.letter.Letter;
import dev.onefold.aws.letter.LetterTable;
import dev.onefold.aws.store.BatchReads;
import dev.onefold.aws.store.Parts;
import dev.onefold.aws.store.Store;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Batching.Forget;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.seal.LaneCut.Chunk;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.Put;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;

/// Records messages: each distinct one once, in a lane that chance chooses. One transaction writes up to 98 claims, the
/// chunk and the lane's header:
///
///     claims           that do not exist yet, or that name the chunk of an id that is forgotten
///     chunk k          that does not exist yet
///     header           whose next chunk is k, and is k + 1 then
///
/// A transaction that is refused, or that nobody answered, says nothing about a message: its claim does. So the claims
/// are read again, and what is not claimed goes into another lane. A message may be deleted from its queue when its
/// claim was seen, or its transaction was answered, or its letter is kept.
///
/// Where ids are forgotten after delivery, a message has a mark of its own beside the claim of its id, in the same
/// transaction; a message that brings an id that is claimed gets one, too. So a message that comes again is known when
/// its id is forgotten, for as long as it can come again. A letter that is redriven marks its message, too. Any thread
/// may call.
public final class Collect {
    /// With the chunk and the header these are the hundred items of a transaction.
    static final int CLAIMS_MAX = 98;

    /// A queue of SQS keeps a message for so long, at most.
    public static final Duration REDELIVERY_OF_QUEUES = Duration.ofDays(14);

    /// A stream keeps a record for so long, at most, and no other source for longer.
    static final Duration REDELIVERY_MAX = Duration.ofDays(365);

    private static final int ATTEMPTS_MAX = 20;

    /// Transactions under way. More of them meet in a lane more often, and a refused one costs as much as one that
    /// is in: with 32 collectors of eleven transactions each, half of all are refused if all are sent at once.
    private static final int AT_A_TIME = 2;

    private static final int MARKS_AT_A_TIME = 50;

    private final Store store;
    private final Pipeline pipeline;
    private final int lanes;
    private final Chunks chunks;
    private final Forget forget;
    private final Duration redelivery;
    private final boolean marksMessages;
    private final boolean redrives;
    private final boolean marksRedriven; // A message itself, when its letter is redriven.

    /// The fate of a message.
    public enum Fate {
        /// It is recorded, or was before, or the filter leaves it out, or it reports no record.
        RECORDED,
        /// Its id was recorded with another content, and it is a dead letter now.
        CONFLICTING,
        /// It cannot be read, and is a dead letter now.
        REJECTED,
        /// Nothing is known; it must come again.
        AGAIN
    }

    /// @param lanes how many the deployment has; fixed for its life
    /// @throws IllegalArgumentException if the pipeline has no batches, or ones that cannot be on AWS
    public Collect(Store store, Pipeline pipeline, int lanes) {
        this(store, pipeline, lanes, REDELIVERY_OF_QUEUES);
    }

    /// @param redelivery for how long after its arrival a source can give a record again; counts where ids are
    /// forgotten
    public Collect(Store store, Pipeline pipeline, int lanes, Duration redelivery) {
        this(store, pipeline, lanes, redelivery, false);
    }

    /// Collects records of dead letters.
    static Collect ofLetters(Store store, BatchDefinition definition) {
        return new Collect(store, definition.pipeline(), definition.lanes(), REDELIVERY_MAX, true);
    }

    private Collect(Store store, Pipeline pipeline, int lanes, Duration redelivery, boolean redrives) {
        this.store = store;
        this.redrives = redrives;
        this.pipeline = pipeline;
        this.lanes = lanes;
        this.redelivery = redelivery;
        if (!(pipeline.fold() instanceof Batching batching)) {
            throw new IllegalArgumentException("Pipeline " + pipeline.name() + " has no batch section");
        }
        forget = batching.forget();
        // A letter may be redriven again long after its id was forgotten, if it was not removed at the first time.
        marksMessages = forget instanceof Forget.AfterDelivery || redrives && forget instanceof Forget.After;
        marksRedriven = redrives && forget instanceof Forget.AfterDelivery;
        chunks = new Chunks(store);
    }

    /// Records what one invocation brings; durable when it returns.
    ///
    public Collected collect(List<Arrival> arrivals) {
        return new Input(arrivals).collect();
    }

    private byte[] markOf(Message.Good message) {
        return redrives ? message.redrivenHash() : message.seenHash();
    }

    /// The fates of messages.
    ///
    /// @param fates one for each, in their order
    /// @param failure reason why letters could not be kept; their messages must come again
    public record Collected(List<Fate> fates, Optional<RuntimeException> failure) {
        public Collected {
            fates = List.copyOf(fates);
        }
    }

    /// Messages that are recorded together.
    private record Pack(List<Message.Good> messages, int lane) {}

    /// One invocation's messages.
    private final class Input {
        private final Fate[] fates;
        private final List<Message> messages = new ArrayList<>();
        /// By id, the places of its messages; those of which nothing is known yet.
        private final Map<ByteBuffer, List<Integer>> open = new LinkedHashMap<>();

        private final List<Integer> bad = new ArrayList<>();
        private final List<Integer> conflicting = new ArrayList<>();
        /// Messages that are to be marked, because the id that they bring is claimed.
        private final List<Integer> seen = new ArrayList<>();
        /// Claims whose id is forgotten for the messages that are open, by the id.
        private final Map<ByteBuffer, Claim> forgotten = new HashMap<>();
        /// By id, the claim that its messages are recorded under.
        private final Map<ByteBuffer, Claim> claimed = new ConcurrentHashMap<>();

        /// Of large records, the object that was written for the first attempt.
        private final Map<Message.Good, String> objects = new ConcurrentHashMap<>();

        private final long nowMs = store.clock().millis();
        private @Nullable RuntimeException failure;

        Input(List<Arrival> arrivals) {
            fates = new Fate[arrivals.size()];
            Arrays.fill(fates, Fate.AGAIN);
            Message.Reader reader = new Message.Reader(pipeline);
            for (Arrival arrival : arrivals) {
                Message message = reader.read(arrival);
                switch (message) {
                    // No batch holds it, so nothing says when it may be forgotten.
                    case Message.Good good
                    when forget instanceof Forget.AfterDelivery && !good.isMember() ->
                        fates[messages.size()] = Fate.RECORDED;
                    case Message.Good good ->
                        open.computeIfAbsent(good.id(), _ -> new ArrayList<>()).add(messages.size());
                    case Message.Silent _ -> fates[messages.size()] = Fate.RECORDED;
                    case Message.Bad _ -> bad.add(messages.size());
                }
                messages.add(message);
            }
        }

        Collected collect() {
            for (int attempt = 1; !open.isEmpty() && attempt <= ATTEMPTS_MAX; attempt++) {
                // A claim that is seen is there, however old the reading is; a missing one may be there.
                if (marksMessages) {
                    passOverMarked();
                }
                claims(attempt > 1 || !(forget instanceof Forget.Never)).forEach(this::settle);
                for (List<Pack> packs : Parts.of(packs(), AT_A_TIME)) {
                    List<Boolean> written = store.threads().all(packs, this::write);
                    for (int i = 0; i < packs.size(); i++) {
                        if (written.get(i)) {
                            packs.get(i).messages.forEach(this::settle);
                        }
                    }
                }
                if (!open.isEmpty()) {
                    store.backOff(attempt);
                }
            }
            if (redrives) {
                // Their letters are there already, and a mark would say that they are recorded.
                conflicting.forEach(index -> fates[index] = Fate.CONFLICTING);
            } else {
                keep(conflicting, Fate.CONFLICTING);
                conflicting.stream()
                        .filter(index -> fates[index] == Fate.CONFLICTING)
                        .forEach(seen::add);
            }
            keep(bad, Fate.REJECTED);
            markSeen();
            return new Collected(Arrays.asList(fates), Optional.ofNullable(failure));
        }

        private Message.Good good(int index) {
            return (Message.Good) messages.get(index);
        }

        /// Messages that have come before, whatever has become of their ids since.
        private void passOverMarked() {
            Map<ByteBuffer, List<Integer>> byMark = new LinkedHashMap<>();
            Map<ByteBuffer, List<Integer>> byMessage = new LinkedHashMap<>();
            Set<Map<String, AttributeValue>> keys = new LinkedHashSet<>();
            for (int index : open.values().stream().flatMap(List::stream).toList()) {
                add(byMark, mark(index), index);
                keys.add(Claim.key(mark(index)));
                if (marksRedriven) {
                    add(byMessage, good(index).seenHash(), index);
                    keys.add(Claim.key(good(index).seenHash()));
                }
            }
            Set<Integer> known = new HashSet<>();
            BatchReads.of(store, store.tables().rows(), List.copyOf(keys), null).forEach(item -> {
                known.addAll(byMark.getOrDefault(Claim.idHash(item), List.of()));
                if (Claim.isRecorded(item)) { // The letter itself may be why the message has a mark.
                    known.addAll(byMessage.getOrDefault(Claim.idHash(item), List.of()));
                }
            });
            known.forEach(index -> fates[index] = Fate.RECORDED);
            open.values().forEach(same -> same.removeIf(known::contains));
            open.values().removeIf(List::isEmpty);
        }

        private static void add(Map<ByteBuffer, List<Integer>> byHash, byte[] hash, int index) {
            byHash.computeIfAbsent(ByteBuffer.wrap(hash), _ -> new ArrayList<>())
                    .add(index);
        }

        private void markSeen() {
            if (!marksMessages) {
                return;
            }
            for (List<Integer> some : Parts.of(seen, MARKS_AT_A_TIME)) {
                try {
                    store.threads().each(some, this::markSeen);
                } catch (RuntimeException failed) {
                    failure = failed;
                    some.forEach(index -> fates[index] = Fate.AGAIN);
                }
            }
        }

        /// A message with the content that is claimed is in a batch, because that content is. So a letter of this
        /// message, which may be there from the time when another content was claimed, is in the same batch.
        private void markSeen(int index) {
            Message.Good message = good(index);
            Claim claim = fates[index] == Fate.RECORDED ? claimed.get(message.id()) : null;
            if (marksRedriven) { // First: with the mark of the letter, which follows, nothing is left to do for it.
                Put put = markRedriven(message, claimed.get(message.id())).put();
                boolean _ = store.retriedIf(() -> store.client()
                        .putItem(request -> request.tableName(put.tableName())
                                .item(put.item())
                                .conditionExpression(put.conditionExpression())
                                .expressionAttributeNames(put.expressionAttributeNames())));
            }
            boolean _ = store.retriedIf(() -> store.client()
                    .putItem(request -> request.tableName(store.tables().rows())
                            .item(mark(message, claim))
                            .conditionExpression("attribute_not_exists(k)")));
        }

        private byte[] mark(int index) {
            return markOf(good(index));
        }

        private Map<String, AttributeValue> mark(Message.Good message, @Nullable Claim claim) {
            return Claim.seen(markOf(message), claim, arrivedMs(message) + redelivery.toMillis());
        }

        /// Reads the claims of the open ids, then checks the tables: all reads before the check are of tables
        /// that the deployment knows.
        private Map<ByteBuffer, Claim> claims(boolean consistently) {
            List<Map<String, AttributeValue>> keys = open.values().stream()
                    .map(same -> Claim.key(good(same.getFirst()).idHash()))
                    .toList();
            String table = store.tables().rows();
            Map<ByteBuffer, Claim> found = new HashMap<>();
            (consistently ? BatchReads.of(store, table, keys, null) : BatchReads.eventually(store, table, keys, null))
                    .forEach(item -> found.put(Claim.idHash(item), Claim.of(item)));
            BatchDefinition.requireKnownTables(store);
            return found;
        }

        /// A message is recorded under an id.
        private void settle(ByteBuffer id, Claim claim) {
            List<Integer> same = open.remove(id);
            if (same == null) {
                return;
            }
            claimed.put(id, claim);
            List<Integer> left = new ArrayList<>();
            for (int index : same) {
                if (claim.isForgotten(forget, arrivedMs(good(index)))) {
                    left.add(index);
                } else {
                    settle(index, claim.content());
                }
            }
            if (!left.isEmpty()) {
                open.put(id, left);
                forgotten.put(id, claim);
            }
        }

        /// This message was recorded under its id just now.
        private void settle(Message.Good written) {
            List<Integer> same = open.remove(written.id());
            if (same != null) {
                fates[same.getFirst()] = Fate.RECORDED;
                same.subList(1, same.size()).forEach(index -> settle(index, written.content()));
            }
        }

        private void settle(int index, long content) {
            if (good(index).isSame(content)) {
                fates[index] = Fate.RECORDED;
                seen.add(index);
            } else {
                conflicting.add(index);
            }
        }

        /// The first message of each id, in as few transactions as possible, each in a lane of its own.
        private List<Pack> packs() {
            List<List<Message.Good>> groups = new ArrayList<>();
            int itemsOfMessage = 1 + (marksMessages ? 1 : 0) + (marksRedriven ? 1 : 0);
            long bytes = 0;
            for (List<Integer> same : open.values()) {
                Message.Good message = good(same.getFirst());
                long more = message.isMember() ? message.line().length : 0;
                if (groups.isEmpty()
                        || groups.getLast().size() == CLAIMS_MAX / itemsOfMessage
                        || bytes + more > Chunks.DATA_MAX && bytes > 0) {
                    if (groups.size() == lanes) {
                        break;
                    }
                    groups.add(new ArrayList<>());
                    bytes = 0;
                }
                groups.getLast().add(message);
                bytes += more;
            }
            int first = store.random().nextInt(lanes);
            List<Pack> packs = new ArrayList<>();
            groups.forEach(group -> packs.add(new Pack(group, (first + packs.size()) % lanes)));
            return packs;
        }

        /// Whether it was written for certain.
        private boolean write(Pack pack) {
            BatchDefinition.requireKnownTables(store);
            List<Message.Good> members =
                    pack.messages.stream().filter(Message.Good::isMember).toList();
            List<TransactWriteItem> items = new ArrayList<>();
            int lane = members.isEmpty() ? Claim.NONE : pack.lane;
            LaneHeader header = LaneHeader.EMPTY;
            if (!members.isEmpty()) {
                header = LaneHeader.of(store.get(store.tables().rows(), LaneHeader.key(lane)));
                ChunkItem chunk = chunk(members);
                items.add(put(chunk.item(lane, header.next()), "attribute_not_exists(k)", Map.of()));
                items.add(put(header.plus(chunk).item(lane), header));
            }
            for (Message.Good message : pack.messages) {
                int in = message.isMember() ? lane : Claim.NONE;
                Claim claim = new Claim(in, header.next(), message.content(), arrivedMs(message));
                claimed.put(message.id(), claim);
                items.add(claim(message, claim));
                if (marksMessages) {
                    items.add(put(mark(message, claim), "attribute_not_exists(k)", Map.of()));
                }
                if (marksRedriven) {
                    items.add(markRedriven(message, claim));
                }
            }
            return store.transact(items) instanceof Store.Written.Done;
        }

        /// The message of a letter may come again when the id of its record is forgotten. Its own mark may be there,
        /// because of the letter.
        private TransactWriteItem markRedriven(Message.Good message, @Nullable Claim claim) {
            long lastMs = arrivedMs(message) + redelivery.toMillis();
            return TransactWriteItem.builder()
                    .put(Put.builder()
                            .tableName(store.tables().rows())
                            .item(Claim.seen(message.seenHash(), claim, lastMs))
                            .conditionExpression("attribute_not_exists(#in)")
                            .expressionAttributeNames(Map.of("#in", Claim.RECORDED))
                            .build())
                    .build();
        }

        private TransactWriteItem claim(Message.Good message, Claim claim) {
            Claim before = forgotten.get(message.id());
            return put(
                    claim.item(message.idHash(), forget, redelivery),
                    before == null ? "attribute_not_exists(k)" : "attribute_not_exists(k) OR " + Claim.SAME_TIME,
                    before == null ? Map.of() : before.namesWithTime());
        }

        private ChunkItem chunk(List<Message.Good> members) {
            ByteArrayOutputStream data = new ByteArrayOutputStream();
            members.forEach(message -> data.writeBytes(message.line()));
            int[] sizes =
                    members.stream().mapToInt(message -> message.line().length).toArray();
            Chunk chunk = new Chunk(arrivedMs(members), sizes);
            ByteArrayOutputStream ids = new ByteArrayOutputStream();
            boolean areIn = data.size() <= Chunks.DATA_MAX && pipeline.input().identity() instanceof Identity.ById;
            if (marksMessages || !areIn) {
                members.forEach(message -> ids.writeBytes(message.idHash()));
            }
            if (data.size() <= Chunks.DATA_MAX) {
                return new ChunkItem(chunk, data.toByteArray(), "", ids.toByteArray());
            }
            // A large record is alone in its chunk.
            String object = objects.computeIfAbsent(members.getFirst(), _ -> chunks.put(data.toByteArray()));
            return new ChunkItem(chunk, new byte[0], object, ids.toByteArray());
        }

        /// When the first of them arrived, as its queue or stream recorded it, so that the time in the queue is part of
        /// a batch's wait.
        private long arrivedMs(List<Message.Good> members) {
            return members.stream()
                    .mapToLong(message -> Math.min(arrivedMs(message), nowMs))
                    .min()
                    .orElse(nowMs);
        }

        private long arrivedMs(Message.Good message) {
            long atMs = message.arrival().atMs();
            return atMs == Arrival.NOT_KNOWN ? nowMs : atMs;
        }

        /// Makes dead letters. If that fails, these messages come again, and their neighbours do not.
        private void keep(List<Integer> indices, Fate fate) {
            List<Letter> letters = indices.stream()
                    .map(index -> switch (messages.get(index)) {
                        case Message.Good good -> good.conflict(forget);
                        case Message.Bad(var letter) -> letter;
                        case Message.Silent _ -> throw new IllegalStateException("A silent record has no letter");
                    })
                    .distinct()
                    .toList();
            try {
                new LetterTable(store).keep(letters);
            } catch (RuntimeException failed) {
                failure = failed;
                return;
            }
            indices.forEach(index -> fates[index] = fate);
        }

        private TransactWriteItem put(Map<String, AttributeValue> item, LaneHeader before) {
            return before.next() == 0
                    ? put(item, "attribute_not_exists(k)", Map.of())
                    : put(item, "n = :n", Map.of(":n", Items.number(before.next())));
        }

        private TransactWriteItem put(
                Map<String, AttributeValue> item, String condition, Map<String, AttributeValue> values) {
            return TransactWriteItem.builder()
                    .put(Put.builder()
                            .tableName(store.tables().rows())
                            .item(item)
                            .conditionExpression(condition)
                            .expressionAttributeValues(values.isEmpty() ? null : values)
                            .build())
                    .build();
        }
    }
}
