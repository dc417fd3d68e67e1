package dev.onefold.aws.template;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.template.Template.Input;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class RefusalsTest {
    private static PipelineBuilder pipeline() {
        return PipelineBuilder.named("p").rollup(rollup -> rollup.count("n"));
    }

    @ParameterizedTest
    @EnumSource
    void records_without_key_or_id_are_refused(Input input) {
        assertThatThrownBy(() -> Template.of(pipeline().build(), input))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("The pipeline 'p' cannot run on AWS: its records have neither key nor id.")
                .hasMessageContaining("'id'");
    }

    @ParameterizedTest
    @EnumSource
    void batches_are_refused_with_and_without_an_id(Input input) {
        for (String definition : new String[] {"{\"format\":\"json\"}", "{\"id\":\"id\"}"}) {
            Pipeline batches = ((Reading.Read)
                            PipelineText.read(
                                    "{\"pipeline\":\"p\",\"input\":" + definition
                                            + ",\"batch\":{\"size\":10,\"deliver\":{\"http\":\"http://host/x\"},\"receiver\":\"idempotent\"}}"))
                    .pipeline();
            assertThatThrownBy(() -> Template.of(batches, input))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("Pipeline p cannot be on AWS: batch pipelines do not run on AWS yet.");
            assertThatThrownBy(() -> AwsEngine.requirePossible(batches))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("batch pipelines do not run on AWS yet");
        }
    }

    @Test
    void csv_whose_first_line_names_the_columns_is_refused_and_with_listed_columns_it_is_not() {
        assertThatThrownBy(() -> Template.of(pipeline().csv().id("id").build(), Input.STREAM))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("no listed columns")
                .hasMessageContaining("'columns'");
        assertThat(Template.of(pipeline().csv("id", "value").id("id").build(), Input.STREAM)
                        .yaml())
                .isNotEmpty();
    }

    @Test
    void a_pipeline_that_does_not_read_changes_is_refused_for_a_table() {
        for (PipelineBuilder builder : new PipelineBuilder[] {
            pipeline().key("id").version("SequenceNumber").delete("eventName = \"REMOVE\""),
            pipeline().key("Keys.id", "NewImage.x").version("SequenceNumber").delete("eventName = \"REMOVE\""),
            pipeline().key("Keys.id").version("NewImage.version").delete("eventName = \"REMOVE\""),
            pipeline().key("Keys.id").version("SequenceNumber"),
            pipeline().id("Keys.id")
        }) {
            assertThatThrownBy(() -> Template.of(builder.build(), Input.TABLE))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("it does not read the changes of a table")
                    .hasMessageContaining("'version: SequenceNumber'");
        }
    }

    @Test
    void a_pipeline_whose_text_leaves_no_room_for_names_is_refused() {
        PipelineBuilder builder = PipelineBuilder.named("p").id("id");
        Random random = new Random(1);
        for (int i = 0; i < 16; i++) {
            builder.rollup("r" + i, rollup -> {
                for (int j = 0; j < 32; j++) {
                    rollup.sum("m" + j, "f" + Long.toString(random.nextLong(Long.MAX_VALUE), 36), 18, 2);
                }
            });
        }
        Pipeline large = builder.build();
        assertThatThrownBy(() -> Template.of(large, Input.STREAM))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("at most 2700");
    }
}
