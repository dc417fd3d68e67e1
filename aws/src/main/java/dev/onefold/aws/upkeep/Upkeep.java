package dev.onefold.aws.upkeep;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.item.Definition;
import dev.onefold.aws.read.TotalsReads;
import dev.onefold.aws.reduce.Reduce;
import dev.onefold.aws.state.Claims;
import dev.onefold.aws.state.Definitions;
import dev.onefold.aws.state.Functions;
import dev.onefold.aws.state.Progress;
import dev.onefold.aws.state.RowFill;
import dev.onefold.aws.store.Store;
import dev.onefold.core.Verification;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.state.Derivation;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/// Brings a deployment to the pipeline that was deployed, and audits it, a step at a time, while events go on.
///
/// Another pipeline becomes a second view. New rows are written with both, under a new epoch, so functions of
/// the old and of the new code do the same; the others are filled in; when all are, and their deltas are added,
/// the new view serves and the old one is cleaned away. An audit is a second view of the same pipeline, of some
/// leaves, which is compared with the served one in one cut; it goes on, too, when the pipeline that was
/// deployed is refused. Whatever stops a step, the next one goes on where the tables say.
///
/// Several steps at once get in each other's way and do no harm: each change of the definition is on condition
/// that nobody else has changed it.
public final class Upkeep {
    /// Owner of the views that are begun here; others are of a person's `verify` or `rebuild`.
    static final String OWNER = "upkeep";

    /// A view of somebody else that has not moved for so long was left behind.
    private static final Duration LEFT_BEHIND = Duration.ofMinutes(15);

    private static final String GOES_ON =
            " The one before goes on serving. Deploy that one again; or deploy this one as a"
                    + " stack of its own, on the same stream, and send it what the stream has forgotten.";

    private static final int SERVE_ATTEMPTS_MAX = 5;

    private final Store store;
    private final Definitions definitions;
    private final Pipeline wanted;
    private final BooleanSupplier goesOn;
    private final Consumer<Verification> audited;

    /// The result of a step.
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
    public static Outcome step(
            Store store, Pipeline wanted, int auditOneIn, BooleanSupplier goesOn, Consumer<Verification> audited) {
        Optional<Definition> definition = new Definitions(store).find();
        if (definition.isEmpty()) {
            return new Outcome.Idle();
        }
        Pipeline served = definition.get().servedView().pipeline();
        Upkeep upkeep = new Upkeep(store, wanted.ofDataOf(served), goesOn, audited);
        new Claims(store).require(definition.get());
        try {
            return upkeep.step(definition.get(), auditOneIn);
        } catch (RowFill.Overtaken overtaken) {
            return new Outcome.Working(0); // The next step looks again.
        }
    }

    private static boolean isSame(Pipeline one, Pipeline other) {
        return PipelineText.stored(one).equals(PipelineText.stored(other));
    }

    private Outcome step(Definition definition, int auditOneIn) {
        Pipeline served = definition.servedView().pipeline();
        if (served.fold() instanceof Processing || wanted.fold() instanceof Processing) {
            return ofFunction(definition, auditOneIn);
        }
        if (isSame(served, wanted)) {
            return keep(definition, auditOneIn);
        }
        String refusal = refusal(served, wanted);
        if (refusal == null) {
            return change(definition);
        }
        keep(definition, auditOneIn);
        return new Outcome.Refused(refusal);
    }

    /// Another function takes the place of the one before only at the end of its deployment, with [#serve]: a
    /// tick may come in the middle of an update that is rolled back.
    private Outcome ofFunction(Definition definition, int auditOneIn) {
        Pipeline served = definition.servedView().pipeline();
        if (isSame(served, wanted)) {
            Outcome passed = store.function()
                    .map(function -> pass(KeyPass.go(store, definition, function, auditOneIn, goesOn)))
                    .orElseGet(Outcome.Idle::new);
            return passed instanceof Outcome.Idle ? clean(definition) : passed;
        }
        String refusal = refusal(served, wanted);
        return refusal == null ? new Outcome.Idle() : new Outcome.Refused(refusal);
    }

    /// Of an audit, each step reports the keys that it has looked at.
    private Outcome pass(KeyPass.Done done) {
        Verification audit = done.audit();
        if (audit != null) {
            audited.accept(audit);
        }
        if (!done.isAll()) {
            return new Outcome.Working(done.keys());
        }
        return audit == null ? new Outcome.Idle() : new Outcome.Audited(audit);
    }

    /// Keeps the served pipeline: a view of the same pipeline is continued, and any other view is dropped.
    private Outcome keep(Definition definition, int auditOneIn) {
        Pipeline served = definition.servedView().pipeline();
        Optional<Definition.View> other = definition.otherView();
        if (other.isPresent()) {
            return isSame(other.get().pipeline(), served)
                    ? shadow(definition, other.get())
                    : drop(definition); // It was on its way to a pipeline that is not wanted any more.
        }
        if (!LetterFill.fill(store, definition, goesOn)) {
            return new Outcome.Working(0);
        }
        return auditOneIn > 0
                ? begun(definition, served, auditOneIn, both -> audit(both, both.view(both.last())))
                : clean(definition);
    }

    private Outcome change(Definition definition) {
        Optional<Definition.View> other = definition.otherView();
        if (other.isEmpty()) {
            // A row that is refused is a letter before another pipeline looks at it.
            return LetterFill.settleRows(store, definition, goesOn)
                    ? begun(definition, wanted, 1, both -> toward(both, both.view(both.last())))
                    : new Outcome.Working(0);
        }
        Definition.View view = other.get();
        if (isSame(view.pipeline(), wanted)) {
            return toward(definition, view);
        }
        return view.owner().equals(OWNER) ? drop(definition) : shadow(definition, view);
    }

    /// Why a pipeline that is to be deployed cannot go on where another one serves; `null` if it can.
    ///
    /// @param deployed as its file has it, which may name no edition
    public static @Nullable String refusal(Pipeline served, Pipeline deployed) {
        Optional<String> otherRules = Definition.otherRules(served);
        if (otherRules.isPresent()) {
            return otherRules.get();
        }
        Pipeline wanted = deployed.ofDataOf(served);
        if (served.fold() instanceof Processing || wanted.fold() instanceof Processing) {
            String difference = isSame(served, wanted) ? null : Functions.difference(served, wanted);
            return difference == null
                    ? null
                    : "The pipeline that was deployed cannot go on where the one before is: " + difference + "."
                            + GOES_ON;
        }
        if (isSame(served, wanted)) {
            return null;
        }
        try {
            AwsEngine.requirePossible(wanted);
        } catch (IllegalArgumentException e) {
            return e.getMessage();
        }
        return switch (Derivation.of(served, wanted)) {
            case Derivation.Possible _ -> null;
            case Derivation.Impossible(var reason) ->
                "The pipeline that was deployed cannot be made of what the rows hold: " + reason + "." + GOES_ON;
        };
    }

    /// Lets the function that was deployed fold from now on, at the end of its deployment: it takes the place
    /// of the one before, if its tables and roll-ups are the same. A key goes on with it at its next event, or
    /// when a pass over the keys comes to it. Where no record has come yet, this makes the definition.
    /// Otherwise an invocation of the version before could make it after the update, and records would wait for
    /// ever.
    ///
    /// @param lanes of a deployment that has no definition yet, as are its gates
    /// @return why it may not; empty if it does
    public static Optional<String> serve(Store store, Pipeline deployed, int lanes, int gates) {
        Definitions definitions = new Definitions(store);
        for (int attempt = 1; attempt <= SERVE_ATTEMPTS_MAX; attempt++) {
            Definition definition = definitions.openOrCreate(deployed, lanes, gates);
            Pipeline served = definition.servedView().pipeline();
            Pipeline wanted = deployed.ofDataOf(served);
            if (isSame(served, wanted)) {
                return Optional.empty();
            }
            String refusal = refusal(served, wanted);
            if (refusal != null) {
                return Optional.of(refusal);
            }
            Definition next = definition.withPipeline(wanted);
            if (definitions.replace(next).equals(next)) {
                return Optional.empty();
            }
        }
        return Optional.of("The definition is changed by others again and again: deploy once more.");
    }

    private Outcome begun(Definition definition, Pipeline pipeline, int oneIn, Function<Definition, Outcome> then) {
        return replaced(new Claims(store).withView(definition, pipeline, oneIn, OWNER), then);
    }

    private Outcome replaced(Definition next, Function<Definition, Outcome> then) {
        Definition now = definitions.replace(next);
        return now.equals(next) ? then.apply(now) : new Outcome.Working(0);
    }

    private Outcome drop(Definition definition) {
        return replaced(definition.servingOnly(definition.served()), _ -> new Outcome.Working(0));
    }

    private Outcome toward(Definition definition, Definition.View view) {
        return filled(definition, view, _ -> {
            definitions.keepServed(definition);
            long since = new TotalsReads(store, definition).open();
            return replaced(definition.serving(view.number(), since), _ -> new Outcome.Serving(wanted));
        });
    }

    /// An audit of ours goes on; what a person compares is left alone while it moves.
    private Outcome shadow(Definition definition, Definition.View view) {
        if (view.owner().equals(OWNER)) {
            return audit(definition, view);
        }
        Progress progress =
                Progress.begin(store, view.number()); // If its owner has not: from now on it is left behind.
        boolean isLeft = progress.view() == view.number()
                && progress.at().plus(LEFT_BEHIND).isBefore(store.clock().instant());
        return isLeft ? drop(definition) : new Outcome.Idle();
    }

    /// Reports before the audit ends: if this process stops in between, the result is reported twice rather
    /// than never.
    private Outcome audit(Definition definition, Definition.View view) {
        return filled(definition, view, rows -> {
            Verification verification = TotalsReads.compare(store, definition, view, rows);
            audited.accept(verification);
            return replaced(definition.servingOnly(definition.served()), _ -> new Outcome.Audited(verification));
        });
    }

    /// Once all rows are in a view, and all deltas that this took are in the totals.
    private Outcome filled(Definition definition, Definition.View view, LongFunction<Outcome> then) {
        Progress progress = RowFill.fill(store, definition, view.number(), goesOn);
        if (!progress.isDone() || !goesOn.getAsBoolean()) {
            return new Outcome.Working(progress.rows());
        }
        drain(definition);
        return then.apply(progress.rows());
    }

    private void drain(Definition definition) {
        store.threads().each(definition.lanes(), lane -> Reduce.lane(store, lane));
    }

    private Outcome clean(Definition definition) {
        Set<Integer> views = TotalsCleaner.left(store, definition);
        if (views.isEmpty()) {
            return new Outcome.Idle();
        }
        definitions.moveGates(definition);
        store.threads().pause(Store.IN_FLIGHT_MAX);
        drain(definition);
        return TotalsCleaner.clean(store, definition, views, goesOn) ? new Outcome.Idle() : new Outcome.Working(0);
    }
}
