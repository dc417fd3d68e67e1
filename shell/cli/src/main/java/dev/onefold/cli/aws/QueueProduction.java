package dev.onefold.cli.aws;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.run.InputFile;
import dev.onefold.cli.show.Words;
import dev.onefold.core.event.RecordEnds;
import dev.onefold.embedded.framing.ReadAhead;
import dev.onefold.sqs.Queue;
import dev.onefold.sqs.QueueSender;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;

/// One call of `onefold aws produce --queue`: what it reads, sends, and says about both. One thread; refusals come on
/// any.
final class QueueProduction {
    private static final int REFUSALS_SHOWN_MAX = 10;

    private final Caller caller;
    private final SqsAsyncClient client;
    private final Queue queue;
    private final Production.Limits limits;
    private final RecordEnds ends;
    private final AtomicLong refused = new AtomicLong();
    private final long startNanos = System.nanoTime();
    private long lines;

    QueueProduction(Caller caller, SqsAsyncClient client, Queue queue, Production.Limits limits, RecordEnds ends) {
        this.ends = ends;
        this.caller = caller;
        this.client = client;
        this.queue = queue;
        this.limits = limits;
    }

    /// Sends all lines of these inputs, but for the first ones of the first.
    ///
    /// @param from number of the first line that is sent, from 1
    ExitCode run(List<String> files, long from, int delaySeconds) throws IOException, InterruptedException {
        String file = files.getFirst();
        long first = from;
        try (QueueSender sender = new QueueSender(client, queue, delaySeconds, this::refuse)) {
            for (int i = 0; i < files.size() && !limits.stop().isMade(); i++) {
                file = files.get(i);
                first = i == 0 ? from : 1;
                sendAll(file, first, sender);
            }
            report(sender.sent());
        }
        if (limits.stop().isMade()) {
            caller.note("Stopped. " + goOn(file, Math.max(first, lines + 1)) + ".");
            return limits.stop().exitCodeUnfinished();
        }
        return refused.get() == 0 ? ExitCode.DONE : ExitCode.DIFFERENT;
    }

    private void sendAll(String file, long from, QueueSender sender) throws IOException, InterruptedException {
        try {
            send(file, from, sender);
            sender.finish();
        } catch (CommandFailure said) {
            throw said;
        } catch (RuntimeException failed) {
            throw new CommandFailure(
                    ExitCode.DIFFERENT,
                    "Queue " + queue.url() + " takes no more: " + failed.getMessage() + "\n"
                            + goOn(file, sender.firstUnanswered().orElse(lines + 1))
                            + ": what is before it is sent, or was refused. Some lines behind it may be sent, too; an"
                            + " id in the record makes a second message a duplicate.",
                    failed);
        }
    }

    private static String goOn(String file, long first) {
        return "Go on with --from " + first + " of " + (ProduceCommand.isStandardInput(file) ? "standard input" : file);
    }

    private void send(String file, long from, QueueSender sender) throws IOException, InterruptedException {
        boolean isStandardInput = ProduceCommand.isStandardInput(file);
        try (InputStream in = isStandardInput
                ? new ReadAhead(caller.in(), limits.stop()::isMade)
                : InputFile.of(caller, file).open()) {
            RecordLines records = new RecordLines(ends, in);
            lines = 0;
            for (RecordLines.Line line = records.next();
                    line != null && !limits.stop().isMade();
                    line = records.next()) {
                lines++;
                if (lines < from) {
                    continue;
                }
                byte[] data = line.data();
                if (data == null) {
                    refuse(lines, "it has " + line.bytes() + " bytes, more than a message");
                } else {
                    sender.add(lines, data);
                }
                limits.pace().keep(1);
            }
        }
        if (lines < from - 1 && !limits.stop().isMade()) {
            throw CommandFailure.usage("--from " + from + " lies behind the last line of the first input, which has "
                    + Words.count(lines, "line") + ".");
        }
    }

    private void refuse(long number, @Nullable String reason) {
        long before = refused.getAndIncrement();
        if (before < REFUSALS_SHOWN_MAX) {
            caller.note("Not sent: line " + number + ": " + reason + ".");
        } else if (before == REFUSALS_SHOWN_MAX) {
            caller.note("Not sent: more, which are only counted.");
        }
    }

    private void report(long sent) {
        Duration elapsed = Duration.ofNanos(System.nanoTime() - startNanos);
        caller.printLine("Sent " + Words.count(sent, "record") + " to " + queue.name() + " in "
                + Words.duration(elapsed) + " (" + Words.rate(sent, elapsed) + ").");
        if (refused.get() > 0) {
            caller.printLine(Words.count(refused.get(), "record") + " could not be sent: see above.");
        }
    }
}
