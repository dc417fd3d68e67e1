package dev.onefold.local.cloud;

import dev.onefold.local.server.Xml;
import dev.onefold.local.template.StackTemplate;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/// What CloudFormation says of stacks. Any thread.
final class StackAnswers {
    private final Stacks stacks;

    StackAnswers(Stacks stacks) {
        this.stacks = stacks;
    }

    Consumer<Xml> stacks(QueryRequest asked) {
        asked.requireOnly("StackName");
        List<StackLife.Picture> pictures = asked.text("StackName")
                .map(name -> Stream.of(stacks.find(name)))
                .orElseGet(() -> stacks.all().filter(life -> !life.isGone()))
                .map(StackLife::picture)
                .toList();
        return xml -> xml.in("Stacks", () -> pictures.forEach(picture -> xml.in("member", () -> stack(xml, picture))));
    }

    private static void stack(Xml xml, StackLife.Picture picture) {
        StackLife.Order order = picture.order();
        xml.add("StackName", order.name()).add("StackId", order.id());
        xml.add("Description", picture.description());
        xml.add("CreationTime", time(order.at()))
                .add("DisableRollback", order.onFailure().equals("DO_NOTHING"));
        picture.deleted().ifPresent(at -> xml.add("DeletionTime", time(at)));
        status(xml, "StackStatus", picture.status());
        pairs(xml, "Parameters", "ParameterKey", "ParameterValue", picture.parameters());
        pairs(xml, "Outputs", "OutputKey", "OutputValue", picture.outputs());
        pairs(xml, "Tags", "Key", "Value", order.tags());
        xml.in("Capabilities", () -> order.capabilities().forEach(capability -> xml.add("member", capability)));
        xml.in("NotificationARNs", () -> {});
    }

    private static void pairs(Xml xml, String list, String key, String value, Map<String, String> pairs) {
        xml.in(
                list,
                () -> pairs.forEach((name, text) ->
                        xml.in("member", () -> xml.add(key, name).add(value, text))));
    }

    private static void status(Xml xml, String name, StackLife.Status status) {
        xml.add(name, status.name());
        if (!status.reason().isEmpty()) {
            xml.add(name + "Reason", status.reason());
        }
    }

    private static Instant time(Instant instant) {
        return instant.truncatedTo(ChronoUnit.MILLIS);
    }

    Consumer<Xml> events(QueryRequest asked) {
        asked.requireOnly("StackName");
        StackLife life = stacks.find(asked.required("StackName"));
        List<StackLife.Event> events = life.events();
        return xml -> xml.in(
                "StackEvents",
                () -> events.forEach(event -> xml.in("member", () -> {
                    StackLife.Resource resource = event.resource();
                    xml.add("StackId", life.order().id())
                            .add("StackName", life.order().name());
                    xml.add("EventId", resource.logical() + "-" + event.number());
                    xml.add("LogicalResourceId", resource.logical()).add("PhysicalResourceId", resource.physical());
                    xml.add("ResourceType", resource.type()).add("Timestamp", time(resource.at()));
                    status(xml, "ResourceStatus", resource.status());
                })));
    }

    Consumer<Xml> resources(QueryRequest asked) {
        asked.requireOnly("StackName", "LogicalResourceId");
        StackLife life = stacks.find(asked.required("StackName"));
        List<StackLife.Resource> resources = life.resources().stream()
                .filter(resource -> asked.text("LogicalResourceId")
                        .map(resource.logical()::equals)
                        .orElse(true))
                .toList();
        if (resources.isEmpty() && asked.text("LogicalResourceId").isPresent()) {
            throw Refusal.invalid("Resource " + asked.required("LogicalResourceId") + " does not exist for stack "
                    + life.order().name());
        }
        return xml -> xml.in(
                "StackResources",
                () -> resources.forEach(resource -> xml.in("member", () -> {
                    xml.add("StackId", life.order().id())
                            .add("StackName", life.order().name());
                    resource(xml, resource).add("Timestamp", time(resource.at()));
                })));
    }

    private static Xml resource(Xml xml, StackLife.Resource resource) {
        xml.add("LogicalResourceId", resource.logical()).add("PhysicalResourceId", resource.physical());
        xml.add("ResourceType", resource.type());
        status(xml, "ResourceStatus", resource.status());
        return xml;
    }

    Consumer<Xml> summaries(QueryRequest asked) {
        asked.requireOnly("StackName");
        List<StackLife.Resource> resources =
                stacks.find(asked.required("StackName")).resources();
        return xml -> xml.in(
                "StackResourceSummaries",
                () -> resources.forEach(resource -> xml.in(
                        "member", () -> resource(xml, resource).add("LastUpdatedTimestamp", time(resource.at())))));
    }

    Consumer<Xml> list(QueryRequest asked) {
        asked.requireOnly("StackStatusFilter");
        List<String> wanted = asked.list("StackStatusFilter");
        List<StackLife.Picture> pictures = stacks.all()
                .map(StackLife::picture)
                .filter(picture ->
                        wanted.isEmpty() || wanted.contains(picture.status().name()))
                .toList();
        return xml -> xml.in(
                "StackSummaries",
                () -> pictures.forEach(picture -> xml.in("member", () -> {
                    xml.add("StackId", picture.order().id())
                            .add("StackName", picture.order().name());
                    xml.add("TemplateDescription", picture.description());
                    xml.add("CreationTime", time(picture.order().at()));
                    picture.deleted().ifPresent(at -> xml.add("DeletionTime", time(at)));
                    status(xml, "StackStatus", picture.status());
                })));
    }

    Consumer<Xml> template(QueryRequest asked) {
        asked.requireOnly("StackName", "TemplateStage");
        StackLife life = stacks.find(asked.required("StackName"));
        return xml -> xml.add("TemplateBody", life.order().yaml());
    }

    /// What a template has, of a stack that is not made.
    static Consumer<Xml> validated(String yaml) {
        List<StackTemplate.Parameter> parameters;
        try {
            parameters = StackTemplate.parameters(yaml);
        } catch (IllegalArgumentException | YamlEngineException e) {
            throw Refusal.invalid("Template format error: " + e.getMessage());
        }
        return xml -> xml.in(
                "Parameters",
                () -> parameters.forEach(parameter -> xml.in("member", () -> {
                    xml.add("ParameterKey", parameter.name()).add("NoEcho", false);
                    parameter.byDefault().ifPresent(value -> xml.add("DefaultValue", value));
                    xml.add("Description", parameter.description());
                })));
    }
}
