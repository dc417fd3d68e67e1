package dev.onefold.cli.aws;

import dev.onefold.aws.template.BatchTemplate;
import dev.onefold.aws.template.Template;
import dev.onefold.aws.template.Template.Input;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.data.PipelineArgument;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.yaml.PipelineFunction;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// The options that say which template a pipeline gets.
public final class TemplateOptions {
    @Option(
            names = "--input",
            paramLabel = "INPUT",
            description = "Where records come from: ${COMPLETION-CANDIDATES}. new-stream is a Kinesis stream that the"
                    + " template makes, stream one that exists, table the change stream of a DynamoDB table. Batches"
                    + " come from a stream, too, or from a queue of SQS: new-queue or queue. Default: new-stream, of"
                    + " batches new-queue.")
    private @Nullable From input;

    @Option(
            names = "--serve",
            paramLabel = "WHAT",
            description = "Adds a function with an address of its own (a function URL) that answers the requests of"
                    + " docs/serve.md and shows the live page: ${COMPLETION-CANDIDATES}. write takes records, too. Callers"
                    + " sign as AWS has it (IAM), or send tokens of an issuer, which are parameters of the template."
                    + " Default: no such function.")
    private @Nullable Serve serve;

    /// As it is written on the command line.
    enum Serve {
        read,
        write
    }

    /// As it is written on the command line.
    enum From {
        new_stream,
        stream,
        table,
        new_queue,
        queue;

        @Override
        public String toString() {
            return name().replace('_', '-');
        }
    }

    /// A template.
    ///
    /// @param parameters their names
    public record Written(Pipeline pipeline, String yaml, List<String> parameters) {}

    /// The template of a pipeline.
    ///
    /// @param deletable whether everything is deleted with the stack
    /// @throws IllegalArgumentException saying why the pipeline cannot run on AWS, and what to do
    public Written written(Caller caller, String file, boolean deletable) {
        Pipeline read = PipelineArgument.read(caller, file);
        boolean isBatch = read.fold() instanceof Batching;
        From from = input == null ? isBatch ? From.new_queue : From.new_stream : input;
        if (isBatch) {
            BatchTemplate template = BatchTemplate.of(read, batches(from), service());
            return new Written(read, deletable ? template.deletableYaml() : template.yaml(), template.parameters());
        }
        Template template = Template.of(bound(caller, file, read), totals(from), service());
        return new Written(read, deletable ? template.deletableYaml() : template.yaml(), template.parameters());
    }

    private Template.Service service() {
        return switch (serve) {
            case null -> Template.Service.NONE;
            case read -> Template.Service.READ;
            case write -> Template.Service.WRITE;
        };
    }

    private static BatchTemplate.Input batches(From from) {
        return switch (from) {
            case new_queue -> BatchTemplate.Input.NEW_QUEUE;
            case queue -> BatchTemplate.Input.QUEUE;
            case new_stream -> BatchTemplate.Input.NEW_STREAM;
            case stream -> BatchTemplate.Input.STREAM;
            case table ->
                throw new IllegalArgumentException("On AWS batches come from a queue or a Kinesis stream. Write"
                        + " --input new-queue, queue, new-stream or stream.");
        };
    }

    private static Input totals(From from) {
        return switch (from) {
            case new_stream -> Input.NEW_STREAM;
            case stream -> Input.STREAM;
            case table -> Input.TABLE;
            case new_queue, queue ->
                throw new IllegalArgumentException(
                        "A queue is the input of batch pipelines only. Write --input new-stream, stream or table.");
        };
    }

    /// With the types of its function, which the template's tables are made of.
    private static Pipeline bound(Caller caller, String file, Pipeline read) {
        return read.fold() instanceof Processing
                ? PipelineFunction.load(caller.path(file), read).function().pipeline()
                : read;
    }
}
