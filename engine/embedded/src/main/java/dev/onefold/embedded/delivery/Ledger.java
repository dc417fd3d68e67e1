package dev.onefold.embedded.delivery;

import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Delivery;
import dev.onefold.embedded.batches.Batches;
import dev.onefold.embedded.disk.Disk;
import dev.onefold.embedded.disk.FramedLog;
import dev.onefold.embedded.disk.OutOfSpaceException;
import dev.onefold.embedded.disk.Scale;
import dev.onefold.embedded.disk.TailLog;
import dev.onefold.embedded.guard.Space;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// The state of each delivery, durable in the log `deliveries`. Only those that were begun and have not ended
/// are in memory; a batch below [#next] that is not among them is done. The log is made before anything is
/// sealed, and each checkpoint names its durable length. Guarded by its owner, the [Courier].
final class Ledger implements AutoCloseable {
    private static final FramedLog.Kind KIND = new FramedLog.Kind("ONEFDLVR", 2);
    private static final long REWRITE_BYTES_MIN = Scale.of(16 << 20);

    private final Space space;
    private final Batches batches;
    private final NavigableMap<BatchNumber, Handled> begun = new TreeMap<>();
    private final NavigableMap<Long, String> hashes = new TreeMap<>(); // Of whole batches that a later one chains to.
    private final NavigableMap<BatchNumber, Decision> decisions = new TreeMap<>();
    private final @Nullable TailLog log; // None only for a reader of a directory that an earlier version has written.
    private long next = 1;
    private boolean isMarked = true;

    /// @param isOwner whether it may change the directory
    Ledger(Path directory, long identity, Space space, Batches batches, boolean isOwner) {
        this.space = space;
        this.batches = batches;
        TailLog.Where where = new TailLog.Where(directory.resolve("deliveries"), KIND, identity);
        TailLog found = TailLog.open(where, batches.deliveries(), isOwner, this::read);
        log = found == null && isOwner ? create(where) : found;
        if (isOwner) {
            if (log().isOfEarlierVersion()) {
                space.change(() -> log().rewrite(payloads()));
            }
            mark();
        }
    }

    private TailLog create(TailLog.Where where) {
        List<byte[]> lost = lost(where.file());
        lost.forEach(this::read);
        return space.await(() -> TailLog.create(where, lost));
    }

    /// Earlier versions made the log with the first delivery. So if they have sealed batches and there is no
    /// log, either nothing was delivered, or the log was lost: a batch that must not be delivered twice is in
    /// doubt.
    private List<byte[]> lost(Path file) {
        if (batches.firstKnown() > 1) {
            throw Disk.corrupt(file, 0, "the file is gone, but deliveries of batches have ended");
        }
        List<byte[]> lost = new ArrayList<>();
        for (long number = 1;
                number <= batches.durableNumber() && !batches.batching().bearsEverySecondDelivery();
                number++) {
            Delivery doubt = new Delivery.InDoubt(
                    new Delivery.Tries(0, 0, 1, true),
                    "an earlier version",
                    batches.sealed(number).sealedMs(),
                    "There is no " + file + ", so nobody knows whether it was delivered");
            lost.add(new Handled(BatchNumber.of(number), null, doubt, "", 0, "").encode());
        }
        return lost;
    }

    private void read(byte[] payload) {
        if (payload.length == Long.BYTES) {
            next = ByteBuffer.wrap(payload).getLong();
            return;
        }
        Handled handled = Handled.decode(payload);
        for (; next <= handled.number().number(); next++) {
            begun.put(BatchNumber.of(next), Handled.fresh(next, 0)); // Begun by a process that ended before a note.
        }
        note(handled);
        Decision decision = Decision.decode(payload, handled);
        if (decision != null) {
            decisions.put(handled.number(), decision);
        }
    }

    private void note(Handled handled) {
        if (handled.number().isWhole() && !handled.sha256().isEmpty()) {
            hashes.put(handled.number().number(), handled.sha256());
        }
        if (handled.delivery() instanceof Delivery.Divided divided) {
            divided.parts().forEach(part -> begun.put(part.number(), handled.part(part)));
            begun.put(handled.number(), handled);
        } else if (handled.delivery().isEnded()) {
            begun.remove(handled.number());
            endDivided(handled.number());
        } else {
            begun.put(handled.number(), handled);
        }
    }

    /// A divided batch has ended when none of its parts is left.
    private void endDivided(BatchNumber part) {
        BatchNumber number = part;
        while (!number.isWhole()) {
            BatchNumber whole = new BatchNumber(
                    number.number(), number.parts().subList(0, number.parts().size() - 1));
            BatchNumber after = begun.higherKey(whole);
            if (after != null
                    && after.number() == whole.number()
                    && after.parts().size() > whole.parts().size()
                    && after.parts().subList(0, whole.parts().size()).equals(whole.parts())) {
                return;
            }
            begun.remove(whole);
            number = whole;
        }
    }

    /// Number of the first batch whose delivery was never begun.
    long next() {
        return next;
    }

    /// Begins the next batch.
    Handled begin(long nowMs) {
        Handled fresh = Handled.fresh(next++, nowMs);
        begun.put(fresh.number(), fresh);
        return fresh;
    }

    /// SHA-256 of the content of a whole batch; `null` if it is not known.
    @Nullable
    String hash(long number) {
        return hashes.get(number);
    }

    /// Whether the batch behind a whole batch has not ended, so that its manifest may need the hash.
    boolean isHashNeeded(long number) {
        return number >= next - 1 || begun.containsKey(BatchNumber.of(number + 1));
    }

    /// The deliveries that were begun and have not ended, by number.
    NavigableMap<BatchNumber, Handled> begun() {
        return begun;
    }

    /// The decisions by which people have ended deliveries, by number. They are kept for ever.
    NavigableMap<BatchNumber, Decision> decisions() {
        return decisions;
    }

    /// Notes the state of a delivery. Not durable before [#force].
    void put(Handled handled) {
        put(handled, handled.encode());
    }

    /// Notes that a person has ended a delivery. Not durable before [#force].
    void put(Decision decision) {
        put(decision.handled(), decision.encode());
        decisions.put(decision.handled().number(), decision);
    }

    private void put(Handled handled, byte[] payload) {
        space.change(() -> log().append(payload));
        note(handled);
        isMarked = false;
    }

    private TailLog log() {
        return Objects.requireNonNull(log, "A reader notes nothing");
    }

    /// Makes the notes durable, so that their loss cannot go unnoticed: an effect may follow from them.
    void force() {
        if (isMarked) {
            return;
        }
        mark();
        isMarked = true;
        hashes.keySet().removeIf(number -> !isHashNeeded(number));
        if (log().length() > REWRITE_BYTES_MIN) {
            space.change(this::rewrite);
            mark(); // Also where a rewrite has found no space for its mark.
        }
    }

    private void mark() {
        batches.deliveries(space.await(log()::mark));
    }

    /// Makes the note of an end durable. If it is lost later, the batch is in doubt: its begin is marked.
    void forceEnd() {
        log().force();
    }

    private void rewrite() throws OutOfSpaceException {
        List<byte[]> payloads = payloads();
        long bytes = payloads.stream().mapToLong(payload -> payload.length).sum();
        if (bytes <= log().length() / 2) {
            log().rewrite(payloads);
        }
    }

    /// The content of the log in the fewest entries.
    private List<byte[]> payloads() {
        List<byte[]> payloads = new ArrayList<>();
        payloads.add(ByteBuffer.allocate(Long.BYTES).putLong(next).array());
        hashes.forEach((number, hash) -> payloads.add(ended(number, hash).encode()));
        decisions.values().forEach(decision -> payloads.add(decision.encode()));
        begun.values().forEach(handled -> payloads.add(left(handled).encode()));
        return payloads;
    }

    /// The parts of a divided batch that have not ended: a reader of the log begins the others again.
    private Handled left(Handled handled) {
        return handled.delivery() instanceof Delivery.Divided(var tries, var parts)
                ? handled.with(new Delivery.Divided(
                        tries,
                        parts.stream()
                                .filter(part -> begun.containsKey(part.number()))
                                .toList()))
                : handled;
    }

    private static Handled ended(long number, String hash) {
        Delivery done = new Delivery.Done(Delivery.Tries.NONE, 0, Delivery.How.DELIVERED);
        return new Handled(BatchNumber.of(number), null, done, hash, 0, "");
    }

    @Override
    public void close() {
        if (log != null) {
            log.close();
        }
    }
}
