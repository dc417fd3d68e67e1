package dev.onefold.cli;

import dev.onefold.cli.call.Caller;
import java.util.List;

/// Where the process `onefold` begins.
public final class Main {
    private Main() {}

    public static void main(String[] arguments) {
        if (arguments.length == 1 && arguments[0].equals("--version")) {
            System.out.println(Onefold.Version.text()); // Scripts ask for it often: no need to set up all commands.
            return;
        }
        System.exit(Onefold.execute(Caller.ofProcess(), List.of(arguments)));
    }
}
