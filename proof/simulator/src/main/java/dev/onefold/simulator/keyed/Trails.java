package dev.onefold.simulator.keyed;

import dev.onefold.process.Processor;
import dev.onefold.process.Step;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;

/// A function whose context says which events it has folded, in which order, and by which version of the
/// function. What it writes depends on all of them, and so does whether it fails.
public final class Trails implements Processor<Trails.Trail, Trails.Event> {
    private static final int BUCKETS = 3;
    private static final long MODULUS = 1_000_003;

    private final int code;
    private final int places;
    private final BooleanSupplier stalls;

    /// @param code the version of the function
    public Trails(int code) {
        this(code, 0, () -> false);
    }

    /// @param places how many rows of table `places` there may be; 0: there is no such table
    /// @param stalls asked at each event that may fail: whether this call fails because it takes too long, as any
    ///     call may, whatever the event and the context are
    public Trails(int code, int places, BooleanSupplier stalls) {
        this.code = code;
        this.places = places;
        this.stalls = stalls;
    }

    /// A context.
    public record Trail(List<Entry> entries) {
        /// What the entries come to, in their order.
        long mark() {
            long mark = 7;
            for (Entry entry : entries) {
                mark = (mark * 31 + entry.amount + entry.code) % MODULUS;
            }
            return mark;
        }
    }

    /// An event that was folded.
    public record Entry(int code, long v, int rank, int amount, String what) {}

    /// An event; of two contents of a version the one with the greater rank has the greater bytes.
    ///
    /// @param rank 0 to 9
    public record Event(int rank, String k, long v, int amount, String what) {}

    /// A row of table `buckets`.
    public record Bucket(String k, long bucket, long trail) {}

    /// The row of table `last`.
    public record Last(String k, long v, long trail) {}

    /// A row of table `places`, which all keys write.
    public record Place(long place, String k, long trail) {}

    @Override
    public Trail start() {
        return new Trail(List.of());
    }

    @Override
    public Step<Trail> step(Trail trail, Event event) {
        if (event.what.equals("fail") && ((trail.mark() + event.amount) % 3 != 0 || stalls.getAsBoolean())) {
            throw new IllegalStateException("The function fails here");
        }
        List<Entry> entries = new ArrayList<>(trail.entries);
        entries.add(new Entry(code, event.v, event.rank, event.amount, event.what));
        Trail next = new Trail(entries);
        long mark = next.mark();
        Step<Trail> step = Step.to(next);
        step = event.what.equals("remove")
                ? step.remove("buckets", event.k, mark % BUCKETS)
                : step.put("buckets", new Bucket(event.k, mark % BUCKETS, mark));
        if (places > 0 && event.amount % 3 != 1) {
            long place = mark % places;
            step = event.what.equals("remove") || event.amount % 4 == 0
                    ? step.remove("places", place)
                    : step.put("places", new Place(place, event.k, mark));
        }
        return event.amount % 2 == 0 ? step.put("last", new Last(event.k, event.v, mark)) : step;
    }

    @Override
    public Map<String, Class<? extends Record>> tables() {
        return places == 0
                ? Map.of("buckets", Bucket.class, "last", Last.class)
                : Map.of("buckets", Bucket.class, "last", Last.class, "places", Place.class);
    }
}
