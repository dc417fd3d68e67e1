package dev.onefold.cli.call;

import java.util.Arrays;

/// How a command ended, as its caller's shell sees it. `docs/operations.md` lists them.
public enum ExitCode {
    DONE(0),
    /// Totals differ, a pipeline file has problems, a source or a record was refused, a key or group is not there, or
    /// standard output failed.
    DIFFERENT(1),
    /// Usage error: an unknown option, value, file or roll-up.
    USAGE(2),
    /// The data directory is in use, missing, corrupt, or of another definition or version.
    DIRECTORY(3),
    /// The disk failed, or memory for the state is used up.
    STORAGE(4),
    /// A bug.
    BUG(70),
    /// Stopped by SIGINT, after a checkpoint.
    INTERRUPTED(130);

    private final int code;

    ExitCode(int code) {
        this.code = code;
    }

    /// The constant of a code.
    public static ExitCode of(int code) {
        return Arrays.stream(values())
                .filter(each -> each.code == code)
                .findFirst()
                .orElseThrow();
    }

    public int code() {
        return code;
    }
}
