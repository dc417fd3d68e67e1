package dev.onefold.cli.seed;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.data.DataDirectory;
import dev.onefold.cli.data.EngineAccess;
import dev.onefold.cli.data.EngineArgument;
import dev.onefold.cli.data.FullDisk;
import dev.onefold.cli.data.PipelineArgument;
import dev.onefold.cli.data.PlaceOptions;
import dev.onefold.cli.run.StopRequest;
import dev.onefold.core.Capabilities.Capability;
import dev.onefold.core.Engine;
import dev.onefold.core.EngineException;
import dev.onefold.core.Sync;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.DataFolder;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.tables.Rate;
import dev.onefold.tables.RowVersions;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `onefold seed`: the rows of a table become rows of a pipeline.
@Command(
        name = "seed",
        description = {
            "Brings the rows that a table has already to a pipeline that counts its changes.",
            "Before, after or while live records come in, any number of times: a row counts unless a live record of it"
                    + " is newer. Rows have a version or an id of their own; if the pipeline reads the table's change log,"
                    + " they are below all changes of the log. Nothing is written to the table.",
            "Killed or stopped, the same command goes on; of a deployment on AWS, in the same folder. Works beside a"
                    + " running engine."
        },
        footer = {
            "  A file of rows:",
            "    onefold seed favourites.yaml --from favourites.ndjson.gz",
            "  A DynamoDB table, at most 2,000 read units a second:",
            "    onefold seed favourites.yaml --from dynamodb:Favourites --rate 2000",
            "  Its export, without reading the table:",
            "    onefold seed favourites.yaml --from export:s3://backups/AWSDynamoDB/0169/",
            "  A query; what it costs first:",
            "    onefold seed orders.yaml --from postgresql://localhost/shop \\",
            "      --query 'select id, version, desk, value from orders' --dry-run"
        })
public final class SeedCommand implements Callable<Integer> {
    /// Write units a second that a new table takes.
    private static final long WRITES = 4_000;

    private final Caller caller;
    private final StopRequest stop;
    private final boolean signals;

    @Mixin
    private final EngineArgument pipeline;

    @Mixin
    private final SeedOptions options = new SeedOptions();

    @Option(
            names = "--rate",
            paramLabel = "N",
            description = "Of a table: at most so many read units a second; else rows a second. Default: no limit. To"
                    + " a deployment: the write units a second that its table of rows is to take; default: 4000, which a"
                    + " new table takes.")
    private @Nullable Long rate;

    private final PlaceOptions place;

    /// @param place where the source is, if it is on AWS
    public SeedCommand(EngineArgument pipeline, PlaceOptions place) {
        this(pipeline, place, new StopRequest(), true);
    }

    /// @param signals whether SIGTERM and SIGINT are this command's
    SeedCommand(EngineArgument pipeline, PlaceOptions place, StopRequest stop, boolean signals) {
        this.pipeline = pipeline;
        this.place = place;
        this.stop = stop;
        this.signals = signals;
        caller = pipeline.caller();
    }

    @Override
    public Integer call() throws IOException {
        pipeline.useForSource();
        if (signals && !options.dryRun) {
            stop.makeOnSignals();
        }
        Optional<PipelineArgument> here = pipeline.here();
        return (here.isPresent() ? seedHere(here.get()) : pipeline.use(this::seed)).code();
    }

    private ExitCode seedHere(PipelineArgument here) throws IOException {
        DataDirectory data = here.directory();
        Pipeline definition = data.definition();
        if (DataFolder.hasData(data.path()) || definition == null) {
            return options.dryRun ? EngineAccess.read(data, caller, this::seed) : seedThroughOwners(data);
        }
        try (Clients clients = clients();
                Opened opened = new SeedSources(caller, options, clients, definition, rate()).open()) {
            if (options.dryRun) { // What cannot be seeded is refused before a directory is made for it.
                caller.note(Announcement.of(definition, opened, rate()));
                return ExitCode.DONE;
            }
        }
        return seedFirst(here);
    }

    /// Seeds where there are no data yet.
    private ExitCode seedFirst(PipelineArgument here) throws IOException {
        Settings settings = Settings.defaults().withSpaceListener(new FullDisk(caller, stop::isMade));
        EmbeddedEngine engine;
        try {
            engine = EngineAccess.own(here.directoryWithFunction(), settings, caller);
        } catch (EngineException e) {
            DataDirectory data = here.directory();
            if (e.kind() == EngineException.Kind.IN_USE && DataFolder.hasData(data.path())) {
                return seedThroughOwners(data); // An engine was starting.
            }
            throw e;
        }
        try (engine) {
            return seed(engine);
        }
    }

    /// The owner of the directory may be a command that ends before this one, such as another seeding. The rows
    /// read so far are marked, so the seeding goes on.
    private ExitCode seedThroughOwners(DataDirectory data) throws IOException {
        return EngineAccess.useThroughOwners(data, caller, stop::isMade, "The seeding", this::seed);
    }

    /// So many a second; 0 without a limit.
    private long rate() {
        if (rate != null && rate < 1) {
            throw CommandFailure.usage("--rate is 1 or more, not " + rate + ".");
        }
        return rate == null ? 0 : rate;
    }

    private Clients clients() {
        return new Clients(place::place);
    }

    private ExitCode seed(Engine engine) throws IOException {
        EngineArgument.require(engine, Capability.SYNC);
        Pipeline served = engine.pipeline();
        Sync sync = engine.sync();
        boolean isPaid = sync.cost().isPresent();
        long reads = isPaid ? 0 : rate();
        try (Clients clients = clients();
                Opened opened = new SeedSources(caller, options, clients, served, reads).open()) {
            sync.stream()
                    .ifPresent(read -> Rules.require(() -> RowVersions.requireKind(served, opened.stream(), read)));
            caller.note(Announcement.of(served, opened, reads));
            Opened limited = opened;
            if (isPaid) {
                long writes = rate == null ? WRITES : rate();
                caller.note(Announcement.ofWrites(opened, writes));
                limited = opened.at(Rate.of(Announcement.rowsASecond(writes)));
            }
            return options.dryRun
                    ? ExitCode.DONE
                    : new Run(caller, options, stop, pipeline.command("dead-letters", served.name()))
                            .seed(served, limited, sync);
        }
    }
}
