package dev.onefold.embedded.delivery;

import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Delivery;
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
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// How far each delivery is, durable in the log `deliveries`. Kept in memory are only those that were begun and have
/// not
/// ended; a batch below [#next] that is not among them is done. Guarded by its owner, the [Courier].
final class Ledger implements AutoCloseable {
    private static final FramedLog.Kind KIND = new FramedLog.Kind("ONEFDLVR", 1);
    private static final long REWRITE_BYTES_MIN = Scale.of(16 << 20);

    private final Path file;
    private final long identity;
    private final Space space;
    private final NavigableMap<BatchNumber, Handled> begun = new TreeMap<>();
    private final NavigableMap<Long, String> hashes = new TreeMap<>(); // Of whole batches that a later one chains to.
    private final NavigableMap<BatchNumber, Decision> decisions = new TreeMap<>();
    private final boolean isOwner;
    private @Nullable TailLog log;
    private long next = 1;
    private boolean isForced = true;

    Ledger(Path directory, long identity, Space space, boolean isOwner) {
        file = directory.resolve("deliveries");
        this.identity = identity;
        this.space = space;
        this.isOwner = isOwner;
        if (TailLog.exists(file)) {
            log = TailLog.open(file, KIND, identity, isOwner, this::read);
        }
    }

    private void read(byte[] payload) {
        if (payload.length == Long.BYTES) {
            next = ByteBuffer.wrap(payload).getLong();
            return;
        }
        Handled handled = Handled.decode(payload);
        for (; next <= handled.number().number(); next++) {
            begun.put(
                    BatchNumber.of(next), Handled.fresh(next, 0)); // Begun by a process that ended before it said more.
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

    /// What was begun and has not ended, by number.
    NavigableMap<BatchNumber, Handled> begun() {
        return begun;
    }

    /// What people have ended, by number; for ever.
    NavigableMap<BatchNumber, Decision> decisions() {
        return decisions;
    }

    /// Notes how far a delivery is. Not durable before [#force].
    void put(Handled handled) {
        put(handled, handled.encode());
    }

    /// Notes that a person has ended a delivery. Not durable before [#force].
    void put(Decision decision) {
        put(decision.handled(), decision.encode());
        decisions.put(decision.handled().number(), decision);
    }

    private void put(Handled handled, byte[] payload) {
        space.change(() -> append(payload));
        note(handled);
        isForced = false;
    }

    private void append(byte[] payload) throws OutOfSpaceException {
        TailLog open = log;
        if (open == null) {
            open = TailLog.create(file, KIND, identity, List.of());
            log = open;
        }
        open.append(payload);
    }

    /// Makes durable what was noted.
    void force() {
        TailLog open = log;
        if (!isForced && open != null) {
            open.force();
            isForced = true;
            hashes.keySet().removeIf(number -> !isHashNeeded(number));
            if (open.length() > REWRITE_BYTES_MIN && isOwner) {
                space.change(this::rewrite);
            }
        }
    }

    private void rewrite() throws OutOfSpaceException {
        List<byte[]> payloads = new ArrayList<>();
        payloads.add(ByteBuffer.allocate(Long.BYTES).putLong(next).array());
        hashes.forEach((number, hash) -> payloads.add(ended(number, hash).encode()));
        decisions.values().forEach(decision -> payloads.add(decision.encode()));
        begun.values().forEach(handled -> payloads.add(left(handled).encode()));
        long bytes = payloads.stream().mapToLong(payload -> payload.length).sum();
        TailLog old = log;
        if (old == null || bytes > old.length() / 2) {
            return;
        }
        log = TailLog.create(file, KIND, identity, payloads);
        old.close();
    }

    /// Of what was divided, the parts that have not ended: whoever reads the log begins the others again.
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
