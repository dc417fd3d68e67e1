package dev.onefold.cli.run;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.data.DataDirectory;
import dev.onefold.cli.show.Words;
import dev.onefold.core.EngineException;
import dev.onefold.core.SealedBatches.Summary;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Batching.Kind;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.delivery.Deliveries;
import dev.onefold.jdbc.JdbcReceiver;
import dev.onefold.kafka.KafkaReceiver;
import dev.onefold.receivers.Context;
import dev.onefold.receivers.Context.Connector;
import dev.onefold.receivers.Handover;
import dev.onefold.receivers.Receiver;
import dev.onefold.receivers.Receivers;
import dev.onefold.s3.S3Receiver;
import dev.onefold.sftp.SftpReceiver;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// Delivers the batches of a run, and waits for them.
final class RunDeliveries implements AutoCloseable {
    private static final long POLL_MS = 50;
    private static final long TELL_MS = 200;
    private static final long CHECK_MS_MAX = 1_000; // That a run waits at its end.

    /// Where a content lies while a command reads it.
    private static final String SPOOL = "handover";

    private static final Map<Kind, Connector> CONNECTORS = Map.of(
            Kind.JDBC,
            JdbcReceiver::open,
            Kind.KAFKA,
            KafkaReceiver::open,
            Kind.S3,
            S3Receiver::open,
            Kind.SFTP,
            SftpReceiver::open,
            Kind.LAMBDA,
            RunDeliveries::lambda);

    private final Caller caller;
    private final EmbeddedEngine engine;
    private final Receiver receiver;
    private final long deliveredBefore;
    private final CountDownLatch closing = new CountDownLatch(1);
    private final Troubles troubles;
    private final Thread telling;
    private final Thread checking;
    private final String list;

    private RunDeliveries(Caller caller, EmbeddedEngine engine, Receiver receiver, String dataAgain) {
        this.caller = caller;
        this.engine = engine;
        this.receiver = receiver;
        deliveredBefore = delivered();
        list = "'onefold batches " + engine.pipeline().name() + dataAgain + " list'";
        troubles = new Troubles(caller, engine.batches(), list);
        telling = Thread.ofPlatform().daemon().name("onefold-troubles").start(this::tell);
        checking = Thread.ofPlatform().daemon().name("onefold-receiver").start(this::check);
    }

    /// Reports at the start that the receiver cannot take batches, even if no batch is sealed yet. A name
    /// service that does not answer blocks only this thread.
    private void check() {
        receiver.trouble()
                .ifPresent(trouble -> caller.note("The receiver cannot take batches now: " + Words.visible(trouble)
                        + ". Records are taken, and their batches are kept until it can."));
    }

    private void tell() {
        try {
            while (!closing.await(TELL_MS, TimeUnit.MILLISECONDS)) {
                troubles.tell(Instant.now());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (EngineException e) {
            caller.note(String.valueOf(e.getMessage())); // The run itself meets the same, and ends.
        }
    }

    /// The engine is about to be closed: no more is reported of its batches.
    void stopTelling() {
        closing.countDown();
        try {
            telling.join();
            checking.join(CHECK_MS_MAX);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /// Refuses a receiver that cannot be had here, before there is a data directory. Commands and classes are
    /// opened later: a command of another run may be under way, and the constructor of a class is a user's
    /// code.
    ///
    /// @param folder of the pipeline file
    static void requirePossible(Pipeline pipeline, Batching batching, Path folder) {
        switch (batching.deliver().kind()) {
            case COMMAND, JAVA -> {}
            case FILE, S3, SFTP, HTTP, JDBC, KAFKA, LAMBDA ->
                open(batching, Context.of(folder, folder, pipeline.input().format()))
                        .close();
        }
    }

    private static Receiver open(Batching batching, Context here) {
        try {
            return Receivers.open(
                    batching,
                    new Context(
                            here.folder(),
                            here.spool(),
                            here.environment(),
                            here.classes(),
                            CONNECTORS,
                            here.format()));
        } catch (IllegalArgumentException e) {
            throw CommandFailure.usage(String.valueOf(e.getMessage()));
        }
    }

    private static Receiver lambda(Batching batching, Context context) {
        throw new IllegalArgumentException(
                "Batches are delivered to the Lambda function "
                        + batching.deliver().target().getFirst()
                        + " on AWS only: 'onefold aws template' deploys the pipeline. Here deliver to 'http', 's3' or 'command'");
    }

    /// Begins to deliver.
    ///
    /// @param folder of the pipeline file
    /// @param data the engine's data directory, which another command finds with these arguments
    static RunDeliveries begin(Caller caller, EmbeddedEngine engine, Path folder, DataDirectory data, String dataAgain)
            throws IOException {
        Path spool = Files.createDirectories(data.path().resolve(SPOOL));
        Receiver receiver = open(
                (Batching) engine.pipeline().fold(),
                Context.of(folder, spool, engine.pipeline().input().format()));
        RunDeliveries delivering = new RunDeliveries(caller, engine, receiver, dataAgain);
        engine.deliver(
                (manifest, attempt, content) -> receiver.deliver(new Handover(manifest, attempt, content::open)));
        return delivering;
    }

    /// Waits until nothing is left to deliver but what a person decides, or a stop is wished.
    ///
    /// @param seal whether the open batch is sealed now
    void await(boolean seal, StopRequest stop) {
        if (seal) {
            engine.batches().seal();
        }
        Summary summary = engine.batches().summary();
        boolean isOpen = false;
        for (boolean isFirst = true; !summary.isQuiet() && !stop.isMade(); isFirst = false) {
            if (isFirst || isOpen && summary.openSince() == null) {
                caller.note("Waiting for " + waitsFor(summary) + ". Ctrl-C ends the wait; the same command goes on.");
            }
            isOpen = summary.openSince() != null;
            try {
                Thread.sleep(POLL_MS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
            summary = engine.batches().summary();
        }
        if (stop.isMade() && engine.batches() instanceof Deliveries deliveries) {
            deliveries.close(); // What is under way may still end, and is in what is said of this run.
        }
        troubles.tell(Instant.now());
    }

    private String waitsFor(Summary summary) {
        Instant openSince = summary.openSince();
        if (openSince == null) {
            return "deliveries: " + Words.count(summary.undelivered()) + " to go";
        }
        Batching batching = (Batching) engine.pipeline().fold();
        return "the open batch of " + Words.count(summary.openRecords(), "record") + ", which is sealed at "
                + Words.time(openSince.plus(batching.waitMax())) + " (--seal seals it at once)";
    }

    private long delivered() {
        return engine.batches().summary().done();
    }

    /// Batches that are sealed and not delivered.
    long undelivered() {
        return engine.batches().summary().undelivered();
    }

    /// The sentence about delivered batches in the summary of the run.
    String text() {
        Summary summary = engine.batches().summary();
        StringBuilder text = new StringBuilder("Delivered ")
                .append(Words.count(delivered() - deliveredBefore, "batch").replace("batchs", "batches"))
                .append("; in all ")
                .append(Words.count(delivered()))
                .append(" of ")
                .append(Words.count(summary.sealed()));
        if (summary.undelivered() > 0) {
            text.append(", ").append(Words.undelivered(summary, ""));
            if (summary.inDoubt() + summary.aside() > 0) {
                text.append(", ")
                        .append(Words.count((long) summary.inDoubt() + summary.aside()))
                        .append(" of them for a person to decide");
            }
            text.append(": see ").append(list);
        }
        return text.append(".\n").toString();
    }

    @Override
    public void close() {
        try {
            receiver.close();
        } catch (Exception e) {
            caller.note("The receiver could not be closed: " + e.getMessage());
        }
    }
}
