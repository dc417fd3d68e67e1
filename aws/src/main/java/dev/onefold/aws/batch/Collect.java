package dev.onefold.aws.batch;

import dev.onefold.aws.batch.CutItem.LaneHeader;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.item.Items;
import dev.onefold.aws.letter.Letter;
import dev.onefold.aws.letter.LetterTable;
import dev.onefold.aws.store.BatchReads;
import dev.onefold.aws.store.Pace;
import dev.onefold.aws.store.Parts;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.store.Store.Written;
import dev.onefold.core.batch.Delivery;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Batching.Forget;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.seal.DeliveryRules;
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
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.Put;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;

/// Records messages: each distinct one once, in a lane that chance chooses. One transaction writes up to 98
/// claims, the chunk and the lane's header:
///
///     claims           that do not exist yet, or that name the chunk of an id that is forgotten
///     chunk k          that does not exist yet
///     header           whose next chunk is k, and is k + 1 then
///
/// A transaction that is refused, or that nobody answered, says nothing about a message: its claim does. So the
/// claims are read again, and what is not claimed goes into another lane. Where the lane or the table was busy,
/// the same transaction is tried again: the conditions on its claims hold, or tell. A message may be deleted
/// from its queue when its claim was seen, or its transaction was answered, or its letter is kept.
///
/// A refused transaction is paid. So a process stays in a lane in which it has met nobody, reads claims as late
/// as it can, and waits while the table is busy ([Pace]). It is one idea: the way of a message to its fate.
///
/// Where ids are forgotten after delivery, a message has a mark of its own beside the claim of its id, in the
/// same transaction; a message that brings an id that is claimed gets one, too. So a message that comes again
/// is known when its id is forgotten, for as long as it can come again. A letter that is redriven marks its
/// message, too.
///
/// Of a direct pipeline each new record is handed over first ([Direct]). What that leaves *begun* takes the
/// same way into a lane as a new record, but for the condition on its claim, which is the start mark that was
/// read. A start mark whose owner is gone is taken over by a message with the same record. Any thread may call.
public final class Collect {
    /// With the chunk and the header these are the hundred items of a transaction.
    static final int CLAIMS_MAX = 98;

    /// A queue of SQS keeps a message for so long, at most.
    public static final Duration REDELIVERY_OF_QUEUES = Duration.ofDays(14);

    /// A stream keeps a record for so long, at most, and no other source for longer.
    static final Duration REDELIVERY_MAX = Duration.ofDays(365);

    private static final int ATTEMPTS_MAX = 20;
    private static final int BACK_OFF_MAX = 6;

    /// For a caller that does not say how long; less than any invocation has.
    public static final Duration TRYING_MAX = Duration.ofSeconds(25);

    /// Transactions under way. More of them meet in a lane more often, and a refused one is paid.
    private static final int AT_A_TIME = 2;

    private static final int MARKS_AT_A_TIME = 50;

    private final Store store;
    private final Pipeline pipeline;
    private final Batching batching;
    private final int lanes;
    private final Chunks chunks;
    /// Lanes in which this process has met nobody.
    private final Queue<Integer> ownLanes = new ConcurrentLinkedQueue<>();

    private final Pace pace;

    private final Forget forget;
    private final Duration redelivery;
    private final boolean marksMessages;
    private final boolean redrives;
    private final boolean marksRedriven; // A message itself, when its letter is redriven.
    private final DeliveryRules rules; // For records that were begun.
    private final Optional<Direct> direct;

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
        this(store, pipeline, lanes, redelivery, new Way(false, Optional.empty()));
    }

    /// Collects records that it hands over first.
    public static Collect direct(
            Store store, Pipeline pipeline, int lanes, Deliver.Receiver receiver, Deliver.Limits limits) {
        Direct direct = new Direct(store, pipeline, receiver, limits);
        return new Collect(store, pipeline, lanes, REDELIVERY_MAX, new Way(false, Optional.of(direct)));
    }

    /// Collects records of dead letters.
    static Collect ofLetters(Store store, BatchDefinition definition) {
        return new Collect(
                store, definition.pipeline(), definition.lanes(), REDELIVERY_MAX, new Way(true, Optional.empty()));
    }

    /// @param redrives whether records are those of dead letters
    /// @param direct hands records over first
    private record Way(boolean redrives, Optional<Direct> direct) {}

    private Collect(Store store, Pipeline pipeline, int lanes, Duration redelivery, Way way) {
        this.store = store;
        redrives = way.redrives;
        direct = way.direct;
        this.pipeline = pipeline;
        this.lanes = lanes;
        this.redelivery = redelivery;
        pace = new Pace(store);
        if (!(pipeline.fold() instanceof Batching found)) {
            throw new IllegalArgumentException("Pipeline " + pipeline.name() + " has no batch section");
        }
        batching = found;
        forget = batching.forget();
        // A letter may be redriven again long after its id was forgotten, if it was not removed at the first time.
        marksMessages = forget instanceof Forget.AfterDelivery || redrives && forget instanceof Forget.After;
        marksRedriven = redrives && forget instanceof Forget.AfterDelivery;
        chunks = new Chunks(store);
        rules = new DeliveryRules(batching, batching.deliver().span("remembers").orElse(null));
    }

    /// Records what one invocation brings; durable when it returns.
    public Collected collect(List<Arrival> arrivals) {
        return collect(arrivals, TRYING_MAX);
    }

    /// The same.
    ///
    /// @param within time after which nothing more is begun
    public Collected collect(List<Arrival> arrivals, Duration within) {
        return new Input(arrivals, within).collect();
    }

    private byte[] markOf(Message.Good message) {
        return redrives ? message.redrivenHash() : message.seenHash();
    }

    /// The fates of messages.
    ///
    /// @param fates one for each, in their order
    /// @param failure reason why letters could not be kept; their messages must come again
    /// @param areInLanes whether records are perhaps in lanes that were not before, or were found there
    public record Collected(List<Fate> fates, Optional<RuntimeException> failure, boolean areInLanes) {
        public Collected {
            fates = List.copyOf(fates);
        }
    }

    /// Messages that are recorded together.
    private record Pack(List<Message.Good> messages) {
        List<Message.Good> members() {
            return messages.stream().filter(Message.Good::isMember).toList();
        }

        private int itemsOfLane() {
            return members().isEmpty() ? 0 : 2;
        }

        /// Whether it was refused because an id is claimed, or is being claimed.
        boolean isClaimed(Written.Refused refused) {
            return IntStream.range(itemsOfLane(), refused.reasons().size()).anyMatch(refused::isTaken);
        }

        /// Whether it was refused because of its lane.
        boolean isCrowded(Written.Refused refused) {
            return IntStream.range(0, Math.min(itemsOfLane(), refused.reasons().size()))
                    .anyMatch(refused::isTaken);
        }
    }

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

        /// Start marks that a claim is to take the place of, by the id, each with how far its delivery is.
        private final Map<ByteBuffer, Direct.Handed.Left> begun = new HashMap<>();

        private boolean areInLanes = direct.isEmpty();

        /// Of large records, the object that was written for the first attempt.
        private final Map<Message.Good, String> objects = new ConcurrentHashMap<>();

        private final long nowMs = store.clock().millis();
        private final Duration within;
        private @Nullable RuntimeException failure;

        Input(List<Arrival> arrivals, Duration within) {
            this.within = within;
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
            direct.ifPresent(this::handOver);
            for (int attempt = 1; !open.isEmpty() && attempt <= ATTEMPTS_MAX && isInTime(); attempt++) {
                if (marksMessages) {
                    passOverMarked();
                }
                Parts.of(List.copyOf(open.keySet()), CLAIMS_MAX * AT_A_TIME).forEach(this::record);
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
            return new Collected(Arrays.asList(fates), Optional.ofNullable(failure), areInLanes);
        }

        /// Records that are new, each before the claims are read: the start mark finds out whether one is.
        private void handOver(Direct direct) {
            List<Message.Good> first = open.values().stream()
                    .map(same -> good(same.getFirst()))
                    .filter(Message.Good::isMember)
                    .toList();
            direct.handOver(first, nowMs + within.toMillis()).forEach((message, handed) -> {
                switch (handed) {
                    case Direct.Handed.Done _ -> settle(message);
                    case Direct.Handed.Left left -> begun.put(message.id(), left);
                    case Direct.Handed.Known _ -> {}
                }
            });
        }

        /// A start mark is there. It stays open if it is to move to a lane now: it is this invocation's, or its
        /// owner is gone. Else nothing is said of its messages, which come again.
        private void take(ByteBuffer id, Begun found) {
            List<Integer> same = open.get(id);
            if (same == null) {
                return;
            }
            Direct.Handed.Left mine = begun.get(id);
            if (mine != null && mine.begun().owner().equals(found.owner())) {
                return;
            }
            Optional<Integer> bearer = same.stream()
                    .filter(index -> found.isOf(good(index).line()))
                    .findFirst();
            if (bearer.isEmpty() || store.clock().millis() < found.goneMs()) {
                open.remove(id);
                return;
            }
            same.remove(/* element */ bearer.get());
            same.addFirst(bearer.get());
            Delivery unanswered = Direct.unanswered(rules, found, store.clock().millis());
            begun.put(id, new Direct.Handed.Left(found, unanswered));
        }

        private boolean isInTime() {
            return store.clock().millis() - nowMs < within.toMillis();
        }

        /// Records the messages of some ids, as far as that is possible now. Their claims are read just before:
        /// one claim that is there already has the whole transaction refused, which is paid like one that is
        /// in.
        private void record(List<ByteBuffer> ids) {
            boolean _ = pace.pause();
            if (isInTime()) {
                claims(ids).forEach(this::settle);
                Parts.of(packs(ids), AT_A_TIME).forEach(this::write);
            }
        }

        /// Writes packs until nothing but their claims can say what became of them. One that met a busy lane or
        /// a busy table is written again as it is, because its conditions tell if somebody else has claimed an
        /// id meanwhile.
        private void write(List<Pack> packs) {
            List<Pack> left = packs;
            for (int attempt = 1; !left.isEmpty() && isInTime(); attempt++) {
                List<Written> written = store.threads().all(left, this::write);
                pace.after(written.stream()
                        .anyMatch(each -> each instanceof Written.Refused refused && refused.isThrottled()));
                List<Pack> busy = new ArrayList<>();
                for (int i = 0; i < left.size(); i++) {
                    Pack pack = left.get(i);
                    switch (written.get(i)) {
                        case Written.Done _ -> pack.messages.forEach(this::settle);
                        case Written.Refused refused when !pack.isClaimed(refused) -> busy.add(pack);
                        case Written.Refused _, Written.Unknown _ -> {}
                    }
                }
                if (!busy.isEmpty()) {
                    if (!pace.pause()) {
                        store.backOff(Math.min(attempt, BACK_OFF_MAX));
                    }
                }
                left = busy;
            }
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

        /// A message with the content that is claimed is in a batch, because that content is. So a letter of
        /// this message, which may be there from the time when another content was claimed, is in the same
        /// batch.
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

        /// Reads the claims of ids, then checks the tables: all reads before the check are of tables that the
        /// deployment knows.
        private Map<ByteBuffer, Claim> claims(List<ByteBuffer> ids) {
            List<Map<String, AttributeValue>> keys =
                    ids.stream().map(id -> Claim.key(Items.copy(id))).toList();
            Map<ByteBuffer, Claim> found = new HashMap<>();
            BatchReads.of(store, store.tables().rows(), keys, null).forEach(item -> {
                if (Begun.is(item)) {
                    take(Claim.idHash(item), Begun.of(item));
                } else {
                    found.put(Claim.idHash(item), Claim.of(item));
                }
            });
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

        /// The first message of each id that is open, in as few transactions as possible.
        private List<Pack> packs(List<ByteBuffer> ids) {
            List<List<Message.Good>> groups = new ArrayList<>();
            int itemsOfMessage = 1 + (marksMessages ? 1 : 0) + (marksRedriven ? 1 : 0);
            long bytes = 0;
            for (ByteBuffer id : ids) {
                List<Integer> same = open.get(id);
                if (same == null) {
                    continue;
                }
                Message.Good message = good(same.getFirst());
                long more = message.isMember() ? message.line().length : 0;
                if (groups.isEmpty()
                        || groups.getLast().size() == CLAIMS_MAX / itemsOfMessage
                        || bytes + more > Chunks.DATA_MAX && bytes > 0) {
                    groups.add(new ArrayList<>());
                    bytes = 0;
                }
                groups.getLast().add(message);
                bytes += more;
            }
            return groups.stream().map(Pack::new).toList();
        }

        private Written write(Pack pack) {
            Integer own = ownLanes.poll();
            int lane = own == null ? store.random().nextInt(lanes) : own;
            Written written = write(pack, lane);
            // Else another process writes to it at the moment.
            boolean isOwn = !(written instanceof Written.Refused refused) || !pack.isCrowded(refused);
            if (isOwn && ownLanes.size() < AT_A_TIME) {
                ownLanes.add(lane);
            }
            return written;
        }

        private Written write(Pack pack, int chosen) {
            BatchDefinition.requireKnownTables(store);
            List<Message.Good> members = pack.members();
            areInLanes |= !members.isEmpty();
            List<TransactWriteItem> items = new ArrayList<>();
            int lane = members.isEmpty() ? Claim.NONE : chosen;
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
            return store.transact(items);
        }

        /// The message of a letter may come again when the id of its record is forgotten. Its own mark may be
        /// there, because of the letter.
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
            Direct.Handed.Left left = begun.get(message.id());
            if (left != null) {
                return put(
                        claim.item(message.idHash(), forget, redelivery),
                        Begun.SAME,
                        left.begun().names());
            }
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
            if (marksMessages || !areIn || batching.direct()) {
                members.forEach(message -> ids.writeBytes(message.idHash()));
            }
            if (data.size() <= Chunks.DATA_MAX) {
                return new ChunkItem(chunk, data.toByteArray(), "", ids.toByteArray(), begun(members));
            }
            // A large record is alone in its chunk.
            String object = objects.computeIfAbsent(members.getFirst(), _ -> chunks.put(data.toByteArray()));
            return new ChunkItem(chunk, new byte[0], object, ids.toByteArray(), begun(members));
        }

        /// How far the deliveries are of the members that were begun, by their places.
        private Map<Integer, Map<String, AttributeValue>> begun(List<Message.Good> members) {
            Map<Integer, Map<String, AttributeValue>> byPlace = new HashMap<>();
            for (int place = 0; place < members.size(); place++) {
                Direct.Handed.Left left = begun.get(members.get(place).id());
                if (left != null && left.delivery() != null) {
                    byPlace.put(
                            place,
                            DeliveryItem.begun(left.delivery(), left.begun().goneMs()));
                }
            }
            return byPlace;
        }

        /// When the first of them arrived, as its queue or stream recorded it, so that the time in the queue is
        /// part of a batch's wait.
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
