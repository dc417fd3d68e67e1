package dev.onefold.cli.aws;

import dev.onefold.aws.Connection;
import dev.onefold.aws.stream.PartitionKeys;
import dev.onefold.aws.stream.Producer;
import dev.onefold.aws.stream.StreamRecord;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.run.InputFile;
import dev.onefold.cli.run.Progress;
import dev.onefold.cli.run.StopRequest;
import dev.onefold.cli.show.Words;
import dev.onefold.core.event.RecordEnds;
import dev.onefold.core.pipeline.Input.Records;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.framing.ReadAhead;
import dev.onefold.load.Pace;
import java.io.IOException;
import java.io.InputStream;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient;
import software.amazon.awssdk.services.kinesis.model.ResourceNotFoundException;

/// One call of `onefold aws produce`: what it reads, puts, and says about both. One thread; refusals come on
/// any.
final class Production {
    private static final int REFUSALS_SHOWN_MAX = 10;
    private static final int PROGRESS_RECORDS = 1_000;

    private final Caller caller;
    private final String stream;
    private final PartitionKeys keys;
    private final RecordEnds ends;
    private final Limits limits;
    private final Producer producer;
    private final AtomicLong refused = new AtomicLong();
    private final long startNanos = System.nanoTime();
    /// Of each input that has begun, by the number of its first line among all lines.
    private final ConcurrentSkipListMap<Long, String> inputs = new ConcurrentSkipListMap<>();

    private final CompletableFuture<Object> stopped = new CompletableFuture<>();

    private long lines;
    private long skipped;

    /// The limits of a production.
    ///
    /// @param pace the pace of the records
    /// @param stopMax the longest time that a stop waits for the answers to records that were read
    record Limits(Pace pace, StopRequest stop, Duration stopMax) {
        private static final Duration STOP_MAX = Duration.ofSeconds(5);

        Limits(Pace pace, StopRequest stop) {
            this(pace, stop, STOP_MAX);
        }
    }

    Production(Caller caller, KinesisAsyncClient client, String stream, Pipeline pipeline, Limits limits) {
        this.caller = caller;
        this.stream = stream;
        this.limits = limits;
        keys = new PartitionKeys(pipeline);
        ends = RecordEnds.ofSource(pipeline);
        producer = new Producer(
                client,
                stream,
                Connection.THREADS,
                new SecureRandom(),
                (record, reason) -> refuse(record.number(), reason));
    }

    /// Puts all lines of these inputs, but for the first ones of the first.
    ///
    /// @param from number of the first line that is put, from 1
    ExitCode run(List<String> files, long from) throws InterruptedException {
        limits.stop.after(limits.stopMax, this::giveUp);
        try {
            for (int i = 0; i < files.size() && !limits.stop.isMade(); i++) {
                put(files.get(i), i == 0 ? from - 1 : 0);
            }
            Connection.THREADS.await(
                    CompletableFuture.anyOf(CompletableFuture.runAsync(producer::finish, Connection.THREADS), stopped));
        } catch (IOException | RuntimeException failure) {
            throw broken(failure);
        }
        Producer.Sent sent = producer.sent();
        if (lines - skipped != sent.records() + refused.get()) {
            throw new IllegalStateException(lines - skipped + " records were read, " + sent.records() + " put and "
                    + refused.get() + " refused: these do not add up");
        }
        report(sent);
        if (limits.stop.isMade()) {
            caller.note("Stopped. Go on with " + place(lines + 1) + ".");
            return limits.stop.exitCodeUnfinished();
        }
        return refused.get() == 0 ? ExitCode.DONE : ExitCode.DIFFERENT;
    }

    /// Ends the wait for answers, which may never come; on any thread.
    private void giveUp() {
        String reason = "the command was stopped, and " + Words.duration(limits.stopMax)
                + " later not everything that it had read was answered";
        producer.giveUp(reason);
        stopped.completeExceptionally(new IllegalStateException(reason));
    }

    private void put(String file, long skip) throws IOException, InterruptedException {
        inputs.put(lines + 1, file);
        if (ProduceCommand.isStandardInput(file)) {
            try (ReadAhead input = new ReadAhead(caller.in(), limits.stop::isMade);
                    Progress progress = progress("stdin", 0)) {
                put(new RecordLines(ends, input), skip, progress, () -> 0);
            }
            return;
        }
        InputFile input = InputFile.of(caller, file);
        try (InputStream in = input.open();
                Progress progress = progress(String.valueOf(input.path().getFileName()), input.bytes())) {
            put(new RecordLines(ends, in), skip, progress, input.read()::get);
        }
    }

    private Progress progress(String name, long bytes) {
        return Progress.begin(caller, Progress.Mode.auto, name, Progress.Unit.BYTES, bytes);
    }

    private void put(RecordLines from, long skip, Progress progress, LongSupplier bytes)
            throws IOException, InterruptedException {
        long toSkip = skip;
        for (RecordLines.Line line = from.next(); line != null && !limits.stop.isMade(); line = from.next()) {
            lines++;
            if (toSkip > 0) {
                toSkip--;
                skipped++;
                continue;
            }
            byte[] data = line.data();
            if (data == null) {
                refuse(
                        lines,
                        "it has " + line.bytes() + " bytes, and a record has at most "
                                + dev.onefold.core.pipeline.Limits.RECORD_BYTES_MAX);
            } else {
                producer.add(new StreamRecord(lines, keys.of(data), data));
            }
            if ((lines - skipped) % PROGRESS_RECORDS == 0) {
                progress.at(bytes.getAsLong(), lines - skipped);
            }
            limits.pace.keep(1);
        }
        if (toSkip > 0 && !limits.stop.isMade()) {
            throw CommandFailure.usage(
                    "--from " + (skip + 1) + " lies behind the last line of the first input, which has "
                            + Words.count(skip - toSkip, "line") + ".");
        }
    }

    private void refuse(long number, String reason) {
        long before = refused.getAndIncrement();
        if (before < REFUSALS_SHOWN_MAX) {
            caller.note("Not put: " + place(number) + ": " + reason + ".");
        } else if (before == REFUSALS_SHOWN_MAX) {
            caller.note("Not put: more, which are only counted.");
        }
    }

    /// A line, as a person finds it.
    private String place(long number) {
        var input = inputs.floorEntry(number);
        boolean areLines = !ends.mayHaveLines() && ends.ofFiles() == Records.LINES;
        return (areLines ? "line " : "record ") + (number - input.getKey() + 1) + " of "
                + (ProduceCommand.isStandardInput(input.getValue()) ? "standard input" : input.getValue());
    }

    private CommandFailure broken(Exception failure) {
        if (failure instanceof CommandFailure said) {
            return said;
        }
        if (!limits.stop.isMade()) {
            awaitTheRest();
        }
        long first = producer.firstNotPut().orElse(lines + 1);
        String what =
                failure instanceof IOException ? "The input cannot be read" : "Stream " + stream + " takes no more";
        return new CommandFailure(
                limits.stop.exitCodeUnfinished(),
                what + ": " + failure.getMessage()
                        + (failure instanceof ResourceNotFoundException
                                ? "\nSay which stream it is with --stream."
                                : "")
                        + "\nOf "
                        + Words.count(lines - skipped, "record") + " read, "
                        + Words.count(producer.sent().records()) + " are put. All before " + place(first)
                        + " are: go on from there with --from, when the reason is gone. What lies behind it and is put already"
                        + " comes twice then, which changes no total.",
                failure);
    }

    /// Waits for the requests under way, which may still succeed. Their failure is ignored, because it is known
    /// by now.
    private void awaitTheRest() {
        try {
            producer.finish();
        } catch (RuntimeException known) {
            return;
        }
    }

    private void report(Producer.Sent sent) {
        Duration elapsed = Duration.ofNanos(System.nanoTime() - startNanos);
        caller.printLine("Put " + Words.count(sent.records(), "record") + ", " + Words.bytes(sent.bytes()) + ", into "
                + stream + " in " + Words.duration(elapsed) + " (" + Words.rate(sent.records(), elapsed) + "): "
                + Words.count(sent.requests(), "request") + ", " + Words.count(sent.retried())
                + " entries sent again.");
        if (sent.unanswered() > 0) {
            caller.printLine(Words.count(sent.unanswered(), "record")
                    + " had no answer at first and may be in the stream twice, which changes no total.");
        }
        if (refused.get() > 0) {
            caller.printLine(Words.count(refused.get(), "record") + " could not be put: see above.");
        }
    }
}
