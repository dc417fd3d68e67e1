package dev.onefold.local.stack;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.Connection;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.item.Definition;
import dev.onefold.aws.letter.Letter;
import dev.onefold.aws.letter.LetterTable;
import dev.onefold.aws.reduce.Headers;
import dev.onefold.aws.reduce.Reduce;
import dev.onefold.aws.state.Claims;
import dev.onefold.aws.state.Definitions;
import dev.onefold.aws.state.RowReads;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.template.Template;
import dev.onefold.aws.template.Template.Input;
import dev.onefold.aws.upkeep.Upkeep;
import dev.onefold.core.event.Decoder.RecordIdentity;
import dev.onefold.core.event.Malformed;
import dev.onefold.core.event.Reason;
import dev.onefold.local.function.FunctionFaults;
import dev.onefold.mapping.StreamMapping;
import dev.onefold.mapping.source.KinesisSource;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// All of it: real servers, real sandboxes, the roles enforced, and everything going wrong at once.
class EndToEndTest {
    private static final int SANDBOXES = 2;

    private static LocalDeployment deployment(StackFaults faults) throws IOException {
        return LocalDeployment.open(
                "trades",
                Template.of(Trades.PIPELINE, Input.NEW_STREAM).yaml(),
                Map.of("BatchSize", "200", "ParallelizationFactor", "2", "Gates", "64", "TickMinutes", "1"),
                Parts.machine(SANDBOXES),
                faults);
    }

    /// A producer that got no answer has put a record twice, in two places.
    private static void assertRight(LocalDeployment deployment, Trades trades) {
        EndToEnd.assertRight(deployment, trades.totals());
        assertThat(new TreeSet<>(EndToEnd.letters(deployment))).containsExactlyInAnyOrderElementsOf(trades.broken);
    }

    /// The tables as a role sees them.
    private static Store store(LocalDeployment deployment, String role) {
        return new Store(
                deployment.clients(role).tables,
                Store.Tables.of("trades"),
                Connection.THREADS,
                new SecureRandom(),
                InstantSource.system());
    }

    /// What Upkeep does each day, and the two things that it does only where somebody is in its way; and what State
    /// does only where it comes upon gates before Upkeep.
    private static void useRarePermissions(LocalDeployment deployment) {
        Store upkeep = store(deployment, "UpkeepRole");
        boolean audited = false;
        for (int steps = 0; steps < 20 && !audited; steps++) {
            audited = Upkeep.step(upkeep, Trades.PIPELINE, 1, () -> true, _ -> {}) instanceof Upkeep.Outcome.Audited;
        }
        assertThat(audited).isTrue();
        Upkeep.step(upkeep, Trades.PIPELINE, 0, () -> true, _ -> {}); // Cleans the audit's view away.
        new RowReads(upkeep).read(List.of("nobody".getBytes(StandardCharsets.UTF_8)));
        Definitions definitions = new Definitions(store(deployment, "StateRole"));
        Definition definition = definitions.load();
        Headers.make(upkeep, definition);
        definitions.moveGates(definition);
        decideLetters(upkeep.with(new Store.Bucket(
                () -> deployment.clients("UpkeepRole").objects,
                deployment.store().bucket().name())));
        reduceAsUpkeep(deployment, upkeep);
    }

    /// Upkeep reduces the deltas that are left over. The stream of deltas wakes Reduce's function, which mostly comes
    /// later than a caller that waits for the delta; where the function comes first, another version is written.
    private static void reduceAsUpkeep(LocalDeployment deployment, Store upkeep) {
        Store state = store(deployment, "StateRole");
        int lanes = new Definitions(state).load().lanes();
        for (int version = 1; version <= 50 && isUnused(deployment, "UpkeepRole"); version++) {
            String record = "{\"id\":\"left\",\"v\":" + version
                    + ",\"desk\":\"a\",\"region\":\"b\",\"value\":1,\"book\":\"c\"}";
            Arrival arrival =
                    new Arrival("trades/shard", Integer.toString(version), 0, record.getBytes(StandardCharsets.UTF_8));
            StateAndMap.process(state, List.of(arrival));
            for (int lane = 0; lane < lanes; lane++) {
                Reduce.lane(upkeep, lane);
            }
        }
    }

    private static boolean isUnused(LocalDeployment deployment, String role) {
        return EndToEnd.unused(deployment).stream().anyMatch(permission -> permission.startsWith(role));
    }

    /// What Upkeep does with dead letters when another pipeline serves: it reads them, keeps the loser of a conflict,
    /// says the new reason of one, and removes one that is accepted.
    private static void decideLetters(Store upkeep) {
        LetterTable letters = new LetterTable(upkeep);
        Arrival arrival = new Arrival("trades/shard", "1", 0, "no event".getBytes(StandardCharsets.UTF_8));
        Malformed malformed = new Malformed(Reason.MALFORMED, "No event");
        letters.keep(List.of(Letter.rejected(arrival, malformed, RecordIdentity.NONE)));
        long id = letters.list(0, 10_000).getLast().id();
        assertThat(letters.arrival(id)).isNotNull();
        assertThat(letters.keepAs(id, "another record")).isEqualTo(id);
        assertThat(letters.rejectedAgain(id, new Malformed(Reason.REFUSED, "No event"), arrival.data()))
                .isTrue();
        assertThat(letters.remove(id)).isTrue();
    }

    /// As if whoever changed the definition had stopped before the gates were moved.
    private static void changeHalfway(Store store) {
        Definition before = new Definitions(store).load();
        Definition next = before.withView(before.servedView().pipeline(), 1, "somebody");
        new Claims(store).join(next); // A change is noted in the totals before it is made.
        store.retried(() -> store.client()
                .putItem(request -> request.tableName(store.tables().rows()).item(next.item())));
    }

    @Test
    @Tag("campaign")
    void whatever_fails_on_the_way_each_message_is_in_the_totals_once_and_each_permission_is_used() throws IOException {
        long seed = 42;
        Trades trades = new Trades(600, seed);
        StackFaults faults = new StackFaults(
                seed, EndToEnd.FAULTS, new FunctionFaults(20, 20, 10, 15), new FunctionFaults(30, 30, 10, 15), 0.03);
        int half = trades.records.size() / 2;
        try (LocalDeployment deployment = deployment(faults);
                RealTime time = new RealTime()) {
            deployment.put(Trades.PIPELINE, trades.records.subList(0, half).iterator(), _ -> {});
            deployment.drained(Duration.ofMinutes(5)).join();
            changeHalfway(deployment.store());
            EndToEnd.shortenRetries(deployment);
            KinesisSource stream =
                    new KinesisSource(deployment.clients("StateRole").streams, deployment.value("InputStream.Arn"));
            try (StreamMapping givingUp = EndToEnd.givingUp(deployment, time, stream)) {
                deployment.put(
                        Trades.PIPELINE,
                        trades.records.subList(half, trades.records.size()).iterator(),
                        _ -> {});
                deployment.drained(Duration.ofMinutes(5)).join();
                assertThat(givingUp.lastProcessingResult()).contains("RetryAttemptsExhausted");
            }
            // Records that were there before change no total.
            EndToEnd.failUntilAllHasHappened(
                    deployment,
                    () -> deployment.put(
                            Trades.PIPELINE, trades.records.subList(0, 20).iterator(), _ -> {}));
            assertRight(deployment, trades);
            useRarePermissions(deployment);
            assertThat(EndToEnd.unused(deployment)).isEmpty();
            EndToEnd.report(deployment, trades.records.size(), seed);
        }
    }

    @Test
    @Tag("campaign")
    void six_thousand_messages_come_out_right_with_the_failures_of_the_reference_design() throws IOException {
        long seed = 7;
        Trades trades = new Trades(6_000, seed);
        StackFaults faults = new StackFaults(
                seed, EndToEnd.FAULTS, new FunctionFaults(15, 10, 6, 30), new FunctionFaults(10, 5, 5, 40), 0.03);
        try (LocalDeployment deployment = deployment(faults)) {
            deployment.put(Trades.PIPELINE, trades.records.iterator(), _ -> {});
            deployment.drained(Duration.ofMinutes(20)).join();
            assertRight(deployment, trades);
            EndToEnd.report(deployment, trades.records.size(), seed);
        }
    }
}
