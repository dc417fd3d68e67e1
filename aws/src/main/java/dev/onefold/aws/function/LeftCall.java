package dev.onefold.aws.function;

import dev.onefold.aws.batch.Deliver;

/// A call of a receiver that was given up and still runs in the process. Lambda would freeze the process with
/// the call in it, and thaw both hours later, beside another attempt. So the process ends with it.
final class LeftCall {
    /// The exit code of such a process.
    private static final int CODE = 70;

    /// Ends the process.
    static final Runnable HALT = () -> Runtime.getRuntime().halt(CODE);

    private LeftCall() {}

    /// Ends the process if there is such a call.
    ///
    /// @param more what is lost with the process
    /// @param end ends it
    /// @return whether there is one
    static boolean end(Deliver.Receiver receiver, Metrics metrics, String more, Runnable end) {
        if (!receiver.isLeftRunning().getAsBoolean()) {
            return false;
        }
        metrics.log("ERROR A call of the receiver has not returned in its time, and is not ended by an"
                + " interrupt: this process ends with it. Let deliver() obey interrupts." + more);
        end.run();
        return true;
    }
}
