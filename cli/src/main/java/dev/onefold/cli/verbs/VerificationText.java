package dev.onefold.cli.verbs;

import dev.onefold.cli.call.Screen;
import dev.onefold.cli.show.Table;
import dev.onefold.cli.show.Words;
import dev.onefold.core.Verification;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.pipeline.Rollups;
import java.math.BigDecimal;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What a comparison of totals found, as text.
///
/// @param fromSources whether the sources were read again
record VerificationText(Pipeline pipeline, Verification verification, boolean fromSources) {
    String verified(Screen screen) {
        String what = Words.count(verification.groups(), "group") + " recomputed from " + verification.truth();
        if (verification.isEqual()) {
            return "Equal: " + what + ".\n";
        }
        return "Different: " + Words.count(verification.differences().size(), "group") + " of " + what + ".\n\n"
                + differences(screen, "served", "recomputed")
                + "\nThe recomputed values follow from the " + (fromSources ? "sources" : "rows") + ". 'onefold rebuild"
                + (fromSources ? " --from-sources" : "") + "' puts them in place.\n";
    }

    String rebuilt(Screen screen) {
        String what = Words.count(verification.groups(), "group") + " recomputed from " + verification.truth();
        if (verification.isEqual()) {
            return "Rebuilt: " + what + ". All were right before.\n";
        }
        return "Rebuilt: " + what + ". Of these "
                + Words.count(verification.differences().size()) + " were different, and are right now:\n\n"
                + differences(screen, "before", "now");
    }

    private String differences(Screen screen, String served, String recomputed) {
        Table table = new Table(List.of("group", "measure", served, recomputed, "difference")).left(1);
        for (Verification.Difference difference : verification.differences()) {
            Rollup rollup = Rollups.of(pipeline).named(difference.rollup());
            String group = Words.path(difference.group());
            String name = Rollups.of(pipeline).all().size() == 1 ? group : rollup.name() + ": " + group;
            if (difference.served().equals(difference.recomputed())) {
                table.add(List.of(name, "(what an average is made of)", Words.NONE, Words.NONE, Words.NONE));
            }
            for (int i = 0; i < rollup.figures().size(); i++) {
                BigDecimal before = difference.served().get(i);
                BigDecimal now = difference.recomputed().get(i);
                if (!isSame(before, now)) {
                    table.add(List.of(
                            name,
                            Words.visible(rollup.figures().get(i).name()),
                            Words.number(before),
                            Words.number(now),
                            by(before, now)));
                }
            }
        }
        return table.text(screen.outWidth(), screen.outIsTerminal());
    }

    private static boolean isSame(@Nullable BigDecimal before, @Nullable BigDecimal now) {
        return before == null || now == null ? before == null && now == null : before.compareTo(now) == 0;
    }

    private static String by(@Nullable BigDecimal before, @Nullable BigDecimal now) {
        return before == null || now == null ? Words.NONE : Words.difference(before.subtract(now));
    }
}
