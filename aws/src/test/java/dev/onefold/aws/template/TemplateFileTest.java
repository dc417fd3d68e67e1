package dev.onefold.aws.template;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.aws.template.Template.Input;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class TemplateFileTest {
    @ParameterizedTest
    @EnumSource
    void comments_conditions_names_of_values_and_split_lines_stay_in_the_file(Input input) {
        assertThat(TemplateFile.filled(input, Pipelines.trades(), "code", new FunctionParts(List.of()))
                        .lines())
                .noneMatch(line -> line.contains("#") || line.contains("<") || line.endsWith("\\"))
                .anyMatch(line -> line.equals("          ONEFOLD_PIPELINE: 'code'"))
                .last()
                .isEqualTo("    Condition: HasDashboard");
    }

    @Test
    void a_part_is_there_for_the_inputs_that_it_names_alone() {
        assertThat(templatesWith("  InputStream:")).containsExactly(Input.NEW_STREAM);
        assertThat(templatesWith(
                        "              - {Sid: InputStreams, Effect: Allow, Action: ['dynamodb:ListStreams'],"))
                .containsExactly(Input.TABLE);
        assertThat(templatesWith("  InputStreamKeyArn:")).containsExactly(Input.STREAM, Input.TABLE);
        assertThat(templatesWith("  Rows:")).containsExactly(Input.values());
    }

    @Test
    void the_parts_that_publish_are_there_for_a_pipeline_that_publishes_alone() {
        String plain = TemplateFile.filled(Input.NEW_STREAM, Pipelines.trades(), "code", new FunctionParts(List.of()));
        String more =
                TemplateFile.filled(Input.NEW_STREAM, Pipelines.published(), "code", new FunctionParts(List.of()));
        assertThat(plain).doesNotContain("Publish:", "PublishRole:", "Published:");
        assertThat(more).contains("  Publish:", "  PublishRole:", "TableName: 'restaurant-counts'");
        assertThat(more.lines())
                .noneMatch(line -> line.contains("#") || line.contains("<") || line.endsWith("\\"))
                .containsAll(plain.lines()
                        .filter(line -> !line.contains("totals of pipeline") && !line.contains(" lanes, "))
                        .toList());
        assertThat(Template.of(Pipelines.published(), Input.TABLE).yaml().length())
                .isLessThan(Template.BYTES_MAX);
    }

    @Test
    void a_part_that_templates_have_in_common_gets_its_values_and_the_lines_of_the_template_that_uses_it() {
        assertThat(TemplateFile.part(List.of("alias", "Reduce"), Set.of())).isEqualTo("""
                  ReduceAlias:
                    Type: AWS::Lambda::Alias
                    Properties:
                      Name: live
                      FunctionName: !Ref Reduce
                      FunctionVersion: !GetAtt ReduceVersion.Version
                """);
        List<String> function = List.of("function", "Seal", "120");
        assertThat(TemplateFile.part(function, Set.of("totals"))).contains("  Seal:\n", "ONEFOLD_GATES: !Ref Gates\n");
        assertThat(TemplateFile.part(function, Set.of("batches")))
                .contains("Timeout: 120\n")
                .doesNotContain("GATES");
        assertThat(TemplateFile.part(List.of("target", "<input>", "$1"), Set.of()))
                .as("a value is not filled in again")
                .contains("Id: <input>\n", "Input: $1\n");
    }

    @Test
    void a_part_that_is_not_there_or_has_other_values_is_named() {
        for (List<String> use : List.of(List.of("alia", "Reduce"), List.of("alias"), List.of("alias", "a", "b"))) {
            assertThatThrownBy(() -> TemplateFile.part(use, Set.of()))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining(use.toString());
        }
    }

    private static List<Input> templatesWith(String line) {
        return Arrays.stream(Input.values())
                .filter(input -> TemplateFile.filled(input, Pipelines.trades(), "code", new FunctionParts(List.of()))
                        .lines()
                        .anyMatch(each -> each.startsWith(line)))
                .toList();
    }
}
