package dev.onefold.cli.verbs;

import dev.onefold.cli.call.Screen;
import dev.onefold.cli.show.Table;
import dev.onefold.cli.show.Words;
import dev.onefold.core.Capabilities;
import dev.onefold.core.Capabilities.Capability;
import dev.onefold.core.Verification;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.process.KeyDifference;
import java.math.BigDecimal;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The result of a comparison of totals, as text.
///
/// @param fromSources whether the sources were read again
/// @param capabilities the capabilities of the engine
record VerificationText(Pipeline pipeline, Verification verification, boolean fromSources, Capabilities capabilities) {
    String verified(Screen screen) {
        String what = compared();
        if (verification.isEqual()) {
            return "Equal: " + what + ".\n";
        }
        if (!verification.keyDifferences().isEmpty()) {
            return "Different: " + Words.count(verification.keyDifferences().size(), "value") + " of keys, and "
                    + Words.count(verification.differences().size(), "group") + ", of " + what + ".\n\n"
                    + keyDifferences(screen)
                    + (verification.differences().isEmpty() ? "" : "\n" + differences(screen, "served", "recomputed"))
                    + "\nThe function has changed without a new version, is not pure, or the data are damaged."
                    + (fromSources
                            ? " Or keys went on from what an older version had left, or keep was another one."
                            : "")
                    + (isOnAws()
                            ? "\nPut back by hand what was changed by hand; or deploy the pipeline as a stack of its own, and"
                                    + " send it all records.\n"
                            : " 'onefold rebuild --from-sources' folds the history again.\n");
        }
        return "Different: " + Words.count(verification.differences().size(), "group") + " of " + what + ".\n\n"
                + differences(screen, "served", "recomputed")
                + "\nThe recomputed values follow from the " + (fromSources ? "sources" : "rows") + ". 'onefold "
                + repair() + "' puts them in place.\n";
    }

    private String repair() {
        if (isOnAws()) {
            return pipeline.fold() instanceof Processing ? "aws restored --anyway" : "aws rebuild";
        }
        return fromSources ? "rebuild --from-sources" : "rebuild";
    }

    private boolean isOnAws() {
        return !capabilities.has(Capability.SOURCES);
    }

    private String compared() {
        return (verification.keys() == 0 ? "" : Words.count(verification.keys(), "key") + " folded again and ")
                + Words.count(verification.groups(), "group") + " recomputed from " + verification.truth();
    }

    private String keyDifferences(Screen screen) {
        StringBuilder text = new StringBuilder();
        for (KeyDifference difference : verification.keyDifferences()) {
            text.append("key ").append(RowText.key(difference.key())).append(", ");
            text.append(Words.visible(difference.what())).append('\n');
            text.append(side("stored", difference.stored(), screen));
            text.append(side("recomputed", difference.recomputed(), screen));
        }
        return text.toString();
    }

    private static String side(String name, String content, Screen screen) {
        String shown = content.isEmpty() ? "not there" : Words.visible(content);
        return "  " + name + " ".repeat(12 - name.length())
                + Words.indented(shown, " ".repeat(14), screen.outWidth()).substring(14) + "\n";
    }

    String rebuilt(Screen screen) {
        String what = compared();
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
        return before == null || now == null ? Words.NONE : Words.difference(now.subtract(before));
    }
}
