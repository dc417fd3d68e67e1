package dev.onefold.cli.aws;

import dev.onefold.aws.template.Template;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.show.Words;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `onefold aws template`: what is to be deployed.
@Command(
        name = "template",
        description = {
            "Writes one CloudFormation template: stream or queue, tables, functions, roles, alarms and a dashboard.",
            "'onefold aws deploy' writes and deploys it. Other ways are in docs/aws.md."
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

    @Mixin
    private final TemplateOptions options = new TemplateOptions();

    @Option(
            names = "--deletable",
            description = "For a trial: tables, streams and buckets are deleted with the stack, and no table is"
                    + " protected from that. Without it what holds data outlives the stack.")
    private boolean deletable;

    TemplateCommand(Caller caller) {
        this.caller = caller;
    }

    @Override
    public Integer call() {
        try {
            String yaml = options.written(caller, pipeline, deletable).yaml();
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
}
