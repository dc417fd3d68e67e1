package dev.onefold.aws.template;

import dev.onefold.aws.template.Template.Input;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.load.TradeRiskLoad;

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

    /// One that the input can feed.
    static Pipeline of(Input input) {
        return input == Input.TABLE ? changes() : trades();
    }

    static ReadTemplate template(Input input) {
        return new ReadTemplate(Template.of(of(input), input).yaml());
    }
}
