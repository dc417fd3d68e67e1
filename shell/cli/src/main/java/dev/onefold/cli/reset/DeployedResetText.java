package dev.onefold.cli.reset;

import dev.onefold.aws.resync.RetryQueue;
import dev.onefold.aws.upkeep.Reset;
import dev.onefold.cli.show.Words;
import dev.onefold.core.pipeline.Publishing;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// The data of a deployment that a reset deletes, and the consequences.
record DeployedResetText(String pipeline, String deployment, List<Reset.Table> tables, List<RetryQueue> queues) {
    /// A delete in a transaction takes two units for each KB; most items are smaller.
    private static final long UNITS = 2;

    /// Of a million write units, in dollars.
    private static final BigDecimal PRICE = new BigDecimal("0.625");

    private static final BigDecimal MILLION = BigDecimal.valueOf(1_000_000);

    /// About how many items there are.
    long items() {
        return tables.stream().mapToLong(Reset.Table::items).sum();
    }

    /// The first line says what is deleted; the others what follows.
    ///
    /// @param isUnderWay whether an earlier reset was stopped
    String announcement(boolean isUnderWay, @Nullable Publishing publishing) {
        List<String> lines = new ArrayList<>();
        if (isUnderWay) {
            lines.add(
                    "A reset of deployment " + deployment + " is under way, or was stopped; this one goes on with it.");
        }
        String each = tables.stream()
                .map(table -> table.name() + " " + Words.count(table.items()))
                .collect(Collectors.joining(", "));
        BigDecimal units = BigDecimal.valueOf(items() * UNITS);
        lines.add("Empties deployment " + deployment + ": about " + Words.count(items(), "item")
                + ", as DynamoDB counts them every six hours (" + each + "). That takes some "
                + Words.count(units.longValueExact(), "write unit") + ", $"
                + PRICE.multiply(units).divide(MILLION, 2, RoundingMode.UP).toPlainString() + " on demand.");
        lines.add(
                "- Until it is done, the functions fail, their alarms may say so, and nothing is answered. Records wait in"
                        + " the stream meanwhile, and expire there as always.");
        lines.add("- The stream stays where it is: records that the functions have taken before do not come again, and"
                + " records that they take afterwards count. 'onefold aws replay " + pipeline
                + " --from TIME' counts again what the stream still has.");
        lines.add("- Rows that were seeded come again only with 'onefold aws seed', and rows that a comparison repairs"
                + " with the next one.");
        lines.add("- The records of dead letters are deleted from their bucket, which keeps the last version of each.");
        if (!queues.isEmpty()) {
            lines.add("- The queues for retries are purged: "
                    + queues.stream()
                            .map(queue -> queue.url().replaceAll(".*/", "") + " about "
                                    + Words.count(queue.size(), "message"))
                            .collect(Collectors.joining(", "))
                    + ". Each names records that the functions could not take; they do not count.");
        }
        if (publishing instanceof Publishing.Items items) {
            lines.add("- The published table " + items.table() + " gets the new totals.");
        }
        return String.join("\n", lines);
    }
}
