package dev.onefold.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.api.Scope;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import javax.net.ssl.SSLHandshakeException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// TLS with a certificate that the JDK's keytool has made.
@Timeout(60)
class SecureServiceTest {
    @TempDir
    Path directory;

    @Test
    @Tag("campaign")
    void others_reach_the_service_by_tls_and_http_2_with_a_token() throws Exception {
        Tokens tokens = Tokens.read(List.of(Tokens.line("desk", "secret", EnumSet.of(Scope.READ), List.of("*"))));
        for (String algorithm : List.of("RSA", "EC", "Ed25519")) {
            Certificate keys = Certificate.make(directory, algorithm);
            Settings settings =
                    new Settings(InetAddress.getByName("0.0.0.0"), 0, keys.tls(), tokens, RunningService.LIMITS);
            try (RunningService on = new RunningService(directory.resolve(algorithm));
                    HttpService service = HttpService.open(settings, List.of(Served.of(on.trades, null)));
                    HttpClient client =
                            HttpClient.newBuilder().sslContext(keys.trusting()).build();
                    HttpClient stranger = HttpClient.newHttpClient()) {
                URI at = URI.create("https://localhost:" + service.uri().getPort() + "/v1/trades/totals");
                HttpRequest request = HttpRequest.newBuilder(at)
                        .header("Authorization", "Bearer secret")
                        .build();
                HttpResponse<String> answer = client.send(request, BodyHandlers.ofString());
                assertThat(answer.statusCode()).as(algorithm).isEqualTo(200);
                assertThat(answer.version()).isEqualTo(HttpClient.Version.HTTP_2);
                assertThatThrownBy(() -> stranger.send(request, BodyHandlers.ofString()))
                        .isInstanceOf(SSLHandshakeException.class);
            }
        }
    }

    @Test
    void files_that_are_no_key_or_certificate_are_refused_and_not_repeated() throws Exception {
        Settings.Tls tls = Certificate.make(directory, "EC").tls();
        Path wrong = Files.writeString(directory.resolve("wrong.pem"), "s3cr3t");
        for (Settings.Tls each :
                List.of(new Settings.Tls(wrong, tls.key()), new Settings.Tls(tls.certificates(), wrong))) {
            Settings settings = new Settings(InetAddress.getLoopbackAddress(), 0, each, null, RunningService.LIMITS);
            assertThatThrownBy(() -> HttpService.open(settings, List.of()))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("wrong.pem")
                    .hasMessageNotContaining("s3cr3t");
        }
    }
}
