package dev.onefold.cli.reset;

import dev.onefold.api.sync.FolderSync;
import dev.onefold.api.sync.SeedLog;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.data.DataDirectory;
import dev.onefold.cli.data.Patience;
import dev.onefold.cli.data.PlacedPipeline;
import dev.onefold.cli.data.Questions;
import dev.onefold.core.EngineException;
import dev.onefold.core.SealedBatches.Summary;
import dev.onefold.core.Status;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.DataFolder;
import dev.onefold.embedded.DataReset;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `onefold reset`: empties a data directory for the next run.
@Command(
        name = "reset",
        description = {
            "Empties the data directory of a pipeline, so that the next run begins with nothing.",
            "It says first what will be deleted and what follows from that, and asks. It deletes rows, totals, dead"
                    + " letters, batches, positions of sources, the journal, remembered answers to requests, and how far"
                    + " seedings are. Files of yours in the directory stay, and so does all that others were given:"
                    + " delivered batches, and published totals until the next run writes them again.",
            "While an engine runs, it is refused. Killed at any moment, it has done nothing, or the next reset or run"
                    + " deletes the rest."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  ${COMMAND-FULL-NAME} trade-risk.yaml",
            "  ${COMMAND-FULL-NAME} trade-risk --data trial --yes",
            "  A deployment on AWS:",
            "    onefold aws reset trade-risk.yaml"
        })
public final class ResetCommand implements Callable<Integer> {
    @Mixin
    private final PlacedPipeline pipeline;

    @Option(
            names = {"-y", "--yes"},
            description = "Does not ask.")
    private boolean yes;

    @Option(
            names = "--renumber",
            description = "Also where batches were sealed: the next run numbers from 1 again, and a receiver must not"
                    + " take its batches for those that it has.")
    private boolean renumber;

    private final Caller caller;

    public ResetCommand(PlacedPipeline pipeline) {
        this.pipeline = pipeline;
        caller = pipeline.caller();
    }

    @Override
    public Integer call() throws IOException {
        DataDirectory data = pipeline.here()
                .orElseThrow(() -> CommandFailure.usage("A reset is refused while an engine runs. Stop the service at "
                        + pipeline.place() + ", and run 'onefold reset' on its machine; a deployment is emptied by"
                        + " 'onefold aws reset'."))
                .directory();
        Path path = data.path();
        String shown = caller.shown(path);
        if (DataFolder.exists(path)) {
            Optional<String> interrupted = DataReset.interrupted(path);
            if (interrupted.isPresent()) {
                requireName(data, interrupted.get());
                return finish(path).code();
            }
            if (DataFolder.hasData(path)) {
                return reset(data).code();
            }
        }
        caller.printLine("There is no data of pipeline " + data.pipeline() + " in " + shown
                + ", so there was nothing to delete.");
        return ExitCode.DONE.code();
    }

    private void requireName(DataDirectory data, String stored) {
        if (!stored.equals(data.pipeline())) {
            throw new CommandFailure(
                    ExitCode.DIRECTORY,
                    "The data in " + caller.shown(data.path()) + " is of pipeline " + stored + ", not of pipeline "
                            + data.pipeline() + ". Nothing was deleted.");
        }
    }

    private ExitCode finish(Path path) {
        try (DataReset reset = own(path)) {
            reset.finish();
        }
        caller.printLine("A reset of " + caller.shown(path)
                + " had been interrupted; the rest is deleted now. The next run begins with nothing.");
        return ExitCode.DONE;
    }

    private ExitCode reset(DataDirectory data) throws IOException {
        Path path = data.path();
        own(path).close(); // Nobody is asked for nothing.
        String before = DataReset.state(path);
        ask(data);
        try (DataReset reset = own(path);
                Closeable _ = still(path)) {
            if (!DataReset.state(path).equals(before)) {
                throw new CommandFailure(
                        ExitCode.DIFFERENT,
                        "The data in " + caller.shown(path) + " have changed meanwhile: an engine has run, or another"
                                + " reset. They are not what was shown, so nothing was deleted. Run it again.");
            }
            reset.empty(data.pipeline());
        }
        caller.printLine("Emptied " + caller.shown(path) + ". The next run begins with nothing.");
        return ExitCode.DONE;
    }

    /// A command that owns the directory for a moment is waited for.
    private DataReset own(Path path) {
        Patience patience = new Patience(caller, Patience.COMMAND_MAX);
        while (true) {
            try {
                return DataReset.own(path, Settings.defaults().withPause(() -> giveUp(path)));
            } catch (EngineException e) {
                patience.waitAgain(e);
            }
        }
    }

    private void giveUp(Path path) {
        throw new EngineException(
                EngineException.Kind.NO_SPACE,
                "The disk is full, so it cannot be noted that " + caller.shown(path)
                        + " is being emptied; the note takes some bytes. Nothing "
                        + (DataReset.interrupted(path).isPresent() ? "more " : "")
                        + "was deleted. Delete something else, and run it again.");
    }

    /// A seeding and a repair own the directory now and then only, and would go on in the middle.
    private static Closeable still(Path path) throws IOException {
        Path folder = path.resolve(FolderSync.FOLDER);
        if (!Files.isDirectory(folder)) {
            return () -> {};
        }
        SeedLog log = new SeedLog(folder);
        Optional<Closeable> alone = log.alone(FolderSync.ALONE);
        if (alone.isEmpty() || log.isRunning(Long.MAX_VALUE)) {
            if (alone.isPresent()) {
                alone.get().close();
            }
            throw new CommandFailure(
                    ExitCode.DIRECTORY,
                    "A seeding or a repair of this pipeline runs. Stop it, or wait for its end. Nothing was deleted.");
        }
        return alone.get();
    }

    private void ask(DataDirectory data) throws IOException {
        String what;
        try (EmbeddedEngine engine = EmbeddedEngine.read(data.path(), Settings.defaults())) {
            Pipeline served = engine.pipeline();
            requireName(data, served.name());
            Status status = engine.status();
            status.batches().ifPresent(batches -> requireRenumbered(served, batches));
            what = new ResetText(data.definition() == null ? served : data.definition(), status, data.path())
                    .announcement(caller.shown(data.path()));
        }
        Questions.ask(caller, what, "Delete all of it?", yes);
    }

    private void requireRenumbered(Pipeline served, Summary batches) {
        if (batches.sealed() == 0 || renumber || !(served.fold() instanceof Batching batching)) {
            return;
        }
        throw CommandFailure.usage("Batches up to number " + batches.sealed() + " of pipeline " + served.name()
                + " are sealed, and the next run would give these numbers to other batches. "
                + ResetText.ofReceiver(batching.deliver().kind())
                + " Give the receiver a new place, or let it forget what it has, and say --renumber; or give the pipeline"
                + " another name instead of resetting it. Nothing was deleted.");
    }
}
