package dev.onefold.mapping;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Records of a shard that are delivered in order: one batch at a time.
final class Lane {
    private final StreamMapping mapping;
    private final ShardReader shard;
    private final Deque<Delivery> waiting = new ArrayDeque<>();
    private long waitingBytes;
    private @Nullable Instant windowEnd;
    private boolean busy;
    private boolean abandoned;

    Lane(StreamMapping mapping, ShardReader shard) {
        this.mapping = mapping;
        this.shard = shard;
    }

    void add(Delivery delivery) {
        waiting.add(delivery);
        waitingBytes += EventBytes.with(delivery.bytes());
    }

    /// What it has under way counts for nothing from now on.
    void abandon() {
        abandoned = true;
    }

    boolean isAbandoned() {
        return abandoned;
    }

    /// Begins a batch, if there is one and none is under way.
    void wake() {
        if (busy || abandoned || waiting.isEmpty() || isWindowOpen()) {
            return;
        }
        busy = true;
        windowEnd = null;
        new BatchAttempt(mapping, shard, this, cut()).next();
    }

    /// Whether a batch waits for more. Nothing more comes out of a shard that is read.
    private boolean isWindowOpen() {
        Duration window = mapping.settings.maximumBatchingWindow();
        boolean isFull =
                waiting.size() >= mapping.settings.batchSize() || EventBytes.empty() + waitingBytes >= EventBytes.MAX;
        if (window.isZero() || isFull || shard.isRead()) {
            return false;
        }
        if (windowEnd == null) {
            windowEnd = mapping.now().plus(window);
            mapping.after(window, this::wake);
        }
        return mapping.now().isBefore(windowEnd);
    }

    private List<Delivery> cut() {
        List<Delivery> batch = new ArrayList<>();
        int bytes = EventBytes.empty();
        while (!waiting.isEmpty() && batch.size() < mapping.settings.batchSize()) {
            int more = EventBytes.with(waiting.getFirst().bytes());
            if (!batch.isEmpty() && bytes + more > EventBytes.MAX) {
                break;
            }
            bytes += more;
            waitingBytes -= more;
            batch.add(waiting.remove());
        }
        return batch;
    }

    /// All of the batch is done.
    void ended() {
        busy = false;
        if (mapping.strikes(mapping.faults.again())) {
            shard.replaySome();
        }
        if (mapping.strikes(mapping.faults.handover())) {
            shard.handOver();
        }
        wake();
    }
}
