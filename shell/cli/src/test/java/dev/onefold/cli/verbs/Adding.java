package dev.onefold.cli.verbs;

import dev.onefold.process.Processor;
import dev.onefold.process.Step;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// A function on the class path: the sum of a user's amounts, and the last one before it.
public final class Adding implements Processor<Adding.Sum, Adding.Amount> {
    /// The context.
    public record Sum(long sum, Optional<Long> last) {}

    /// An event.
    public record Amount(String user, String team, long amount) {}

    /// A row.
    public record Total(String user, String team, long total, Optional<Long> before, List<String> tags, Instant at) {}

    @Override
    public Sum start() {
        return new Sum(0, Optional.empty());
    }

    @Override
    public Step<Sum> step(Sum sum, Amount amount) {
        if (amount.amount() < 0) {
            throw new IllegalArgumentException("the amount is negative");
        }
        long total = sum.sum() + amount.amount();
        return Step.to(new Sum(total, Optional.of(amount.amount())))
                .put(
                        "totals",
                        new Total(amount.user(), amount.team(), total, sum.last(), List.of("a,b"), Instant.EPOCH));
    }

    @Override
    public Map<String, Class<? extends Record>> tables() {
        return Map.of("totals", Total.class);
    }

    /// One that reads a clock.
    public static final class Impure implements Processor<Sum, Amount> {
        @Override
        public Sum start() {
            return new Sum(0, Optional.empty());
        }

        @Override
        public Step<Sum> step(Sum sum, Amount amount) {
            return Step.to(new Sum(0, Optional.of(System.nanoTime())));
        }
    }

    /// One whose context is long.
    public static final class Longest implements Processor<Longest.Texts, Longest.Text> {
        /// A context.
        public record Texts(List<String> texts) {}

        /// An event.
        public record Text(String text) {}

        @Override
        public Texts start() {
            return new Texts(List.of());
        }

        @Override
        public Step<Texts> step(Texts texts, Text text) {
            return Step.to(new Texts(List.of(text.text())));
        }
    }
}
