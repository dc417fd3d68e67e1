package dev.onefold.local.template;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class StackTemplateTest {
    private static StackTemplate template(String properties) {
        return new StackTemplate(Account.LOCAL, "stack", """
                        Parameters:
                          Given: {Type: String}
                          Size: {Type: Number, Default: 7}
                        Mappings:
                          Sizes:
                            '7': {Twice: 14}
                        Conditions:
                          IsSmall: !Not [!Equals [!Ref Size, '8']]
                        Resources:
                          Rows:
                            Type: AWS::DynamoDB::Table
                            Properties: {TableName: !Sub '${AWS::StackName}-rows'}
                          Other:
                            Type: Test::Other
                            Properties:
                        """ + properties.indent(6), Map.of("Given", "this"));
    }

    @Test
    void functions_are_called_and_what_has_no_value_is_left_out() {
        Map<String, Object> properties = template("""
                Table: !Ref Rows
                Arn: !GetAtt Rows.Arn
                Objects: !Sub '${Rows.Arn}/${Given}/*'
                Twice: !FindInMap [Sizes, !Ref Size, Twice]
                Chosen: !If [IsSmall, [!Ref Given, plain], never]
                Nothing: !If [IsSmall, !Ref AWS::NoValue, never]
                Cut: !Split ['/', !GetAtt Rows.Arn]
                Joined: !Join ['', [!Select [0, !Split ['/', !GetAtt Rows.Arn]], '/*']]
                """).properties("Other");
        assertThat(properties)
                .isEqualTo(Map.of(
                        "Table", "stack-rows",
                        "Arn", "arn:aws:dynamodb:eu-central-1:000000000000:table/stack-rows",
                        "Objects", "arn:aws:dynamodb:eu-central-1:000000000000:table/stack-rows/this/*",
                        "Twice", "14",
                        "Chosen", List.of("this", "plain"),
                        "Cut", List.of("arn:aws:dynamodb:eu-central-1:000000000000:table", "stack-rows"),
                        "Joined", "arn:aws:dynamodb:eu-central-1:000000000000:table/*"));
    }

    @Test
    void what_only_the_making_tells_is_known_afterwards() {
        StackTemplate template = template("Stream: !GetAtt Rows.StreamArn");
        assertThatThrownBy(() -> template.properties("Other")).hasMessageContaining("Rows.StreamArn");
        template.learn("Rows.StreamArn", "arn:stream");
        assertThat(template.properties("Other")).isEqualTo(Map.of("Stream", "arn:stream"));
    }

    @Test
    void what_is_not_known_here_is_refused() {
        assertThatThrownBy(() -> template("Zones: !GetAZs here").properties("Other"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("!GetAZs");
        assertThatThrownBy(() ->
                        new StackTemplate(Account.LOCAL, "stack", "Parameters: {Given: {Type: String}}", Map.of()))
                .hasMessageContaining("Given must be given");
        assertThatThrownBy(() -> new StackTemplate(Account.LOCAL, "stack", "Resources: {}", Map.of("More", "1")))
                .hasMessageContaining("no parameter More");
        String numbers = "Parameters: {Given: {Type: String, AllowedPattern: '[0-9]+'}}";
        assertThatThrownBy(() -> new StackTemplate(Account.LOCAL, "stack", numbers, Map.of("Given", "one")))
                .hasMessageContaining("Given cannot be 'one'");
    }
}
