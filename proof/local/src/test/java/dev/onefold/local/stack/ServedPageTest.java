package dev.onefold.local.stack;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import dev.onefold.aws.template.Template;
import dev.onefold.aws.template.Template.Input;
import dev.onefold.aws.template.Template.Service;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.By;
import org.openqa.selenium.StaleElementReferenceException;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.support.ui.WebDriverWait;

/// The live page in a real browser, before a function whose URL lets everybody reach it and which lets in who
/// has a token. Without Chromium it says that it was skipped; `ONEFOLD_BROWSER_REQUIRED=true` makes that a
/// failure.
@Tag("campaign")
class ServedPageTest {
    private static final String ISSUER = "https://issuer.example";

    private static Optional<Path> program(String name) {
        return Arrays.stream(System.getenv("PATH").split(File.pathSeparator, -1))
                .map(folder -> Path.of(folder, name))
                .filter(Files::isExecutable)
                .findFirst();
    }

    private static ChromeDriver browser() {
        boolean isThere =
                program("chromium").isPresent() && program("chromedriver").isPresent();
        assumeTrue(
                isThere || Boolean.parseBoolean(System.getenv("ONEFOLD_BROWSER_REQUIRED")),
                "Chromium and its driver are not there: apt-get install chromium chromium-driver");
        ChromeOptions options = new ChromeOptions();
        options.setBinary(program("chromium").orElseThrow().toFile());
        options.addArguments("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--lang=en");
        return new ChromeDriver(
                new ChromeDriverService.Builder()
                        .usingDriverExecutable(
                                program("chromedriver").orElseThrow().toFile())
                        .build(),
                options);
    }

    private static String text(ChromeDriver browser) {
        return String.valueOf(browser.executeScript("return document.body.innerText"));
    }

    private static void await(ChromeDriver browser, String text) {
        new WebDriverWait(browser, Duration.ofSeconds(60), Duration.ofMillis(100))
                .withMessage(() -> text + " in: " + text(browser))
                .ignoring(StaleElementReferenceException.class)
                .until(_ -> text(browser).contains(text));
    }

    private static String token(ECKey key, String scope) throws Exception {
        SignedJWT token = new SignedJWT(
                new JWSHeader.Builder(JWSAlgorithm.ES256).keyID(key.getKeyID()).build(),
                new JWTClaimsSet.Builder()
                        .issuer(ISSUER)
                        .audience("onefold")
                        .subject("desk")
                        .expirationTime(Date.from(Instant.now().plusSeconds(3_600)))
                        .claim("scope", scope)
                        .build());
        token.sign(new ECDSASigner(key));
        return token.serialize();
    }

    private static List<byte[]> trade(int id, String value) {
        return List.of(("{\"id\":" + id + ",\"v\":1,\"desk\":\"north\",\"region\":\"eu\",\"value\":" + value
                        + ",\"book\":\"b\"}")
                .getBytes(StandardCharsets.UTF_8));
    }

    private static void put(LocalDeployment deployment, List<byte[]> records) {
        deployment.put(Trades.PIPELINE, records.iterator(), _ -> {});
        deployment.drained(Duration.ofMinutes(5)).join();
    }

    @Test
    void a_reader_with_a_token_sees_the_totals_move_and_asks_for_them_again_and_again() throws Exception {
        ECKey key = new ECKeyGenerator(Curve.P_256).keyID("k").generate();
        ChromeDriver browser = browser();
        try (LocalDeployment deployment = LocalDeployment.open(
                "trades",
                Template.of(Trades.PIPELINE, Input.NEW_STREAM, Service.READ).yaml(),
                Map.of(
                        "Gates", "64",
                        "ServeTimeout", "300",
                        "ServeJwtIssuer", ISSUER,
                        "ServeJwtAudience", "onefold",
                        "ServeJwtKeys", new JWKSet(key.toPublicJWK()).toString()),
                Parts.machine(2),
                StackFaults.NONE)) {
            put(deployment, trade(1, "9007199254740993.01"));
            browser.get(deployment.outputs().get("ServeUrl"));
            await(browser, "Token");
            browser.findElement(By.cssSelector("input")).sendKeys(token(key, "onefold:read:trades"));
            browser.findElement(By.cssSelector("form button")).click();
            await(browser, "9,007,199,254,740,993.01");
            await(browser, "As of");
            put(deployment, trade(2, "0.01"));
            await(browser, "9,007,199,254,740,993.02");
            await(browser, "trades/s");
            assertThat(browser.findElements(By.cssSelector("svg.chart"))).hasSize(3);
            browser.findElement(By.cssSelector(".tree [data-row='1'] a")).click();
            await(browser, "1 group by region.");
            assertThat(text(browser))
                    .contains("asks for totals every few seconds")
                    .doesNotContain("Verify now");
            assertThat(deployment.usage().refused()).isEmpty();
        } finally {
            browser.quit();
        }
    }
}
