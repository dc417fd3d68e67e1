package dev.onefold.cli.call;

/// A command cannot do what it was asked to. The message is complete, and is all that a person sees of it.
public final class CommandFailure extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final ExitCode exitCode;

    public CommandFailure(ExitCode exitCode, String message) {
        super(message);
        this.exitCode = exitCode;
    }

    public CommandFailure(ExitCode exitCode, String message, Throwable cause) {
        super(message, cause);
        this.exitCode = exitCode;
    }

    /// The command line is invalid.
    public static CommandFailure usage(String message) {
        return new CommandFailure(ExitCode.USAGE, message);
    }

    public ExitCode exitCode() {
        return exitCode;
    }
}
