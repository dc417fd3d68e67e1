package dev.onefold.cli;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;

/// The command `onefold`.
@Command(
        name = "onefold",
        mixinStandardHelpOptions = true,
        versionProvider = Main.Version.class,
        description = "Keeps running totals right: each event exactly once.")
public final class Main implements Runnable {
    private Main() {}

    public static void main(String[] arguments) {
        System.exit(new CommandLine(new Main()).execute(arguments));
    }

    @Override
    public void run() {
        CommandLine.usage(this, System.out);
    }

    /// The version that the build wrote into the jar.
    static final class Version implements IVersionProvider {
        @Override
        public String[] getVersion() {
            String version = Main.class.getPackage().getImplementationVersion();
            return new String[] {"onefold " + (version == null ? "unpackaged" : version)};
        }
    }
}
