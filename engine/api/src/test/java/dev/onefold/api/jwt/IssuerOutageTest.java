package dev.onefold.api.jwt;

import static org.assertj.core.api.Assertions.assertThat;

import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// An issuer that is away for longer than its last keys are good.
@Timeout(30)
class IssuerOutageTest {
    private static final Duration KEPT = Duration.ofMillis(500);

    private static String token(ECKey key) throws Exception {
        SignedJWT token = new SignedJWT(
                new JWSHeader.Builder(JWSAlgorithm.ES256).keyID("k").build(),
                new JWTClaimsSet.Builder()
                        .issuer("issuer")
                        .audience("here")
                        .subject("desk")
                        .expirationTime(Date.from(Instant.now().plusSeconds(600)))
                        .claim("scope", "onefold:read")
                        .build());
        token.sign(new ECDSASigner(key));
        return token.serialize();
    }

    @Test
    void no_token_is_called_unknown_while_nobody_can_know() throws Exception {
        ECKey key = new ECKeyGenerator(Curve.P_256).keyID("k").generate();
        byte[] keys = new JWKSet(key.toPublicJWK()).toString().getBytes(StandardCharsets.UTF_8);
        AtomicBoolean isAway = new AtomicBoolean();
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/keys", exchange -> {
            exchange.sendResponseHeaders(isAway.get() ? 500 : 200, isAway.get() ? -1 : keys.length);
            exchange.getResponseBody().write(isAway.get() ? new byte[0] : keys);
            exchange.close();
        });
        server.start();
        try {
            URI address = URI.create("http://localhost:" + server.getAddress().getPort() + "/keys");
            Issuer issuer = new Issuer("issuer", "here", address, new Issuer.Times(KEPT, KEPT.minusMillis(1), KEPT));
            String token = token(key);
            assertThat(issuer.verdict(token)).isInstanceOf(Issuer.Claims.class);
            isAway.set(true);
            int unknown = 0;
            while (unknown < 6) {
                try {
                    assertThat(issuer.verdict(token)).isInstanceOf(Issuer.Claims.class); // By the last keys.
                } catch (IOException away) {
                    unknown++;
                }
            }
        } finally {
            server.stop(0);
        }
    }
}
