package dev.onefold.simulator.deployment;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.state.Definitions;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.upkeep.Restored;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.Verification;
import dev.onefold.core.event.Reason;
import dev.onefold.fakes.aws.table.Backups;
import dev.onefold.fakes.aws.table.Tables;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/// Somebody restores one table or several, each from one of two backups, which lose and age single items, while records
/// arrive, and does what docs/aws.md says then: takes them over, replays from a minute before the moment, or all if a
/// row was put aside, and verifies. People leave letters alone from the first moment on, because what they decide after
/// it is in no backup and in no stream. All records count in the end: those that were in the rows at the moment, and
/// those that the replay brings.
final class Restores {
    private static final Duration BEFORE_MAX = Duration.ofSeconds(40);
    private static final Duration TAKES = Duration.ofMinutes(5);
    private static final Duration RUNBOOK = Duration.ofMinutes(1);
    private static final int QUIET_TRIES_MAX = 40;
    private static final int TRIES_MAX = 100;

    private final Deployment deployment;
    private final SplittableRandom random;
    private final Intake intake;
    private final LetterOperator clerk;
    private final Readers readers;
    private final boolean withLetters;
    private final List<String> story;
    private @Nullable Person operator;
    private int count;

    Restores(Deployment deployment, SplittableRandom random, Taken taken, List<String> story) {
        this.deployment = deployment;
        this.random = random;
        intake = taken.intake;
        clerk = taken.clerk;
        readers = taken.readers;
        withLetters = taken.withLetters;
        this.story = story;
    }

    /// What takes part.
    ///
    /// @param withLetters whether the table of letters may be restored. If the pipeline changes,
    ///     Upkeep removes letters
    record Taken(Intake intake, LetterOperator clerk, Readers readers, boolean withLetters) {}

    /// Begins, after a while.
    ///
    /// @param since all records of the stream came after it
    void begin(Instant since) {
        operator = Person.begin(deployment.time, me -> live(me, since));
    }

    /// Whether tables are being restored: then whatever looks at them may fail.
    boolean isUnderWay() {
        return operator != null && !operator.isGone();
    }

    /// How often it has begun.
    int count() {
        return count;
    }

    /// @throws AssertionError if anything was wrong
    void throwFailure() {
        if (operator != null && operator.failure() != null) {
            throw new AssertionError("After a restore " + operator.failure().getMessage(), operator.failure());
        }
    }

    private void live(Person me, Instant since) {
        pause(me, BEFORE_MAX);
        clerk.rest();
        count++;
        for (int tries = 0; !clerk.isIdle() && tries < QUIET_TRIES_MAX; tries++) {
            me.pause(Duration.ofSeconds(3));
        }
        if (clerk.isIdle()) {
            restore(me, since);
        }
        clerk.resume();
    }

    private void pause(Person me, Duration max) {
        me.pause(Duration.ofNanos(random.nextLong(max.toNanos()) + 1));
    }

    private void restore(Person me, Instant since) {
        Instant from = since;
        // Where State is behind, the runbook says: by as much earlier.
        if (intake.isDone()) {
            from = deployment.time.instant();
        }
        Backups service = deployment.dynamo.backups();
        me.pause(RUNBOOK);
        Instant moment = deployment.time.instant();
        me.pause(Backups.SPREAD);
        List<Tables.Backup> first = backups(service);
        pause(me, BEFORE_MAX);
        List<Tables.Backup> second = backups(service);
        pause(me, BEFORE_MAX);
        List<Tables.Backup> chosen = chosen(first, second);
        story.add("restored " + chosen.stream().map(Tables.Backup::table).toList() + " to about " + moment);
        readers.lose(Integer.MAX_VALUE);
        chosen.forEach(backup -> deployment.dynamo.restore(backup, TAKES));
        me.pause(TAKES);
        Store store = deployment.store(deployment.dynamo.client("operator"), me);
        untilDone(me, () -> {
            readers.lose(Integer.MAX_VALUE);
            Restored.begin(store);
            readers.lose(new Definitions(store).load().last());
            AwsEngine.deployed(store).rebuild();
        });
        Set<Long> aside = new HashSet<>();
        untilDone(me, () -> aside.addAll(aside(AwsEngine.deployed(store).deadLetters())));
        Instant replayed = aside.isEmpty() ? from : since; // Of a row that was put aside the record is sent again.
        untilDone(me, () -> story.add("replayed " + intake.replay(store, replayed) + " for the sake of " + aside));
        untilDone(me, () -> AwsEngine.deployed(store).deadLetters().purge(List.copyOf(aside)));
        untilDone(me, () -> {
            Verification verification = AwsEngine.deployed(store).verify();
            if (!verification.isEqual()) {
                throw new AssertionError("verify found " + verification.differences());
            }
        });
    }

    /// The letters of rows that nobody could read.
    private static List<Long> aside(DeadLetters letters) {
        return letters.list(0, Integer.MAX_VALUE).stream()
                .filter(letter -> letter.reason() == Reason.REFUSED && letter.content() == DeadLetter.Content.SUMMARY)
                .map(DeadLetter::id)
                .toList();
    }

    private List<Tables.Backup> backups(Backups service) {
        List<Tables.Backup> backups = new ArrayList<>();
        for (String table : List.of(deployment.tables.rows(), deployment.tables.deltas(), deployment.tables.totals())) {
            backups.add(service.get(table));
        }
        if (withLetters) {
            backups.add(service.get(deployment.tables.letters()));
        }
        return backups;
    }

    /// One, some or all, each of one of both moments.
    private List<Tables.Backup> chosen(List<Tables.Backup> first, List<Tables.Backup> second) {
        int mode = random.nextInt(3);
        int one = random.nextInt(first.size());
        List<Tables.Backup> chosen = new ArrayList<>();
        for (int i = 0; i < first.size(); i++) {
            if (mode == 0 || i == one || mode == 1 && random.nextBoolean()) {
                chosen.add(random.nextBoolean() ? first.get(i) : second.get(i));
            }
        }
        return chosen;
    }

    /// Whoever is unlucky with the services, or in somebody's way, tries again.
    private static void untilDone(Person me, Runnable step) {
        for (int tries = 1; ; tries++) {
            try {
                step.run();
                return;
            } catch (RuntimeException failed) {
                if (tries == TRIES_MAX || !People.isUnlucky(failed) && !isRefused(failed)) {
                    throw failed;
                }
            }
            me.pause(Duration.ofSeconds(7));
        }
    }

    /// Whether it is refused because a table was restored.
    static boolean isRefused(Throwable failure) {
        return String.valueOf(failure.getMessage()).contains("'onefold aws restored'");
    }
}
