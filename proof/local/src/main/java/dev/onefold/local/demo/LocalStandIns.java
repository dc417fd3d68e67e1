package dev.onefold.local.demo;

import dev.onefold.aws.Connection;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.show.Words;
import dev.onefold.cli.trial.StandIns;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.load.TradeRiskTotals;
import dev.onefold.local.cloud.LocalCloud;
import dev.onefold.local.stack.Machine;
import dev.onefold.local.stack.StackFaults;
import dev.onefold.local.template.Account;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/// Servers that stand in for AWS, in the process of the command that needs them. `onefold.node` is the folder of what
/// runs on Node.
public final class LocalStandIns implements StandIns {
    private static final Duration MINUTE = Duration.ofSeconds(60);
    private static final int SANDBOXES_MAX = 2;

    @Override
    public EmptyAccount account() throws IOException {
        prepare();
        System.setProperty("aws.accessKeyId", "OPERATOR"); // The SDK looks here first.
        System.setProperty("aws.secretAccessKey", "secret");
        System.setProperty("aws.cborEnabled", "false"); // The stand-in for Kinesis speaks JSON.
        LocalCloud cloud;
        try {
            cloud = LocalCloud.open(new Machine(List.of(), node(), SANDBOXES_MAX, MINUTE), StackFaults.NONE);
        } catch (IOException | RuntimeException e) {
            throw new CommandFailure(
                    ExitCode.DIRECTORY, "What stands in for AWS cannot be started: " + Words.visible(said(e)), e);
        }
        AtomicBoolean isOpen = new AtomicBoolean(true);
        Runnable end = () -> {
            if (isOpen.getAndSet(false)) {
                cloud.close();
            }
        };
        Runtime.getRuntime().addShutdownHook(new Thread(end)); // The account has files, which are deleted with it.
        return new EmptyAccount(new Connection.Place(Account.LOCAL.region(), null, cloud.endpoint()), end);
    }

    @Override
    public ExitCode demonstrate(Caller caller, Path messages, Pipeline pipeline, TradeRiskTotals right) {
        prepare();
        try {
            return new LocalDemo(caller, pipeline, right).run(messages, node());
        } catch (IllegalStateException | IOException e) {
            throw new CommandFailure(ExitCode.DIFFERENT, "The demo could not go on: " + Words.visible(said(e)), e);
        }
    }

    /// The servers write to standard output and error, which are the caller's.
    private static void prepare() {
        PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8);
        System.setOut(nowhere);
        System.setErr(nowhere);
    }

    private static Path node() {
        return Path.of(System.getProperty("onefold.node", "node"));
    }

    private static String said(Exception e) {
        return String.valueOf(e.getMessage());
    }
}
