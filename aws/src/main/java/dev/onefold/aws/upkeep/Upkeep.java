package dev.onefold.aws.upkeep;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.item.Definition;
import dev.onefold.aws.read.TotalsReads;
import dev.onefold.aws.reduce.Reduce;
import dev.onefold.aws.state.Claims;
import dev.onefold.aws.state.Definitions;
import dev.onefold.aws.state.Filling;
import dev.onefold.aws.state.Progress;
import dev.onefold.aws.store.Futures;
import dev.onefold.aws.store.Store;
import dev.onefold.core.Verification;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.state.Derivation;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// Brings a deployment to the pipeline that was deployed, and audits it, a step at a time, while events go on.
///
/// Another pipeline becomes a second view. New rows are written with both, under a new epoch, so functions of the old
/// and of the new code do the same; the others are filled in; when all are, and their deltas are added, the new view
/// serves and the old one is cleaned away. An audit is a second view of the same pipeline, of some leaves, which is
/// compared with the served one in one cut; it goes on, too, when the pipeline that was deployed is refused. Whatever
/// stops a step, the next one goes on where the tables say.
///
/// Several steps at once get in each other's way and do no harm: each change of the definition is on condition that
/// nobody else has changed it.
public final class Upkeep {
    /// Owner of the views that are begun here; others are of a person's `verify` or `rebuild`.
    static final String OWNER = "upkeep";

    /// A view of somebody else that has not moved for so long was left behind.
    private static final Duration LEFT_BEHIND = Duration.ofMinutes(15);

    private final Store store;
    private final Definitions definitions;
    private final Pipeline wanted;
    private final BooleanSupplier goesOn;
    private final Consumer<Verification> audited;

    /// What a step came to.
    public sealed interface Outcome {
        /// Everything is as it should be, and nothing is under way.
        record Idle() implements Outcome {}

        /// A view is being filled, or cleaned away.
        ///
        /// @param rows gone through so far
        record Working(long rows) implements Outcome {}

        /// Another pipeline serves from now on.
        record Serving(Pipeline pipeline) implements Outcome {}

        /// An audit has ended.
        record Audited(Verification verification) implements Outcome {}

        /// The pipeline that was deployed cannot be made of what the rows hold; the one before goes on.
        record Refused(String reason) implements Outcome {}
    }

    private Upkeep(Store store, Pipeline wanted, BooleanSupplier goesOn, Consumer<Verification> audited) {
        this.store = store;
        this.wanted = wanted;
        this.goesOn = goesOn;
        this.audited = audited;
        definitions = new Definitions(store);
    }

    /// Goes on for as long as there is time.
    ///
    /// @param wanted the pipeline that was deployed
    /// @param auditOneIn begins an audit of one leaf in so many, if nothing else is under way; 0 begins none
    /// @param goesOn whether there is time for another page of a table
    /// @param audited told what an audit came to, at least once
    public static CompletableFuture<Outcome> step(
            Store store, Pipeline wanted, int auditOneIn, BooleanSupplier goesOn, Consumer<Verification> audited) {
        Upkeep upkeep = new Upkeep(store, wanted, goesOn, audited);
        return upkeep.definitions
                .find()
                .thenCompose(found -> found.map(definition -> new Claims(store)
                                .require(definition)
                                .thenCompose(_ -> upkeep.step(definition, auditOneIn)))
                        .orElseGet(() -> done(new Outcome.Idle())))
                .exceptionallyCompose(failure -> {
                    Throwable cause = Futures.cause(failure);
                    return cause instanceof Filling.Overtaken
                            ? done(new Outcome.Working(0)) // The next step looks again.
                            : CompletableFuture.failedFuture(cause);
                });
    }

    private static CompletableFuture<Outcome> done(Outcome outcome) {
        return CompletableFuture.completedFuture(outcome);
    }

    private static boolean isSame(Pipeline one, Pipeline other) {
        return PipelineText.write(one).equals(PipelineText.write(other));
    }

    private CompletableFuture<Outcome> step(Definition definition, int auditOneIn) {
        Pipeline served = definition.servedView().pipeline();
        if (isSame(served, wanted)) {
            return keep(definition, auditOneIn);
        }
        String refusal = refusal(served);
        return refusal == null
                ? change(definition)
                : keep(definition, auditOneIn).thenApply(_ -> new Outcome.Refused(refusal));
    }

    /// What is served is to be served.
    private CompletableFuture<Outcome> keep(Definition definition, int auditOneIn) {
        Pipeline served = definition.servedView().pipeline();
        Optional<Definition.View> other = definition.otherView();
        if (other.isPresent()) {
            return isSame(other.get().pipeline(), served)
                    ? shadow(definition, other.get())
                    : drop(definition); // It was on its way to a pipeline that is not wanted any more.
        }
        return LetterFilling.fill(store, definition, goesOn).thenCompose(filled -> {
            if (!filled) {
                return done(new Outcome.Working(0));
            }
            return auditOneIn > 0
                    ? begun(definition, served, auditOneIn, both -> audit(both, both.view(both.last())))
                    : clean(definition);
        });
    }

    private CompletableFuture<Outcome> change(Definition definition) {
        Optional<Definition.View> other = definition.otherView();
        if (other.isEmpty()) {
            // A row that is refused is a letter before another pipeline looks at it.
            return LetterFilling.settleRows(store, definition, goesOn)
                    .thenCompose(settled -> settled
                            ? begun(definition, wanted, 1, both -> toward(both, both.view(both.last())))
                            : done(new Outcome.Working(0)));
        }
        Definition.View view = other.get();
        if (isSame(view.pipeline(), wanted)) {
            return toward(definition, view);
        }
        return view.owner().equals(OWNER) ? drop(definition) : shadow(definition, view);
    }

    private @Nullable String refusal(Pipeline served) {
        try {
            AwsEngine.requirePossible(wanted);
        } catch (IllegalArgumentException e) {
            return e.getMessage();
        }
        return switch (Derivation.of(served, wanted)) {
            case Derivation.Possible _ -> null;
            case Derivation.Impossible(var reason) ->
                "The pipeline that was deployed cannot be made of what the rows hold: " + reason
                        + ". The one before goes on serving. Deploy that one again; or deploy this one as a stack of its"
                        + " own, on the same stream, and send it what the stream has forgotten.";
        };
    }

    private interface Next {
        CompletableFuture<Outcome> with(Definition definition);
    }

    private CompletableFuture<Outcome> begun(Definition definition, Pipeline pipeline, int oneIn, Next then) {
        return new Claims(store).withView(definition, pipeline, oneIn, OWNER).thenCompose(next -> replaced(next, then));
    }

    private CompletableFuture<Outcome> replaced(Definition next, Next then) {
        return definitions
                .replace(next)
                .thenCompose(now -> now.equals(next) ? then.with(now) : done(new Outcome.Working(0)));
    }

    private CompletableFuture<Outcome> drop(Definition definition) {
        return replaced(definition.servingOnly(definition.served()), _ -> done(new Outcome.Working(0)));
    }

    private CompletableFuture<Outcome> toward(Definition definition, Definition.View view) {
        return filled(
                definition,
                view,
                _ -> definitions
                        .keepServed(definition)
                        .thenCompose(_ -> replaced(
                                definition.servingOnly(view.number()), _ -> done(new Outcome.Serving(wanted)))));
    }

    /// An audit of ours goes on; what a person compares is left alone while it moves.
    private CompletableFuture<Outcome> shadow(Definition definition, Definition.View view) {
        if (view.owner().equals(OWNER)) {
            return audit(definition, view);
        }
        return Progress.begin(store, view.number()) // If its owner has not: from now on it is left behind.
                .thenCompose(progress -> progress.view() == view.number()
                                && progress.at()
                                        .plus(LEFT_BEHIND)
                                        .isBefore(store.clock().instant())
                        ? drop(definition)
                        : done(new Outcome.Idle()));
    }

    /// Reports before the audit ends: if this process stops in between, the result is reported twice rather than never.
    private CompletableFuture<Outcome> audit(Definition definition, Definition.View view) {
        return filled(
                definition,
                view,
                rows -> TotalsReads.compare(store, definition, view, rows).thenCompose(verification -> {
                    audited.accept(verification);
                    return replaced(
                            definition.servingOnly(definition.served()), _ -> done(new Outcome.Audited(verification)));
                }));
    }

    /// Once all rows are in a view, and all deltas that this took are in the totals.
    private CompletableFuture<Outcome> filled(
            Definition definition, Definition.View view, LongFunction<CompletableFuture<Outcome>> then) {
        return Filling.fill(store, definition, view.number(), goesOn)
                .thenCompose(progress -> progress.isDone() && goesOn.getAsBoolean()
                        ? drain(definition).thenCompose(_ -> then.apply(progress.rows()))
                        : done(new Outcome.Working(progress.rows())));
    }

    private CompletableFuture<Void> drain(Definition definition) {
        return CompletableFuture.allOf(IntStream.range(0, definition.lanes())
                .mapToObj(lane -> Reduce.lane(store, lane))
                .toArray(CompletableFuture[]::new));
    }

    private CompletableFuture<Outcome> clean(Definition definition) {
        return Cleaning.left(store, definition).thenCompose(views -> {
            if (views.isEmpty()) {
                return done(new Outcome.Idle());
            }
            return definitions
                    .moveGates(definition)
                    .thenCompose(_ -> store.pause().apply(Store.IN_FLIGHT_MAX))
                    .thenCompose(_ -> drain(definition))
                    .thenCompose(_ -> Cleaning.clean(store, definition, views, goesOn))
                    .thenApply(all -> all ? new Outcome.Idle() : new Outcome.Working(0));
        });
    }
}
