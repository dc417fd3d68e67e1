package dev.onefold.embedded.delivery;

import dev.onefold.core.batch.BatchNumber;
import dev.onefold.embedded.batches.Batches;
import dev.onefold.embedded.batches.Sealed;
import dev.onefold.embedded.disk.Scale;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Executor;

/// Lets go of the tape what no delivery needs any more. The tape goes from its beginning only; so the records of a
/// batch
/// that holds up much of it, because it waits for a person or its receiver fails, are copied to a file of their own.
/// Guarded by the courier's lock, but for the copying.
final class TapeUse {
    private static final long BEHIND_BYTES_MAX = Scale.of(64 << 20);

    private final Batches batches;
    private final Ledger ledger;
    private final Contents contents;
    private final long undeliveredBytesMax;
    private long neededFrom; // Number of the first batch that the tape still has.
    private volatile long holding; // Number of the batch that is being copied; 0: none.

    /// @param undeliveredBytesMax above which intake waits
    TapeUse(Batches batches, Ledger ledger, Contents contents, long undeliveredBytesMax) {
        this.undeliveredBytesMax = undeliveredBytesMax;
        this.batches = batches;
        this.ledger = ledger;
        this.contents = contents;
        neededFrom = batches.firstKnown();
        batches.held(contents.held().bytes());
    }

    /// Lets go what is not needed, once the ends of deliveries are durable.
    ///
    /// @param active what is being delivered, perhaps from the tape
    /// @param copying where copies are made
    void letGo(Set<BatchNumber> active, Executor copying) {
        Set<Long> begun = new TreeSet<>();
        ledger.begun().keySet().forEach(number -> begun.add(number.number()));
        contents.held().keepOnly(begun);
        batches.held(contents.held().bytes());
        long next = ledger.next();
        long first =
                begun.stream().findFirst().map(number -> Math.min(number, next)).orElse(next);
        long needed = begun.stream()
                .filter(number -> !contents.held().has(number) || isActive(active, number))
                .findFirst()
                .map(number -> Math.min(number, next))
                .orElse(next);
        long copied = holding;
        needed = copied == 0 ? needed : Math.min(needed, copied); // Although it may have ended meanwhile.
        if (first > batches.firstKnown() || needed > neededFrom) {
            neededFrom = Math.max(needed, neededFrom);
            batches.letGo(first, from(neededFrom));
        }
        if (needed < next && copied == 0 && !isActive(active, needed) && isFarBehind(needed, next)) {
            holding = needed;
            Sealed sealed = batches.sealed(needed);
            copying.execute(() -> hold(sealed));
        }
    }

    private static boolean isActive(Set<BatchNumber> active, long number) {
        return active.stream().anyMatch(each -> each.number() == number);
    }

    private long from(long number) {
        return number <= batches.durableNumber()
                ? batches.sealed(number).from()
                : batches.sealed(number - 1).to();
    }

    private boolean isFarBehind(long needed, long next) {
        return from(next) - batches.sealed(needed).to() > Math.min(BEHIND_BYTES_MAX, undeliveredBytesMax / 2);
    }

    private void hold(Sealed sealed) {
        try {
            contents.hold(sealed);
        } finally {
            holding = 0;
        }
    }
}
