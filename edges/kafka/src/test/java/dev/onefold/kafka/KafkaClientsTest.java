package dev.onefold.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.broker.SchemaRegistry;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Origin;
import dev.onefold.kafka.format.Awaited;
import dev.onefold.kafka.format.Decoding;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class KafkaClientsTest {
    @TempDir
    Path folder;

    private KafkaClients clients(String registry, String properties, Map<String, String> environment)
            throws IOException {
        Files.writeString(folder.resolve("file"), properties);
        Reading.Read read = (Reading.Read) PipelineText.read("{\"pipeline\":\"p\",\"input\":{\"format\":\"avro\","
                + "\"registry\":\"" + registry + "\",\"from\":{\"kafka\":{\"topic\":\"t\",\"servers\":\"h:1\","
                + "\"properties\":\"file\"}}},\"rollup\":{\"levels\":[],\"measures\":{\"n\":\"count()\"}}}");
        return new KafkaClients((Origin.Kafka) read.pipeline().origin(), folder, environment::get);
    }

    @Test
    @Timeout(60)
    void the_registry_gets_its_credentials() throws Exception {
        Map<String, String> environment = Map.of("PASSWORD", "secret");
        assertThat(asked("schema.registry.basic.auth.user.info=me:${PASSWORD}", environment))
                .isEqualTo("/schemas/ids/7 Basic bWU6c2VjcmV0");
        assertThat(asked("schema.registry.bearer.auth.token=${PASSWORD}", environment))
                .isEqualTo("/schemas/ids/7 Bearer secret");
    }

    private String asked(String properties, Map<String, String> environment) throws IOException {
        try (SchemaRegistry registry = SchemaRegistry.start()) {
            Decoding decoding = clients(registry.address(), properties, environment)
                    .decoding(folder, true)
                    .orElseThrow();
            assertThatThrownBy(() -> decoding.value(new byte[] {0, 0, 0, 0, 7, 1}))
                    .isInstanceOf(Awaited.class);
            while (registry.asked().isEmpty()) {
                LockSupport.parkNanos(1_000_000);
            }
            return registry.asked().getFirst();
        }
    }

    @Test
    void a_token_that_no_header_can_have_is_refused_and_not_shown() {
        assertThatThrownBy(() -> clients("http://h", "schema.registry.bearer.auth.token=se\\ncret", Map.of()))
                .hasMessage("Property schema.registry.bearer.auth.token is not the token of a header");
        assertThatThrownBy(() -> clients("http://h", "schema.registry.url=x", Map.of()))
                .hasMessageStartingWith("Property schema.registry.url is not known.");
    }
}
