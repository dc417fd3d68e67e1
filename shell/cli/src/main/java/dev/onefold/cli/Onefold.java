package dev.onefold.cli;

import dev.onefold.cli.aws.AwsCommand;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.call.JsonLog;
import dev.onefold.cli.data.PlaceOptions;
import dev.onefold.cli.data.PlacedPipeline;
import dev.onefold.cli.deploy.DeployCommand;
import dev.onefold.cli.reset.DeployedResetCommand;
import dev.onefold.cli.reset.ResetCommand;
import dev.onefold.cli.run.RunCommand;
import dev.onefold.cli.serve.ServeCommand;
import dev.onefold.cli.serve.TokenCommand;
import dev.onefold.cli.test.TestCommand;
import dev.onefold.cli.trial.CleanCommand;
import dev.onefold.cli.trial.DemoCommand;
import dev.onefold.cli.trial.GenerateCommand;
import dev.onefold.cli.trial.TrialCommand;
import dev.onefold.cli.verbs.Verbs;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Spec;

/// The command `onefold`, with all its commands.
@Command(
        name = "onefold",
        versionProvider = Onefold.Version.class,
        synopsisSubcommandLabel = "COMMAND",
        description = "Keeps running totals right: each event exactly once, whatever is duplicated, late, corrected,"
                + " deleted, retried or crashed on the way.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:Done. Also when SIGTERM stopped 'run', after a checkpoint.",
            "1:Totals differ, a pipeline file has problems, a source or record was refused, a key or group"
                    + " is not there, or standard output failed.",
            "2:Usage error: an unknown option, value, file or roll-up.",
            "3:The data directory is in use, missing, damaged, of another definition or version, or no data directory.",
            "4:The disk failed, or memory for the state is used up.",
            "70:A bug in Onefold.",
            "130:Stopped by SIGINT (Ctrl-C), after a checkpoint."
        },
        footer = {
            "  onefold demo",
            "  onefold run trade-risk.yaml --input trades.ndjson",
            "  onefold query trade-risk.yaml",
            "  onefold COMMAND --help"
        })
public final class Onefold implements Runnable {
    private static final String COMPLETION = "completion";

    @Spec
    @SuppressWarnings("NullAway.Init") // Picocli sets it before it runs the command.
    private CommandSpec spec;

    private Onefold() {}

    /// Runs a command line and returns its exit code. Output is flushed.
    public static int execute(Caller given, List<String> arguments) {
        Caller caller = ServeCommand.isJsonLog(arguments) ? JsonLog.caller(given, InstantSource.system()) : given;
        int code;
        try {
            caller.requireReadable(arguments);
            code = commandLine(caller, arguments).execute(arguments.toArray(new String[0]));
        } catch (CommandFailure e) {
            code = new Failures(caller, arguments).handle(e);
        } catch (Error e) {
            code = new Failures(caller, arguments).handleError(e);
        }
        code = delivered(caller, code);
        caller.err().flush();
        return code;
    }

    /// A result that did not reach standard output whole is no success, whatever the command came to.
    static int delivered(Caller caller, int code) {
        if (!caller.out().checkError()) { // It flushes first.
            return code;
        }
        caller.note("onefold: Standard output failed, so what was written to it is not complete."
                + " The disk may be full, or the program that reads it may have ended.");
        return code == ExitCode.DONE.code() ? ExitCode.DIFFERENT.code() : code;
    }

    /// The command that the first argument names, and without such a name all commands. Setting up all of them
    /// takes longer than most commands run.
    static CommandLine commandLine(Caller caller, List<String> arguments) {
        PlaceOptions place = new PlaceOptions();
        Verbs verbs = new Verbs(name -> placed(caller, place, Verbs.takesBatches(name)), place);
        List<String> names = names(verbs);
        String first = arguments.isEmpty() ? "" : arguments.getFirst();
        boolean alone = names.contains(first) && !first.equals(COMPLETION); // It describes all the others.
        CommandLine commandLine = new CommandLine(new Onefold());
        for (String name : alone ? List.of(first) : names) {
            commandLine.addSubcommand(verbs.has(name) ? verbs.command(name) : command(name, caller));
        }
        commandLine
                .getCommandSpec()
                .addOption(OptionSpec.builder("-V", "--version")
                        .versionHelp(true)
                        .description("Shows the version.")
                        .build());
        CommonOptions.addTo(commandLine.getCommandSpec());
        Failures failures = new Failures(caller, arguments);
        return commandLine
                .setOut(new PrintWriter(caller.out(), true, StandardCharsets.UTF_8))
                .setErr(new PrintWriter(caller.err(), true, StandardCharsets.UTF_8))
                .setColorScheme(CommandLine.Help.defaultColorScheme(HelpText.colours(caller.screen())))
                .setUsageHelpWidth(HelpText.width(caller.screen()))
                .setHelpSectionMap(HelpText.sections(commandLine, caller.screen()))
                .setParameterExceptionHandler(failures)
                .setExecutionExceptionHandler(failures);
    }

    /// The names of all commands, in the order in which the help lists them.
    private static List<String> names(Verbs verbs) {
        List<String> names = new ArrayList<>(List.of("demo", "run", "serve", "token", "seed"));
        names.addAll(verbs.names());
        names.addAll(List.of("check", "test", "generate", "batches", "reset", "aws", COMPLETION));
        return names;
    }

    /// The command of a name that is none of the verbs.
    private static CommandLine command(String name, Caller caller) {
        return switch (name) {
            case "demo" -> new CommandLine(new DemoCommand(caller));
            case "run" -> new CommandLine(new RunCommand(caller));
            case "serve" -> new CommandLine(new ServeCommand(caller));
            case "token" -> new CommandLine(new TokenCommand(caller));
            case "check" -> new CommandLine(new CheckCommand(caller));
            case "test" -> new CommandLine(new TestCommand(caller));
            case "generate" -> new CommandLine(new GenerateCommand());
            case "reset" -> new CommandLine(new ResetCommand(placed(caller, new PlaceOptions(), true)));
            case "aws" -> aws(caller);
            case COMPLETION -> new CommandLine(new CompletionCommand(caller));
            default -> throw new IllegalArgumentException("There is no command " + name);
        };
    }

    /// The classes for AWS are loaded for a deployment alone.
    private static PlacedPipeline placed(Caller caller, PlaceOptions aws, boolean takesBatches) {
        return new PlacedPipeline(
                caller,
                aws,
                (pipeline, deployment, at) -> AwsCommand.deployed(caller, takesBatches, pipeline, deployment, at));
    }

    private static CommandLine aws(Caller caller) {
        CommandLine aws = AwsCommand.commandLine(caller);
        return aws.addSubcommand(new DeployCommand(caller, aws.getCommand()))
                .addSubcommand(new TrialCommand(caller, aws.getCommand()))
                .addSubcommand(new CleanCommand(caller, aws.getCommand()))
                .addSubcommand(new DeployedResetCommand(caller, aws.getCommand()));
    }

    @Override
    public void run() {
        spec.commandLine().usage(spec.commandLine().getOut());
    }

    /// The version that the build wrote into the jar.
    static final class Version implements IVersionProvider {
        @Override
        public String[] getVersion() {
            return new String[] {text()};
        }

        static String text() {
            String version = Version.class.getPackage().getImplementationVersion();
            return "onefold " + (version == null ? "unpackaged" : version);
        }
    }
}
