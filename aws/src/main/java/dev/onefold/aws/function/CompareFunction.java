package dev.onefold.aws.function;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestStreamHandler;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.onefold.aws.Connection;
import dev.onefold.aws.comparison.ComparedTable;
import dev.onefold.aws.comparison.Comparing;
import dev.onefold.aws.comparison.Comparing.Outcome;
import dev.onefold.aws.comparison.Comparison;
import dev.onefold.aws.comparison.Tally;
import dev.onefold.aws.event.BatchResponse;
import dev.onefold.aws.event.Invocation;
import dev.onefold.aws.resync.DeployedPassing;
import dev.onefold.aws.resync.RetryQueue;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.template.CompareEnvironment;
import dev.onefold.aws.template.Metric;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;

/// The function that compares the rows with the table that they come from. A clock wakes it often; it compares when the
/// next comparison is due, and goes on with one that takes several invocations. As long as the last comparison failed,
/// or is overdue, each invocation fails, so that an alarm on its errors says that nobody may rely on the rows.
///
/// It logs numbers, and neither keys nor contents.
public final class CompareFunction implements RequestStreamHandler {
    /// The time that an invocation reserves to end a page, and to record its progress.
    private static final long REMAINING_MS_MIN = 60_000;

    private static final JsonFactory JSON = new JsonFactory();

    private final Store store;
    private final Comparing.Settings settings;
    private final DeployedPassing.Input input;
    private final Metrics metrics;

    /// As Lambda makes it.
    public CompareFunction() {
        this(CompareEnvironment.of(System.getenv()));
    }

    private CompareFunction(CompareEnvironment environment) {
        this(
                Connection.store(environment.tables(), environment.bucket()),
                environment.settings(),
                new DeployedPassing.Input(
                        null,
                        () -> Connection.kinesis(Connection.Place.ENVIRONMENT),
                        () -> Connection.changes(Connection.Place.ENVIRONMENT),
                        Optional.of(new RetryQueue(Connection.queues(), environment.retries()))),
                new Metrics(System.out, environment.stack()));
    }

    /// For a process that has its own store: one under test, or a simulated one.
    ///
    /// @param input the stream that it names is read if an invocation names none
    public CompareFunction(Store store, Comparing.Settings settings, DeployedPassing.Input input, Metrics metrics) {
        this.store = store;
        this.settings = settings;
        this.input = input;
        this.metrics = metrics;
    }

    @Override
    public void handleRequest(InputStream in, OutputStream out, Context context) throws IOException {
        byte[] event = in.readNBytes(Invocation.EVENT_BYTES_MAX);
        if (stream(event).isEmpty()) {
            String why = "The event names no stream. What State has not taken of the stream yet would look like lost"
                    + " changes, so nothing was compared. The schedule of the template sends {\"input\": ARN}; a"
                    + " person lets a comparison begin with 'onefold aws compared PIPELINE --again'";
            metrics.out().println("ERROR " + why);
            throw new IllegalArgumentException(why);
        }
        out.write(handle(event, () -> context.getRemainingTimeInMillis() - REMAINING_MS_MIN));
    }

    /// Does one invocation.
    ///
    /// @param event an object whose field `input` is the ARN of the stream that State reads. If it names none, the
    ///     stream is read that this function was made with
    /// @param remainingMs how long it may take
    /// @return the answer's bytes
    /// @throws IllegalArgumentException if the event is not such an object
    /// @throws IllegalStateException as long as the last comparison failed or is overdue
    public byte[] handle(byte[] event, LongSupplier remainingMs) {
        PrintStream out = metrics.out();
        DeployedPassing.Input read = stream(event).map(input::with).orElse(input);
        Comparing comparing = new Comparing(
                store,
                settings,
                new ComparedTable(store, settings, read, note -> out.println("INFO " + note)),
                this::count);
        Outcome outcome = comparing.step(remainingMs);
        Optional<Comparison> now = Comparison.find(store);
        Comparison.Result last = now.map(Comparison::last).orElse(null);
        if (last != null && last.tally().left() > 0 && !(outcome instanceof Outcome.Compared)) {
            count(last.tally().left()); // An alarm says 'differ' until a comparison has found that they do not.
        }
        switch (outcome) {
            case Outcome.Idle _ -> {}
            case Outcome.Waiting(var why) -> out.println("INFO Nothing is compared now: " + why);
            case Outcome.Working(var slices) ->
                out.println("INFO The comparison goes on with the next wake-up. Parts that are left: " + slices);
            case Outcome.Compared(var begun, var tally) -> tell(tally, begun.toString());
            case Outcome.Failed(var why, var again) -> {
                out.println("ERROR The rows were not compared with " + settings.source() + ": " + why
                        + ". Tried again from " + again + " on");
                throw new IllegalStateException("The rows were not compared: " + why);
            }
        }
        Optional<String> overdue = now.flatMap(comparing::overdue);
        if (overdue.isPresent()) {
            out.println("ERROR " + overdue.get());
            throw new IllegalStateException(overdue.get());
        }
        return BatchResponse.DONE.json();
    }

    private static Optional<String> stream(byte[] event) {
        try (JsonParser json = JSON.createParser(event)) {
            JsonToken first = json.nextToken();
            if (first == null || first == JsonToken.VALUE_NULL) {
                return Optional.empty();
            }
            if (first != JsonToken.START_OBJECT) {
                throw new IllegalArgumentException("An event is an object, as in {\"input\": ARN}, and not " + first);
            }
            Optional<String> stream = Optional.empty();
            for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
                JsonToken value = json.nextToken();
                if (name.equals("input") && value != JsonToken.VALUE_NULL) {
                    if (value != JsonToken.VALUE_STRING || !json.getText().startsWith("arn:")) {
                        throw new IllegalArgumentException("The event's input is not the ARN of a stream");
                    }
                    stream = Optional.of(json.getText());
                }
                json.skipChildren();
            }
            return stream;
        } catch (IOException e) {
            throw new IllegalArgumentException("The event is not JSON, as in {\"input\": ARN}", e);
        }
    }

    private void count(long differences) {
        metrics.write(store.clock().instant(), Map.of(Metric.RowDifferences, differences));
    }

    private void tell(Tally tally, String begun) {
        count(tally.left());
        String level = tally.left() > 0 ? "ERROR" : tally.drifted() + tally.unended() > 0 ? "WARN" : "INFO";
        StringBuilder line = new StringBuilder(level)
                .append(" Comparison of ")
                .append(begun)
                .append(" with ")
                .append(settings.source())
                .append(": ")
                .append(tally.rows())
                .append(" rows, read ")
                .append(tally.readings())
                .append(tally.readings() == 1 ? " time; " : " times; ")
                .append(tally.drifted())
                .append(" had drifted, ")
                .append(tally.left())
                .append(" still differ");
        tally.lines().forEach(each -> line.append("; ").append(each));
        append(line, "without a readable key", tally.withoutKey());
        append(line, "perhaps expired", tally.expired());
        append(line, "changed meanwhile", tally.moved());
        append(line, "repairs of attempts that did not end", tally.unended());
        if (tally.left() > 0) {
            line.append(". 'onefold aws verify --against ")
                    .append(settings.source())
                    .append("' names them");
        }
        metrics.out().println(line);
    }

    private static void append(StringBuilder line, String name, long count) {
        if (count > 0) {
            line.append("; ").append(name).append(": ").append(count);
        }
    }
}
