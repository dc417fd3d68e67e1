package dev.onefold.cli;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.ExitCode;
import java.util.List;

/// Where the process `onefold` begins.
public final class Main {
    private Main() {}

    public static void main(String[] arguments) {
        if (arguments.length == 1 && arguments[0].equals("--version")) {
            Caller caller = Caller.ofProcess(); // Scripts ask for it often: no need to set up all commands.
            caller.printLine(Onefold.Version.text());
            System.exit(Onefold.delivered(caller, ExitCode.DONE.code()));
        }
        if (arguments.length > 0 && arguments[0].equals("test")) {
            System.setProperty("onefold.scale", "64"); // Its disk is in memory, so files are small.
        }
        System.exit(Onefold.execute(Caller.ofProcess(), List.of(arguments)));
    }
}
