package dev.onefold.cli;

import dev.onefold.cli.call.Caller;
import java.util.List;

/// Where the process `onefold` begins.
public final class Main {
    private Main() {}

    public static void main(String[] arguments) {
        System.exit(Onefold.execute(Caller.ofProcess(), List.of(arguments)));
    }
}
