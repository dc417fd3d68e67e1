package dev.onefold.embedded.delivery;

import dev.onefold.core.batch.BatchNumber;
import dev.onefold.embedded.batches.Batches;
import dev.onefold.embedded.batches.Sealed;
import dev.onefold.embedded.disk.Scale;
import java.time.InstantSource;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Executor;

/// Frees the part of the tape that no delivery needs any more. The tape is freed from its beginning only. So
/// if a batch blocks much of it, because it waits for a person or its receiver fails, its records are copied
/// to a file of their own. A copy for which the disk has no space is tried again some minutes later, and a
/// copy of a batch that ends meanwhile is abandoned. Guarded by the courier's lock, except the copying.
final class TapeUse {
    private static final long BEHIND_BYTES_MAX = Scale.of(64 << 20);

    private static final long RETRY_MS = 120_000;

    private final Batches batches;
    private final Ledger ledger;
    private final Contents contents;
    private final long undeliveredBytesMax;
    private final InstantSource clock;
    private long neededFrom; // Number of the first batch that the tape still has.
    private long neededByte; // Where that batch begins; 0: as it was when the directory was opened.
    private volatile long holding; // Number of the batch that is being copied; 0: none.
    private volatile boolean isWanted; // Whether that copy is wanted.
    private volatile long failedMs; // When the last copy failed for want of space; 0: none has.

    /// @param undeliveredBytesMax above which intake waits
    TapeUse(Batches batches, Ledger ledger, Contents contents, long undeliveredBytesMax, InstantSource clock) {
        this.clock = clock;
        this.undeliveredBytesMax = undeliveredBytesMax;
        this.batches = batches;
        this.ledger = ledger;
        this.contents = contents;
        neededFrom = batches.firstKnown();
        batches.held(contents.held().bytes());
    }

    /// Frees the parts that are no longer needed, once the ends of deliveries are durable.
    ///
    /// @param active the batches that are being delivered, perhaps from the tape
    /// @param copying runs the copying
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
        if (copied != 0) {
            needed = Math.min(needed, copied); // If the batch has ended, its copy reads the tape for a moment yet.
            isWanted = begun.contains(copied);
        }
        if (needed > neededFrom) {
            neededFrom = needed;
            neededByte = from(needed); // Kept, because the entry of the batch goes when it has ended.
        }
        batches.letGo(first, neededByte);
        if (needed < next
                && copied == 0
                && !isActive(active, needed)
                && isFarBehind(needed, next)
                && !hasJustFailed()) {
            holding = needed;
            isWanted = true;
            Sealed sealed = batches.sealed(needed);
            copying.execute(() -> hold(sealed));
        }
    }

    private boolean hasJustFailed() {
        return failedMs != 0 && Math.abs(clock.millis() - failedMs) < RETRY_MS; // The clock may be set back.
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
            boolean isHeld = contents.hold(sealed, () -> isWanted);
            failedMs = isHeld || !isWanted ? 0 : clock.millis();
        } finally {
            holding = 0;
        }
    }
}
