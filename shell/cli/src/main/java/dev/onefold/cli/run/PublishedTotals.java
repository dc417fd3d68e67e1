package dev.onefold.cli.run;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.call.Screen;
import dev.onefold.cli.show.Table;
import dev.onefold.cli.show.Words;
import dev.onefold.core.Engine;
import dev.onefold.core.Status;
import dev.onefold.core.TotalsTable;
import dev.onefold.core.pipeline.Limits;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Publishing;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.query.Query;
import dev.onefold.jdbc.JdbcTotals;
import dev.onefold.jdbc.JdbcTotals.Difference;
import dev.onefold.kafka.KafkaTotals;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The copies that totals are published to, beside the engine that they are of.
public final class PublishedTotals {
    private static final int LOOKS = 3;
    private static final int DIFFERENCES_MAX = 100_000;
    private static final int SHOWN_MAX = 20;
    /// How far the tables may be behind, beside the time between two cuts.
    private static final Duration BEHIND_MAX = Duration.ofSeconds(3);

    private final Engine engine;
    private final JdbcTotals tables;
    private final Duration between;
    private final Consumer<Duration> pause;
    private long rows;

    /// How the copy of a pipeline's totals is kept.
    ///
    /// @param every how often it is brought forward
    /// @param end closes what it has open
    record Copy(Function<Pipeline, TotalsTable> table, Duration every, Runnable end) {}

    /// @param pause waits
    public PublishedTotals(Engine engine, Caller caller, Consumer<Duration> pause) {
        this.engine = engine;
        this.pause = pause;
        Pipeline pipeline = engine.pipeline();
        Publishing.Database publishing = database(pipeline)
                .orElseThrow(() -> CommandFailure.usage(
                        "Pipeline " + pipeline.name() + " has no 'publish' section, so nothing is published."));
        tables = opened(pipeline, publishing, caller);
        between = publishing.every().plus(BEHIND_MAX);
    }

    private static Optional<Publishing.Database> database(Pipeline pipeline) {
        return switch (pipeline.publishing()) {
            case null -> Optional.empty();
            case Publishing.Database database -> Optional.of(database);
            case Publishing.Topic topic ->
                throw CommandFailure.usage("--published compares tables of PostgreSQL, and pipeline " + pipeline.name()
                        + " publishes its totals to the topic " + topic.table() + " of Kafka.");
            case Publishing.Items items ->
                throw CommandFailure.usage("Pipeline " + pipeline.name() + " publishes its totals to the table "
                        + items.table() + " of DynamoDB, which only a deployment on AWS does. On this machine, publish"
                        + " to PostgreSQL ('jdbc'), or leave out 'publish'.");
        };
    }

    /// How the copy of a pipeline's totals is opened; empty if it has none.
    ///
    /// @param folder of the pipeline file
    static Optional<Copy> of(Pipeline pipeline, Path folder, Caller caller) {
        if (pipeline.publishing() instanceof Publishing.Topic topic) {
            KafkaTotals totals =
                    opened(() -> KafkaTotals.open(pipeline.name(), topic, folder, caller.environment()::get));
            return Optional.of(new Copy(totals::of, topic.every(), totals::close));
        }
        Optional<Publishing.Database> database = database(pipeline);
        database.ifPresent(each -> opened(pipeline, each, caller)); // What is missing is said before a fold.
        return database.map(each -> new Copy(served -> opened(served, each, caller), each.every(), () -> {}));
    }

    private static JdbcTotals opened(Pipeline pipeline, Publishing.Database publishing, Caller caller) {
        return opened(() -> JdbcTotals.open(pipeline, publishing, caller.environment()::get));
    }

    private static <T> T opened(Supplier<T> copy) {
        try {
            return copy.get();
        } catch (IllegalArgumentException e) {
            throw new CommandFailure(
                    ExitCode.USAGE, String.valueOf(e.getMessage()).replaceFirst("\\.$", "") + ".", e);
        }
    }

    /// Compares each row with the totals. The tables of a running engine are a moment behind, so there a difference
    /// counts only if row and total stay as they are for longer than that.
    public ExitCode verify(Caller caller) {
        boolean isFollowed = engine.status().publication().isPresent();
        List<Difference> differences;
        try {
            differences = look();
            for (int i = 1; i < LOOKS && isFollowed && !differences.isEmpty(); i++) {
                pause.accept(between);
                differences.retainAll(new HashSet<>(look()));
            }
        } catch (TotalsTable.Unavailable e) {
            throw new CommandFailure(
                    ExitCode.DIFFERENT, "The published tables cannot be read. " + e.getMessage() + ".", e);
        }
        if (differences.isEmpty()) {
            caller.print("Equal: " + Words.count(rows, "published row") + ".\n");
            return ExitCode.DONE;
        }
        caller.print("Different: " + Words.count(differences.size(), "published row") + " of "
                + Words.count(rows) + ".\n\n" + text(differences, caller.screen()) + "\n"
                + advice(isFollowed));
        return ExitCode.DIFFERENT;
    }

    private String advice(boolean isFollowed) {
        String failure =
                engine.status().publication().map(Status.OfPublication::failure).orElse("");
        if (!failure.isEmpty()) {
            return "The engine cannot write the tables now, so they may only be behind: " + failure + ".\n";
        }
        return isFollowed
                ? "Somebody else has changed the tables. Drop them, and the engine makes them again.\n"
                : "No engine publishes now: 'onefold run' publishes what the last one has not. If rows differ"
                        + " after that, drop the tables, and the next run makes them again.\n";
    }

    private List<Difference> look() {
        rows = 0;
        List<Difference> differences = new ArrayList<>();
        List<Rollup> rollups = Rollups.of(engine.pipeline()).all();
        for (int i = 0; i < rollups.size(); i++) {
            int rollup = i;
            Query all = new Query(rollups.get(i).name(), List.of(), Limits.LEVELS_MAX, null);
            differences.addAll(engine.query(all, answer -> {
                rows += answer.lines().size();
                return tables.compare(rollup, answer.lines(), DIFFERENCES_MAX);
            }));
        }
        return differences;
    }

    private static String text(List<Difference> differences, Screen screen) {
        Table table = new Table(List.of("table", "group", "published", "total")).left(1);
        for (Difference difference : differences.subList(0, Math.min(SHOWN_MAX, differences.size()))) {
            table.add(List.of(
                    difference.table(),
                    Words.path(difference.group()),
                    values(difference.stored()),
                    values(difference.expected())));
        }
        int more = differences.size() - SHOWN_MAX;
        return table.text(screen.outWidth(), screen.outIsTerminal())
                + (more > 0 ? "and " + Words.count(more) + " more.\n" : "");
    }

    private static String values(Optional<List<@Nullable BigDecimal>> values) {
        return values.map(
                        all -> String.join(", ", all.stream().map(Words::number).toList()))
                .orElse("not there");
    }
}
