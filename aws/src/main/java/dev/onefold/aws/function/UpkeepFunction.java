package dev.onefold.aws.function;

import com.amazonaws.services.lambda.runtime.Context;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.onefold.aws.event.BatchResponse;
import dev.onefold.aws.letter.AsideKeys;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.template.Environment;
import dev.onefold.aws.template.Layout;
import dev.onefold.aws.template.Metric;
import dev.onefold.aws.upkeep.Upkeep;
import dev.onefold.core.Verification;
import dev.onefold.core.pipeline.Pipeline;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/// The function that is woken each minute and goes on with what takes longer than one invocation: the way to
/// another pipeline, an audit, the cleaning away of what served before. An event `{"audit": N}` begins an audit
/// of one leaf group in N.
public final class UpkeepFunction implements Shell {
    private static final JsonFactory JSON = new JsonFactory();

    /// The time that an invocation reserves to finish its page, and to compare at the end of an audit.
    private static final int REMAINING_MS_MIN = 20_000;

    private final Store store;
    private final Pipeline pipeline;
    private final Metrics metrics;
    private final Layout layout;

    /// As Lambda makes it.
    public UpkeepFunction() {
        this(Environment.ofProcess());
    }

    private UpkeepFunction(Environment environment) {
        this(
                DeployedFunction.store(environment),
                environment.pipeline(),
                new Metrics(environment),
                environment.layout());
    }

    /// For a process that has its own store: one under test, or a simulated one.
    public UpkeepFunction(Store store, Pipeline pipeline, Metrics metrics) {
        this(store, pipeline, metrics, Layout.DEFAULT);
    }

    private UpkeepFunction(Store store, Pipeline pipeline, Metrics metrics, Layout layout) {
        this.store = store;
        this.pipeline = pipeline.unpublished(); // Where totals are published is no part of what the tables hold.
        this.metrics = metrics;
        this.layout = layout;
    }

    @Override
    public byte[] invoke(byte[] event, Context context) {
        return handle(event, () -> context.getRemainingTimeInMillis() > REMAINING_MS_MIN);
    }

    /// Does one invocation.
    ///
    /// @param goesOn whether there is time for more
    /// @return the answer's bytes
    public byte[] handle(byte[] event, BooleanSupplier goesOn) {
        Optional<UpdateRequest> deploying = UpdateRequest.read(event);
        if (deploying.isPresent()) {
            deploying.get().answer("onefold-serving", () -> serve(deploying.get()));
            return BatchResponse.DONE.json();
        }
        AsideKeys.tell(store, keys -> metrics.write(store.clock().instant(), Map.of(Metric.KeysAside, keys)));
        tell(Upkeep.step(store, pipeline, audit(event), goesOn, this::tell));
        return BatchResponse.DONE.json();
    }

    /// A rollback that was refused would leave the stack as it is, and it could not be updated any more. So it
    /// is accepted also if the tables do not answer; then the definition stays, and State says whether it
    /// folds.
    private Optional<String> serve(UpdateRequest deploying) {
        try {
            Optional<String> refusal = Upkeep.serve(store, pipeline, layout.lanes(), layout.gates());
            return deploying.isToOlderVersion() ? Optional.empty() : refusal;
        } catch (RuntimeException failed) {
            if (!deploying.isToOlderVersion()) {
                throw failed;
            }
            metrics.log("WARN The rollback goes on, though the definition was not reached: " + failed);
            return Optional.empty();
        }
    }

    private static int audit(byte[] event) {
        try (JsonParser json = JSON.createParser(event)) {
            while (json.nextToken() != null) {
                if (json.currentToken() == JsonToken.FIELD_NAME
                        && json.currentName().equals("audit")) {
                    return json.nextIntValue(0);
                }
            }
            return 0;
        } catch (IOException e) {
            throw new UncheckedIOException("What the schedule sends is not JSON", e);
        }
    }

    private void tell(Upkeep.Outcome outcome) {
        switch (outcome) {
            case Upkeep.Outcome.Idle _, Upkeep.Outcome.Audited _ -> {}
            case Upkeep.Outcome.Working(var rows) ->
                metrics.log(
                        "INFO Rows are gone through, for another view or version, or an audit: " + rows + " so far");
            case Upkeep.Outcome.Serving(var served) ->
                metrics.log("INFO Totals of the new definition of " + served.name() + " serve from now on");
            case Upkeep.Outcome.Refused(var reason) -> {
                metrics.write(store.clock().instant(), Map.of(Metric.PipelineRefused, 1L));
                metrics.log("ERROR " + reason);
            }
        }
    }

    private void tell(Verification verification) {
        int differences = verification.differences().size()
                + verification.keyDifferences().size();
        metrics.write(store.clock().instant(), Map.of(Metric.AuditDifferences, (long) differences));
        String what = verification.keys() > 0 ? verification.keys() + " keys" : verification.groups() + " leaf groups";
        metrics.log((differences == 0 ? "INFO" : "ERROR") + " Audit of " + what + ", recomputed from "
                + verification.truth() + ": " + differences + " differ"
                + (differences == 0 ? "" : ". 'onefold aws verify' names them, 'rebuild' repairs totals"));
    }
}
