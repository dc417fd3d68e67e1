package dev.onefold.local.stack;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.Connection;
import dev.onefold.aws.comparison.Comparison;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.resync.SeedLease;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.template.Compared;
import dev.onefold.aws.template.Template;
import dev.onefold.aws.template.Template.Input;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.local.function.FunctionFaults;
import dev.onefold.tables.compare.Finding.Kind;
import dev.onefold.tables.compare.Finding.Outcome;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// The same as [TableEndToEndTest], where the rows are compared with the table by the deployment itself, and repaired.
class CompareEndToEndTest {
    private static final int SANDBOXES = 2;
    private static final int BEFORE_THE_STREAM = 30;
    private static final int CHANGES_MEANWHILE = 5;
    private static final Duration PAUSE = Duration.ofSeconds(1);

    /// What keeps a letter.
    private static final List<String> KEEPING = List.of(
            "CompareRole Letters dynamodb:PutItem",
            "CompareRole Letters dynamodb:UpdateItem",
            "CompareRole LettersBytes s3:PutObject");

    private static final Pipeline PIPELINE = ((Reading.Read) PipelineText.read("""
                    {"pipeline":"favourites","input":{"format":"dynamodb-stream","key":["user","restaurant"]},
                    "rollup":{"levels":["city","restaurant"],"measures":{
                    "stars":"sum(stars) decimal(18,2)","favourites":"count()",
                    "best":"max(stars) decimal(18,2)","users":"distinct(user)"}}}""")).pipeline();

    private static LocalDeployment deployment(StackFaults faults, GivenTable table) throws IOException {
        return LocalDeployment.open(
                new StackRequest(
                        "favourites",
                        Template.of(PIPELINE, Input.TABLE, Optional.of(new Compared("Favourites", true)))
                                .yaml(),
                        Map.of("BatchSize", "40", "Gates", "64", "TickMinutes", "1", "CompareReadUnits", "1000"),
                        Optional.of(table)),
                Parts.machine(SANDBOXES),
                faults);
    }

    /// What State would have taken of a change that the table does not have any more: its removal is lost.
    private static void takeGhost(LocalDeployment deployment, Store store) {
        String change = """
                {"eventName":"INSERT","SequenceNumber":"1","eventSourceARN":"%s",
                "Keys":{"user":"ghost","restaurant":"restaurant-1"},
                "NewImage":{"user":"ghost","restaurant":"restaurant-1","city":"city-0","stars":1}}""".formatted(deployment.value("InputStreamArn"));
        StateAndMap.process(store, List.of(new Arrival("stream", "1", 0, change.getBytes(StandardCharsets.UTF_8), 1)));
    }

    private static Comparison.Result await(LocalDeployment deployment, Predicate<Comparison> wanted) {
        long end = System.nanoTime() + Duration.ofMinutes(10).toNanos();
        Optional<Comparison> found = Optional.empty();
        while (System.nanoTime() < end) {
            found = Comparison.find(deployment.store());
            if (found.filter(wanted).isPresent()) {
                return Objects.requireNonNull(found.get().last());
            }
            Connection.THREADS.pause(PAUSE); // The comparison itself waits for half a minute.
        }
        throw new AssertionError("No such comparison: " + found + "; Compare "
                + deployment.function("Compare").counts() + "; refused "
                + deployment.usage().refused());
    }

    @Test
    @Tag("campaign")
    void rows_that_the_stream_never_told_of_are_found_and_repaired_by_the_deployment_itself() throws IOException {
        long seed = 12;
        StackFaults faults = new StackFaults(seed, EndToEnd.FAULTS, FunctionFaults.NONE, FunctionFaults.NONE, 0.03);
        GivenTable table =
                new GivenTable(Favourites.table(), client -> Favourites.putBefore(client, BEFORE_THE_STREAM));
        try (LocalDeployment deployment = deployment(faults, table)) {
            Store store = deployment.store();
            Favourites favourites = new Favourites(store, seed);
            Store past = new Store(
                    store.client(),
                    store.tables(),
                    store.threads(),
                    store.random(),
                    InstantSource.offset(InstantSource.system(), Duration.ofDays(-1)));
            SeedLease.begin(past, 1); // Of a seeding that was killed.
            try (SeedLease seeding = SeedLease.begin(store, 2)) { // As long as one runs, nothing is compared.
                favourites.change(60);
                favourites.comeBroken(); // Its letter explains why the row is not here.
                deployment.drained(Duration.ofMinutes(5)).join();
                seeding.renew();
                takeGhost(deployment, store);
            }
            AtomicInteger looks = new AtomicInteger();
            Comparison.Result result = await(deployment, found -> {
                if (looks.incrementAndGet() <= CHANGES_MEANWHILE) {
                    favourites.change(1);
                }
                return found.last() != null;
            });
            assertThat(result.tally().count(Kind.MISSING, Outcome.REPAIRED)).isEqualTo(BEFORE_THE_STREAM);
            assertThat(result.tally().count(Kind.GHOST, Outcome.REPAIRED)).isOne();
            assertThat(result.tally().count(Kind.REFUSED, Outcome.EXPLAINED)).isPositive();
            assertThat(result.tally().left()).as(result.toString()).isZero();
            deployment.drained(Duration.ofMinutes(5)).join();
            EndToEnd.assertRight(deployment, favourites.totals());
            assertThat(EndToEnd.unused(deployment).stream().filter(unused -> unused.startsWith("CompareRole")))
                    .isSubsetOf(KEEPING); // State has kept all letters.
        }
    }
}
