package dev.onefold.aws.function;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestStreamHandler;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.event.BatchResponse;
import dev.onefold.aws.event.Invocation;
import dev.onefold.aws.stream.Retries;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.util.List;

/// The shell of every function: it reads an event whole, has the function do the invocation, and writes the
/// answer. Lambda makes a function by its constructor without arguments, which reads
/// [dev.onefold.aws.template.Environment], and then calls it for one invocation at a time.
interface Shell extends RequestStreamHandler {
    /// Does one invocation; fails if all of it is to come again.
    ///
    /// @param event cut where it is too long to be read
    /// @return the answer's bytes
    byte[] invoke(byte[] event, Context context) throws IOException;

    @Override
    default void handleRequest(InputStream in, OutputStream out, Context context) throws IOException {
        out.write(invoke(in.readNBytes(Invocation.EVENT_BYTES_MAX + 1), context));
    }

    /// The time that is left to an invocation.
    static Duration left(Context context) {
        return Duration.ofMillis(context.getRemainingTimeInMillis());
    }

    /// Logs where a batch lies in its shard, so that it can be read again. What is in its records is never
    /// logged.
    static void logPlace(List<Arrival> arrivals, Metrics metrics) {
        if (!arrivals.isEmpty()) {
            Arrival first = arrivals.getFirst();
            metrics.log("INFO Batch of " + arrivals.size() + " records of " + first.shard() + " from "
                    + first.sequence() + " to " + arrivals.getLast().sequence());
        }
    }

    /// The answer to messages of the retry queue: those come again that failed, and the log says why.
    static BatchResponse answer(Retries.Taken taken, Metrics metrics) {
        taken.failures()
                .forEach((message, cause) -> metrics.log(
                        "WARN Message " + message + " of the retry queue comes again: " + cause.getMessage()));
        return new BatchResponse(List.copyOf(taken.failures().keySet()));
    }
}
