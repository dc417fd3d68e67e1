package dev.onefold.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.api.Scope;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Base64;
import java.util.EnumSet;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// TLS with a certificate that the JDK's keytool has made.
@Timeout(60)
class SecureServiceTest {
    private static final String PASSWORD = "password";

    @TempDir
    Path directory;

    private KeyStore keys(String algorithm) throws Exception {
        Path file = directory.resolve(algorithm + ".p12");
        int code = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-alias",
                        "service",
                        "-keyalg",
                        algorithm,
                        "-dname",
                        "CN=localhost",
                        "-ext",
                        "san=dns:localhost,ip:127.0.0.1",
                        "-storetype",
                        "PKCS12",
                        "-keystore",
                        file.toString(),
                        "-storepass",
                        PASSWORD)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start()
                .waitFor();
        assertThat(code).isZero();
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(file)) {
            keys.load(in, PASSWORD.toCharArray());
        }
        return keys;
    }

    private Settings.Tls pem(KeyStore keys, String name) throws Exception {
        Path certificates = directory.resolve(name + "-certificate.pem");
        Path key = directory.resolve(name + "-key.pem");
        write(certificates, "CERTIFICATE", keys.getCertificate("service").getEncoded());
        write(key, "PRIVATE KEY", keys.getKey("service", PASSWORD.toCharArray()).getEncoded());
        return new Settings.Tls(certificates, key);
    }

    private static void write(Path file, String what, byte[] bytes) throws IOException {
        Files.writeString(
                file,
                "-----BEGIN " + what + "-----\n" + Base64.getMimeEncoder().encodeToString(bytes) + "\n-----END " + what
                        + "-----\n");
    }

    private static HttpClient client(KeyStore keys) throws Exception {
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        trusted.setCertificateEntry("service", keys.getCertificate("service"));
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        return HttpClient.newBuilder().sslContext(context).build();
    }

    @Test
    @Tag("campaign")
    void others_reach_the_service_by_tls_and_http_2_with_a_token() throws Exception {
        Tokens tokens = Tokens.read(List.of(Tokens.line("desk", "secret", EnumSet.of(Scope.READ), List.of("*"))));
        for (String algorithm : List.of("RSA", "EC", "Ed25519")) {
            KeyStore keys = keys(algorithm);
            Settings settings = new Settings(
                    InetAddress.getByName("0.0.0.0"), 0, pem(keys, algorithm), tokens, RunningService.LIMITS);
            try (RunningService on = new RunningService(directory.resolve(algorithm));
                    HttpService service = HttpService.open(settings, List.of(Served.of(on.trades, null)));
                    HttpClient client = client(keys);
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
        Settings.Tls tls = pem(keys("EC"), "EC");
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
