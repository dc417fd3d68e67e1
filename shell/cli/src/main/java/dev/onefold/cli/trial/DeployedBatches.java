package dev.onefold.cli.trial;

import dev.onefold.aws.AwsBatchEngine;
import dev.onefold.aws.resync.RetryQueue;
import dev.onefold.cli.aws.RecordLines;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.data.Workplace;
import dev.onefold.cli.deploy.Buckets;
import dev.onefold.cli.show.Words;
import dev.onefold.core.SealedBatches;
import dev.onefold.core.SealedBatches.Summary;
import dev.onefold.core.event.RecordEnds;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.receivers.Verification;
import dev.onefold.s3.S3Address;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/// A deployment that makes batches. The receiver is the trial's bucket: its objects are read back, their
/// manifests prove them, and each record is struck off what the producer has put.
final class DeployedBatches implements Deployed {
    /// SQS counts its messages approximately, and up to a minute late.
    private static final Duration QUIET = Duration.ofMinutes(1);

    private static final Duration QUIET_LOCAL = Duration.ofSeconds(2);
    private static final String CONTENT = ".ndjson";

    private final Parts parts;
    private final Pipeline pipeline;
    private final BatchOracle oracle;
    private final RetryQueue input;
    private final RetryQueue aside;
    private final long quietNanos;
    private long busyNanos;
    private boolean isAsked;
    private @Nullable Summary summary;

    /// What the receiver has.
    private static final class Received {
        final Set<Long> batches = new HashSet<>();
        final List<String> findings = new ArrayList<>();
        long records;
        long strange;
    }

    DeployedBatches(Parts parts, Pipeline pipeline, BatchOracle oracle) {
        this.parts = parts;
        this.pipeline = pipeline;
        this.oracle = oracle;
        input = new RetryQueue(parts.services().queues(), parts.output("InputQueueUrl"));
        aside = new RetryQueue(parts.services().queues(), parts.output("InputAsideUrl"));
        quietNanos = (parts.services().place().endpoint() == null ? QUIET : QUIET_LOCAL).toNanos();
    }

    @Override
    public Sink.Opener sink() {
        return Sink.queue(parts.services().queues(), parts.output("InputQueueUrl"));
    }

    @Override
    public void read() {
        if (AwsBatchEngine.isDeployed(parts.store())) {
            summary = batches().summary();
        }
    }

    private SealedBatches batches() {
        return AwsBatchEngine.deployed(parts.store()).batches();
    }

    @Override
    public String line(Oracle.Right right) {
        Summary now = summary;
        String put = Words.count(right.members(), "different record") + " were put. ";
        return now == null
                ? put
                : put + batches(now.sealed()) + " sealed, " + Words.count(now.done()) + " of them delivered; "
                        + Words.count(now.openRecords(), "record") + " in no batch yet. ";
    }

    @Override
    public List<String> picture(Oracle.Right right, int room) {
        return Words.wrap(line(right).strip(), parts.caller().screen().outWidth())
                .lines()
                .toList();
    }

    /// When the queue is empty for a time, what is in no batch is sealed, without waiting as long as the
    /// pipeline says.
    @Override
    public boolean isDone() {
        if (!isAsked || input.size() > 0) {
            isAsked = true;
            busyNanos = System.nanoTime();
        }
        if (System.nanoTime() - busyNanos < quietNanos) {
            return false;
        }
        read();
        if (summary != null && summary.openRecords() > 0) {
            batches().seal();
            return false;
        }
        return summary == null || summary.isQuiet();
    }

    @Override
    public long aside() {
        return aside.size();
    }

    @Override
    public ExitCode compare(Oracle.Right right, long put) {
        Received received;
        try {
            received = received();
        } catch (IOException e) {
            throw new CommandFailure(ExitCode.STORAGE, "The batches cannot be read back: " + e.getMessage(), e);
        }
        BatchOracle.Struck struck = oracle.struck();
        List<String> wrong = new ArrayList<>(received.findings);
        say(wrong, received.strange, "record in a batch was not put", "records in batches were not put");
        say(wrong, struck.missing(), "record is in no batch", "records are in no batch");
        say(wrong, struck.doubled(), "record is in batches more than once", "records are in batches more than once");
        Set<String> lost = new HashSet<>(oracle.rejections());
        if (summary != null) {
            lost.removeAll(
                    RejectedRecords.of(AwsBatchEngine.deployed(parts.store()).deadLetters()));
        }
        say(wrong, lost.size(), "rejected record is no dead letter", "rejected records are no dead letters");
        parts.board().say("");
        parts.board()
                .say("Put: " + Words.count(put, "record") + ", " + Words.count(right.members())
                        + " different ones for batches, " + Words.count(oracle.rejected()) + " that are no events.\n"
                        + "At the receiver: " + Words.count(received.records, "record") + " in "
                        + batches(received.batches.size()) + "." + delays());
        if (wrong.isEmpty()) {
            parts.board()
                    .say("equal: each different record is in exactly one batch, by its content; manifests prove number,"
                            + " count and SHA-256 of each batch; what is no event is a dead letter.");
        }
        wrong.forEach(parts.board()::say);
        return wrong.isEmpty() ? ExitCode.DONE : ExitCode.DIFFERENT;
    }

    /// S3 says when an object was written, to the second.
    private String delays() {
        long[] ms = oracle.delaysMs();
        if (ms.length == 0) {
            return "";
        }
        return "\nDelay from the first put of a record until its batch was there: mean "
                + seconds(LongStream.of(ms).sum() / ms.length) + ", p99 " + seconds(ms[ms.length * 99 / 100])
                + ", longest " + seconds(ms[ms.length - 1]) + ".";
    }

    private static String seconds(long ms) {
        return Words.duration(Duration.ofMillis(ms));
    }

    private static String batches(long count) {
        return Words.count(count) + (count == 1 ? " batch" : " batches");
    }

    private static void say(List<String> wrong, long count, String one, String several) {
        if (count > 0) {
            wrong.add("DIFFERENT: " + Words.count(count) + " " + (count == 1 ? one : several) + ".");
        }
    }

    private Received received() throws IOException {
        Received received = new Received();
        try (Workplace workplace = Workplace.temporary("onefold-trial-batches")) {
            S3Address address = S3Address.of(((Batching) pipeline.fold()).deliver());
            Buckets buckets = new Buckets(parts.services().objects());
            for (var object :
                    buckets.written(address.bucket(), address.prefix()).entrySet()) {
                Path file = workplace
                        .folder()
                        .resolve(object.getKey().substring(address.prefix().length()));
                parts.board().step("Reading " + file.getFileName() + " back");
                buckets.get(address.bucket(), object.getKey(), file);
                if (object.getKey().endsWith(CONTENT)) {
                    strike(file, object.getValue(), received);
                }
            }
            parts.board().endStep();
            Verification verification = Verification.of(workplace.folder(), 1);
            if (!received.batches.isEmpty() || oracle.right().members() > 0) {
                verification.findings().forEach(finding -> received.findings.add("DIFFERENT: " + finding));
            }
        }
        return received;
    }

    private void strike(Path file, Instant at, Received received) throws IOException {
        String name = String.valueOf(file.getFileName());
        received.batches.add(Long.parseLong(name.substring(0, name.length() - CONTENT.length())));
        try (InputStream in = Files.newInputStream(file)) {
            RecordLines lines = new RecordLines(RecordEnds.ofSource(pipeline), in);
            for (RecordLines.Line line = lines.next(); line != null; line = lines.next()) {
                byte[] record = line.data();
                received.records++;
                if (record == null || !oracle.strike(record, at)) {
                    received.strange++;
                }
            }
        }
    }
}
