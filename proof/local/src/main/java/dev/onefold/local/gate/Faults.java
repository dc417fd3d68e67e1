package dev.onefold.local.gate;

import java.time.Duration;
import java.util.random.RandomGenerator;

/// How often requests fail, in thousandths of those that could. What is drawn follows from the seed; which request it
/// meets depends on the order in which they come.
///
/// @param throttled are refused because there are too many
/// @param broken get an error 500, and nothing is done
/// @param conflicts of transactions and of single writes: somebody else is said to change the same item
/// @param lost are done, and their connection is closed instead of an answer
/// @param delayed are done late
/// @param partial of the requests for many things at once: some of them are not done
/// @param delayMax how late
public record Faults(int throttled, int broken, int conflicts, int lost, int delayed, int partial, Duration delayMax) {
    public static final Faults NONE = new Faults(0, 0, 0, 0, 0, 0, Duration.ZERO);

    /// What happens to one request.
    enum Fault {
        NONE,
        THROTTLED,
        BROKEN,
        CONFLICT,
        LOST,
        DELAYED,
        PARTIAL
    }

    public Faults {
        int sum = throttled + broken + conflicts + lost + delayed + partial;
        if (sum < 0 || sum > 1_000 || delayMax.isNegative()) {
            throw new IllegalArgumentException("Faults are thousandths, a thousand together at most");
        }
    }

    Fault draw(ServiceRequest asked, RandomGenerator random) {
        int drawn = random.nextInt(1_000);
        Fault fault = Fault.NONE;
        int[] shares = {throttled, broken, conflicts, lost, delayed, partial};
        Fault[] faults = Fault.values();
        int below = 0;
        for (int i = 0; i < shares.length && fault == Fault.NONE; i++) {
            below += shares[i];
            if (drawn < below) {
                fault = faults[i + 1];
            }
        }
        return isPossible(fault, asked) ? fault : Fault.NONE;
    }

    private static boolean isPossible(Fault fault, ServiceRequest asked) {
        return switch (fault) {
            case CONFLICT ->
                switch (asked.operation()) {
                    case "TransactWriteItems", "TransactGetItems", "PutItem", "UpdateItem", "DeleteItem" -> true;
                    default -> false;
                };
            case PARTIAL ->
                asked.operation().equals("BatchGetItem") || asked.operation().equals("PutRecords");
            case NONE, THROTTLED, BROKEN, LOST, DELAYED -> true;
        };
    }

    Duration delay(RandomGenerator random) {
        return Duration.ofMillis(random.nextLong(delayMax.toMillis() + 1));
    }
}
