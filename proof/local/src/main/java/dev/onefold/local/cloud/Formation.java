package dev.onefold.local.cloud;

import com.sun.net.httpserver.HttpExchange;
import dev.onefold.local.server.Xml;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import software.amazon.awssdk.core.async.AsyncResponseTransformer;

/// The API of CloudFormation, as much of it as making, watching, updating and deleting a stack needs. What it
/// does not do it refuses. Any thread.
final class Formation implements AutoCloseable {
    private static final String NAMESPACE = "http://cloudformation.amazonaws.com/doc/2010-05-15/";
    private static final int TEMPLATE_BODY_BYTES_MAX = 51_200;
    private static final int TEMPLATE_BYTES_MAX = 1_048_576;
    private static final List<String> ON_FAILURE = List.of("ROLLBACK", "DELETE", "DO_NOTHING");

    private final Ground ground;
    private final Stacks stacks;
    private final StackAnswers answers;

    Formation(Ground ground) {
        this.ground = ground;
        stacks = new Stacks(ground);
        answers = new StackAnswers(stacks);
    }

    /// Answers a request.
    void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            QueryRequest asked = QueryRequest.of(exchange.getRequestBody().readAllBytes());
            int status = 200;
            byte[] answer;
            try {
                Consumer<Xml> result = answer(asked);
                answer = Xml.document(asked.action() + "Response", NAMESPACE, xml -> {
                    xml.in(asked.action() + "Result", () -> result.accept(xml));
                    xml.in("ResponseMetadata", () -> xml.add("RequestId", UUID.randomUUID()));
                });
            } catch (Refusal refused) {
                status = 400;
                answer = Xml.document("ErrorResponse", NAMESPACE, xml -> {
                    xml.in(
                            "Error",
                            () -> xml.add("Type", "Sender")
                                    .add("Code", refused.code())
                                    .add("Message", refused.message()));
                    xml.add("RequestId", UUID.randomUUID());
                });
            }
            exchange.getResponseHeaders().set("Content-Type", "text/xml");
            exchange.sendResponseHeaders(status, answer.length);
            exchange.getResponseBody().write(answer);
        }
    }

    private Consumer<Xml> answer(QueryRequest asked) {
        return switch (asked.action()) {
            case "CreateStack" -> create(asked);
            case "UpdateStack" -> update(asked);
            case "DeleteStack" -> delete(asked);
            case "ValidateTemplate" -> validate(asked);
            case "DescribeStacks" -> answers.stacks(asked);
            case "DescribeStackEvents" -> answers.events(asked);
            case "DescribeStackResources" -> answers.resources(asked);
            case "ListStackResources" -> answers.summaries(asked);
            case "ListStacks" -> answers.list(asked);
            case "GetTemplate" -> answers.template(asked);
            default ->
                throw new Refusal(
                        "InvalidAction",
                        "The stand-in for CloudFormation does not do " + asked.action()
                                + ". It makes, describes, updates and deletes stacks.");
        };
    }

    private Consumer<Xml> create(QueryRequest asked) {
        asked.requireOnly(
                "StackName",
                "TemplateBody",
                "TemplateURL",
                "Parameters",
                "Capabilities",
                "Tags",
                "OnFailure",
                "DisableRollback",
                "ClientRequestToken",
                "EnableTerminationProtection");
        if (asked.text("EnableTerminationProtection").orElse("false").equals("true")) {
            throw Refusal.invalid("The stand-in for CloudFormation protects no stack from its end: leave"
                    + " EnableTerminationProtection out");
        }
        boolean disabled = asked.text("DisableRollback").orElse("false").equals("true");
        if (disabled && asked.text("OnFailure").isPresent()) {
            throw Refusal.invalid("Either DisableRollback or OnFailure can be specified, not both");
        }
        String onFailure = asked.text("OnFailure").orElse(disabled ? "DO_NOTHING" : "ROLLBACK");
        if (!ON_FAILURE.contains(onFailure)) {
            throw Refusal.invalid("OnFailure is one of " + ON_FAILURE + ", not '" + onFailure + "'");
        }
        String id = stacks.create(new Stacks.Request(
                asked.required("StackName"),
                yaml(asked),
                asked.pairs("Parameters", "ParameterKey", "ParameterValue"),
                asked.list("Capabilities"),
                asked.pairs("Tags", "Key", "Value"),
                onFailure,
                asked.text("ClientRequestToken").orElse("")));
        return xml -> xml.add("StackId", id);
    }

    private Consumer<Xml> update(QueryRequest asked) {
        asked.requireOnly(
                "StackName",
                "TemplateBody",
                "TemplateURL",
                "UsePreviousTemplate",
                "Parameters",
                "Capabilities",
                "Tags",
                "ClientRequestToken");
        StackLife before = stacks.find(asked.required("StackName"));
        boolean isSame = asked.text("UsePreviousTemplate").orElse("false").equals("true");
        String id = stacks.update(new Stacks.Request(
                asked.required("StackName"),
                isSame ? before.order().yaml() : yaml(asked),
                asked.pairs(
                        "Parameters",
                        "ParameterKey",
                        "ParameterValue",
                        before.template().parameters()),
                asked.list("Capabilities"),
                asked.pairs("Tags", "Key", "Value"),
                "ROLLBACK",
                asked.text("ClientRequestToken").orElse("")));
        return xml -> xml.add("StackId", id);
    }

    private String yaml(QueryRequest asked) {
        String body = asked.text("TemplateBody").orElse("");
        String url = asked.text("TemplateURL").orElse("");
        if (body.isEmpty() == url.isEmpty()) {
            throw Refusal.invalid("Either Template URL or Template Body must be specified.");
        }
        int bytes = body.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > TEMPLATE_BODY_BYTES_MAX) {
            throw Refusal.invalid("1 validation error detected: Value at 'templateBody' failed to satisfy constraint:"
                    + " Member must have length less than or equal to " + TEMPLATE_BODY_BYTES_MAX + "; it has "
                    + bytes);
        }
        return url.isEmpty() ? body : fetched(url);
    }

    /// The template at an address of the object store, in any of the forms that AWS takes.
    private String fetched(String url) {
        String[] place = place(url);
        byte[] template;
        try {
            template = ground.direct()
                    .objects
                    .getObject(request -> request.bucket(place[0]).key(place[1]), AsyncResponseTransformer.toBytes())
                    .join()
                    .asByteArrayUnsafe();
        } catch (CompletionException e) {
            throw Refusal.invalid("S3 error: " + url + " cannot be read: "
                    + String.valueOf(e.getCause() == null ? e : e.getCause().getMessage()));
        }
        if (template.length > TEMPLATE_BYTES_MAX) {
            throw Refusal.invalid("Template at " + url + " may not exceed " + TEMPLATE_BYTES_MAX + " bytes in size.");
        }
        return new String(template, StandardCharsets.UTF_8);
    }

    /// Bucket and key.
    private static String[] place(String url) {
        URI uri;
        try {
            uri = URI.create(url);
        } catch (IllegalArgumentException e) {
            throw Refusal.invalid("TemplateURL must be a supported URL: " + url);
        }
        String host = String.valueOf(uri.getHost());
        String path = String.valueOf(uri.getPath());
        int virtual = host.indexOf(".s3");
        if (virtual > 0 && path.length() > 1) {
            return new String[] {host.substring(0, virtual), path.substring(1)};
        }
        int slash = path.indexOf('/', 1);
        if (slash < 0 || slash == path.length() - 1) {
            throw Refusal.invalid("TemplateURL must be a supported URL: " + url);
        }
        return new String[] {path.substring(1, slash), path.substring(slash + 1)};
    }

    private Consumer<Xml> delete(QueryRequest asked) {
        asked.requireOnly("StackName", "RetainResources", "ClientRequestToken");
        stacks.delete(asked.required("StackName"), asked.list("RetainResources"));
        return _ -> {};
    }

    private Consumer<Xml> validate(QueryRequest asked) {
        asked.requireOnly("TemplateBody", "TemplateURL");
        return StackAnswers.validated(yaml(asked));
    }

    @Override
    public void close() throws IOException {
        stacks.close();
    }
}
