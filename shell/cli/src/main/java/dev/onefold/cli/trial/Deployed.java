package dev.onefold.cli.trial;

import dev.onefold.aws.store.Store;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.deploy.Board;
import dev.onefold.cli.deploy.Services;
import java.util.List;
import java.util.Map;

/// The deployed side of a trial: takes the records, says how far it is, and is compared in the end. Is not
/// thread-safe.
interface Deployed {
    /// Groups that a picture shows at most.
    int GROUPS_SHOWN_MAX = 12;

    /// Differences that are said at most.
    int DIFFERENCES_MAX = 20;

    /// What it consists of, and where it speaks.
    ///
    /// @param outputs of the stack
    record Parts(Caller caller, Board board, Services services, Store store, Map<String, String> outputs) {
        String output(String name) {
            return outputs.getOrDefault(name, "");
        }
    }

    /// Where its records are put.
    Sink.Opener sink();

    /// Reads how far it is.
    void read();

    /// How far both sides are, in one sentence with a space behind it; empty if there is nothing to say.
    String line(Oracle.Right right);

    /// The same as lines.
    ///
    /// @param room for so many lines
    List<String> picture(Oracle.Right right, int room);

    /// Whether all records are worked on; moves on what waits for that. Is called again and again.
    boolean isDone();

    /// About how many messages were put aside, and are in no result.
    long aside();

    /// Compares both sides, and says what differs.
    ///
    /// @param put how many records were put
    ExitCode compare(Oracle.Right right, long put);
}
