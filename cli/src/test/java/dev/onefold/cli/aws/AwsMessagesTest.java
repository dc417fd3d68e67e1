package dev.onefold.cli.aws;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class AwsMessagesTest {
    @Test
    void a_region_that_nobody_has_said_is_told_without_the_objects_that_were_asked() {
        assertThat(
                        AwsCommand.why(
                                new IllegalStateException(
                                        "Unable to load region from any of the providers in the chain"
                                                + " software.amazon.Chain@3c7f66c4: [software.amazon.Region@37d4349f: Region must be specified]")))
                .isEqualTo("Unable to load region from any of the providers");
        assertThat(AwsCommand.why(new IllegalStateException("Connection refused")))
                .isEqualTo("Connection refused");
    }
}
