package dev.onefold.aws.function;

import com.amazonaws.services.lambda.runtime.Context;
import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.Connection;
import dev.onefold.aws.batch.BatchDefinition;
import dev.onefold.aws.batch.Collect;
import dev.onefold.aws.batch.Collect.Collected;
import dev.onefold.aws.batch.Collect.Fate;
import dev.onefold.aws.batch.Deliver;
import dev.onefold.aws.batch.FunctionReceivers;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.event.BatchResponse;
import dev.onefold.aws.event.Invocation;
import dev.onefold.aws.event.Invocation.Message;
import dev.onefold.aws.letter.LetterTable;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.store.WakeItem;
import dev.onefold.aws.stream.Batches;
import dev.onefold.aws.stream.Retries;
import dev.onefold.aws.stream.Streams;
import dev.onefold.aws.template.Environment;
import dev.onefold.core.Causes;
import dev.onefold.core.Counts;
import dev.onefold.core.Fates;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Pipeline;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/// The function that collects messages of a queue, or records of a stream. A message whose fate is not
/// known is reported as failed and comes again; the others are deleted. Of a stream all records come again
/// from the first whose fate is not known; those that are recorded change nothing then. One invocation at a
/// time, as Lambda calls it.
public final class CollectFunction implements Shell {
    private final Store store;
    private final Pipeline pipeline;
    private final int lanes;
    private final Metrics metrics;
    private final Source source;
    private InjectedFailures failures;
    private Optional<Collect> opened = Optional.empty();

    /// Where records come from, and go to at once.
    ///
    /// @param redelivery for how long after its arrival a record may come again, where ids are forgotten
    /// @param streams to read again what messages name; empty if messages are records
    /// @param receiver of records that are handed over directly
    public record Source(
            Duration redelivery, Optional<Supplier<Streams>> streams, Optional<Deliver.Receiver> receiver) {}

    /// As Lambda makes it.
    public CollectFunction() {
        this(Environment.ofProcess());
    }

    private CollectFunction(Environment environment) {
        this(
                environment.store(),
                environment.pipeline(),
                environment.batchLanes(),
                new Metrics(environment),
                new Source(
                        environment.redelivery(),
                        environment.isStream() ? Optional.of(Connection.streams()) : Optional.empty(),
                        DeliverFunction.isDirect(environment.pipeline())
                                ? Optional.of(DeliverFunction.receiver(environment))
                                : Optional.empty()));
        failures = InjectedFailures.of(environment.failOfMillion(), store, metrics);
    }

    /// For a process that has its own store: one under test, or a simulated one.
    public CollectFunction(Store store, Pipeline pipeline, int lanes, Metrics metrics, Source source) {
        this.store = store;
        this.pipeline = pipeline;
        this.lanes = lanes;
        this.metrics = metrics;
        this.source = source;
        failures = InjectedFailures.of(0, store, metrics);
    }

    @Override
    public byte[] invoke(byte[] event, Context context) {
        try {
            return failures.around(() -> handle(event, Shell.left(context).minus(FunctionReceivers.ENDING)));
        } finally {
            source.receiver.ifPresent(receiver -> LeftCall.end(receiver, metrics, "", LeftCall.HALT));
        }
    }

    /// Does one invocation without a limit of its own.
    public byte[] handle(byte[] event) {
        return handle(event, Collect.TRYING_MAX);
    }

    /// Does one invocation; fails if all of it is to come again.
    ///
    /// @param within time after which no transaction is begun
    /// @return the answer's bytes
    private byte[] handle(byte[] event, Duration within) {
        BatchResponse response = switch (Invocation.read(event)) {
            case Invocation.Messages(var messages)
            when source.streams.isPresent() ->
                retried(messages, source.streams.get().get());
            case Invocation.Messages(var messages) -> {
                List<Fate> fates =
                        collect(messages.stream().map(Message::arrival).toList(), within);
                List<String> failures = new ArrayList<>();
                for (int i = 0; i < fates.size(); i++) {
                    if (fates.get(i) == Fate.AGAIN) {
                        failures.add(messages.get(i).id());
                    }
                }
                yield new BatchResponse(failures);
            }
            case Invocation.Batch(var arrivals, var _) -> {
                Shell.logPlace(arrivals, metrics);
                // A stream gives all records again from the first one that failed.
                int first = collect(arrivals, within).indexOf(Fate.AGAIN);
                yield first < 0
                        ? BatchResponse.DONE
                        : new BatchResponse(List.of(arrivals.get(first).sequence()));
            }
            case Invocation.Tick _ -> BatchResponse.DONE;
        };
        return response.json();
    }

    private BatchResponse retried(List<Message> messages, Streams from) {
        Retries.Taken taken = new Retries(store, from, arrivals -> {
                    List<Fate> fates = collect(arrivals, Collect.TRYING_MAX); // One message after the other.
                    return new Batches.Taken(
                            new Fates(counts(fates), Causes.NONE),
                            fates.contains(Fate.AGAIN)
                                    ? new IllegalStateException(
                                            "Records could not be written: the tables are throttled")
                                    : null);
                })
                .take(messages);
        return Shell.answer(taken, metrics);
    }

    private List<Fate> collect(List<Arrival> arrivals, Duration within) {
        Collected collected = open().collect(arrivals, within);
        List<Fate> fates = collected.fates();
        if (collected.areInLanes() && fates.contains(Fate.RECORDED)) {
            WakeItem.put(store);
        }
        collected
                .failure()
                .ifPresent(why -> metrics.log(
                        "WARN Letters could not be kept, so their messages come again: " + why.getMessage()));
        metrics.write(store.clock().instant(), counts(fates));
        return fates;
    }

    /// Not when the class is loaded: what a snapshot holds must not be older than the tables.
    private Collect open() {
        // Once a minute: while a deployment is updated, functions of the old pipeline may start after one of the new.
        if (opened.isPresent() && !store.ids().isValid(store.clock().instant())) {
            BatchDefinition _ = BatchDefinition.openOrCreate(store, pipeline, lanes);
        }
        if (opened.isEmpty()) {
            AwsEngine.requireInputPossible(pipeline);
            BatchDefinition definition = BatchDefinition.openOrCreate(store, pipeline, lanes);
            new LetterTable(store).useBucket();
            opened = Optional.of(source.receiver
                    .map(receiver -> Collect.direct(
                            store, pipeline, definition.lanes(), receiver, FunctionReceivers.directLimits((Batching)
                                    pipeline.fold())))
                    .orElseGet(() -> new Collect(store, pipeline, definition.lanes(), source.redelivery)));
        }
        return opened.get();
    }

    private static Counts counts(List<Fate> fates) {
        long conflicting = fates.stream().filter(Fate.CONFLICTING::equals).count();
        long rejected = fates.stream().filter(Fate.REJECTED::equals).count();
        long recorded = fates.stream().filter(Fate.RECORDED::equals).count();
        return new Counts(recorded, 0, 0, conflicting, rejected);
    }
}
