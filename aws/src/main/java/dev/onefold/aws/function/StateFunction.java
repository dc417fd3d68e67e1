package dev.onefold.aws.function;

import com.amazonaws.services.lambda.runtime.Context;
import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.Connection;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.event.BatchResponse;
import dev.onefold.aws.event.Invocation;
import dev.onefold.aws.item.Definition;
import dev.onefold.aws.letter.LetterTable;
import dev.onefold.aws.letter.Places;
import dev.onefold.aws.state.Definitions;
import dev.onefold.aws.state.Fate;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.stream.InputStart;
import dev.onefold.aws.stream.Retries;
import dev.onefold.aws.stream.Streams;
import dev.onefold.aws.template.Environment;
import dev.onefold.aws.template.Layout;
import dev.onefold.aws.upkeep.Upkeep;
import dev.onefold.core.Fates;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/// The function that takes records. A batch is done when all of it is in the tables; if anything fails all of
/// it comes again, and what is in changes nothing then.
public final class StateFunction implements Shell {
    private static final Duration COUNTED_EACH = Duration.ofMinutes(1);
    private static final String ONE = "1";

    private final Store store;
    private final Pipeline pipeline;
    private final Metrics metrics;
    private final Supplier<Streams> streams;
    private final Layout layout;
    private final InjectedFailures failures;
    private final Places places;
    private boolean opened;
    private final LetterTable letters;
    private Fates uncounted = Fates.NONE;
    private Instant countedAt = Instant.EPOCH;
    private Optional<String> told = Optional.empty();

    /// As Lambda makes it.
    public StateFunction() {
        this(Environment.ofProcess());
    }

    private StateFunction(Environment environment) {
        this(
                DeployedFunction.store(environment),
                environment.pipeline(),
                new Metrics(environment),
                Connection.streams(),
                new Setup(environment.layout(), environment.failOfMillion()));
    }

    /// For a process that has its own store: one under test, or a simulated one.
    public StateFunction(Store store, Pipeline pipeline, Metrics metrics) {
        this(store, pipeline, metrics, Connection.streams());
    }

    /// The same, with streams of its own to read again what messages name.
    public StateFunction(Store store, Pipeline pipeline, Metrics metrics, Supplier<Streams> streams) {
        this(store, pipeline, metrics, streams, new Setup(Layout.DEFAULT, 0));
    }

    /// The settings in the template's parameters.
    ///
    /// @param layout of a deployment that has no definition yet
    /// @param failOfMillion number of invocations, of a million, that fail on purpose
    record Setup(Layout layout, int failOfMillion) {}

    StateFunction(Store store, Pipeline pipeline, Metrics metrics, Supplier<Streams> streams, Setup setup) {
        this.store = store;
        this.pipeline = pipeline.unpublished(); // Where totals are published is no part of what the tables hold.
        this.metrics = metrics;
        this.streams = streams;
        layout = setup.layout;
        failures = InjectedFailures.of(setup.failOfMillion, store, metrics);
        places = new Places(store);
        letters = new LetterTable(store);
    }

    @Override
    public byte[] invoke(byte[] event, Context context) {
        byte[] answer = UpdateRequest.read(event).isPresent() ? handle(event) : failures.around(() -> handle(event));
        if (BoundedCalls.isFull()) {
            metrics.log("ERROR " + BoundedCalls.LEFT_MAX + " calls of the function have not returned, so this"
                    + " process ends. The batch comes again; its dead letters name the events.");
            Runtime.getRuntime().halt(1); // No answer: the batch comes again, to another process, and is in.
        }
        return answer;
    }

    /// Does one invocation; fails if it is to come again.
    ///
    /// @return the answer's bytes
    public byte[] handle(byte[] event) {
        Optional<UpdateRequest> deploying = UpdateRequest.read(event);
        if (deploying.isPresent()) {
            AcceptedInput input = AcceptedInput.of(deploying.get());
            deploying.get().answer(input.name(), () -> refusal(deploying.get(), input));
            return BatchResponse.DONE.json();
        }
        BatchResponse response = switch (Invocation.read(event)) {
            case Invocation.Batch(var arrivals, var streamArn) -> {
                Shell.logPlace(arrivals, metrics);
                open();
                tell(streamArn);
                Runnable note = places.noting(streamArn, arrivals);
                List<Fate> fates = StateAndMap.process(store, arrivals);
                count(Fate.sum(fates));
                BatchResponse answer = answer(arrivals, fates);
                if (answer.equals(BatchResponse.DONE)) {
                    note.run();
                }
                yield answer;
            }
            case Invocation.Messages(var messages) -> {
                open();
                Retries.Taken taken = new Retries(store, streams.get()).take(messages);
                count(taken.fates());
                yield Shell.answer(taken, metrics);
            }
            case Invocation.Tick _ -> BatchResponse.DONE;
        };
        return response.json();
    }

    /// All records from the first one that is handed back come again; those among them that are in change
    /// nothing then.
    private BatchResponse answer(List<Arrival> arrivals, List<Fate> fates) {
        for (int i = 0; i < fates.size(); i++) {
            if (fates.get(i) instanceof Fate.HandedBack(var why)) {
                String from = arrivals.get(i).sequence();
                metrics.log("WARN Records from " + from + " on come again: " + why.getMessage());
                return new BatchResponse(List.of(from));
            }
        }
        return BatchResponse.DONE;
    }

    /// Why the code of this process may not take the place of the one that serves; empty if it may.
    private Optional<String> refusal(UpdateRequest deploying, AcceptedInput input) {
        if (deploying.isToOlderVersion()) {
            return Optional.empty(); // A refusal would end the rollback half-way.
        }
        Optional<Definition> definition = new Definitions(store).findAnyhow();
        if (definition.isEmpty()) {
            AwsEngine.requirePossible(pipeline);
        } else {
            String refusal = Upkeep.refusal(definition.get().servedView().pipeline(), pipeline);
            if (refusal != null) {
                return Optional.of(refusal);
            }
        }
        // Before the mapping changes. If it changes now, its batches end in any order for some time more.
        boolean isOne = ONE.equals(deploying.property("Factor"));
        places.order(isOne && (deploying.isUpdate() ? isSame(deploying, "Factor") : definition.isEmpty()));
        boolean isSame = isSame(deploying, "Input") && isSame(deploying, "From");
        if (!deploying.isUpdate() || isSame || input.isAccepted()) {
            return Optional.empty();
        }
        InputStart.Asked asked = new InputStart.Asked(
                deploying.property("Input"),
                deploying.property("From"),
                isSame(deploying, "Input"),
                isSame(deploying, "From"));
        return InputStart.refusal(store, streams, asked);
    }

    private static boolean isSame(UpdateRequest deploying, String property) {
        return deploying.property(property).equals(deploying.propertyBefore(property));
    }

    /// Not when the class is loaded: what a snapshot holds must not be older than the tables.
    private void open() {
        if (opened) {
            return;
        }
        // What is folded is what the tables say; Upkeep brings them to another pipeline, or refuses it.
        Definitions definitions = new Definitions(store);
        if (definitions.find().isEmpty()) {
            AwsEngine.requirePossible(pipeline);
        }
        requireServing(definitions.openOrCreate(pipeline, layout.lanes(), layout.gates()));
        letters.useBucket();
        opened = true;
    }

    /// A user's function folds only when the definition names it, which is the end of its deployment: what it
    /// has folded no older one can take up.
    private void requireServing(Definition definition) {
        Pipeline served = definition.servedView().pipeline();
        if (!(pipeline.fold() instanceof Processing)
                || PipelineText.write(served).equals(PipelineText.write(pipeline.ofDataOf(served)))) {
            return;
        }
        String refusal = Upkeep.refusal(served, pipeline);
        throw new IllegalStateException(
                refusal == null
                        ? "This version of the function does not serve yet: its deployment is under way, or was not"
                                + " completed. Records wait, and come again."
                        : refusal + " Records wait, and come again.");
    }

    /// Keeps the stream's ARN in the tables, where a replay looks it up.
    private void tell(Optional<String> streamArn) {
        if (streamArn.isPresent() && !streamArn.equals(told)) {
            letters.useInput(streamArn.get());
            told = streamArn;
        }
    }

    /// The table's counts are for people, and a write for each invocation is a tenth of the price at one record
    /// a second. So a process keeps the counts of up to a minute in memory, and loses them when it ends.
    private void count(Fates fates) {
        Instant now = store.clock().instant();
        uncounted = uncounted.plus(fates);
        if (Duration.between(countedAt, now).abs().compareTo(COUNTED_EACH) >= 0) {
            Fates all = uncounted;
            uncounted = Fates.NONE;
            countedAt = now;
            letters.count(all);
        }
        metrics.write(now, fates.counts());
    }
}
