package dev.onefold.cli.trial;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.batch.FunctionReceivers;
import dev.onefold.aws.template.BatchTemplate;
import dev.onefold.aws.template.Template;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.data.PipelineArgument;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Batching.Destination;
import dev.onefold.core.pipeline.Batching.Forget;
import dev.onefold.core.pipeline.Batching.Kind;
import dev.onefold.core.pipeline.Batching.Receiver;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.pipeline.Processing.Table;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.process.LoadedFunction;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/// A pipeline as a trial deploys it. It publishes nowhere, and its batches go into the trial's own bucket: no
/// system outside the trial gets anything of it.
///
/// @param yaml the template
/// @param parameters names of the template's parameters
/// @param function of the pipeline; empty if it has none
/// @param work what is paid for its records
/// @param functions the functions, as the outputs of the stack name them
/// @param failing those of them whose invocations can fail on purpose
/// @param tables tables of DynamoDB, as the outputs of the stack name them
record TrialPipeline(
        Pipeline pipeline,
        String yaml,
        List<String> parameters,
        Optional<LoadedFunction> function,
        Prices.Work work,
        List<String> functions,
        List<String> failing,
        List<String> tables) {
    /// Of the keys of batches in the trial's bucket.
    static final String BATCHES = "batches/";

    /// As `onefold aws trial` deploys it.
    ///
    /// @param file of the pipeline
    /// @param bucket of the trial, which gets the batches
    /// @throws CommandFailure saying why it cannot be deployed or compared, and what to do
    static TrialPipeline of(Caller caller, String file, Pipeline read, String bucket) {
        Pipeline pipeline = read.unpublished(); // A published table has the name that the file gives it.
        try {
            return switch (pipeline.fold()) {
                case Rollups _ -> folding(pipeline, Optional.empty(), Prices.TOTALS);
                case Processing _ -> {
                    AwsEngine.requireFoldPossible(pipeline); // Before a command is started.
                    LoadedFunction function =
                            PipelineArgument.function(caller, file, pipeline).function();
                    yield folding(function.pipeline(), Optional.of(function), Prices.FUNCTION);
                }
                case Batching batching -> batches(caller, pipeline, batching, bucket);
            };
        } catch (IllegalArgumentException refused) {
            throw new CommandFailure(ExitCode.DIFFERENT, String.valueOf(refused.getMessage()), refused);
        }
    }

    private static TrialPipeline folding(Pipeline pipeline, Optional<LoadedFunction> function, Prices.Work work) {
        Template template = Template.of(pipeline, Template.Input.NEW_STREAM);
        return new TrialPipeline(
                pipeline,
                template.deletableYaml(),
                template.parameters(),
                function,
                work,
                List.of("State", "Reduce", "Upkeep"),
                List.of("State", "Reduce"),
                List.of("Rows", "Deltas", "Totals", "Letters"));
    }

    /// The receiver is S3, whatever the file says: the trial's records are for no receiver of the user's.
    private static TrialPipeline batches(Caller caller, Pipeline pipeline, Batching batching, String bucket) {
        if (!(pipeline.input().identity() instanceof Identity.ById)) {
            throw CommandFailure.usage("A trial of batches compares records by their ids, and those of pipeline "
                    + pipeline.name() + " have none of their own. Give its input an 'id'.");
        }
        if (batching.forget() instanceof Forget.AfterDelivery) {
            throw CommandFailure.usage(
                    "With 'forget: after-delivery' a record that comes again is delivered again, so a"
                            + " trial cannot say how often it should be. Leave 'forget' out for the trial.");
        }
        if (batching.direct()) {
            throw CommandFailure.usage("Records that are handed over directly are in no numbered batch that a trial can"
                    + " read back. Leave 'direct' out for the trial.");
        }
        try {
            FunctionReceivers.requirePossible(pipeline, batching);
        } catch (IllegalArgumentException refused) {
            caller.note("The trial delivers into its own bucket. A deployment is refused: " + refused.getMessage());
        }
        TreeMap<String, String> options = new TreeMap<>(Map.of("manifest", "true"));
        Destination destination = new Destination(
                Kind.S3, List.of("s3://" + bucket + "/" + BATCHES + Destination.NUMBER + ".ndjson"), options);
        Pipeline delivering = pipeline.with(new Batching(
                batching.size(),
                false,
                batching.bytes(),
                batching.waitMax(),
                destination,
                Receiver.IDEMPOTENT,
                false,
                batching.order(),
                batching.key(),
                batching.concurrency(),
                Batching.RETRY_DEFAULT,
                batching.forget(),
                batching.compare()));
        BatchTemplate template = BatchTemplate.of(delivering, BatchTemplate.Input.NEW_QUEUE);
        return new TrialPipeline(
                delivering,
                template.deletableYaml(),
                template.parameters(),
                Optional.empty(),
                Prices.batches(batching.size()),
                List.of("Collect", "Seal", "Deliver"),
                List.of("Collect", "Deliver"),
                List.of("Rows", "Deltas", "Letters"));
    }

    /// The tables of its function; none if it has none.
    List<String> functionTables() {
        return pipeline.fold() instanceof Processing processing
                ? processing.tables().stream().map(Table::name).toList()
                : List.of();
    }

    /// What the stack consists of, for people.
    String resources() {
        String all = pipeline.fold() instanceof Batching
                ? "an SQS queue with one for what is put aside, three tables"
                : "a Kinesis stream on demand, two queues, "
                        + (4 + functionTables().size()) + " tables";
        return all + ", a bucket, three functions, their roles and schedules; and a bucket for their code"
                + (pipeline.fold() instanceof Batching ? ", which gets the batches, too" : "");
    }

    /// The deployed side of the trial.
    Deployed deployed(Deployed.Parts parts, Oracle oracle) {
        return pipeline.fold() instanceof Batching
                ? new DeployedBatches(parts, pipeline, (BatchOracle) oracle)
                : new DeployedTotals(parts, this, oracle);
    }

    /// The names of all tables of DynamoDB.
    List<String> tableNames(String stack, Map<String, String> outputs) {
        List<String> names = new ArrayList<>(tables.stream()
                .map(table -> outputs.getOrDefault(table + "Table", ""))
                .toList());
        functionTables().forEach(table -> names.add(stack + "-table-" + table));
        return names;
    }

    /// The names of its functions.
    List<String> functionNames(Map<String, String> outputs) {
        return functions.stream()
                .map(function -> outputs.getOrDefault(function + "Function", ""))
                .toList();
    }
}
