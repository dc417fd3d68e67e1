package dev.onefold.cli.aws;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.event.StreamName;
import dev.onefold.aws.letter.LetterTable;
import dev.onefold.aws.resync.DeployedCatchUp;
import dev.onefold.aws.resync.Renewal;
import dev.onefold.aws.resync.RepairIntake;
import dev.onefold.aws.resync.ResyncTurn;
import dev.onefold.aws.resync.RetryQueue;
import dev.onefold.aws.resync.RowScan;
import dev.onefold.aws.store.Store;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.EndpointOption;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.call.Reason;
import dev.onefold.cli.seed.Announcement;
import dev.onefold.cli.seed.Clients;
import dev.onefold.cli.seed.Home;
import dev.onefold.cli.seed.Opened;
import dev.onefold.cli.seed.Versions;
import dev.onefold.core.Engine;
import dev.onefold.core.event.RecordEnds;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.tables.Rate;
import dev.onefold.tables.Seeder;
import dev.onefold.tables.compare.Report;
import dev.onefold.tables.compare.SourceComparison.Passing;
import java.io.IOException;
import java.net.URI;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import software.amazon.awssdk.core.exception.SdkException;

/// A deployment, whose rows are compared with their source.
final class DeployedHome implements Home {
    private final AwsCommand aws;
    private final Options options = new Options();
    private @Nullable Store store;

    /// The options that only a deployment has.
    private static final class Options {
        @Option(
                names = "--retries",
                paramLabel = "URL",
                description = "With --against: the retry queue, which must be empty. Default: the one that the"
                        + " template makes, found by the name of the stack.")
        private @Nullable String retries;

        @Option(
                names = "--kinesis-endpoint",
                converter = EndpointOption.class,
                paramLabel = "URL",
                description = "With --against: where Kinesis is spoken to, if not at AWS, such as"
                        + "%nhttp://localhost:4567")
        private @Nullable URI kinesis;
    }

    DeployedHome(AwsCommand aws) {
        this.aws = aws;
    }

    @Override
    public Map<String, Object> options() {
        return Map.of("deployed", options);
    }

    @Override
    public Clients clients() {
        return new Clients(aws::place);
    }

    /// One for all comparisons of a command.
    private Store store(Engine engine) {
        if (store == null) {
            store = aws.store(engine.pipeline().name());
        }
        return store;
    }

    /// Notes nothing: the content of the tables is read when it is needed.
    @Override
    public void note(Engine engine) {}

    @Override
    public String announcement(Engine engine) {
        return Announcement.ofRows(new RowScan(store(engine), Rate.of(0)).units(), RowScan.UNITS_PER_SECOND);
    }

    @Override
    public Session begin(Engine engine, Opened opened, Work work) {
        Pipeline pipeline = engine.pipeline();
        Store tables = store(engine);
        Optional<String> input = new LetterTable(tables).input();
        input.ifPresent(stream -> requireOwnTable(opened.stream(), stream));
        input.ifPresent(stream -> Versions.requireKind(pipeline, opened.stream(), stream));
        String stream = input.orElse(opened.stream());
        if (stream == null) {
            work.caller()
                    .note("The function State has read no stream yet, so there is none to be read here. Changes are"
                            + " waited for during --lag alone.");
        }
        Optional<RetryQueue> retries = retries(pipeline.name(), work.caller());
        try {
            return new Deployed(
                    tables,
                    work,
                    new DeployedCatchUp.Input(stream, () -> aws.kinesis(options.kinesis), aws::changes, retries),
                    work.repairs() ? Optional.of(turn(tables, pipeline)) : Optional.empty());
        } catch (RuntimeException e) {
            retries.ifPresent(RetryQueue::close);
            throw e;
        }
    }

    /// Refuses another table than the one whose changes State reads.
    ///
    /// @param compared ARN of the change stream of the source; `null` if it plays no part
    /// @param read ARN of the stream that State reads
    private static void requireOwnTable(@Nullable String compared, String read) {
        if (compared == null || !StreamName.isTable(compared) || !StreamName.isTable(read)) {
            return;
        }
        String table = StreamName.of(compared).replaceFirst("/.*", "");
        if (!StreamName.of(read).startsWith(table + "/")) {
            throw new CommandFailure(
                    ExitCode.DIFFERENT,
                    "The deployment reads the change stream " + StreamName.of(read) + ", which is not one of table "
                            + table + ". Compare the rows with the table that they come from.");
        }
    }

    private static ResyncTurn turn(Store store, Pipeline pipeline) {
        return ResyncTurn.take(store)
                .orElseThrow(() -> new CommandFailure(
                        ExitCode.DIRECTORY,
                        "Rows of pipeline " + pipeline.name() + " are being repaired by another command; one repairs"
                                + " at a time. If it was killed, its turn ends "
                                + ResyncTurn.HELD.toMinutes() + " minutes after it was heard of last."));
    }

    private Optional<RetryQueue> retries(String pipeline, Caller caller) {
        if (options.retries != null) {
            return Optional.of(RetryQueues.of(aws, options.retries));
        }
        String deployment = aws.deployment(pipeline);
        if (aws.place().endpoint() != null) {
            caller.note("DynamoDB is not at AWS, so the retry queue is not looked for; --retries names it.");
            return Optional.empty();
        }
        try {
            Optional<RetryQueue> found = RetryQueues.find(aws, deployment);
            if (found.isEmpty()) {
                throw new CommandFailure(
                        ExitCode.DIRECTORY,
                        "No retry queue is called " + deployment
                                + "-Retries-…, or several are: what it names is not in the rows yet, and would look"
                                + " like differences. Say which one it is with --retries.");
            }
            return found;
        } catch (SdkException e) {
            throw new CommandFailure(
                    ExitCode.DIRECTORY,
                    "The retry queue of deployment " + deployment + " cannot be looked for: " + Reason.of(e)
                            + "\nSay which one it is with --retries.",
                    e);
        }
    }

    /// A comparison with the rows of a deployment.
    private static final class Deployed implements Session {
        private final Store store;
        private final AwsEngine engine;
        private final String incarnation;
        private final Work work;
        private final DeployedCatchUp.Input input;
        private final Optional<ResyncTurn> turn;
        private final Optional<Renewal> renewal;

        Deployed(Store store, Work work, DeployedCatchUp.Input input, Optional<ResyncTurn> turn) {
            this.store = store;
            this.work = work;
            this.input = input;
            this.turn = turn;
            engine = AwsEngine.deployed(store).listingAt(Rate.of(RowScan.UNITS_PER_SECOND));
            incarnation = engine.incarnation();
            renewal = turn.map(mine -> Renewal.of(store.threads(), mine::renew));
        }

        @Override
        public Engine engine() {
            return engine;
        }

        @Override
        public long number() {
            return turn.map(ResyncTurn::number).orElse(Long.MAX_VALUE);
        }

        @Override
        public Passing passing() {
            return new DeployedCatchUp(store, number(), input, work.waiting());
        }

        @Override
        public Seeder.Intake intake() {
            return new RepairIntake(store, turn.orElseThrow(), RecordEnds.of(engine.pipeline()));
        }

        /// Rows that went to another incarnation are not in this one.
        @Override
        public void finish(Report report) throws IOException {
            if (!Objects.equals(engine.incarnation(), incarnation)) {
                throw new IOException("the deployment was restored meanwhile, and repairs that came before are not in"
                        + " it; compare again");
            }
        }

        @Override
        public void close() {
            renewal.ifPresent(Renewal::close);
            input.retries().ifPresent(RetryQueue::close);
            turn.ifPresent(ResyncTurn::release);
        }
    }
}
