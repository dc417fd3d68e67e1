package dev.onefold.local.cloud;

import dev.onefold.process.Processor;
import dev.onefold.process.Step;
import java.util.Map;

/// Doubles a purse and adds to it with each payment, so its result depends on the order of the payments.
public final class Purses implements Processor<Purses.Purse, Purses.Payment> {
    private static final long MOST = 1_000_003;

    public record Purse(long held, int payments) {}

    public record Payment(String account, long number, long amount) {}

    /// A row of `purses`.
    public record Held(String account, long held, int payments) {}

    /// A row of `payments`.
    public record Paid(String account, long number, long amount) {}

    @Override
    public Purse start() {
        return new Purse(1, 0);
    }

    @Override
    public Step<Purse> step(Purse purse, Payment payment) {
        Purse next = new Purse((2 * purse.held + payment.amount) % MOST, purse.payments + 1);
        return Step.to(next)
                .put("purses", new Held(payment.account, next.held, next.payments))
                .put("payments", new Paid(payment.account, payment.number, payment.amount));
    }

    @Override
    public Map<String, Class<? extends Record>> tables() {
        return Map.of("purses", Held.class, "payments", Paid.class);
    }
}
