package dev.onefold.cli.serve;

import dev.onefold.cli.call.Caller;
import java.io.IOException;
import java.util.concurrent.TimeUnit;

/// Tells systemd how the service is, if systemd has started it with `Type=notify`. The program `systemd-notify`
/// does it, because Java has no datagram sockets of the Unix domain.
final class Supervisor {
    private static final long SECONDS_MAX = 5;
    private static final String SOCKET_VARIABLE = "NOTIFY_SOCKET";

    private final Caller caller;

    Supervisor(Caller caller) {
        this.caller = caller;
    }

    /// The service answers.
    void ready() {
        tell("READY=1");
    }

    /// The service ends.
    void stopping() {
        tell("STOPPING=1");
    }

    private void tell(String state) {
        if (!caller.environment().containsKey(SOCKET_VARIABLE)) {
            return;
        }
        try {
            Process telling = new ProcessBuilder("systemd-notify", state)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            if (!telling.waitFor(SECONDS_MAX, TimeUnit.SECONDS)) {
                telling.destroyForcibly();
                caller.note("systemd was not told " + state + ": systemd-notify hangs.");
            } else if (telling.exitValue() != 0) {
                caller.note("systemd was not told " + state + ": systemd-notify ended with exit code "
                        + telling.exitValue() + ".");
            }
        } catch (IOException e) {
            caller.note("systemd was not told " + state + ": " + e.getMessage()
                    + ". Use Type=simple without the program" + " systemd-notify.");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
