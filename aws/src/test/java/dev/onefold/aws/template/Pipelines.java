package dev.onefold.aws.template;

import dev.onefold.aws.template.Template.Input;
import dev.onefold.aws.template.Template.Service;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Publishing;
import dev.onefold.load.TradeRiskLoad;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Named;

/// Pipelines of the tests.
final class Pipelines {
    private Pipelines() {}

    static Pipeline trades() {
        return ((Reading.Read) PipelineText.read(TradeRiskLoad.PIPELINE)).pipeline();
    }

    static Pipeline changes() {
        return PipelineBuilder.named("favourites")
                .key("Keys.user", "Keys.item")
                .version("SequenceNumber")
                .delete("eventName = \"REMOVE\"")
                .rollup(rollup -> rollup.levels("NewImage.item").count("stars"))
                .build();
    }

    /// One whose totals are items of a table.
    static Pipeline published() {
        Pipeline changes = changes();
        return new Pipeline(
                changes.name(),
                changes.input(),
                changes.fold(),
                new Publishing.Items("restaurant-counts", Optional.of(new Publishing.TopList(100, "stars"))));
    }

    /// One whose fields are those of a table's items, whatever its input is.
    static Pipeline favourites() {
        String text = "{\"pipeline\":\"favourites\",\"input\":{\"format\":\"dynamodb-stream\",\"key\":[\"user\"]},"
                + "\"rollup\":{\"levels\":[\"city\"],\"measures\":{\"favourites\":\"count()\"}}}";
        return switch (PipelineText.read(text)) {
            case Reading.Read(var pipeline) -> pipeline;
            case Reading.Refused(var problems) -> throw new IllegalArgumentException(text + ": " + problems);
        };
    }

    /// One that the input can feed.
    static Pipeline of(Input input) {
        return input == Input.TABLE ? changes() : trades();
    }

    /// @param deliver and what follows in the section
    static Pipeline batches(String deliver) {
        String text = "{\"pipeline\":\"orders\",\"input\":{\"format\":\"json\",\"id\":\"id\"},"
                + "\"batch\":{\"size\":1000,\"deliver\":" + deliver + "}}";
        return switch (PipelineText.read(text)) {
            case Reading.Read(var pipeline) -> pipeline;
            case Reading.Refused(var problems) -> throw new IllegalArgumentException(text + ": " + problems);
        };
    }

    static Pipeline batches() {
        return batches("{\"http\":\"https://host/x\"},\"receiver\":\"idempotent\"");
    }

    static Pipeline batchesWithSecret() {
        return batches("{\"http\":\"https://host/x\",\"authorization\":\"TOKEN\"},\"receiver\":\"once\"");
    }

    static Pipeline batchesToFunction(String name) {
        return batches("{\"lambda\":\"" + name + "\"},\"receiver\":\"idempotent\"");
    }

    /// One that hands records over as they come, with a secret or to a function.
    static Pipeline direct(String deliver) {
        String text = PipelineText.write(batches(deliver)).replace("\"size\":1000", "\"size\":1,\"direct\":true");
        return ((Reading.Read) PipelineText.read(text)).pipeline();
    }

    static Pipeline directWithSecret() {
        return direct(
                "{\"http\":\"https://host/x\",\"authorization\":\"TOKEN\",\"timeout\":\"40s\"},\"receiver\":\"once\"");
    }

    static Pipeline batchesToS3() {
        return batches("{\"s3\":\"s3://warehouse/in/orders-{number}.ndjson.gz\",\"manifest\":true}");
    }

    static ReadTemplate template(BatchTemplate.Input input) {
        return new ReadTemplate(BatchTemplate.of(batches(), input).yaml());
    }

    /// The text of each kind of template, by a name.
    static Map<String, String> texts() {
        Map<String, String> texts = new TreeMap<>();
        for (Input input : Input.values()) {
            texts.put(input.name(), Template.of(of(input), input).yaml());
        }
        for (Input input : Input.values()) {
            for (Service service : Service.values()) {
                if (service != Service.NONE && (service != Service.WRITE || input != Input.TABLE)) {
                    texts.put(
                            input + "_SERVED_" + service,
                            Template.of(of(input), input, service).yaml());
                }
            }
        }
        texts.put(
                "PUBLISHED_SERVED",
                Template.of(published(), Input.TABLE, Service.READ).yaml());
        for (BatchTemplate.Input input : BatchTemplate.Input.values()) {
            texts.put("BATCHES_" + input, BatchTemplate.of(batches(), input).yaml());
            texts.put(
                    "BATCHES_" + input + "_SERVED",
                    BatchTemplate.of(batches(), input, Service.WRITE).yaml());
            texts.put(
                    "BATCHES_" + input + "_FORGETS",
                    BatchTemplate.of(
                                    batches("{\"http\":\"https://host/x\"},\"receiver\":\"once\",\"forget\":\"15d\""),
                                    input)
                            .yaml());
            texts.put(
                    "BATCHES_" + input + "_SECRET",
                    BatchTemplate.of(batchesWithSecret(), input).yaml());
            texts.put(
                    "BATCHES_" + input + "_S3",
                    BatchTemplate.of(batchesToS3(), input).yaml());
            texts.put(
                    "BATCHES_" + input + "_DIRECT",
                    BatchTemplate.of(directWithSecret(), input).yaml());
            texts.put(
                    "BATCHES_" + input + "_DIRECT_LAMBDA",
                    BatchTemplate.of(direct("{\"lambda\":\"load\"},\"receiver\":\"idempotent\""), input)
                            .yaml());
            texts.put(
                    "BATCHES_" + input + "_LAMBDA",
                    BatchTemplate.of(batchesToFunction("load:live"), input).yaml());
        }
        return texts;
    }

    static List<Named<String>> templates() {
        return texts().entrySet().stream()
                .map(text -> Named.of(text.getKey(), text.getValue()))
                .toList();
    }

    static ReadTemplate template(Input input, Service service) {
        return new ReadTemplate(Template.of(of(input), input, service).yaml());
    }

    static ReadTemplate template(Input input) {
        return new ReadTemplate(Template.of(of(input), input).yaml());
    }
}
