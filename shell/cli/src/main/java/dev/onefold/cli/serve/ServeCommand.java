package dev.onefold.cli.serve;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.call.Logs;
import dev.onefold.cli.data.PipelineArgument;
import dev.onefold.cli.run.EngineOptions;
import dev.onefold.cli.run.FailOptions;
import dev.onefold.cli.run.InputFile;
import dev.onefold.cli.run.QueueOptions;
import dev.onefold.cli.run.RunningEngine;
import dev.onefold.cli.run.StopRequest;
import dev.onefold.cli.serve.ServeFile.Entry;
import dev.onefold.embedded.Settings;
import dev.onefold.server.HttpService;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `onefold serve`: answers requests by HTTP.
@Command(
        name = "serve",
        description = {
            "Runs pipelines as a service: records in and totals out by HTTP.",
            "A request with records is answered when they are safe on disk. Each pipeline has its data directory, as"
                    + " with 'onefold run', and all other commands work beside the service.",
            "SIGTERM and Ctrl-C stop it: it answers the requests that it has, takes a checkpoint, and ends."
        },
        footer = {
            "  On this machine, for all its programs:",
            "    onefold serve trades.yaml orders.yaml",
            "    curl --data-binary @trades.ndjson \\",
            "      localhost:8080/v1/trades/records",
            "    curl localhost:8080/v1/trades/totals",
            "  For other machines:",
            "    onefold token desk --allow read --file tokens.txt",
            "    onefold serve trades.yaml --address 0.0.0.0 --tokens tokens.txt \\",
            "      --tls-certificate server.pem --tls-key server.key",
            "  As a file says it:",
            "    onefold serve --config onefold.yaml"
        })
public final class ServeCommand implements Callable<Integer> {
    private static final long LOOK_MS = 100;
    private static final String LOG = "--log";

    /// How messages are written; picocli reads the names.
    enum LogForm {
        text,
        json
    }

    /// Whether a command line asks for messages as JSON: then also those are that say what is wrong with the
    /// command.
    public static boolean isJsonLog(List<String> arguments) {
        int at = arguments.indexOf(LOG);
        boolean isServe = !arguments.isEmpty() && arguments.getFirst().equals("serve");
        return isServe
                && (arguments.contains(LOG + "=json")
                        || at >= 0
                                && at + 1 < arguments.size()
                                && arguments.get(at + 1).equals("json"));
    }

    private final Caller caller;
    private final StopRequest stop;
    private final boolean signals;

    @Parameters(
            arity = "0..*",
            paramLabel = "PIPELINE",
            description = "The pipeline files; or names of pipelines that have run.")
    private List<String> pipelines = List.of();

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description =
                    "Instead of PIPELINE: a file that says which pipelines to serve, the files and queues that each"
                            + " reads, and how to listen.")
    private @Nullable String config;

    @Option(
            names = "--accept-loss",
            description = "When a pipeline file has changed: goes on also if fields that the rows hold are lost for"
                    + " ever by that.")
    private boolean acceptLoss;

    @Mixin
    private final ListenOptions listen = new ListenOptions();

    @Mixin
    private final EngineOptions engine = new EngineOptions();

    @Mixin
    private final FailOptions fail = new FailOptions();

    @Option(
            names = LOG,
            defaultValue = "text",
            paramLabel = "FORM",
            description = "How messages are written on standard error: ${COMPLETION-CANDIDATES}. Default:"
                    + " ${DEFAULT-VALUE}. json is for programs: an object a line, with its time, level and message.")
    void log(LogForm form) {
        // [#isJsonLog] has read it, before there was a command line.
    }

    public ServeCommand(Caller caller) {
        this(caller, new StopRequest(), true);
    }

    /// @param signals whether SIGTERM and SIGINT are this command's
    ServeCommand(Caller caller, StopRequest stop, boolean signals) {
        this.caller = caller;
        this.stop = stop;
        this.signals = signals;
    }

    @Override
    public Integer call() throws IOException {
        if (pipelines.isEmpty() == (config == null)) {
            throw CommandFailure.usage("Say which pipelines to serve: their files, or --config FILE, and not both.");
        }
        ServeFile file = config == null ? ServeFile.none() : ServeFile.read(caller, config);
        List<Entry> entries = config == null ? pipelines.stream().map(Entry::of).toList() : file.pipelines();
        dev.onefold.server.Settings listening = listen.settings(caller, file);
        if (fail.isSupervising()) {
            if (listening.port() == 0) {
                throw CommandFailure.usage("--fail needs a port that is the same at each start: --port N.");
            }
            return fail.supervise(caller, stop, signals);
        }
        List<PipelineArgument> arguments = new ArrayList<>();
        for (Entry entry : entries) {
            PipelineArgument argument = new PipelineArgument(caller, entry.file(), entry.data());
            requirePossible(argument, entry, arguments);
            arguments.add(argument);
        }
        if (signals) {
            stop.makeOnSignals();
        }
        List<ServedPipeline> open = new ArrayList<>();
        Logs.to(Logs.of(caller));
        try (HttpService service = listen(listening)) {
            Settings settings = fail.into(engine.settings(entries.size()));
            for (PipelineArgument argument : arguments) {
                open.add(ServedPipeline.open(caller, argument, settings, stop, acceptLoss));
            }
            service.serve(open.stream().map(ServedPipeline::served).toList());
            serve(service, entries, open);
        } finally {
            close(open);
            Logs.off();
        }
        return stop.exitCodeOr(ExitCode.DONE).code();
    }

    private void requirePossible(PipelineArgument argument, Entry entry, List<PipelineArgument> before)
            throws IOException {
        String name = argument.directoryWithFunction().pipeline();
        if (before.stream().anyMatch(other -> other.directory().pipeline().equals(name))) {
            throw CommandFailure.usage("Two pipelines have the name " + name + ". Each has a name of its own.");
        }
        RunningEngine.requirePossible(caller, argument);
        for (String follow : entry.follow()) {
            InputFile.of(caller, follow);
        }
        String queue = entry.queue();
        if (queue != null) {
            QueueOptions.of(queue).requirePossible(argument.directory().definition());
        }
    }

    private void serve(HttpService service, List<Entry> entries, List<ServedPipeline> open) {
        Supervisor supervisor = new Supervisor(caller);
        try {
            for (int i = 0; i < open.size(); i++) {
                open.get(i).read(entries.get(i));
            }
            caller.note("Serving at " + service.uri() + ". Ctrl-C ends it.");
            supervisor.ready();
            while (!stop.isMade()) {
                open.forEach(ServedPipeline::requireWorking);
                Thread.sleep(LOOK_MS);
            }
            caller.note("Stopping: requests that are under way are answered.");
            supervisor.stopping();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /// The service answers from here on that it is not ready: a pipeline whose disk is full waits for space.
    private static HttpService listen(dev.onefold.server.Settings listening) {
        try {
            return HttpService.listen(listening);
        } catch (IOException e) {
            throw new CommandFailure(
                    ExitCode.DIFFERENT,
                    "The service cannot listen at " + listening.address().getHostAddress() + ", port "
                            + listening.port() + ": " + e.getMessage() + ".",
                    e);
        }
    }

    /// Closes all, also if one of them fails.
    private static void close(List<ServedPipeline> open) {
        Throwable failure = null;
        for (ServedPipeline each : open) {
            try {
                each.close();
            } catch (RuntimeException | Error e) {
                failure = failure == null ? e : failure;
            }
        }
        switch (failure) {
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            case null, default -> {}
        }
    }
}
