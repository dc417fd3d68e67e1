package dev.onefold.cli.call;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.UnknownHostException;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.core.exception.ApiCallTimeoutException;

class ReasonTest {
    @Test
    void a_region_that_nobody_has_said_is_told_without_the_objects_that_were_asked() {
        assertThat(
                        Reason.of(
                                new IllegalStateException(
                                        "Unable to load region from any of the providers in the chain"
                                                + " software.amazon.Chain@3c7f66c4: [software.amazon.Region@37d4349f: Region must be specified]")))
                .isEqualTo("Unable to load region from any of the providers");
        assertThat(Reason.of(new IllegalStateException("Connection refused"))).isEqualTo("Connection refused");
    }

    @Test
    void a_host_that_is_not_known_is_named_however_deep_it_is_in_the_failure() {
        UnknownHostException unknown =
                new UnknownHostException("sqs.eu-centrl-1.amazonaws.com: Name or service not known");
        assertThat(Reason.of(new IllegalStateException("See cause", new CompletionException(unknown))))
                .startsWith("The host sqs.eu-centrl-1.amazonaws.com is not known. Check the region, and whether");
    }

    @Test
    void an_answer_that_did_not_come_is_said_before_the_times_of_the_client() {
        assertThat(Reason.of(ApiCallTimeoutException.create(15_000)))
                .startsWith("The service has not answered in time. Check the region, the address")
                .endsWith("15000 millis)");
    }
}
