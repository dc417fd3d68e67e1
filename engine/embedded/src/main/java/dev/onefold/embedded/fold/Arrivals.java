package dev.onefold.embedded.fold;

import dev.onefold.core.event.Event;
import dev.onefold.embedded.framing.Records;
import dev.onefold.embedded.rows.Claims;
import dev.onefold.embedded.rows.Forgotten;
import java.util.Arrays;

/// The events of a chunk in their order, for a pipeline that makes batches: shards claim ids side by side,
/// and the members of a batch are in the order of arrival.
final class Arrivals {
    /// The shard of an event without an id.
    static final int NO_SHARD = -1;

    private static final int COUNT_MIN = 64;

    int count;
    int[] from = new int[COUNT_MIN];
    int[] to = new int[COUNT_MIN];
    int[] shard = new int[COUNT_MIN];
    long[] place = new long[COUNT_MIN];
    /// The ids that may come again.
    Claims.Moment moment = new Claims.Moment(Forgotten.NONE, 0);

    final long[][] claimed; // By shard and row: the result of the claim.

    Arrivals(int shards) {
        claimed = new long[shards][0];
    }

    void clear() {
        count = 0;
    }

    /// Notes an event.
    void add(Event event, Records records, int eventShard) {
        if (count == from.length) {
            from = Arrays.copyOf(from, 2 * count);
            to = Arrays.copyOf(to, 2 * count);
            shard = Arrays.copyOf(shard, 2 * count);
            place = Arrays.copyOf(place, 2 * count);
        }
        from[count] = records.from();
        to[count] = event.kind == Event.Kind.COUNTED ? records.to() : records.from();
        shard[count] = eventShard;
        place[count] = records.place();
        count++;
    }

    /// Room for the results of this many claims of a shard.
    long[] claimed(int eventShard, int claims) {
        if (claimed[eventShard].length < claims) {
            claimed[eventShard] = new long[Math.max(COUNT_MIN, 2 * claims)];
        }
        return claimed[eventShard];
    }
}
