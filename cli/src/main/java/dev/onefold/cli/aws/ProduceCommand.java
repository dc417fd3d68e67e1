package dev.onefold.cli.aws;

import dev.onefold.aws.AwsEngine;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.run.InputFile;
import dev.onefold.cli.run.StopRequest;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.load.Pace;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient;

/// `onefold aws produce`: puts lines into the stream of a deployment.
@Command(
        name = "produce",
        description = {
            "Puts lines into a Kinesis stream, one record each, as the pipeline file says that they are read.",
            "The event's key is the partition key, and the records of a key stay in their order. What cannot be decoded"
                    + " is sent, too: the functions make dead letters of it. A record may be put twice when an answer is"
                    + " lost, which changes no total."
        },
        footer = {
            "  Files, compressed or not:",
            "    onefold aws produce trade-risk.yaml trades-1.ndjson trades-2.ndjson.gz",
            "  Generated load, a thousand records a second:",
            "    onefold generate trade-risk --workload demo --events 100000 |",
            "      onefold aws produce trade-risk.yaml --rate 1000",
            "  On from where an earlier call was stopped:",
            "    onefold aws produce trade-risk.yaml trades-2.ndjson.gz --from 70001"
        })
final class ProduceCommand implements Callable<Integer> {
    static final String STANDARD_INPUT = "-";

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
            names = "--rate",
            paramLabel = "N",
            description = "Records a second; 0: as fast as the stream takes them. Default: ${DEFAULT-VALUE}.")
    private long rate;

    @Option(
            names = "--from",
            paramLabel = "LINE",
            description =
                    "Number, from 1, of the first line of the first input that is put. Default: ${DEFAULT-VALUE}.")
    private long from = 1;

    ProduceCommand(Caller caller, AwsCommand aws) {
        this.caller = caller;
        this.aws = aws;
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (from < 1) {
            throw CommandFailure.usage("--from is the number of a line, from 1; not " + from + ".");
        }
        if (files.contains(STANDARD_INPUT) && files.indexOf(STANDARD_INPUT) < files.size() - 1) {
            throw CommandFailure.usage("Standard input (-) comes last, and once.");
        }
        Pipeline definition = AwsCommand.pipeline(caller, pipeline);
        Pace pace;
        try {
            AwsEngine.requireInputPossible(definition);
            pace = rate == 0 ? null : new Pace(rate, System.nanoTime());
        } catch (IllegalArgumentException refused) {
            throw CommandFailure.usage(String.valueOf(refused.getMessage()));
        }
        for (String file : files) {
            if (!file.equals(STANDARD_INPUT)) {
                InputFile.of(caller, file); // What cannot be read is refused before anything is put.
            }
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

    static boolean isStandardInput(String file) {
        return STANDARD_INPUT.equals(file);
    }
}
