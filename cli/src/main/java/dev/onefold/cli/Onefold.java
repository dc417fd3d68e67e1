package dev.onefold.cli;

import dev.onefold.cli.aws.AwsCommand;
import dev.onefold.cli.batches.BatchesCommand;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.call.JsonLog;
import dev.onefold.cli.data.PipelineArgument;
import dev.onefold.cli.demo.DemoCommand;
import dev.onefold.cli.run.RunCommand;
import dev.onefold.cli.seed.DirectoryHome;
import dev.onefold.cli.seed.SeedCommand;
import dev.onefold.cli.serve.ServeCommand;
import dev.onefold.cli.serve.TokenCommand;
import dev.onefold.cli.test.TestCommand;
import dev.onefold.cli.trial.CleanCommand;
import dev.onefold.cli.trial.TrialCommand;
import dev.onefold.cli.verbs.Verbs;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
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

    /// All commands, to be run for this call.
    static CommandLine commandLine(Caller caller, List<String> arguments) {
        CommandLine aws = AwsCommand.commandLine(caller);
        aws.addSubcommand(new TrialCommand(caller, aws.getCommand()))
                .addSubcommand(new CleanCommand(caller, aws.getCommand()));
        CommandLine commandLine = new CommandLine(new Onefold())
                .addSubcommand(new DemoCommand(caller))
                .addSubcommand(new RunCommand(caller))
                .addSubcommand(new ServeCommand(caller))
                .addSubcommand(new TokenCommand(caller))
                .addSubcommand(new SeedCommand(caller));
        Verbs.of(() -> new PipelineArgument(caller), argument -> new DirectoryHome(argument::directoryPath))
                .forEach(commandLine::addSubcommand);
        commandLine
                .addSubcommand(new CheckCommand(caller))
                .addSubcommand(new TestCommand(caller))
                .addSubcommand(new GenerateCommand())
                .addSubcommand(BatchesCommand.commandLine(new PipelineArgument(caller)))
                .addSubcommand(aws)
                .addSubcommand(new CompletionCommand(caller));
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
