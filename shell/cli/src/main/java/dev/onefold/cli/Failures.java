package dev.onefold.cli;

import dev.onefold.api.Failure;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.call.JsonLog;
import dev.onefold.cli.show.Words;
import dev.onefold.core.EngineException;
import dev.onefold.core.document.Problem;
import dev.onefold.core.json.NearestWord;
import dev.onefold.core.process.CommandFunction.ProgramException;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/// Says what went wrong, in a message and an exit code; the stack trace only under `--debug`.
final class Failures implements IParameterExceptionHandler, IExecutionExceptionHandler {
    private static final String REPLAY = "'replay' is of deployments: 'onefold aws replay'. On one machine no record is"
            + " passed over, because a checkpoint has results and positions together. To fold a part of a file again, send"
            + " it to 'onefold run PIPELINE --input -'. What is in changes nothing, if records have a version or an id.";

    private static final int USAGE_INDENT = "Usage: ".length();
    private static final int MESSAGE_LENGTH_MAX = 2_000;

    private final Caller caller;
    private final List<String> arguments;

    Failures(Caller caller, List<String> arguments) {
        this.caller = caller;
        this.arguments = List.copyOf(arguments);
    }

    @Override
    public int handleParseException(ParameterException e, String[] words) {
        if (e instanceof MissingParameterException && asksForHelp(words)) {
            CommandLine meant = meant(e.getCommandLine(), words);
            meant.usage(meant.getOut());
            return ExitCode.DONE.code();
        }
        PrintStream err = caller.err();
        String unknown = unknown(e);
        String message =
                unknown.isEmpty() ? inWords(String.valueOf(e.getMessage())) : what(unknown, e.getCommandLine());
        StringBuilder text = new StringBuilder("onefold: " + Problem.visible(message, MESSAGE_LENGTH_MAX) + "\n");
        NearestWord.nearest(unknown, known(unknown, e.getCommandLine().getCommandSpec()))
                .ifPresent(meant -> text.append("Did you mean " + meant + "?\n"));
        if (e instanceof MissingParameterException) {
            text.append(e.getCommandLine().getHelp().synopsisHeading())
                    .append(e.getCommandLine().getHelp().synopsis(USAGE_INDENT));
        }
        text.append("'" + e.getCommandLine().getCommandSpec().qualifiedName() + " --help' shows what is possible.\n");
        err.print(text.toString()); // As one message, also where each one is an object of JSON.
        trace(e);
        return ExitCode.USAGE.code();
    }

    private static boolean asksForHelp(String[] words) {
        return List.of(words).contains("--help") || List.of(words).contains("-h");
    }

    /// The command that the words name, though an argument in front of its name is left out.
    private static CommandLine meant(CommandLine from, String[] words) {
        CommandLine meant = from;
        for (String word : words) {
            meant = meant.getSubcommands().getOrDefault(word, meant);
        }
        return meant;
    }

    /// The word of the command line that no command knows; empty if that is not what is wrong. A mistyped
    /// option may look to picocli as if another one were missing.
    private String unknown(ParameterException e) {
        if (e instanceof UnmatchedArgumentException unmatched) {
            return unmatched.getUnmatched().getFirst();
        }
        if (!(e instanceof MissingParameterException)) {
            return "";
        }
        CommandSpec spec = e.getCommandLine().getCommandSpec();
        return arguments.stream()
                .map(argument -> argument.replaceFirst("=.*", ""))
                .filter(argument -> argument.matches("--[a-z].*") && spec.findOption(argument) == null)
                .findFirst()
                .orElse("");
    }

    private static String what(String unknown, CommandLine commandLine) {
        if (unknown.startsWith("-")) {
            return "There is no option " + unknown + " here.";
        }
        if (unknown.equals("replay") && commandLine.getParent() == null) {
            return REPLAY;
        }
        if (!commandLine.getSubcommands().isEmpty()) {
            return "There is no command '" + unknown + "'.";
        }
        return "The argument '" + unknown + "' is one too many."
                + (commandLine.getCommandSpec().findOption("--input") == null ? "" : " Files are named with --input.");
    }

    private static List<String> known(String unknown, CommandSpec spec) {
        return unknown.startsWith("-")
                ? spec.options().stream().map(OptionSpec::longestName).toList()
                : List.copyOf(spec.subcommands().keySet());
    }

    private static String inWords(String message) {
        return message.replaceFirst(" is not an? (int|long)$", " is not a whole number")
                .replace("Value for option option ", "Value for option "); // As picocli has it of NAME=VALUE.
    }

    @Override
    public int handleExecutionException(Exception e, CommandLine commandLine, ParseResult parseResult) {
        return handle(e);
    }

    int handle(Exception e) {
        caller.out().flush();
        ExitCode exitCode = switch (e) {
            case CommandFailure failure -> say(failure.exitCode(), String.valueOf(failure.getMessage()));
            case EngineException failure ->
                say(ExitCode.of(Failure.exitCode(failure.kind())), String.valueOf(failure.getMessage()));
            case ProgramException failure -> say(ExitCode.DIFFERENT, String.valueOf(failure.getMessage()));
            case UncheckedIOException failure -> say(ExitCode.DIFFERENT, message(failure));
            case IOException failure -> say(ExitCode.DIFFERENT, message(failure));
            default -> say(ExitCode.BUG, bug(e));
        };
        trace(e);
        return exitCode.code();
    }

    /// Reports an error that no command can recover from.
    int handleError(Error e) {
        caller.out().flush();
        boolean heap = e instanceof OutOfMemoryError;
        ExitCode exitCode = heap
                ? say(
                        ExitCode.STORAGE,
                        "The Java heap is used up (" + e.getMessage()
                                + "). What was folded up to the last checkpoint is"
                                + " safe. Allow more, such as ONEFOLD_JAVA_OPTS=-Xmx2g, and run it again.")
                : say(ExitCode.BUG, bug(e));
        trace(e);
        return exitCode.code();
    }

    private String bug(Throwable e) {
        return "This is a bug in Onefold: " + e + ".\n"
                + (debug() ? "" : "Run it again with --debug, and report what it shows.");
    }

    private ExitCode say(ExitCode exitCode, String message) {
        if (caller.err() instanceof JsonLog json) {
            json.println("onefold: " + message); // One message, however many lines it has.
            return exitCode;
        }
        int width = caller.screen().errWidth();
        ("onefold: " + message.stripTrailing())
                .lines()
                .map(Words::visible)
                .map(line -> Words.wrap(line, width))
                .forEach(caller.err()::println);
        return exitCode;
    }

    /// The messages of the file system name the file only.
    private static String message(Exception e) {
        return switch (e) {
            case UncheckedIOException unchecked when unchecked.getCause() != null -> message(unchecked.getCause());
            case NoSuchFileException missing -> "There is no file or folder " + missing.getFile() + ".";
            case AccessDeniedException denied -> "Access to " + denied.getFile() + " is denied.";
            case FileSystemException failed
            when failed.getReason() != null -> failed.getFile() + ": " + failed.getReason() + ".";
            default -> e.getMessage() == null ? e.toString() : e.getMessage() + ".";
        };
    }

    private boolean debug() {
        return arguments.contains(CommonOptions.DEBUG);
    }

    private void trace(Throwable e) {
        if (debug() && caller.err() instanceof JsonLog json) {
            StringWriter trace = new StringWriter();
            e.printStackTrace(new PrintWriter(trace));
            json.write(
                    System.Logger.Level.ERROR,
                    e.toString(),
                    trace.toString().lines().toList());
        } else if (debug()) {
            e.printStackTrace(caller.err());
        }
    }
}
