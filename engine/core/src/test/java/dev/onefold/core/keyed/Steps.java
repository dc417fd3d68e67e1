package dev.onefold.core.keyed;

import dev.onefold.process.Processor;
import dev.onefold.process.Step;
import java.util.Map;

/// A function whose result depends on the order of its events, that writes rows which only some orders
/// write, removes some, and throws at some events in some contexts.
public final class Steps implements Processor<Steps.Seen, Steps.Event> {
    private final int salt;

    public Steps() {
        this(0);
    }

    Steps(int salt) {
        this.salt = salt;
    }

    /// The sum of the events so far.
    public record Seen(long trail, int count) {}

    /// An event.
    public record Event(int add, String what) {}

    /// The one row of a key.
    public record Latest(String k, long trail) {}

    /// Several rows of a key.
    public record Bucket(String k, long bucket, long trail, int count) {}

    @Override
    public Seen start() {
        return new Seen(7, 0);
    }

    @Override
    public Step<Seen> step(Seen seen, Event event) {
        if (event.what().startsWith("throw") && (seen.trail() + event.add()) % 3 != 0) {
            throw new IllegalArgumentException("not at " + seen.trail());
        }
        Seen next = new Seen((seen.trail() * 31 + event.add() + salt) % 1_000_003, seen.count() + 1);
        String key = event.what().substring(event.what().indexOf(':') + 1);
        Step<Seen> step = Step.to(next);
        if (event.what().startsWith("remove")) {
            return step.remove("buckets", key, next.trail() % 5);
        }
        step = step.put("buckets", new Bucket(key, next.trail() % 5, next.trail(), next.count()));
        return event.add() % 2 == 0 ? step.put("latest", new Latest(key, next.trail())) : step;
    }

    @Override
    public Map<String, Class<? extends Record>> tables() {
        return Map.of("latest", Latest.class, "buckets", Bucket.class);
    }
}
