package dev.onefold.embedded.fold;

import dev.onefold.core.ConflictLetter;
import dev.onefold.core.DeadLetter.Place;
import dev.onefold.core.bytes.RecordKind;
import dev.onefold.core.state.Row;
import dev.onefold.core.state.Transition;
import dev.onefold.embedded.letters.Letters;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongFunction;

/// The conflicts of a round: shards note them side by side, and the losers are kept when all have ended.
final class Conflicts {
    private final State state;
    private final Letters letters;
    private final InstantSource clock;
    private final LongFunction<Instant> readAt;
    private final List<List<Transition.Settled>> byShard = new ArrayList<>();

    /// @param readAt says when a record was read that arrived at a time
    Conflicts(State state, Letters letters, InstantSource clock, LongFunction<Instant> readAt) {
        this.readAt = readAt;
        this.state = state;
        this.letters = letters;
        this.clock = clock;
        for (int shard = 0; shard < state.shards.length; shard++) {
            byShard.add(new ArrayList<>());
        }
    }

    /// Where a shard notes its conflicts.
    Consumer<Transition.Settled> of(int shard) {
        return byShard.get(shard)::add;
    }

    /// Keeps the losers.
    void settle(List<Chunk> chunks) {
        for (List<Transition.Settled> conflicts : byShard) {
            for (Transition.Settled conflict : conflicts) {
                if (conflict.arrivedStays()) {
                    keepStored(conflict);
                } else {
                    keepArrived(chunks, conflict);
                }
            }
            conflicts.clear();
        }
    }

    /// Of a row that was there only its values are left, and the offset of its record: whether that is in
    /// this round, where its line could be counted, must make no difference.
    private void keepStored(Transition.Settled conflict) {
        Row loser = conflict.loser();
        letters.addConflict(
                ConflictLetter.of(conflict, state.pipeline),
                0,
                new Place(loser.source(), 0, loser.offset()),
                clock.instant(),
                RecordKind.SENT);
    }

    private void keepArrived(List<Chunk> chunks, Transition.Settled conflict) {
        Row loser = conflict.loser();
        Chunk chunk = chunks.stream()
                .filter(each -> each.covers(loser.source(), loser.offset()))
                .findFirst()
                .orElseThrow(() -> gone(loser));
        Chunk.Found found = chunk.find(loser.offset());
        if (found == null) {
            throw gone(loser);
        }
        chunk.letterStays |= letters.addConflict(
                ConflictLetter.of(conflict, found.bytes()),
                chunk.letter,
                found.place(),
                readAt.apply(found.arrivedMs()),
                found.kind());
    }

    private static IllegalStateException gone(Row row) {
        return new IllegalStateException(
                "A record that has just arrived is gone: " + row.source() + " at " + row.offset());
    }
}
