package dev.onefold.aws.template;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.item.OutputTable;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Batching.Forget;
import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Input.Format;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.pipeline.Publishing;
import java.util.List;
import java.util.regex.Pattern;

/// The CloudFormation template that runs one pipeline. The same pipeline and input give the same text.
public final class Template {
    /// A longer text cannot be deployed without a bucket to put it in first: a limit of CloudFormation.
    public static final int BYTES_MAX = 51_200;

    private static final FieldPath SEQUENCE_NUMBER = FieldPath.of("SequenceNumber");
    private static final String KEYS = "Keys";

    /// How the names of a deployment's own tables go on behind its name.
    private static final Pattern OWN_TABLE = Pattern.compile("-(?:rows|deltas|totals|letters|table-.*)");

    private final String yaml;

    private Template(String yaml) {
        this.yaml = yaml;
    }

    /// The template of a pipeline.
    ///
    /// @throws IllegalArgumentException saying why the pipeline cannot run on AWS, and what to do
    public static Template of(Pipeline pipeline, Input input) {
        return of(pipeline, input, Service.NONE);
    }

    /// The template of a pipeline that is served by HTTP, too.
    ///
    /// @throws IllegalArgumentException saying why the pipeline cannot run on AWS, or be served, and what to do
    public static Template of(Pipeline pipeline, Input input, Service service) {
        AwsEngine.requireFoldPossible(pipeline);
        refuseWithoutIdentity(pipeline);
        refuseWithoutColumns(pipeline);
        AwsEngine.requirePossible(pipeline);
        refuseTableOfTheStack(pipeline);
        if (input == Input.TABLE) {
            refuseUnlessChangesAreRead(pipeline);
        }
        String code = Environment.code(pipeline);
        if (code.length() > Environment.PIPELINE_CHARACTERS_MAX) {
            throw refusal(
                    pipeline,
                    "its text takes " + code.length() + " characters of a function's environment, and at most "
                            + Environment.PIPELINE_CHARACTERS_MAX + " are left for it. Make two pipelines of it.");
        }
        List<OutputTable> tables =
                pipeline.fold() instanceof Processing processing ? OutputTable.of(pipeline, processing) : List.of();
        FunctionParts parts = new FunctionParts(tables);
        String yaml = TemplateFile.filled(input, pipeline, code, parts);
        if (service == Service.NONE) {
            return new Template(yaml);
        }
        if (service == Service.WRITE && input == Input.TABLE) {
            throw new IllegalArgumentException("The pipeline '" + pipeline.name()
                    + "' cannot take records by HTTP: it reads the changes of a table. Write those to the table, and serve"
                    + " the results with '--serve read'.");
        }
        refuseWhatCountsTwice(pipeline, service);
        ServeParts.Target target =
                new ServeParts.Target(false, false, input == Input.NEW_STREAM, parts.readPermissions());
        return new Template(ServeParts.added(yaml, service, target, code));
    }

    /// The text.
    public String yaml() {
        return TemplateFile.compact(yaml);
    }

    /// The text for a trial: when the stack is deleted, everything goes that it has made.
    public String deletableYaml() {
        return TemplateFile.compact(TemplateFile.deletable(yaml));
    }

    /// The names of its parameters.
    public List<String> parameters() {
        return TemplateFile.parameters(yaml);
    }

    private static void refuseWithoutIdentity(Pipeline pipeline) {
        if (pipeline.input().identity() instanceof Identity.ByPlace) {
            throw refusal(
                    pipeline,
                    "its records have neither key nor id. A producer that gets no answer sends a record again, and the"
                            + " stream gives it another place; so the record must say that it is the same one. Give"
                            + " the input a 'key' and a 'version', or an 'id'.");
        }
    }

    private static void refuseTableOfTheStack(Pipeline pipeline) {
        if (pipeline.publishing() instanceof Publishing.Items(String table, var _)
                && table.startsWith(pipeline.name() + "-")
                && OWN_TABLE.matcher(table.substring(pipeline.name().length())).matches()) {
            throw refusal(
                    pipeline,
                    "it publishes into the table " + table
                            + ", and a deployment that is called as the pipeline is makes a"
                            + " table of that name for itself. Give 'publish' another 'table'.");
        }
    }

    private static void refuseWithoutColumns(Pipeline pipeline) {
        if (pipeline.input().format() instanceof Format.Csv csv && csv.columns().isEmpty()) {
            throw refusal(
                    pipeline,
                    "its CSV has no listed columns, and a stream has no first line that names them. List them in the"
                            + " input's 'columns'.");
        }
    }

    static void refuseWhatCountsTwice(Pipeline pipeline, Service service) {
        if (service == Service.WRITE && pipeline.input().identity() instanceof Identity.ByMessage) {
            throw new IllegalArgumentException("The pipeline '" + pipeline.name()
                    + "' cannot take records by HTTP: with 'id: message' a request that is sent again, because its answer"
                    + " was lost, would count twice. Name a field with 'id', or serve it with '--serve read'.");
        }
        if (service == Service.WRITE
                && pipeline.fold() instanceof Batching batching
                && batching.forget() instanceof Forget.AfterDelivery) {
            throw new IllegalArgumentException("The pipeline '" + pipeline.name()
                    + "' cannot take records by HTTP: with 'forget: after-delivery' a request that is sent again, because"
                    + " its answer was lost, would be delivered twice. Forget ids after a time ('forget: 30d'), or serve"
                    + " it with '--serve read'.");
        }
    }

    private static void refuseUnlessChangesAreRead(Pipeline pipeline) {
        if (pipeline.input().format() instanceof Format.DynamoDbStream) {
            return;
        }
        boolean read = pipeline.input().format() instanceof Format.Json
                && pipeline.input().identity()
                        instanceof Identity.Versioned(var parts, FieldPath version, var versionTime, var composite)
                && parts.stream()
                        .allMatch(part -> part.field().names().getFirst().equals(KEYS))
                && SEQUENCE_NUMBER.equals(version)
                && versionTime == null
                && composite.isEmpty()
                && pipeline.input().delete() != null;
        if (!read) {
            throw refusal(
                    pipeline,
                    "it does not read the changes of a table. Write 'format: dynamodb-stream' and 'key: […]' (each"
                            + " of the table's keys), and name attributes as the table does. Or read a change as JSON:"
                            + " 'key: Keys.…', 'version: SequenceNumber', 'delete: eventName = \"REMOVE\"' and"
                            + " attributes as 'NewImage.…'.");
        }
    }

    private static IllegalArgumentException refusal(Pipeline pipeline, String reason) {
        return new IllegalArgumentException("The pipeline '" + pipeline.name() + "' cannot run on AWS: " + reason);
    }

    /// Whether a function answers requests by HTTP.
    public enum Service {
        /// There is none.
        NONE,
        /// It shows results.
        READ,
        /// It shows results, and puts records into the stream or queue.
        WRITE
    }

    /// Where a deployed pipeline's records come from.
    public enum Input {
        /// A Kinesis stream that the template makes.
        NEW_STREAM,
        /// A Kinesis stream that exists; a parameter of the template says which.
        STREAM,
        /// The change stream of a DynamoDB table that exists; a parameter of the template says which.
        TABLE
    }
}
