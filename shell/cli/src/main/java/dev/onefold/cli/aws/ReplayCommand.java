package dev.onefold.cli.aws;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.event.StreamName;
import dev.onefold.aws.letter.LetterTable;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.stream.Position;
import dev.onefold.aws.stream.Replay;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.call.Reason;
import dev.onefold.cli.run.Progress;
import dev.onefold.cli.show.Words;
import dev.onefold.core.Counts;
import dev.onefold.core.pipeline.Pipeline;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsAsyncClient;
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient;
import software.amazon.awssdk.services.kinesis.model.ResourceNotFoundException;

/// `onefold aws replay`: folds a range of the stream again.
@Command(
        name = "replay",
        description = {
            "Reads a range of a Kinesis stream, or of a table's change stream, again and folds it again, from this"
                    + " process, beside the functions.",
            "It is safe at any time: what is in the totals already changes nothing. Of use when records were passed over,"
                    + " such as by a mapping that was recreated in the middle of the stream, and to see that none were.",
            "A table's change stream keeps 24 hours. It does not say where its newest record is: the end is taken to be"
                    + " where nothing came for half a minute, and the summary says so."
        },
        footer = {
            "  The last hours of all shards:",
            "    onefold aws replay trade-risk.yaml --from 2026-11-21T08:00:00Z",
            "  Some records of one shard:",
            "    onefold aws replay trade-risk.yaml --shard shardId-000000000001",
            "      --from 49590338271490256608559692538361571095921575989136588898",
            "      --to 49590338271490256608559692540925702759324208523137515618"
        })
final class ReplayCommand implements Callable<Integer> {
    private final Caller caller;
    private final AwsCommand aws;

    @Parameters(index = "0", paramLabel = "PIPELINE", description = "The pipeline file.")
    private String pipeline = "";

    @Option(
            names = "--from",
            required = true,
            paramLabel = "PLACE",
            description = "Where to begin: a sequence number, or a time such as 2026-11-21T08:00:00Z.")
    private String from = "";

    @Option(
            names = "--to",
            paramLabel = "PLACE",
            description = "The last one to read: a sequence number, or a time. Default: now.")
    private @Nullable String to;

    @Option(
            names = "--shard",
            paramLabel = "ID",
            description = "The shard. Default: all; a sequence number needs one where there are several.")
    private @Nullable String shard;

    @Mixin
    private final StreamOptions stream = new StreamOptions();

    ReplayCommand(Caller caller, AwsCommand aws) {
        this.caller = caller;
        this.aws = aws;
    }

    @Override
    public Integer call() {
        Replay.Range range = new Replay.Range(
                position("--from", from),
                to == null ? new Position.Time(Instant.now()) : position("--to", to),
                Optional.ofNullable(shard));
        Pipeline definition = AwsCommand.pipeline(caller, pipeline);
        String name = definition.name();
        Store store = FunctionBesideFile.with(caller, aws, pipeline, definition);
        AwsEngine engine = aws.engine(name, store);
        String source = stream.of(aws.deployment(name), new LetterTable(store).input());
        long startNanos = System.nanoTime();
        Replay.Done done;
        try (Progress progress = Progress.begin(caller, Progress.Mode.auto, source, Progress.Unit.RECORDS, 0)) {
            done = replay(store, source, range, counts -> progress.at(counts.records(), counts.records()));
        } catch (IllegalArgumentException refused) {
            throw CommandFailure.usage(String.valueOf(refused.getMessage()));
        } catch (SdkException | IllegalStateException failure) {
            throw new CommandFailure(
                    ExitCode.DIFFERENT,
                    "Stream " + source + " could not be replayed to its end: " + Reason.of(failure)
                            + (isUnknown(failure) ? "\nSay which stream it is with --stream." : "")
                            + "\nWhat was read is in the totals. Run it again: what is in changes nothing.",
                    failure);
        }
        engine.reduce();
        report(done, source, Duration.ofNanos(System.nanoTime() - startNanos));
        return done.forgotten().isEmpty() ? ExitCode.DONE.code() : ExitCode.DIFFERENT.code();
    }

    private Replay.Done replay(Store store, String source, Replay.Range range, Consumer<Counts> progress) {
        if (StreamName.isTable(source)) {
            try (DynamoDbStreamsAsyncClient client = aws.changes()) {
                return Replay.run(store, client, source, range, progress);
            }
        }
        try (KinesisAsyncClient client = stream.client(aws)) {
            return Replay.run(store, client, source, range, progress);
        }
    }

    private static boolean isUnknown(Exception failure) {
        return failure instanceof ResourceNotFoundException
                || failure instanceof software.amazon.awssdk.services.dynamodb.model.ResourceNotFoundException;
    }

    private static Position position(String option, String text) {
        if (text.matches("[0-9]{5,}")) {
            return new Position.Sequence(text);
        }
        try {
            return new Position.Time(OffsetDateTime.parse(text).toInstant());
        } catch (DateTimeException unreadable) {
            throw new CommandFailure(
                    ExitCode.USAGE,
                    option + " is a sequence number or a time with its offset, such as 2026-11-21T08:00:00Z; not '"
                            + Words.visible(text) + "'.",
                    unreadable);
        }
    }

    private void report(Replay.Done done, String source, Duration elapsed) {
        Counts counts = done.counts();
        caller.printLine("Replayed " + Words.count(counts.records(), "record") + " of "
                + Words.count(done.shards(), "shard") + " of " + source + " in " + Words.duration(elapsed)
                + " (" + Words.rate(counts.records(), elapsed) + ").");
        caller.print(Words.line("new", counts.accepted()));
        caller.print(Words.line("duplicate", counts.duplicate()));
        caller.print(Words.line("stale", counts.stale()));
        caller.print(Words.line("conflicting", counts.conflicting()));
        caller.print(Words.line("rejected", counts.rejected()));
        if (counts.silent() > 0) {
            caller.print(Words.line("silent", counts.silent()));
            done.fates()
                    .causes()
                    .of("silent")
                    .forEach((cause, count) -> caller.print(Words.line("  " + Words.visible(cause), count)));
        }
        if (done.quiet() > 0) {
            caller.note("Of " + Words.count(done.quiet(), "open shard") + " nothing says that the newest record was"
                    + " read: no more came. Run it again to see whether there are any.");
        }
        done.forgotten().forEach(hint -> caller.note(hint + "."));
        if (!done.forgotten().isEmpty()) {
            caller.note(
                    StreamName.isTable(source)
                            ? "What the stream has forgotten must come from the table: write each of its items"
                                    + " once more, and insert and remove again what was removed meanwhile."
                            : "What the stream has forgotten must come from where it came from: 'onefold aws"
                                    + " produce' puts it again.");
        }
    }
}
