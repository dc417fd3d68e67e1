package dev.onefold.cli.aws;

import dev.onefold.aws.AwsEngine;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.data.PipelineArgument;
import dev.onefold.cli.run.InputFile;
import dev.onefold.cli.run.StopRequest;
import dev.onefold.core.event.RecordEnds;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.load.Pace;
import dev.onefold.sqs.Queue;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;

/// `onefold aws produce`: puts lines into the stream of a deployment, or sends them to a queue.
@Command(
        name = "produce",
        description = {
            "Puts lines into a Kinesis stream, one record each, as the pipeline file says that they are read.",
            "The event's key is the partition key, and the records of a key stay in their order. What cannot be decoded"
                    + " is sent, too: the functions make dead letters of it. A record may be put twice when an answer is"
                    + " lost, which changes no total.",
            "With --queue each record is a message of an SQS queue instead. A record that is sent twice is two messages,"
                    + " which counts twice where the pipeline has 'id: message'."
        },
        footer = {
            "  Files, compressed or not:",
            "    onefold aws produce trade-risk.yaml trades-1.ndjson trades-2.ndjson.gz",
            "  Generated load, a thousand records a second:",
            "    onefold generate trade-risk --workload demo --events 100000 |",
            "      onefold aws produce trade-risk.yaml --rate 1000",
            "  On from where an earlier call was stopped:",
            "    onefold aws produce trade-risk.yaml trades-2.ndjson.gz --from 70001",
            "  To a queue:",
            "    onefold aws produce orders.yaml orders.ndjson \\",
            "      --queue https://sqs.eu-central-1.amazonaws.com/123456789012/orders"
        })
final class ProduceCommand implements Callable<Integer> {
    static final String STANDARD_INPUT = "-";
    private static final int DELAY_SECONDS_MAX = 900;

    private final Caller caller;
    private final AwsCommand aws;

    @Parameters(index = "0", paramLabel = "PIPELINE", description = "The pipeline file.")
    private String pipeline = "";

    @Parameters(
            index = "1..*",
            arity = "0..*",
            paramLabel = "FILE",
            description = "Files to put, one after the other. A name ending in .gz or .zst is decompressed. Default: -"
                    + " (standard input).")
    private List<String> files = List.of(STANDARD_INPUT);

    @Mixin
    private final StreamOptions stream = new StreamOptions();

    @Option(
            names = "--queue",
            paramLabel = "URL",
            description = "An SQS queue that takes the records as messages, in place of a stream.")
    private @Nullable String queue;

    @Option(
            names = "--delay-seconds",
            paramLabel = "N",
            description =
                    "With --queue: for how long the queue hides each message at first, 0 to 900. Default: as the queue"
                            + " is set.")
    private int delaySeconds = -1;

    @Option(
            names = "--rate",
            paramLabel = "N",
            description = "Records a second; 0: as fast as the stream takes them. Default: ${DEFAULT-VALUE}.")
    private long rate;

    @Option(
            names = "--from",
            paramLabel = "NUMBER",
            description =
                    "Number, from 1, of the first record of the first input that is put; a record of CSV may have several"
                            + " lines. Default: ${DEFAULT-VALUE}.")
    private long from = 1;

    ProduceCommand(Caller caller, AwsCommand aws) {
        this.caller = caller;
        this.aws = aws;
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (from < 1) {
            throw CommandFailure.usage("--from is the number of a record, from 1; not " + from + ".");
        }
        if (files.contains(STANDARD_INPUT) && files.indexOf(STANDARD_INPUT) < files.size() - 1) {
            throw CommandFailure.usage("Standard input (-) comes last, and once.");
        }
        requireQueueOptions();
        Pipeline definition =
                queue == null ? AwsCommand.pipeline(caller, pipeline) : PipelineArgument.read(caller, pipeline);
        Pace pace;
        try {
            if (queue == null) {
                AwsEngine.requireInputPossible(definition);
            }
            pace = new Pace(rate, System.nanoTime());
        } catch (IllegalArgumentException refused) {
            throw CommandFailure.usage(String.valueOf(refused.getMessage()));
        }
        for (String file : files) {
            if (!file.equals(STANDARD_INPUT)) {
                InputFile.of(caller, file); // What cannot be read is refused before anything is put.
            }
        }
        if (queue != null) {
            return toQueue(queue, RecordEnds.ofSource(definition), pace).code();
        }
        String target = stream.target(aws.deployment(definition.name()));
        StopRequest stop = new StopRequest();
        stop.makeOnSignals();
        try (KinesisAsyncClient client = stream.client(aws)) {
            Production production =
                    new Production(caller, client, target, definition, new Production.Limits(pace, stop));
            return production.run(files, from).code();
        }
    }

    private void requireQueueOptions() {
        if (queue == null && delaySeconds >= 0) {
            throw CommandFailure.usage("--delay-seconds is for --queue.");
        }
        if (queue != null && stream.isSaid()) {
            throw CommandFailure.usage("--queue stands in place of --stream and --kinesis-endpoint.");
        }
        if (delaySeconds > DELAY_SECONDS_MAX) {
            throw CommandFailure.usage(
                    "--delay-seconds is 0 to " + DELAY_SECONDS_MAX + ", as SQS has it; not " + delaySeconds + ".");
        }
    }

    private ExitCode toQueue(String url, RecordEnds ends, Pace pace) throws IOException, InterruptedException {
        Queue target;
        try {
            target = Queue.of(url);
        } catch (IllegalArgumentException refused) {
            throw CommandFailure.usage(String.valueOf(refused.getMessage()));
        }
        StopRequest stop = new StopRequest();
        stop.makeOnSignals();
        try (SqsAsyncClient client = aws.queue(target)) {
            return new QueueProduction(caller, client, target, new Production.Limits(pace, stop), ends)
                    .run(files, from, delaySeconds);
        }
    }

    static boolean isStandardInput(String file) {
        return STANDARD_INPUT.equals(file);
    }
}
