package dev.onefold.cli.aws;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.function.DeployedFunction;
import dev.onefold.aws.store.Store;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.data.FunctionText;
import dev.onefold.cli.data.PipelineArgument;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.pipeline.Processing.Code;
import dev.onefold.core.process.LoadedFunction;

/// The function of a deployed pipeline, from the jar beside the pipeline file. It is loaded when a verb calls it first,
/// and must be the one that is deployed: what another version folds, the functions on AWS would hand back.
final class FunctionBesideFile {
    private FunctionBesideFile() {}

    /// The tables of a deployment, with the function if the pipeline has one.
    ///
    /// @param file of the pipeline, as it was given
    static Store with(Caller caller, AwsCommand aws, String file, Pipeline definition) {
        Store store = aws.store(definition.name());
        return definition.fold() instanceof Processing
                ? DeployedFunction.with(store, () -> load(caller, store, file, definition), caller.err())
                : store;
    }

    private static LoadedFunction load(Caller caller, Store store, String file, Pipeline definition) {
        LoadedFunction loaded =
                PipelineArgument.function(caller, file, definition).function();
        Pipeline deployed = AwsEngine.deployed(store).pipeline();
        if (deployed.fold() instanceof Processing has) {
            requireSame(has, loaded.processing());
        }
        FunctionText.hashWarning(deployed, loaded.pipeline()).ifPresent(text -> caller.note("Warning: " + text));
        return loaded;
    }

    private static void requireSame(Processing deployed, Processing here) {
        if (deployed.version() != here.version()) {
            throw other("Version " + deployed.version() + " of the function is deployed, and the pipeline file has"
                    + " version " + here.version());
        }
        Code one = deployed.code();
        Code other = here.code();
        if (one != null
                && other != null
                && !one.equals(new Code(one.sha256(), other.context(), other.event(), other.tables()))) {
            throw other("The function beside the pipeline file has other types than the one that is deployed");
        }
    }

    private static CommandFailure other(String what) {
        return new CommandFailure(
                ExitCode.DIFFERENT, what + ". Take the pipeline file and the jar that were deployed.");
    }
}
