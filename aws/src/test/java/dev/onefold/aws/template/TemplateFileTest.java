package dev.onefold.aws.template;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.template.Template.Input;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class TemplateFileTest {
    @ParameterizedTest
    @EnumSource
    void comments_conditions_names_of_values_and_split_lines_stay_in_the_file(Input input) {
        assertThat(TemplateFile.filled(input, "name", "code", new FunctionParts(List.of()))
                        .lines())
                .noneMatch(line -> line.contains("#") || line.contains("<") || line.endsWith("\\"))
                .anyMatch(line -> line.equals("          ONEFOLD_PIPELINE: 'code'"))
                .last()
                .isEqualTo("    Condition: HasDashboard");
    }

    @Test
    void a_part_is_there_for_the_inputs_that_it_names_alone() {
        assertThat(templatesWith("  InputStream:")).containsExactly(Input.NEW_STREAM);
        assertThat(templatesWith("              - Sid: InputStreams")).containsExactly(Input.TABLE);
        assertThat(templatesWith("  InputStreamKeyArn:")).containsExactly(Input.STREAM, Input.TABLE);
        assertThat(templatesWith("  Rows:")).containsExactly(Input.values());
    }

    private static List<Input> templatesWith(String line) {
        return Arrays.stream(Input.values())
                .filter(input -> TemplateFile.filled(input, "name", "code", new FunctionParts(List.of()))
                        .lines()
                        .anyMatch(line::equals))
                .toList();
    }
}
