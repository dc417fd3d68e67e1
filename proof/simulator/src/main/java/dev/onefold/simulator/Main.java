package dev.onefold.simulator;

import dev.onefold.simulator.deployment.AwsFigures;
import dev.onefold.simulator.deployment.AwsSimulation;
import dev.onefold.simulator.embedded.EmbeddedSimulation;
import dev.onefold.simulator.lanes.BurstFigures;
import dev.onefold.simulator.lanes.ConsumerFigures;
import dev.onefold.simulator.seeding.AwsSeededSimulation;
import dev.onefold.simulator.seeding.SeededSimulation;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.logging.Level;
import java.util.logging.Logger;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/// The simulator as a program, for nights: seed after seed, until one fails.
@Command(
        name = "simulator",
        mixinStandardHelpOptions = true,
        description = "Runs the embedded engine through seeded lives with crashes and faults, judged by an oracle.",
        footer = {
            "",
            "Examples:",
            "  simulator --seeds 100000",
            "  simulator --seeds 1000 --from 5000",
            "  simulator --seed 42",
            "  simulator --aws --seeds 100000",
            "  simulator --tables --seeds 10000",
            "  simulator --figures 1m.ndjson",
            "  simulator --burst 60000",
            "  simulator --delays 1m.ndjson",
            "  simulator --delays 2m.ndjson --totals 2m.json"
        })
public final class Main implements Callable<Integer> {
    /// Held here, because the logging system holds a logger weakly.
    private static final Logger ENGINE_LOG = Logger.getLogger("dev.onefold");

    private static final long TELL_NANOS = 5_000_000_000L;

    @Option(names = "--seeds", paramLabel = "N", description = "how many seeds to run (default: ${DEFAULT-VALUE})")
    private long seeds = 1_000;

    @Option(names = "--from", paramLabel = "S", description = "the first of them (default: ${DEFAULT-VALUE})")
    private long from;

    @Option(names = "--seed", paramLabel = "S", description = "runs this seed alone")
    @org.jspecify.annotations.Nullable
    private Long seed;

    @Option(names = "--aws", description = "the runtime on AWS, on simulated services; else the embedded one")
    private boolean aws;

    @Option(names = "--tables", description = "lives of pipelines whose tables are seeded while they change")
    private boolean tables;

    @Option(
            names = "--figures",
            paramLabel = "INPUT",
            description = "counts requests and units of the runtime on AWS for messages of 'generate trade-risk'")
    @org.jspecify.annotations.Nullable
    private Path figures;

    @Option(
            names = "--seeding",
            paramLabel = "N",
            description = "counts requests and units of a seeding of so many rows on AWS")
    private int seeding;

    @Option(
            names = "--burst",
            paramLabel = "N",
            description =
                    "counts requests, units and virtual time of a burst of so many messages into batches on AWS, beside"
                            + " a design with a put for each message")
    private int burst;

    @Option(
            names = "--consumer",
            paramLabel = "N",
            description = "counts units and virtual time of so many messages that go to a receiver one by one on AWS")
    private int consumer;

    @Option(
            names = "--delays",
            paramLabel = "INPUT",
            description =
                    "measures in virtual time how late the totals of the runtime on AWS are, at 1,000 and at 50,000"
                            + " messages of 'generate trade-risk' a second; wants a heap of 6 GB")
    @org.jspecify.annotations.Nullable
    private Path delays;

    @Option(
            names = "--totals",
            paramLabel = "FILE",
            description =
                    "with --delays: puts all messages, at 50,000 a second and with failures, and compares the totals"
                            + " with this file of 'generate trade-risk --totals'; ten million want a heap of 10 GB")
    @org.jspecify.annotations.Nullable
    private Path totals;

    public static void main(String[] arguments) {
        ENGINE_LOG.setLevel(Level.WARNING);
        System.setProperty("onefold.scale", System.getProperty("onefold.scale", "512")); // Before the engine is loaded.
        System.setProperty("jdk.trackAllThreads", "false"); // What a killed process waits for never comes.
        System.exit(new CommandLine(new Main()).execute(arguments));
    }

    @Override
    public Integer call() throws IOException {
        if (burst > 0) {
            BurstFigures.print(burst, System.out);
            return 0;
        }
        if (consumer > 0) {
            ConsumerFigures.print(consumer, System.out);
            return 0;
        }
        if (seeding > 0) {
            AwsFigures.printSeed(seeding, System.out);
            return 0;
        }
        if (figures != null) {
            AwsFigures.print(figures, System.out);
            return 0;
        }
        if (delays != null && totals != null) {
            return AwsFigures.printLong(delays, totals, System.out) ? 0 : 1;
        }
        if (delays != null) {
            AwsFigures.printDelays(delays, System.out);
            return 0;
        }
        long first = seed == null ? from : seed;
        long count = seed == null ? seeds : 1;
        long told = System.nanoTime();
        for (long each = first; each < first + count; each++) {
            try {
                run(each);
            } catch (AssertionError failure) {
                failure.printStackTrace();
                return 1;
            }
            if (System.nanoTime() - told > TELL_NANOS) {
                told = System.nanoTime();
                System.err.println(each + 1 - first + " of " + count + " seeds passed");
            }
        }
        System.out.println("All totals were right: seeds " + first + " to " + (first + count - 1));
        return 0;
    }

    private void run(long each) {
        if (tables && aws) {
            AwsSeededSimulation.run(each);
        } else if (tables) {
            SeededSimulation.run(each);
        } else if (aws) {
            AwsSimulation.run(each);
        } else {
            EmbeddedSimulation.run(each);
        }
    }
}
