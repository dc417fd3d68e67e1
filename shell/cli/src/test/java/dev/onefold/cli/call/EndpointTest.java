package dev.onefold.cli.call;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.cli.Cli;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EndpointTest {
    @TempDir
    Path folder;

    private Caller caller() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        return Cli.in(folder).caller(InputStream.nullInputStream(), out, out);
    }

    @Test
    void what_accepts_and_never_answers_is_refused_with_its_address() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            URI address = URI.create("http://127.0.0.1:" + silent.getLocalPort());
            Endpoint endpoint = new Endpoint(address, Duration.ofSeconds(5), Duration.ofMillis(50));
            Caller caller = caller();
            assertThatThrownBy(() -> endpoint.require(caller))
                    .isInstanceOf(CommandFailure.class)
                    .hasMessageContainingAll(
                            "What listens at " + address + " has not answered within 50 ms", "Correct");
        }
    }

    @Test
    void any_answer_will_do() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            Thread.startVirtualThread(() -> {
                try (Socket asked = server.accept()) {
                    asked.getInputStream().read();
                    asked.getOutputStream().write('4');
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            new Endpoint(URI.create("http://127.0.0.1:" + server.getLocalPort())).require(caller());
        }
    }

    /// It failed with "This is a bug in Onefold".
    @Test
    void an_address_without_a_scheme_or_with_a_port_that_there_is_not_is_refused_with_an_example() {
        for (String wrong : new String[] {"localhost:4566", "http://localhost:99999", "http://localhost:0"}) {
            Endpoint endpoint = new Endpoint(URI.create(wrong));
            Caller caller = caller();
            assertThatThrownBy(() -> endpoint.require(caller))
                    .isInstanceOf(CommandFailure.class)
                    .hasMessageContainingAll("'" + wrong + "'", "http://localhost:8000");
        }
    }
}
