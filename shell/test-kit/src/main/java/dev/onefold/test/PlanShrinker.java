package dev.onefold.test;

import java.util.function.Predicate;

/// Makes a plan that fails as short as it can: what it leaves out is not needed for the failure.
final class PlanShrinker {
    private static final int TRIES_MAX = 2_000;

    private final Predicate<Plan> fails;
    private int left = TRIES_MAX;

    private PlanShrinker(Predicate<Plan> fails) {
        this.fails = fails;
    }

    static Plan shortest(Plan failing, Predicate<Plan> fails) {
        return new PlanShrinker(fails).shortest(failing);
    }

    private Plan shortest(Plan failing) {
        Plan plan = better(failing, failing.inSingles());
        for (int size = plan.moves().size() / 2; size > 0; size /= 2) {
            plan = withoutParts(plan, size);
        }
        Plan before;
        do {
            before = plan;
            plan = withoutParts(plan, 1);
            for (int i = 0; i < plan.moves().size(); i++) {
                plan = better(plan, plan.plainAt(i));
            }
        } while (!plan.equals(before));
        return plan;
    }

    private Plan withoutParts(Plan plan, int size) {
        Plan shorter = plan;
        for (int from = 0; from < shorter.moves().size(); ) {
            Plan without = shorter.without(from, Math.min(shorter.moves().size(), from + size));
            Plan next = better(shorter, without);
            from += next.equals(shorter) ? size : 0;
            shorter = next;
        }
        return shorter;
    }

    private Plan better(Plan plan, Plan other) {
        return !other.equals(plan) && left-- > 0 && fails.test(other) ? other : plan;
    }
}
