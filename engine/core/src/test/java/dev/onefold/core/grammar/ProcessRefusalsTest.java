package dev.onefold.core.grammar;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The settings that are refused in the section of a function.
class ProcessRefusalsTest {
    private static final String RIGHT = "{\"pipeline\":\"p\",\"input\":{\"key\":\"k\",\"version\":\"v\"},"
            + "\"process\":{\"class\":\"a.B\",\"order\":\"every\",\"tables\":{\"t\":\"k\"}},"
            + "\"rollups\":{\"r\":{\"of\":\"t\",\"levels\":[],\"measures\":{\"n\":\"count()\"}}}}";

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "\"order\":\"every\" | \"order\":\"evry\" | is not an order of events; did you mean 'every'?",
                "\"class\":\"a.B\", | | write the name of the class",
                "a.B | a-B | is not the name of a class",
                "\"order\":\"every\" | \"order\":\"latest\",\"keep\":3 | is not for order: latest",
                "\"order\":\"every\" | \"order\":\"every\",\"keep\":1001 | write an integer from 1 to 1000",
                "\"order\":\"every\" | \"order\":\"every\",\"on-new-version\":\"refold\" | keeps no events to fold again",
                "\"order\":\"every\" | \"order\":\"every\",\"jar\":\"../b.jar\" | is not a jar beside the pipeline file",
                "\"class\":\"a.B\" | \"class\":\"a.B\",\"command\":[\"x\"] | is beside command",
                "\"class\":\"a.B\" | \"jar\":\"b.jar\",\"command\":[\"x\"] | is beside command",
                "\"class\":\"a.B\" | \"command\":\"python3 runs.py\" | the program and its arguments: [python3, runs.py]",
                "\"class\":\"a.B\" | \"command\":[] | the program and its arguments",
                "\"class\":\"a.B\" | \"command\":[\"\",\"x\"] | the program and its arguments",
                "\"t\":\"k\" | \"t\":[\"k\",\"l\",\"m\"] | has 3 components",
                "\"of\":\"t\" | \"of\":\"u\" | u",
                "\"version\":\"v\" | \"version\":\"v\",\"delete\":\"a = 1\" | has a delete condition",
                "\"version\":\"v\" | \"version\":\"v\",\"zone\":\"UTC\" | roll-ups of tables read rows without them; leave it out",
                "\"version\":\"v\" | \"version\":\"v\",\"truths\":[\"t\"] | roll-ups of tables read rows without them",
                "\"version\":\"v\" | \"version\":\"v\",\"normalize\":\"nfc\" | roll-ups of tables read rows without them",
                "\"key\":\"k\",\"version\":\"v\" | \"id\":\"k\" | has no key with a version beside it"
            })
    void a_problem_says_what_would_be_right(String right, String wrong, String said) {
        assertThat(Read.problems(RIGHT)).isEmpty();
        assertThat(RIGHT).contains(right);
        assertThat(Read.problems(RIGHT.replace(right, wrong == null ? "" : wrong)))
                .isNotEmpty()
                .first()
                .asString()
                .contains(said);
    }
}
