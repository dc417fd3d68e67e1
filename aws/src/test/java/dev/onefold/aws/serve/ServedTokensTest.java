package dev.onefold.aws.serve;

import static dev.onefold.aws.serve.ServedTrades.event;
import static dev.onefold.aws.serve.ServedTrades.unsigned;
import static dev.onefold.aws.serve.ServedTrades.with;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import dev.onefold.aws.store.Store;
import java.time.Instant;
import java.util.Date;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// Callers that AWS has not checked, with tokens that the function checks.
class ServedTokensTest {
    private static final String ISSUER = "https://issuer.example";
    private static final String AUDIENCE = "onefold";

    private static Store store;
    private static ECKey key;
    private static ServedTrades served;

    @BeforeAll
    static void fill() throws Exception {
        store = ServedTrades.store("serving-tokens");
        key = new ECKeyGenerator(Curve.P_256).keyID("k").generate();
        served = ServedTrades.writing(store, Access.of(ISSUER, AUDIENCE, new JWKSet(key.toPublicJWK()).toString()));
    }

    private static String token(ECKey by, String scope, int seconds) throws Exception {
        SignedJWT token = new SignedJWT(
                new JWSHeader.Builder(JWSAlgorithm.ES256).keyID("k").build(),
                new JWTClaimsSet.Builder()
                        .issuer(ISSUER)
                        .audience(AUDIENCE)
                        .subject("desk")
                        .expirationTime(Date.from(Instant.now().plusSeconds(seconds)))
                        .claim("scope", scope)
                        .build());
        token.sign(new ECDSASigner(by));
        return token.serialize();
    }

    private static int status(String method, String target, String token) throws Exception {
        return served.send(with(unsigned(method, target), "authorization", "Bearer " + token))
                .status();
    }

    @Test
    void hazard_89_two_tokens_allow_what_they_say_and_nothing_of_each_other() throws Exception {
        String desk = token(key, "openid onefold:read:trades", 60);
        String feed = token(key, "onefold:write:trades", 60);
        String other = token(key, "onefold:read:orders onefold:write:orders", 60);
        assertThat(status("GET", "/v1/trades/totals", desk)).isEqualTo(200);
        assertThat(status("POST", "/v1/trades/records", desk)).isEqualTo(403);
        assertThat(status("POST", "/v1/trades/records", feed)).isEqualTo(202);
        assertThat(status("GET", "/v1/trades/totals", feed)).isEqualTo(403);
        assertThat(status("GET", "/v1/trades/rows/t1", feed)).isEqualTo(403);
        for (String path : new String[] {"totals", "changes", "rows/t1", "dead-letters"}) {
            assertThat(status("GET", "/v1/trades/" + path, other)).as(path).isEqualTo(404);
        }
        assertThat(status("POST", "/v1/trades/records", other)).isEqualTo(404);
        assertThat(served.send(with(unsigned("GET", "/v1"), "authorization", "Bearer " + other))
                        .json()
                        .path("pipelines"))
                .isEmpty();
    }

    @Test
    void nobody_is_let_in_without_a_good_token() throws Exception {
        ECKey foreign = new ECKeyGenerator(Curve.P_256).keyID("k").generate();
        for (String token :
                new String[] {"", "x", "a.b.c", token(foreign, "onefold:read", 60), token(key, "onefold:read", -600)}) {
            assertThat(status("GET", "/v1/trades/totals", token)).as(token).isEqualTo(401);
            assertThat(status("POST", "/v1/trades/records", token)).as(token).isEqualTo(401);
        }
        assertThat(served.send(unsigned("GET", "/v1")).headers()).containsEntry("WWW-Authenticate", "Bearer");
        String expired = "Bearer " + token(key, "onefold:read", -600);
        assertThat(served.send(with(unsigned("GET", "/v1"), "authorization", expired))
                        .headers())
                .containsEntry("WWW-Authenticate", "Bearer error=\"invalid_token\", error_description=\"expired\"");
        assertThat(served.send(event("GET", "/v1/trades/totals")).status())
                .as("signed, without a token")
                .isEqualTo(401);
    }

    @Test
    void the_page_and_the_description_need_no_token() throws Exception {
        assertThat(served.send(unsigned("GET", "/")).status()).isEqualTo(200);
        assertThat(served.send(unsigned("GET", "/openapi.json")).status()).isEqualTo(200);
    }

    @Test
    void a_deployment_that_could_let_nobody_in_or_everybody_does_not_start() {
        assertThatThrownBy(() -> Access.of(ISSUER, "", "https://issuer.example/keys"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("ServeJwtIssuer, ServeJwtAudience and ServeJwtKeys");
        assertThatThrownBy(() -> Access.of("", AUDIENCE, "")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Access.of(ISSUER, AUDIENCE, "http://issuer.example/keys"))
                .hasMessageContaining("https");
        assertThatThrownBy(() -> Access.of(ISSUER, AUDIENCE, "{\"keys\":[]}")).hasMessageContaining("without one");
        assertThatThrownBy(() -> Access.of(ISSUER, AUDIENCE, "{nonsense"))
                .hasMessageContaining("neither an address nor a JSON Web Key Set");
        assertThat(Access.of("", "", "")).isInstanceOf(Access.Signed.class);
    }
}
