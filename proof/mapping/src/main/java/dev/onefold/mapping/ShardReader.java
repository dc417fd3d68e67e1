package dev.onefold.mapping;

import dev.onefold.mapping.source.StreamRecord;
import dev.onefold.mapping.source.StreamSource.ForgottenIterator;
import dev.onefold.mapping.source.StreamSource.Page;
import dev.onefold.mapping.source.StreamSource.Position;
import dev.onefold.mapping.source.StreamSource.Shard;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.kinesis.model.ResourceNotFoundException;

/// Reads one shard to its end, and gives its records to lanes by what they are ordered by. The checkpoint is the last
/// record before which nothing is undone.
final class ShardReader {
    /// The service answers five requests a second for each shard.
    private static final Duration BETWEEN_REQUESTS = Duration.ofMillis(200);

    /// Records in memory, until a lane is done with some.
    private static final int HELD_MAX = 20_000;

    private static final long HELD_BYTES_MAX = 4L * EventBytes.MAX;

    /// For injected faults only.
    private static final int HISTORY_MAX = 200;

    private static final int CHECKPOINTS_MAX = 8;

    private final StreamMapping mapping;
    private final Shard shard;
    private final Position start;
    private final Deque<Delivery> held = new ArrayDeque<>();
    private final Deque<StreamRecord> history = new ArrayDeque<>();
    private final Deque<Position> checkpoints = new ArrayDeque<>();
    private List<Lane> lanes = List.of();
    private Phase phase = Phase.WAITING;
    private Position position;
    private Position checkpoint;
    private @Nullable String iterator;
    private long heldBytes;
    private boolean paused;
    private int failures;
    private int generation;

    private enum Phase {
        /// For its parents.
        WAITING,
        READING,
        /// Everything is read, and not everything is done.
        READ,
        FINISHED
    }

    ShardReader(StreamMapping mapping, Shard shard, Position start) {
        this.mapping = mapping;
        this.shard = shard;
        this.start = start;
        position = start;
        checkpoint = start;
    }

    String id() {
        return shard.id();
    }

    List<String> parents() {
        return shard.parents();
    }

    boolean isFinished() {
        return phase == Phase.FINISHED;
    }

    /// Whether no more comes than is held.
    boolean isRead() {
        return phase == Phase.READ || phase == Phase.FINISHED;
    }

    boolean isOf(Shard other) {
        return shard.first().equals(other.first());
    }

    /// The service has forgotten the shard: what is held will be done, and no more comes.
    void endReading() {
        if (phase == Phase.WAITING) {
            phase = Phase.FINISHED;
        } else if (phase == Phase.READING) {
            generation++;
            phase = Phase.READ;
            lanes.forEach(Lane::wake);
        }
    }

    /// Nothing of it is to be read.
    void skip() {
        phase = Phase.FINISHED;
    }

    void begin() {
        if (phase == Phase.WAITING) {
            phase = Phase.READING;
            makeLanes();
            // Nobody starts the readers of all shards in one moment: in step, all batches would meet in the tables.
            readAfter(mapping.upTo(mapping.source.pollInterval()));
        }
    }

    private void makeLanes() {
        List<Lane> made = new ArrayList<>();
        for (int i = 0; i < mapping.settings.parallelizationFactor(); i++) {
            made.add(new Lane(mapping, this));
        }
        lanes = made;
    }

    private void read() {
        int mine = generation;
        if (iterator == null) {
            mapping.then(() -> mapping.source.iterator(shard.id(), position), (found, failure) -> {
                if (mine == generation) {
                    if (failure != null) {
                        failed(failure);
                    } else {
                        iterator = found;
                        read();
                    }
                }
            });
            return;
        }
        String from = iterator;
        mapping.then(() -> mapping.source.records(shard.id(), from), (page, failure) -> {
            if (mine == generation) {
                if (failure != null) {
                    failed(failure);
                } else {
                    failures = 0;
                    take(Objects.requireNonNull(page));
                }
            }
        });
    }

    private void failed(Throwable failure) {
        if (failure instanceof ForgottenIterator) {
            iterator = null;
        } else {
            mapping.problem("Shard " + shard.id() + " of " + mapping.source.arn() + " cannot be read: " + failure);
            if (failure instanceof ResourceNotFoundException) {
                iterator = null;
            }
        }
        int mine = generation;
        mapping.after(StreamMapping.pause(failures++), () -> {
            if (mine == generation) {
                read();
            }
        });
    }

    private void take(Page page) {
        iterator = page.next();
        for (StreamRecord record : page.records()) {
            Delivery delivery = new Delivery(record);
            held.add(delivery);
            heldBytes += delivery.bytes();
            position = new Position.After(record.sequence());
            lanes.get(Math.floorMod(record.orderedBy().hashCode(), lanes.size()))
                    .add(delivery);
        }
        if (iterator == null) {
            phase = Phase.READ;
        }
        lanes.forEach(Lane::wake);
        if (phase == Phase.READ) {
            finishIfDone();
        } else if (isFull()) {
            paused = true;
        } else {
            readAfter(page.isBehind() ? BETWEEN_REQUESTS : mapping.source.pollInterval());
        }
    }

    private void readAfter(Duration delay) {
        int mine = generation;
        mapping.after(delay, () -> {
            if (mine == generation) {
                read();
            }
        });
    }

    private boolean isFull() {
        return held.size() >= HELD_MAX || heldBytes >= HELD_BYTES_MAX;
    }

    /// These records are done, whether processed or given up.
    void done(List<Delivery> records) {
        for (Delivery record : records) {
            record.done = true;
            if (mapping.faults.again() > 0) {
                history.add(record.record);
                if (history.size() > HISTORY_MAX) {
                    history.remove();
                }
            }
        }
        boolean moved = false;
        while (!held.isEmpty() && held.getFirst().done) {
            Delivery first = held.remove();
            heldBytes -= first.bytes();
            checkpoint = new Position.After(first.record.sequence());
            mapping.reached(this, first.record.sequence());
            moved = true;
        }
        if (moved && mapping.faults.handover() > 0) {
            checkpoints.add(checkpoint);
            if (checkpoints.size() > CHECKPOINTS_MAX) {
                checkpoints.remove();
            }
        }
        if (paused && !isFull()) {
            paused = false;
            readAfter(BETWEEN_REQUESTS);
        }
        finishIfDone();
    }

    private void finishIfDone() {
        if (phase == Phase.READ && held.isEmpty()) {
            phase = Phase.FINISHED;
            mapping.finished(this);
        }
    }

    /// Another reader takes over, and begins at a checkpoint that its predecessor has written a while ago. What is
    /// under way goes on, and nobody hears of it.
    void handOver() {
        List<Position> known = new ArrayList<>(checkpoints);
        if (!(start instanceof Position.Latest)) {
            known.add(start);
        }
        if (isFinished() || known.isEmpty() || mapping.isForgotten(this)) {
            return;
        }
        generation++;
        lanes.forEach(Lane::abandon);
        held.clear();
        heldBytes = 0;
        paused = false;
        iterator = null;
        phase = Phase.READING;
        position = known.get(mapping.random.nextInt(known.size()));
        mapping.reached(this, position instanceof Position.After(var sequence) ? sequence : null);
        makeLanes();
        readAfter(BETWEEN_REQUESTS);
    }

    /// Delivers some of what was done before, in an invocation whose answer counts for nothing.
    void replaySome() {
        if (!history.isEmpty()) {
            List<StreamRecord> known = new ArrayList<>(history);
            int from = mapping.random.nextInt(known.size());
            int count = 1 + mapping.random.nextInt(Math.min(known.size() - from, mapping.settings.batchSize()));
            replay(known.subList(from, from + count));
        }
    }

    void replayLast() {
        if (!history.isEmpty()) {
            replay(List.of(history.getLast()));
        }
    }

    private void replay(List<StreamRecord> records) {
        List<byte[]> jsons = records.stream().map(StreamRecord::json).toList();
        int bytes =
                jsons.stream().mapToInt(json -> EventBytes.with(json.length)).sum();
        if (EventBytes.empty() + bytes <= EventBytes.MAX) {
            // They are done already: this is only to show that once more does no harm.
            mapping.then(() -> mapping.target.invoker().invoke(EventBytes.of(jsons)), (_, _) -> {});
        }
    }
}
