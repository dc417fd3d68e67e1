package dev.onefold.cli.aws;

import dev.onefold.api.sync.FolderRun;
import dev.onefold.api.sync.SeedLog;
import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.SeedIntake;
import dev.onefold.aws.letter.LetterTable;
import dev.onefold.aws.resync.Renewal;
import dev.onefold.aws.resync.SeedLease;
import dev.onefold.aws.state.SeedNumbers;
import dev.onefold.aws.store.Store;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.call.Reason;
import dev.onefold.cli.data.PipelineArgument;
import dev.onefold.cli.run.StopRequest;
import dev.onefold.cli.seed.Announcement;
import dev.onefold.cli.seed.Clients;
import dev.onefold.cli.seed.Opened;
import dev.onefold.cli.seed.Run;
import dev.onefold.cli.seed.SeedOptions;
import dev.onefold.cli.seed.SeedSources;
import dev.onefold.cli.seed.Versions;
import dev.onefold.core.bytes.RecordKind;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.tables.Rate;
import java.io.IOException;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import software.amazon.awssdk.core.exception.SdkException;

/// `onefold aws seed`: the rows of a table become rows of a deployment.
@Command(
        name = "seed",
        description = {
            "Brings the rows that a table has already to a deployment that counts its changes.",
            "Before, after or while live records come in, any number of times: a row counts unless a live record of it"
                    + " is newer. It writes the deployment's rows from here, and the functions reduce them. Nothing is"
                    + " written to the table, and no other reader of its stream sees anything.",
            "Killed or stopped, the same command in the same folder goes on."
        },
        footer = {
            "  What it costs and how long it takes:",
            "    onefold aws seed favourites.yaml --from dynamodb:Favourites --dry-run",
            "  With tables that take 40,000 write units a second:",
            "    onefold aws seed favourites.yaml --from dynamodb:Favourites --rate 40000"
        })
final class DeployedSeedCommand implements Callable<Integer> {
    private final Caller caller;
    private final AwsCommand aws;
    private final StopRequest stop = new StopRequest();

    @Parameters(index = "0", paramLabel = "PIPELINE", description = "The pipeline file.")
    private String pipeline = "";

    @Mixin
    private final SeedOptions options = new SeedOptions();

    @Option(
            names = "--rate",
            paramLabel = "N",
            description = "Write units a second that the table of rows is to take for this. Default: ${DEFAULT-VALUE},"
                    + " which a new table takes.")
    private long rate = 4_000;

    DeployedSeedCommand(Caller caller, AwsCommand aws) {
        this.caller = caller;
        this.aws = aws;
    }

    @Override
    public Integer call() throws IOException {
        if (rate < 1) {
            throw CommandFailure.usage("--rate is 1 or more, not " + rate + ".");
        }
        Pipeline definition = AwsCommand.pipeline(caller, pipeline);
        String name = definition.name();
        Store store = FunctionBesideFile.with(caller, aws, pipeline, definition);
        AwsEngine engine = aws.engine(name, store);
        if (!options.isDryRun()) {
            stop.makeOnSignals();
        }
        Pipeline served = engine.pipeline();
        try (Clients clients = new Clients(aws::place);
                Opened opened = new SeedSources(caller, options, clients, served, 0).open()) {
            new LetterTable(store).input().ifPresent(input -> Versions.requireKind(served, opened.stream(), input));
            caller.note(Announcement.of(served, opened, 0));
            caller.note(Announcement.ofWrites(opened, rate));
            return options.isDryRun()
                    ? ExitCode.DONE.code()
                    : seed(store, engine, opened).code();
        }
    }

    private ExitCode seed(Store store, AwsEngine engine, Opened opened) throws IOException {
        Pipeline served = engine.pipeline();
        String incarnation = engine.incarnation(); // Rows that went to another one, or before a restore, are not here.
        String deployment = aws.deployment(served.name());
        SeedLog log = new SeedLog(PipelineArgument.base(caller).resolve("aws-" + deployment + "-seeds"));
        Rate rows = Rate.of(Announcement.rowsASecond(rate));
        Run run = new Run(caller, options, stop, "onefold aws dead-letters " + served.name());
        try (Running running = new Running(store)) {
            ExitCode code = run.seed(
                    served, new Opened(opened.source(), opened.shown(), rows, opened.stream()), (identity, restart) -> {
                        SeedLog.Seed seed = log.begin(incarnation + " " + identity, numbers(store, running), restart);
                        RecordKind kind = Versions.form(served, opened.stream(), seed.number())
                                .kind();
                        SeedIntake intake = new SeedIntake(store, served, seed.number(), kind);
                        return new FolderRun(seed, (_, lines, length) -> intake.append(lines, length), () -> {});
                    });
            if (!engine.incarnation().equals(incarnation)) {
                throw new CommandFailure(
                        ExitCode.DIFFERENT,
                        "Deployment " + deployment + " was restored meanwhile, and rows that came before are not in it."
                                + " Seed again: the same command reads all rows.");
            }
            return code;
        } catch (SdkException | IllegalStateException e) {
            throw new CommandFailure(
                    ExitCode.DIFFERENT,
                    "Not all rows could be written: " + Reason.of(e)
                            + "\nThose that were written are in. The same command goes on there; a lower --rate helps where"
                            + " tables are throttled.",
                    e);
        }
    }

    /// Says in the tables that a seeding runs, from when its number is drawn.
    private static final class Running implements AutoCloseable {
        private final Store store;
        private @Nullable SeedLease lease;
        private @Nullable Renewal renewal;

        Running(Store store) {
            this.store = store;
        }

        long begin(long number) {
            SeedLease begun = SeedLease.begin(store, number);
            close();
            lease = begun;
            renewal = Renewal.of(store.threads(), begun::renew);
            return number;
        }

        @Override
        public void close() {
            if (renewal != null) {
                renewal.close();
            }
            if (lease != null) {
                lease.close();
            }
        }
    }

    /// Numbers that the deployment gives, whoever asks: each is above those of all machines.
    private static SeedLog.Numbers numbers(Store store, Running running) {
        long nowMs = System.currentTimeMillis();
        return new SeedLog.Numbers() {
            @Override
            public long draw(long last) {
                return running.begin(SeedNumbers.draw(store, Math.max(nowMs, last + 1)));
            }

            @Override
            public boolean holds(long number) {
                return true; // The marks name the incarnation.
            }
        };
    }
}
