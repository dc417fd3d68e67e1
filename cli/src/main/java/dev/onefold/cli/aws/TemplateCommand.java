package dev.onefold.cli.aws;

import dev.onefold.aws.template.Template;
import dev.onefold.aws.template.Template.Input;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.yaml.PipelineFunction;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `onefold aws template`: what is to be deployed.
@Command(
        name = "template",
        description = {
            "Writes one CloudFormation template: streams, tables, functions, roles, alarms and a dashboard.",
            "Deploy it with 'aws cloudformation deploy'; docs/aws.md says how."
        },
        footer = {
            "  With a Kinesis stream of its own:",
            "    onefold aws template trade-risk.yaml > template.yaml",
            "  On the change stream of a table that is there:",
            "    onefold aws template favourites.yaml --input table > template.yaml"
        })
final class TemplateCommand implements Callable<Integer> {
    private final Caller caller;

    @Parameters(index = "0", paramLabel = "PIPELINE", description = "The pipeline file.")
    private String pipeline = "";

    @Option(
            names = "--input",
            paramLabel = "INPUT",
            description = "Where records come from: ${COMPLETION-CANDIDATES}. new-stream is a Kinesis stream that the"
                    + " template makes, stream one that exists, table the change stream of a DynamoDB table. Default:"
                    + " ${DEFAULT-VALUE}.")
    private From input = From.new_stream;

    /// As it is written on the command line.
    enum From {
        new_stream(Input.NEW_STREAM),
        stream(Input.STREAM),
        table(Input.TABLE);

        private final Input input;

        From(Input input) {
            this.input = input;
        }

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
            caller.print(Template.of(bound(AwsCommand.pipeline(caller, pipeline)), input.input)
                    .yaml());
        } catch (IllegalArgumentException e) {
            throw new CommandFailure(ExitCode.DIFFERENT, String.valueOf(e.getMessage()), e);
        }
        return ExitCode.DONE.code();
    }

    /// With the types of its function, which the template's tables are made of.
    private Pipeline bound(Pipeline read) {
        return read.fold() instanceof Processing
                ? PipelineFunction.load(caller.path(pipeline), read).function().pipeline()
                : read;
    }
}
