package dev.onefold.server;

import static dev.onefold.server.RunningService.record;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSObject;
import com.nimbusds.jose.JWSSigner;
import com.nimbusds.jose.Payload;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.crypto.opts.AllowWeakRSAKey;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jose.util.JSONObjectUtils;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.PlainJWT;
import com.nimbusds.jwt.SignedJWT;
import com.sun.net.httpserver.HttpServer;
import dev.onefold.api.Scope;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Tokens that an issuer has signed, whose keys are read from a real server.
@Timeout(60)
class IssuerTest {
    private static final String NAME = "https://issuer.example";
    private static final String AUDIENCE = "onefold-here";

    /// Keys take long to make, so all tests share them.
    private static final RSAKey FIRST = rsa();

    private static final RSAKey OTHER = rsa();

    @TempDir
    Path directory;

    private final AtomicInteger fetches = new AtomicInteger();
    private final AtomicReference<String> published = new AtomicReference<>("");
    private HttpServer issuer;
    private ECKey ec;

    private static RSAKey rsa() {
        try {
            return new RSAKeyGenerator(2_048).keyID("first").generate();
        } catch (JOSEException e) {
            throw new AssertionError(e);
        }
    }

    @BeforeEach
    void open() throws Exception {
        ec = new ECKeyGenerator(Curve.P_256).keyID("second").generate();
        publish(FIRST, ec);
        issuer = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        issuer.createContext("/keys", exchange -> {
            fetches.incrementAndGet();
            byte[] keys = published.get().getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(keys.length == 0 ? 500 : 200, keys.length == 0 ? -1 : keys.length);
            exchange.getResponseBody().write(keys);
            exchange.close();
        });
        issuer.start();
    }

    @AfterEach
    void close() {
        issuer.stop(0);
    }

    private void publish(JWK... keys) {
        published.set(new JWKSet(List.of(keys)).toString(true));
    }

    private Tokens tokens() {
        return Tokens.signedBy(
                NAME,
                AUDIENCE,
                URI.create("http://localhost:" + issuer.getAddress().getPort() + "/keys"));
    }

    private static JWTClaimsSet.Builder claims(String scope) {
        return new JWTClaimsSet.Builder()
                .issuer(NAME)
                .audience(AUDIENCE)
                .subject("desk")
                .expirationTime(Date.from(Instant.now().plus(Duration.ofHours(1))))
                .claim("scope", scope);
    }

    private static String signed(JWSHeader header, JWSSigner signer, JWTClaimsSet.Builder claims) throws Exception {
        SignedJWT token = new SignedJWT(header, claims.build());
        token.sign(signer);
        return token.serialize();
    }

    private String signed(JWTClaimsSet.Builder claims) throws Exception {
        return signed(
                new JWSHeader.Builder(JWSAlgorithm.RS256).keyID("first").build(), new RSASSASigner(FIRST), claims);
    }

    private static int status(RunningService on, String token, String path) throws IOException, InterruptedException {
        return on.get(path, "Authorization", "Bearer " + token).statusCode();
    }

    @Test
    void a_token_of_the_issuer_allows_its_scopes_in_its_pipelines_and_nothing_else() throws Exception {
        try (RunningService on = new RunningService(directory, tokens())) {
            String reader = signed(claims("openid onefold:read:trades"));
            assertThat(status(on, reader, "/v1/trades/totals")).isEqualTo(200);
            assertThat(status(on, reader, "/v1/trades/dead-letters")).isEqualTo(403);
            assertThat(status(on, reader, "/v1/lines/totals")).isEqualTo(404);
            String[] write = {"Authorization", "Bearer " + reader};
            assertThat(on.post("/v1/trades/records", record(1, "1"), write).statusCode())
                    .isEqualTo(403);
            String all = signed(
                    new JWSHeader.Builder(JWSAlgorithm.ES256)
                            .keyID("second")
                            .type(new JOSEObjectType("at+jwt"))
                            .build(),
                    new ECDSASigner(ec),
                    claims("").claim("scope", null).claim("scp", List.of("onefold:write", "onefold:operate")));
            assertThat(status(on, all, "/v1/lines/dead-letters")).isEqualTo(200);
            assertThat(status(on, all, "/v1/lines/totals")).isEqualTo(403);
            assertThat(on.post("/v1/trades/records", record(1, "1"), "Authorization", "Bearer " + all)
                            .statusCode())
                    .isEqualTo(200);
            String none = signed(claims("profile onefold: onefold:everything read"));
            assertThat(status(on, none, "/v1/trades/totals")).isEqualTo(401);
            for (int i = 0; i < 50; i++) {
                assertThat(status(on, reader, "/v1")).isEqualTo(200);
            }
            assertThat(fetches).hasValue(1);
        }
    }

    /// @param reason `null` if none is said
    private record Wrong(String token, @Nullable String reason) {}

    private List<Wrong> wrong(String good) throws Exception {
        JWSHeader header =
                new JWSHeader.Builder(JWSAlgorithm.RS256).keyID("first").build();
        Date past = Date.from(Instant.now().minus(Duration.ofMinutes(10)));
        Date future = Date.from(Instant.now().plus(Duration.ofMinutes(10)));
        return List.of(
                new Wrong(signed(claims("onefold:read").issuer("https://other.example")), "unknown issuer"),
                new Wrong(signed(claims("onefold:read").audience("other")), "wrong audience"),
                new Wrong(signed(claims("onefold:read").audience((String) null)), "wrong audience"),
                new Wrong(signed(claims("onefold:read").expirationTime(past)), "expired"),
                new Wrong(signed(claims("onefold:read").expirationTime(null)), "missing claim"),
                new Wrong(signed(claims("onefold:read").notBeforeTime(future)), "not yet valid"),
                new Wrong(signed(claims("onefold:read").subject(null)), "missing claim"),
                new Wrong(signed(claims("profile onefold:everything")), "no scope"),
                new Wrong(
                        signed(
                                header,
                                new RSASSASigner(OTHER),
                                claims("onefold:read").expirationTime(past)),
                        "bad signature"),
                new Wrong(
                        signed(
                                new JWSHeader.Builder(header).keyID("other").build(),
                                new RSASSASigner(OTHER),
                                claims("onefold:read")),
                        "unknown key"),
                new Wrong(
                        signed(
                                new JWSHeader.Builder(JWSAlgorithm.HS256)
                                        .keyID("first")
                                        .build(),
                                new MACSigner(
                                        FIRST.toPublicJWK().toRSAPublicKey().getEncoded()),
                                claims("onefold:read")),
                        "unknown key"),
                new Wrong(
                        signed(
                                new JWSHeader.Builder(header)
                                        .type(JOSEObjectType.JOSE)
                                        .build(),
                                new RSASSASigner(FIRST),
                                claims("onefold:read")),
                        "malformed"),
                new Wrong(new PlainJWT(claims("onefold:read").build()).serialize(), "malformed"),
                new Wrong(good.substring(0, good.lastIndexOf('.') + 1), "malformed"),
                new Wrong(good.replaceFirst("\\.", ".e30"), "malformed"),
                new Wrong("a.b.c", "malformed"),
                new Wrong("..", "malformed"),
                new Wrong(good + "a".repeat(10_000), null),
                new Wrong("secret", null));
    }

    @Test
    void whatever_else_looks_like_a_token_is_refused_and_its_sender_learns_why() throws Exception {
        String good = signed(claims("onefold:read"));
        try (RunningService on = new RunningService(directory, tokens())) {
            for (Wrong each : wrong(good)) {
                HttpResponse<String> answer = on.get("/v1/trades/totals", "Authorization", "Bearer " + each.token);
                String as = each.token + " " + each.reason;
                assertThat(answer.statusCode()).as(as).isEqualTo(401);
                assertThat(answer.headers().firstValue("WWW-Authenticate"))
                        .as(as)
                        .contains(
                                each.reason == null
                                        ? "Bearer"
                                        : "Bearer error=\"invalid_token\", error_description=\"" + each.reason + "\"");
                assertThat(answer.body()).doesNotContain(each.token, NAME, AUDIENCE);
            }
            HttpResponse<String> metrics = on.get("/metrics", "Authorization", "Bearer " + good);
            assertThat(metrics.statusCode()).isEqualTo(200);
            assertThat(metrics.body())
                    .contains(
                            "onefold_http_tokens_refused_total{reason=\"expired\"} 1.0",
                            "onefold_http_tokens_refused_total{reason=\"missing claim\"} 2.0");
        }
    }

    @Test
    void a_token_whose_claims_are_null_has_none() throws Exception {
        List<String> wrong = List.of("exp", "sub", "iss", "aud");
        try (RunningService on = new RunningService(directory, tokens())) {
            for (String claim : wrong) {
                Map<String, Object> claims = claims("onefold:read").build().toJSONObject();
                claims.put(claim, null);
                JWSObject token = new JWSObject(
                        new JWSHeader.Builder(JWSAlgorithm.RS256).keyID("first").build(),
                        new Payload(JSONObjectUtils.toJSONString(claims)));
                token.sign(new RSASSASigner(FIRST));
                assertThat(token.getPayload().toString()).contains("\"" + claim + "\":null");
                assertThat(status(on, token.serialize(), "/v1/trades/totals"))
                        .as(claim)
                        .isEqualTo(401);
            }
        }
    }

    @Test
    void unknown_keys_are_asked_for_now_and_then_and_new_ones_are_found() throws Exception {
        try (RunningService on = new RunningService(directory, tokens())) {
            String known = signed(claims("onefold:read"));
            assertThat(status(on, known, "/v1/trades/totals")).isEqualTo(200);
            ECKey next = new ECKeyGenerator(Curve.P_256).keyID("next").generate();
            publish(FIRST, next);
            JWSHeader header =
                    new JWSHeader.Builder(JWSAlgorithm.ES256).keyID("next").build();
            assertThat(status(on, signed(header, new ECDSASigner(next), claims("onefold:read")), "/v1/trades/totals"))
                    .isEqualTo(200);
            for (int i = 0; i < 50; i++) {
                JWSHeader unknown =
                        new JWSHeader.Builder(JWSAlgorithm.ES256).keyID("x" + i).build();
                assertThat(status(
                                on,
                                signed(unknown, new ECDSASigner(next), claims("onefold:read")),
                                "/v1/trades/totals"))
                        .isEqualTo(401);
            }
            assertThat(fetches.get()).isLessThan(4);
            published.set("");
            assertThat(status(on, known, "/v1/trades/totals")).isEqualTo(200);
        }
    }

    @Test
    void while_the_issuer_cannot_be_read_tokens_of_the_file_are_good() throws Exception {
        published.set("");
        Tokens file = Tokens.read(List.of(Tokens.line("reader", "secret", EnumSet.of(Scope.READ), List.of("trades"))));
        URI keys = URI.create("http://localhost:" + issuer.getAddress().getPort() + "/keys");
        try (RunningService on = new RunningService(directory, file.orSignedBy(NAME, AUDIENCE, keys))) {
            assertThat(status(on, "secret", "/v1/trades/totals")).isEqualTo(200);
            for (int i = 0; i < 5; i++) {
                assertThat(status(on, signed(claims("onefold:read")), "/v1/trades/totals"))
                        .isEqualTo(503);
            }
        }
        assertThatThrownBy(() -> Tokens.signedBy(NAME, AUDIENCE, URI.create("http://issuer.example/keys")))
                .hasMessageContaining("https");
    }

    @Test
    void scopes_are_words_or_a_list_in_either_claim() throws Exception {
        List<JWTClaimsSet.Builder> readers = List.of(
                claims("").claim("scope", null).claim("scp", "profile onefold:read"),
                claims("").claim("scope", List.of("profile", "onefold:read")),
                claims("openid").claim("scp", List.of("onefold:read")),
                claims("onefold:read").claim("scp", 7));
        try (RunningService on = new RunningService(directory, tokens())) {
            for (JWTClaimsSet.Builder reader : readers) {
                assertThat(status(on, signed(reader), "/v1/trades/totals"))
                        .as(reader.toString())
                        .isEqualTo(200);
            }
        }
    }

    @Test
    void a_key_that_is_too_short_signs_nothing() throws Exception {
        RSAKey weak = new RSAKeyGenerator(1_024, true).keyID("weak").generate();
        publish(FIRST, weak);
        JWSHeader header =
                new JWSHeader.Builder(JWSAlgorithm.RS256).keyID("weak").build();
        String token = signed(
                header,
                new RSASSASigner(weak.toPrivateKey(), Set.of(AllowWeakRSAKey.getInstance())),
                claims("onefold:read"));
        try (RunningService on = new RunningService(directory, tokens())) {
            assertThat(status(on, signed(claims("onefold:read")), "/v1/trades/totals"))
                    .isEqualTo(200);
            assertThat(status(on, token, "/v1/trades/totals")).isEqualTo(401);
        }
    }

    @Test
    @Timeout(20)
    @Tag("campaign")
    void an_issuer_that_sends_its_keys_byte_by_byte_holds_nobody_up() throws Exception {
        CountDownLatch closed = new CountDownLatch(1);
        issuer.createContext("/trickle", exchange -> {
            exchange.sendResponseHeaders(200, 0);
            try (exchange) {
                while (!closed.await(100, TimeUnit.MILLISECONDS)) {
                    exchange.getResponseBody().write(' ');
                    exchange.getResponseBody().flush();
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        URI keys = URI.create("http://localhost:" + issuer.getAddress().getPort() + "/trickle");
        try (RunningService on = new RunningService(directory, Tokens.signedBy(NAME, AUDIENCE, keys))) {
            assertThat(status(on, signed(claims("onefold:read")), "/v1/trades/totals"))
                    .isEqualTo(503);
        } finally {
            closed.countDown();
        }
    }
}
