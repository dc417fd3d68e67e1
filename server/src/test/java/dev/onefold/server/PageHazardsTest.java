package dev.onefold.server;

import static dev.onefold.server.RunningService.LIMITS;
import static dev.onefold.server.RunningService.record;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.net.InetAddress;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// What may go wrong between the live page and the service: answers that come late, a service that was started again,
/// clicks that nobody meant. Without Chromium it says that it was skipped, as [PageTest] does.
@Tag("campaign")
@Timeout(120)
class PageHazardsTest {
    private static final String REQUIRED = "ONEFOLD_BROWSER_REQUIRED";
    private static final String PURGE = ".detail button:last-child";
    private static final int RECORD_CHARACTERS = 10_000_000;

    /// Holds back answers whose address has a text, until `release()` is called.
    private static final String HOLD = """
            const real = window.fetch.bind(window);
            const held = new Promise(done => { window.release = done; });
            window.asked = 0;
            window.fetch = async (target, options) => {
              if (!String(target).includes(arguments[0])) {
                return real(target, options);
              }
              window.asked += 1;
              const answer = await real(target, options);
              await held;
              return answer;
            };
            """.replace("arguments[0]", "window.heldBack");

    private static Browser browser;

    @TempDir
    Path directory;

    @BeforeAll
    static void openBrowser() {
        assumeTrue(
                Browser.isThere() || Boolean.parseBoolean(System.getenv(REQUIRED)),
                "Chromium and its driver are not there: apt-get install chromium chromium-driver");
        browser = new Browser();
    }

    @AfterAll
    static void closeBrowser() {
        if (browser != null) {
            browser.close();
        }
    }

    private static void open(HttpService service, String place) {
        browser.leave();
        browser.size(1200, 900, false);
        browser.open(service.uri().resolve("/" + place));
    }

    private static void holdBack(String part) {
        browser.run("window.heldBack = arguments[0];", part);
        browser.run(HOLD);
    }

    private static void awaitHeld() {
        browser.awaitTrue("window.asked > 0");
    }

    private static void openFirstLetter() {
        browser.find("button[aria-pressed]").click();
        browser.find(".letters button").click();
        browser.find("#record");
    }

    @Test
    void a_letter_that_an_earlier_start_has_numbered_is_not_touched() throws Exception {
        try (RunningService on = new RunningService(directory)) {
            on.post("/v1/trades/records", "nonsense\n");
            open(on.service, "#/trades");
            openFirstLetter();
            URI uri = on.service.uri();
            on.service.close();
            browser.await("trying again");
            try (HttpService again = HttpService.open(
                    new Settings(InetAddress.getLoopbackAddress(), uri.getPort(), null, null, LIMITS),
                    List.of(Served.of(on.trades, null)))) {
                browser.awaitWithout("trying again");
                browser.find(PURGE).click();
                browser.await("Yes, remove it for good");
                browser.awaitClicked(PURGE, "The service was started again");
                assertThat(on.trades.deadLetters().size()).isEqualTo(1);
                browser.find(".letters button").click(); // Of this start.
                browser.find(PURGE).click();
                browser.awaitClicked(PURGE, "Dead letter 1 was removed for good.");
                assertThat(again.uri()).isEqualTo(uri);
            }
        }
    }

    @Test
    void a_double_click_removes_no_letter() throws Exception {
        try (RunningService on = new RunningService(directory)) {
            on.post("/v1/trades/records", "nonsense\n");
            open(on.service, "#/trades");
            openFirstLetter();
            browser.doubleClick(PURGE);
            browser.await("Yes, remove it for good");
            assertThat(on.trades.deadLetters().size()).isEqualTo(1);
            assertThat(browser.text()).doesNotContain("was removed for good");
            browser.awaitClicked(PURGE, "Dead letter 1 was removed for good.");
        }
    }

    @Test
    void a_letter_of_one_pipeline_is_not_shown_in_another_one() throws Exception {
        try (RunningService on = new RunningService(directory)) {
            on.post("/v1/trades/records", "nonsense of trades\n");
            on.post("/v1/lines/records", "nonsense of lines\n");
            open(on.service, "#/trades");
            browser.find("button[aria-pressed]").click();
            browser.find(".letters button");
            holdBack("/v1/trades/dead-letters/1");
            browser.find(".letters button").click();
            awaitHeld();
            browser.run("location.hash = '#/lines'");
            browser.awaitWithout("nonsense");
            browser.find("button[aria-pressed]").click();
            browser.find(".letters button");
            browser.run("window.release()");
            browser.find(".letters button").click();
            browser.find("#record");
            assertThat(browser.run("return document.querySelector('#record').value"))
                    .isEqualTo("nonsense of lines");
        }
    }

    @Test
    void an_older_list_does_not_replace_the_one_that_was_asked_for_last() throws Exception {
        try (RunningService on = new RunningService(directory)) {
            on.post("/v1/trades/records", "nonsense\n" + record(2, "\"much\""));
            open(on.service, "#/trades");
            browser.await("2 records could not be processed");
            holdBack("limit=50"); // Of all letters.
            browser.find("button[aria-pressed]").click();
            awaitHeld();
            browser.find("button[aria-pressed]:nth-of-type(2)").click();
            browser.find(".letters li");
            browser.run("window.release()");
            browser.awaitTrue("document.querySelectorAll('.letters li').length === 1");
            browser.await("As of");
            assertThat(browser.run("return document.querySelectorAll('.letters li').length"))
                    .isEqualTo(1L);
        }
    }

    @Test
    void a_long_number_takes_no_room_from_the_names() throws Exception {
        String name = "name of 20 characters";
        try (RunningService on = new RunningService(directory)) {
            on.post("/v1/trades/records", record(1, "1234567890123456.00").replace("\"a\"", "\"" + name + "\""));
            open(on.service, "#/trades");
            browser.size(700, 900, false);
            browser.await(name);
            assertThat(browser.run("const cell = document.querySelector('.tree .child .name');"
                            + "return cell.scrollWidth <= cell.clientWidth"))
                    .isEqualTo(true);
            assertThat(browser.run("const cells = [...document.querySelectorAll('.tree .number')];"
                            + "return cells.every(cell => cell.scrollWidth <= cell.clientWidth)"))
                    .isEqualTo(true);
        }
    }

    @Test
    void a_record_of_ten_megabytes_can_be_read() throws Exception {
        byte[] bytes = RunningService.bytes("x".repeat(RECORD_CHARACTERS) + "\n");
        try (RunningService on = new RunningService(directory)) {
            on.trades.append("s", 1, bytes, bytes.length);
            open(on.service, "#/trades");
            openFirstLetter();
            assertThat(browser.run("return document.querySelector('#record').value.length"))
                    .isEqualTo((long) RECORD_CHARACTERS);
        }
    }
}
