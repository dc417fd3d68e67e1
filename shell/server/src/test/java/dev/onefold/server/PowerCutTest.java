package dev.onefold.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.Engine;
import dev.onefold.core.EngineException;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Query;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.fakes.disk.Faults;
import dev.onefold.fakes.disk.Operation;
import dev.onefold.fakes.disk.SimulatedCrash;
import dev.onefold.fakes.disk.SimulatedDisk;
import dev.onefold.fixtures.Seeds;
import java.io.IOException;
import java.net.InetAddress;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// A service over a disk that loses what was not forced, and clients that note what was answered with 200. The power is
/// cut inside a force, before it has made anything durable, or right behind an answer. So an answer before the force,
/// and an answer without a force, is found: a killed process alone would leave both in the system's memory of files.
@Timeout(60)
class PowerCutTest {
    private static final int CLIENTS = 4;
    private static final int ANSWERS_MAX = 12;
    private static final int ANSWERS_MORE = 100; // More than forces are made until the power is cut.
    private static final int REMAINS = 4; // Each power cut may leave many states; this many of them are checked.
    private static final String DIRECTORY = "/data";

    /// Requests name their records by place, so that the disk must keep the source's position, too.
    private static final Pipeline LINES = PipelineBuilder.named("lines")
            .rollup(rollup -> rollup.levels("desk").count("n"))
            .build();

    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    private static Engine open(SimulatedDisk disk) {
        return EmbeddedEngine.open(
                disk.getPath(DIRECTORY),
                LINES,
                dev.onefold.embedded.Settings.defaults()
                        .withShards(2)
                        .withThreads(0)
                        .withCheckpointInterval(Duration.ofHours(1)));
    }

    /// Ends the process at a force of the journal that is about to begin.
    private static Faults cutAtForce(int nth) {
        int[] left = {nth};
        return Faults.none().withHook((operation, path) -> {
            if (operation == Operation.FORCE && path.toString().contains("journal") && --left[0] == 0) {
                throw new SimulatedCrash("The power is cut at force " + nth + " of the journal");
            }
        });
    }

    /// Sends records, each a desk of its own, until the service is not there or all have enough answers.
    private void send(HttpService service, String client, Set<String> answered, AtomicInteger left)
            throws InterruptedException {
        for (int i = 1; left.get() > 0; i++) {
            String desk = client + "-" + i;
            HttpRequest request = HttpRequest.newBuilder(
                            service.uri().resolve("/v1/lines/records?source=" + client + "&from=" + i))
                    .POST(BodyPublishers.ofString("{\"desk\":\"" + desk + "\"}\n"))
                    .build();
            try {
                HttpResponse<String> answer = http.send(request, BodyHandlers.ofString());
                if (answer.statusCode() != 200) {
                    return;
                }
            } catch (IOException ended) {
                return;
            }
            answered.add(desk);
            left.decrementAndGet();
        }
    }

    /// Clients send until the power is cut; what they know to be in must be in whatever state the power cut leaves.
    private void live(Faults faults, int answersMax, RandomGenerator random) throws Exception {
        SimulatedDisk disk = SimulatedDisk.empty();
        Set<String> answered = new ConcurrentSkipListSet<>();
        Engine engine = open(disk);
        try (HttpService service = HttpService.open(
                new Settings(InetAddress.getLoopbackAddress(), 0, null, null, RunningService.LIMITS),
                List.of(Served.of(engine, null)))) {
            disk.sync();
            disk.inject(faults);
            load(service, answered, answersMax);
            for (int i = 0; i < REMAINS; i++) {
                requireKept(disk.crash(random), answered);
            }
        } finally {
            close(engine);
        }
    }

    private void load(HttpService service, Set<String> answered, int answersMax) throws InterruptedException {
        AtomicInteger left = new AtomicInteger(answersMax);
        List<Throwable> failures = new CopyOnWriteArrayList<>();
        List<Thread> clients = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            String name = "c" + i;
            clients.add(Thread.ofVirtual().start(() -> {
                try {
                    send(service, name, answered, left);
                } catch (InterruptedException | RuntimeException e) {
                    failures.add(e);
                }
            }));
        }
        for (Thread client : clients) {
            client.join();
        }
        assertThat(failures).isEmpty();
    }

    /// Releases the memory of an engine whose disk is gone.
    private static void close(Engine engine) {
        try {
            engine.close();
        } catch (SimulatedCrash | EngineException ended) {
            // Nothing that it does reaches a disk any more.
        }
    }

    private static void requireKept(SimulatedDisk left, Set<String> answered) {
        try (Engine engine = open(left)) {
            Set<String> kept = engine.query(
                    Query.all("main"),
                    answer -> answer.lines().stream()
                            .flatMap(line -> line.group().stream())
                            .collect(Collectors.toSet()));
            assertThat(kept).containsAll(answered);
        }
    }

    @Test
    @Tag("campaign")
    void hazard_85_what_was_answered_with_200_is_there_after_a_power_cut_in_any_force() {
        Seeds.forAllSeeds(4, random -> live(cutAtForce(1 + random.nextInt(6)), ANSWERS_MORE, random));
    }

    @Test
    @Tag("campaign")
    void hazard_85_what_was_answered_with_200_is_there_after_a_power_cut_right_behind_the_answer() {
        Seeds.forAllSeeds(4, random -> live(Faults.none(), 1 + random.nextInt(ANSWERS_MAX), random));
    }
}
