package dev.onefold.simulator.deployment;

import dev.onefold.aws.AwsEngine;
import dev.onefold.core.Verification;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import dev.onefold.core.state.Row;
import dev.onefold.oracle.Oracle;
import dev.onefold.oracle.Possible;
import dev.onefold.simulator.judge.Judge;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/// What is right, by the oracle, and whether the deployment says so. Where people have edits of dead letters under way,
/// each may be in or not.
final class FinalCheck {
    /// The clocks of whoever writes and of whoever reads may each be so far off.
    private static final Duration SKEW_MAX = Duration.ofSeconds(3);

    private static final Duration BETWEEN = Duration.ofSeconds(15);
    private static final Duration LAG_MAX = Duration.ofHours(2);
    private static final int KEYS_MAX = 8;
    private static final String EDITED = ", edited";

    private final Deployment deployment;
    private final Intake intake;
    private final LetterOperator clerk;
    private final List<String> story;

    FinalCheck(Deployment deployment, Intake intake, LetterOperator clerk, List<String> story) {
        this.deployment = deployment;
        this.intake = intake;
        this.clerk = clerk;
        this.story = story;
    }

    /// One for each choice of edits that may be in.
    ///
    /// @param mayRefuse whether the pipeline may refuse an edit that another one took
    private List<Oracle> oracles(String yaml, boolean mayRefuse) {
        List<Oracle> oracles = new ArrayList<>();
        List<Intake.Came> came = intake.everything();
        for (List<LetterOperator.Edited> edits : clerk.possible()) {
            Oracle oracle = Oracle.of(yaml);
            Map<String, Long> arrivals = new HashMap<>();
            came.forEach(each -> {
                arrivals.put(each.place() + ":" + each.part(), each.arrivedMs());
                oracle.accept(each.place(), each.part(), each.data(), each.arrivedMs());
            });
            for (LetterOperator.Edited edit : edits) {
                Oracle.Outcome outcome = oracle.accept(
                        edit.source() + EDITED,
                        edit.line(),
                        edit.record(),
                        arrivals.get(edit.source() + ":" + edit.line()));
                if (edit.isTaken() && outcome == Oracle.Outcome.MALFORMED && !mayRefuse) {
                    throw new AssertionError("An edit was taken that is no event: " + edit);
                }
            }
            oracles.add(oracle);
        }
        return oracles;
    }

    /// All records are in the rows. Somebody asks, while everything else goes on: as soon as an answer says that it
    /// covers them, it is right.
    ///
    /// @param yaml the pipeline that was deployed first, whose roll-ups every release has
    void requireCovering(String yaml) {
        clerk.rest();
        Person person = Person.begin(deployment.time, me -> askUntilCovered(me, yaml));
        Instant end = deployment.time.instant().plus(LAG_MAX);
        while (!person.isGone() && deployment.time.instant().isBefore(end)) {
            deployment.time.runFor(BETWEEN);
        }
        clerk.resume();
        if (person.failure() != null) {
            throw new AssertionError(person.failure().getMessage(), person.failure());
        }
        if (!person.isGone()) {
            throw new AssertionError("After " + LAG_MAX + " no answer covers all records");
        }
    }

    private void askUntilCovered(Person me, String yaml) {
        AwsEngine engine = AwsEngine.deployed(deployment.store(deployment.dynamo.client("asking"), me));
        List<String> left = new ArrayList<>(Oracle.of(yaml).rollups());
        while (!left.isEmpty()) {
            Instant covered = deployment.time.instant().plus(SKEW_MAX);
            List<Oracle> oracles = oracles(yaml, false);
            me.pause(BETWEEN);
            try {
                left.removeIf(rollup -> covers(engine.query(Query.all(rollup)), covered, oracles));
            } catch (RuntimeException failed) {
                if (!People.isUnlucky(failed)) {
                    throw failed;
                }
            }
        }
        story.add("covered");
    }

    private static boolean covers(Answer answer, Instant covered, List<Oracle> oracles) {
        if (!answer.cut().at().isAfter(covered)) {
            return false;
        }
        List<String> wrong = oracles.stream()
                .map(oracle -> Judge.wrongAnswer(answer, oracle))
                .toList();
        if (wrong.stream().noneMatch(String::isEmpty)) {
            throw new AssertionError("An answer says that it covers all from before "
                    + answer.cut().at() + ", but " + wrong.getFirst());
        }
        return true;
    }

    /// Everything has come to rest: totals, rows and letters are right, and `verify` finds nothing.
    ///
    /// @param yaml the pipeline that serves
    void require(AwsEngine engine, String yaml) {
        Oracle oracle = null;
        String wrong = "";
        for (Oracle each : oracles(yaml, false)) {
            String difference = Judge.wrongTotals(engine, each);
            oracle = oracle == null || difference.isEmpty() ? each : oracle;
            wrong = oracle == each ? difference : wrong;
        }
        Oracle right = java.util.Objects.requireNonNull(oracle, "There is a choice of edits");
        Map<String, byte[]> came = new HashMap<>();
        intake.everything().forEach(each -> came.put(each.place() + ":" + each.part(), each.data()));
        Map<String, byte[]> rejected = new HashMap<>();
        Stream.concat(right.malformed().stream(), right.outOfTime().stream()).forEach(refusal -> {
            String place = refusal.source() + ":" + refusal.line();
            byte[] record = came.get(place);
            if (record != null) { // Else it is an edit that may have been tried.
                rejected.put(place, record);
            }
        });
        wrong += clerk.wrong(engine.deadLetters(), rejected, intake.mayHaveForgotten());
        wrong += wrongRows(engine, right.versions());
        Verification verification = engine.verify();
        if (!verification.isEqual()) {
            wrong += "verify found " + verification.differences() + "\n";
        }
        if (!wrong.isEmpty()) {
            throw new AssertionError(wrong);
        }
    }

    /// Under a pipeline that refuses more: which version of a key counts depends on when that was deployed, but none
    /// that it refuses does.
    void requireNoOtherRows(AwsEngine engine, String yaml) {
        List<Possible> possible =
                oracles(yaml, true).stream().map(Oracle::possible).toList();
        Set<List<String>> keys = new LinkedHashSet<>();
        possible.forEach(each -> keys.addAll(each.keys()));
        keys.stream()
                .limit(KEYS_MAX)
                .forEach(key -> engine.get(key).ifPresent(row -> {
                    if (possible.stream().noneMatch(each -> each.versions(key).contains(Questions.version(row)))) {
                        throw new AssertionError("The row of " + key + " is " + row + ", which " + yaml + " refuses");
                    }
                }));
    }

    private static String wrongRows(AwsEngine engine, Map<List<String>, BigDecimal> versions) {
        StringBuilder wrong = new StringBuilder();
        versions.entrySet().stream().limit(KEYS_MAX).forEach(each -> {
            Optional<Row> row = engine.get(each.getKey());
            if (row.isEmpty() || Questions.version(row.get()).compareTo(each.getValue()) != 0) {
                wrong.append("the row of ").append(each.getKey()).append(" is ").append(row);
                wrong.append("\n but must be of version ")
                        .append(each.getValue())
                        .append('\n');
            }
        });
        return wrong.toString();
    }
}
