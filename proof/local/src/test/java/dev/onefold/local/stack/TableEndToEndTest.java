package dev.onefold.local.stack;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.Connection;
import dev.onefold.aws.letter.LetterTable;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.store.Threads;
import dev.onefold.aws.stream.Position;
import dev.onefold.aws.stream.Replay;
import dev.onefold.aws.template.Template;
import dev.onefold.aws.template.Template.Input;
import dev.onefold.local.function.FunctionFaults;
import dev.onefold.mapping.StreamMapping;
import dev.onefold.mapping.source.TableSource;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.model.OperationType;

/// The same as [EndToEndTest], where the input is what happens to the items of a table. Only in the campaign, because
/// most of it is the same.
class TableEndToEndTest {
    private static final int SANDBOXES = 2;

    private static LocalDeployment deployment(StackFaults faults, int batchSize) throws IOException {
        return LocalDeployment.open(
                new StackRequest(
                        "favourites",
                        Template.of(Favourites.PIPELINE, Input.TABLE).yaml(),
                        Map.of(
                                "BatchSize",
                                String.valueOf(batchSize),
                                "ParallelizationFactor",
                                "2",
                                "Gates",
                                "64",
                                "TickMinutes",
                                "1"),
                        Optional.of(GivenTable.empty(Favourites.table()))),
                Parts.machine(SANDBOXES),
                faults);
    }

    /// A change is in one place, so each letter is there once.
    private static void assertRight(LocalDeployment deployment, Favourites favourites) {
        EndToEnd.assertRight(deployment, favourites.totals());
        List<String> letters = EndToEnd.letters(deployment);
        assertThat(letters).hasSameSizeAs(favourites.broken);
        for (String user : favourites.broken) {
            assertThat(letters)
                    .filteredOn(letter -> letter.contains("\"Keys\":{\"user\":\"" + user + "\"")
                            || letter.contains(",\"user\":\"" + user + "\"}"))
                    .singleElement()
                    .asString()
                    .contains("\"eventName\":\"INSERT\"", "\"stars\":\"many\"");
        }
    }

    /// All of the stream again, as `onefold aws replay` reads it; the deployment itself says which stream that is.
    private static void assertReplayFindsNothing(LocalDeployment deployment, Favourites favourites) {
        Store patient = deployment.store();
        Store store = new Store(
                        patient.client(),
                        patient.tables(),
                        new Threads() {
                            @Override
                            public void execute(Runnable task) {
                                Connection.THREADS.execute(task);
                            }

                            @Override
                            public void pause(Duration pause) {
                                Thread.onSpinWait(); // A table's stream does not tell its end: no use in waiting.
                            }
                        },
                        patient.random(),
                        patient.clock())
                .with(patient.bucket());
        String stream = new LetterTable(store).input().orElseThrow();
        assertThat(stream).isEqualTo(deployment.value("InputStreamArn"));
        Instant now = Instant.now();
        Replay.Range range = new Replay.Range(
                new Position.Time(now.minus(Duration.ofHours(1))), new Position.Time(now), Optional.empty());
        Replay.Done done = Replay.run(store, deployment.clients("Operator").changes, stream, range, _ -> {});
        assertThat(done.forgotten()).isEmpty();
        assertThat(done.counts().records()).isEqualTo(favourites.changes);
        assertThat(done.counts().accepted()).isZero();
        assertThat(done.counts().rejected()).isEqualTo(favourites.broken.size());
    }

    @Test
    @Tag("campaign")
    void whatever_fails_on_the_way_the_totals_are_those_of_the_items_that_are_there() throws IOException {
        long seed = 5;
        StackFaults faults = new StackFaults(
                seed, EndToEnd.FAULTS, new FunctionFaults(40, 40, 20, 10), new FunctionFaults(30, 30, 0, 0), 0.03);
        try (LocalDeployment deployment = deployment(faults, 40);
                RealTime time = new RealTime()) {
            Favourites favourites = new Favourites(deployment.store(), seed);
            favourites.change(100);
            deployment.drained(Duration.ofMinutes(5)).join();
            EndToEnd.shortenRetries(deployment);
            TableSource stream = new TableSource(
                    deployment.clients("StateRole").changes,
                    deployment.value("InputStreamArn"),
                    EnumSet.of(OperationType.INSERT, OperationType.MODIFY, OperationType.REMOVE));
            try (StreamMapping givingUp = EndToEnd.givingUp(deployment, time, stream)) {
                favourites.change(100);
                deployment.drained(Duration.ofMinutes(5)).join();
                assertThat(givingUp.lastProcessingResult()).contains("RetryAttemptsExhausted");
            }
            EndToEnd.failUntilAllHasHappened(deployment, () -> favourites.change(20));
            assertReplayFindsNothing(deployment, favourites);
            assertRight(deployment, favourites);
            assertThat(EndToEnd.unused(deployment)).noneMatch(unused -> unused.startsWith("StateRole Input"));
            EndToEnd.report(deployment, favourites.changes, seed);
        }
    }

    @Test
    @Tag("campaign")
    void three_thousand_changes_come_out_right_with_the_failures_of_the_reference_design() throws IOException {
        long seed = 11;
        StackFaults faults = new StackFaults(
                seed, EndToEnd.FAULTS, new FunctionFaults(5, 3, 2, 40), new FunctionFaults(10, 5, 5, 40), 0.03);
        try (LocalDeployment deployment = deployment(faults, 200)) {
            Favourites favourites = new Favourites(deployment.store(), seed);
            favourites.change(3_000);
            deployment.drained(Duration.ofMinutes(20)).join();
            assertRight(deployment, favourites);
            EndToEnd.report(deployment, favourites.changes, seed);
        }
    }
}
