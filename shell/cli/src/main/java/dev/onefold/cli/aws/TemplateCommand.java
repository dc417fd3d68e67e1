package dev.onefold.cli.aws;

import dev.onefold.aws.template.BatchTemplate;
import dev.onefold.aws.template.Template;
import dev.onefold.aws.template.Template.Input;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.data.PipelineArgument;
import dev.onefold.cli.show.Words;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.yaml.PipelineFunction;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `onefold aws template`: what is to be deployed.
@Command(
        name = "template",
        description = {
            "Writes one CloudFormation template: stream or queue, tables, functions, roles, alarms and a dashboard.",
            "Deploy it with 'aws cloudformation deploy'; docs/aws.md says how."
        },
        footer = {
            "  With a Kinesis stream of its own:",
            "    onefold aws template trade-risk.yaml > template.yaml",
            "  On the change stream of a table that is there:",
            "    onefold aws template favourites.yaml --input table > template.yaml",
            "  With an address that shows the totals and takes records:",
            "    onefold aws template trade-risk.yaml --serve write > template.yaml",
            "  Batches, with a queue of their own:",
            "    onefold aws template orders.yaml > template.yaml"
        })
final class TemplateCommand implements Callable<Integer> {
    private final Caller caller;

    @Parameters(index = "0", paramLabel = "PIPELINE", description = "The pipeline file.")
    private String pipeline = "";

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

    @Option(
            names = "--deletable",
            description = "For a trial: tables, streams and buckets are deleted with the stack, and no table is"
                    + " protected from that. Without it what holds data outlives the stack.")
    private boolean deletable;

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

    TemplateCommand(Caller caller) {
        this.caller = caller;
    }

    @Override
    public Integer call() {
        try {
            String yaml = yaml(PipelineArgument.read(caller, pipeline));
            caller.print(yaml);
            noteSize(yaml.getBytes(StandardCharsets.UTF_8).length);
        } catch (IllegalArgumentException e) {
            throw new CommandFailure(ExitCode.DIFFERENT, String.valueOf(e.getMessage()), e);
        }
        return ExitCode.DONE.code();
    }

    private void noteSize(int bytes) {
        if (bytes > Template.BYTES_MAX) {
            caller.note("The template has " + Words.count(bytes, "byte") + ", and CloudFormation takes more than "
                    + Words.count(Template.BYTES_MAX) + " only from a bucket: add '--s3-bucket BUCKET' to 'aws"
                    + " cloudformation deploy'.");
        }
    }

    private String yaml(Pipeline read) {
        boolean isBatch = read.fold() instanceof Batching;
        From from = input == null ? isBatch ? From.new_queue : From.new_stream : input;
        if (isBatch) {
            BatchTemplate template = BatchTemplate.of(read, batches(from), service());
            return deletable ? template.deletableYaml() : template.yaml();
        }
        Template template = Template.of(bound(read), totals(from), service());
        return deletable ? template.deletableYaml() : template.yaml();
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
    private Pipeline bound(Pipeline read) {
        return read.fold() instanceof Processing
                ? PipelineFunction.load(caller.path(pipeline), read).function().pipeline()
                : read;
    }
}
