package dev.onefold.server;

import static dev.onefold.server.RunningService.LIMITS;
import static dev.onefold.server.RunningService.record;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.onefold.api.Scope;
import dev.onefold.core.Engine;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.embedded.EmbeddedEngine;
import java.net.InetAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.Keys;

/// The live page in a real browser, over a real service and real engines. Without Chromium it says that it was
/// skipped; `ONEFOLD_BROWSER_REQUIRED=true` makes that a failure. It is one idea: all that a person does with
/// the page, in one browser, because each browser takes seconds to start.
@Tag("campaign")
@Timeout(120)
class PageTest {
    private static final String REQUIRED = "ONEFOLD_BROWSER_REQUIRED";
    private static final int WIDE = 1200;
    private static final int PHONE = 360;
    private static final int GROUPS = 20_000;

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

    private static URI at(HttpService service, String place) {
        return service.uri().resolve("/" + place);
    }

    private void open(URI uri) {
        browser.leave();
        browser.size(WIDE, 900, false);
        browser.open(uri);
    }

    @Test
    void a_reader_drills_down_by_keyboard_and_by_link_and_the_address_names_the_place() throws Exception {
        PipelineBuilder sales = PipelineBuilder.named("sales")
                .key("id")
                .version("v")
                .rollup(rollup -> rollup.levels("region", "desk").sum("value", "value", 18, 2));
        try (Engine engine = EmbeddedEngine.open(directory, sales.build(), dev.onefold.embedded.Settings.defaults());
                HttpService service = HttpService.open(
                        new Settings(InetAddress.getLoopbackAddress(), 0, null, null, LIMITS),
                        List.of(Served.of(engine, null)))) {
            byte[] records = RunningService.bytes("""
                    {"id":1,"v":1,"region":"north","desk":"a","value":1.50}
                    {"id":2,"v":1,"region":"b/ü","desk":"b","value":2.00}
                    {"id":3,"v":1,"region":"b/ü","desk":"c","value":3.00}
                    """);
            engine.append("s", 1, records, records.length);
            open(at(service, ""));
            browser.find(".tree [data-row='0']").click();
            browser.press(Keys.ARROW_DOWN);
            browser.press(Keys.ENTER);
            browser.await("2 groups by desk.");
            assertThat(browser.address()).endsWith("#/sales/main/b%2F%C3%BC");
            browser.press(Keys.ARROW_DOWN);
            browser.press(Keys.ARROW_LEFT);
            browser.press(Keys.ARROW_LEFT);
            browser.await("2 groups by region.");
            assertThat(browser.address()).endsWith("#/sales/main");
            open(at(service, "#/sales/main/north"));
            browser.await("1 group by desk.");
            assertThat(browser.find(".tree [data-row='0']").getText()).contains("1.50");
            browser.find(".path a").click();
            browser.await("2 groups by region.");
            browser.find(".tree [data-row='2'] a").click();
            browser.await("1 group by desk.");
            assertThat(browser.address()).endsWith("#/sales/main/north");
            assertThat(browser.console()).isEmpty();
        }
    }

    @Test
    void totals_move_without_a_reload_and_no_digit_is_lost() throws Exception {
        try (RunningService on = new RunningService(directory)) {
            open(at(on.service, "#/trades"));
            browser.await("No data yet");
            on.post("/v1/trades/records", record(1, "9007199254740993.01"));
            browser.await("9,007,199,254,740,993.01");
            on.post("/v1/trades/records", record(2, "0.01"));
            browser.await("9,007,199,254,740,993.02");
            browser.await("As of");
            assertThat(browser.console()).isEmpty();
        }
    }

    @Test
    void totals_of_a_producer_stand_beside_those_that_are_shown_and_say_when_they_differ() throws Exception {
        Path producer = Files.createTempDirectory("producer").resolve("right.json");
        try (RunningService on = new RunningService(directory)) {
            on.post("/v1/trades/records", record(1, "9007199254740993.01"));
            Files.writeString(producer, on.get("/v1/trades/totals").body());
            open(at(on.service, "#/trades"));
            browser.await("9,007,199,254,740,993.01");
            browser.find("input[type=file]").sendKeys(producer.toString());
            browser.await("right.json: all that is shown is equal.");
            on.post("/v1/trades/records", record(2, "0.01"));
            browser.await("DIFFERENT");
            Path other = producer.resolveSibling("other.json");
            Files.writeString(other, "{\"groups\":[{\"group\":[],\"value\":\"1e9\"}]}");
            browser.find("input[type=file]").sendKeys(other.toString());
            browser.await("is not a plain number");
            assertThat(browser.console()).isEmpty();
        }
    }

    @Test
    void a_name_of_a_group_is_text_whatever_it_is() throws Exception {
        String name = "<img src=x onerror=alert(1)><script>1</script>";
        try (RunningService on = new RunningService(directory)) {
            on.post("/v1/trades/records", record(1, "1.00").replace("\"a\"", "\"" + name + "\""));
            open(at(on.service, "#/trades"));
            browser.await(name);
            assertThat(browser.run("return document.querySelectorAll('main img, main script').length"))
                    .isEqualTo(0L);
            assertThat(browser.console()).isEmpty();
        }
    }

    @Test
    void axe_finds_nothing_in_light_and_dark_on_a_desk_and_on_a_phone() throws Exception {
        try (RunningService on = new RunningService(directory)) {
            on.post("/v1/trades/records", record(1, "1.00") + record(2, "\"much\"") + "nonsense\n");
            on.post("/v1/bursts/records", "{\"id\":1}\n");
            on.post("/v1/bursts/batches/seal", "");
            for (String place : List.of("#/trades", "#/bursts", "#/nothing")) {
                open(at(on.service, place));
                browser.find("main section");
                if (place.equals("#/trades")) {
                    browser.find("button[aria-pressed]").click();
                    browser.find(".letters button").click();
                    browser.find("#record");
                    browser.find("details summary").click();
                }
                for (int width : List.of(WIDE, PHONE)) {
                    for (boolean isDark : List.of(false, true)) {
                        browser.size(width, 900, isDark);
                        assertThat(browser.violations()).as(place + " " + width).isEmpty();
                        assertThat((Long) browser.run("return document.scrollingElement.scrollWidth"))
                                .as(place)
                                .isLessThanOrEqualTo(width);
                    }
                }
            }
            assertThat(browser.console()).isEmpty();
        }
    }

    @Test
    void a_lost_connection_is_said_and_found_again_without_a_reload() throws Exception {
        try (RunningService on = new RunningService(directory)) {
            on.post("/v1/trades/records", record(1, "1.00"));
            open(at(on.service, "#/trades"));
            browser.await("1 group by desk.");
            int port = on.service.uri().getPort();
            on.service.close();
            browser.await("trying again");
            assertThat(browser.text()).contains("Shown is what was known then", "1.00", "These figures are");
            assertThat(browser.violations()).isEmpty();
            byte[] more = RunningService.bytes(record(2, "2.25"));
            on.trades.append("http", 2, more, more.length);
            try (HttpService again = HttpService.open(
                    new Settings(InetAddress.getLoopbackAddress(), port, null, null, LIMITS),
                    List.of(Served.of(on.trades, null)))) {
                browser.await("3.25");
                browser.awaitWithout("trying again");
                assertThat(browser.find("[role=status]").getText()).isEqualTo("Connected again.");
                assertThat(again.uri().getPort()).isEqualTo(port);
            }
        }
    }

    @Test
    void a_number_is_shown_whole_or_not_at_all_however_narrow_the_page_is() throws Exception {
        PipelineBuilder sales = PipelineBuilder.named("sales")
                .key("id")
                .version("v")
                .rollup(rollup -> {
                    rollup.levels("shop").count("orders");
                    for (String each : List.of("gross", "net", "tax", "discount")) {
                        rollup.sum(each, "value", 18, 2);
                    }
                });
        try (Engine engine = EmbeddedEngine.open(directory, sales.build(), dev.onefold.embedded.Settings.defaults());
                HttpService service = HttpService.open(
                        new Settings(InetAddress.getLoopbackAddress(), 0, null, null, LIMITS),
                        List.of(Served.of(engine, null)))) {
            byte[] records = RunningService.bytes("""
                    {"id":1,"v":1,"shop":"Wollongong Central Market","value":130487.25}
                    {"id":2,"v":1,"shop":"b","value":39182000.00}
                    """);
            engine.append("s", 1, records, records.length);
            open(at(service, ""));
            browser.await("2 groups by shop.");
            for (int width = PHONE; width < WIDE; width += 97) {
                browser.size(width, 900, false);
                browser.awaitTrue("""
                        (() => {
                          const tree = document.querySelector('.tree');
                          const right = tree.getBoundingClientRect().left + tree.clientWidth + 1;
                          const numbers = [...tree.querySelectorAll('.number')];
                          return numbers.length > 0 && numbers.every(each =>
                              each.getBoundingClientRect().right <= right && each.scrollWidth <= each.clientWidth);
                        })()""");
            }
            browser.size(PHONE, 900, false);
            browser.find("select").sendKeys("tax");
            browser.awaitTrue("document.querySelector('.tree .names .number')?.innerText.startsWith('tax')");
            assertThat(browser.violations()).isEmpty();
            assertThat(browser.console()).isEmpty();
        }
    }

    @Test
    void a_link_on_another_site_opens_the_page() throws Exception {
        try (RunningService on = new RunningService(directory)) {
            on.post("/v1/trades/records", record(1, "1.00"));
            String target = at(on.service, "#/trades").toString().replace("127.0.0.1", "localhost");
            com.sun.net.httpserver.HttpServer wiki = com.sun.net.httpserver.HttpServer.create(
                    new java.net.InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            wiki.createContext("/", exchange -> {
                byte[] page = RunningService.bytes("<a href='" + target + "'>totals</a>");
                exchange.sendResponseHeaders(200, page.length);
                exchange.getResponseBody().write(page);
                exchange.close();
            });
            wiki.start();
            try {
                open(URI.create("http://127.0.0.1:" + wiki.getAddress().getPort() + "/"));
                browser.find("a").click();
                browser.await("1 group by desk.");
            } finally {
                wiki.stop(0);
            }
        }
    }

    @Test
    void a_token_is_asked_for_and_kept_for_the_tab_alone() throws Exception {
        Tokens tokens = Tokens.read(List.of(Tokens.line("desk", "secret", EnumSet.of(Scope.READ), List.of("trades"))));
        try (RunningService on = new RunningService(directory, tokens)) {
            on.post("/v1/trades/records", record(1, "1.00"), "Authorization", "Bearer secret");
            byte[] bytes = RunningService.bytes(record(1, "1.00") + "nonsense\n");
            on.trades.append("s", 1, bytes, bytes.length);
            open(at(on.service, "#/trades"));
            browser.find("#token").sendKeys("wrong", Keys.ENTER);
            browser.await("The token is not known here.");
            assertThat(browser.violations()).isEmpty();
            browser.find("#token").clear();
            browser.find("#token").sendKeys("secret", Keys.ENTER);
            browser.await("1 group by desk.");
            assertThat(browser.text()).doesNotContain("bursts");
            browser.find("button[aria-pressed]").click();
            browser.await("The token does not allow to operate in pipeline trades.");
            assertThat(browser.run("return [localStorage.length, document.cookie, sessionStorage.length].join()"))
                    .isEqualTo("0,,1");
            browser.run("sessionStorage.clear()");
        }
    }

    @Test
    void a_dead_letter_is_mended_and_another_one_removed_and_the_totals_are_verified() throws Exception {
        try (RunningService on = new RunningService(directory)) {
            on.post("/v1/trades/records", record(1, "1.00") + record(2, "\"much\"") + "nonsense\n");
            open(at(on.service, "#/trades"));
            browser.await("2 records could not be processed");
            browser.find("button[aria-pressed]").click();
            browser.find(".letters button").click();
            browser.find("#record").clear();
            browser.find("#record").sendKeys(record(2, "4.00").strip());
            browser.find(".detail button.main").click();
            browser.await("Dead letter 1 was sent through again: accepted.");
            browser.await("5.00");
            browser.find(".letters button").click();
            browser.find(".detail button:last-child").click();
            browser.await("Yes, remove it for good");
            browser.awaitClicked(".detail button:last-child", "Dead letter 2 was removed for good.");
            browser.await("✓ None.");
            assertThat(on.trades.deadLetters().size()).isZero();
            browser.find("[aria-labelledby=verify] button").click();
            browser.await("✓ Equal:");
            assertThat(browser.console()).isEmpty();
        }
    }

    @Test
    void of_many_groups_those_in_sight_are_asked_for_and_drawn_in_their_rank() throws Exception {
        try (RunningService on = new RunningService(directory)) {
            StringBuilder records = new StringBuilder();
            for (int i = 0; i < GROUPS; i++) {
                records.append("{\"id\":%d,\"v\":1,\"desk\":\"d%d\",\"value\":%d}\n".formatted(i, i, GROUPS - i));
            }
            byte[] bytes = RunningService.bytes(records.toString());
            on.trades.append("s", 1, bytes, bytes.length);
            open(at(on.service, "#/trades"));
            browser.await("20,000 groups by desk.");
            browser.find(".tree [data-row='1']").click();
            browser.press(Keys.END);
            browser.await("d19999");
            assertThat(browser.find(".tree [data-row='20000']").getText()).contains("d19999");
            assertThat((Long) browser.run("return document.querySelectorAll('.tree [role=row]').length"))
                    .isLessThan(50);
            browser.run("document.querySelector('.tree').scrollTop = 36 * 9999");
            browser.await("d10005");
            assertThat(browser.find("[aria-rowindex='10008']").getText()).contains("d10005");
            assertThat(browser.console()).isEmpty();
        }
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
            open(at(on.service, "#/trades"));
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
            open(at(on.service, "#/trades"));
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
            open(at(on.service, "#/trades"));
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
            open(at(on.service, "#/trades"));
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
            open(at(on.service, "#/trades"));
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
            open(at(on.service, "#/trades"));
            openFirstLetter();
            assertThat(browser.run("return document.querySelector('#record').value.length"))
                    .isEqualTo((long) RECORD_CHARACTERS);
        }
    }

    /// Fills a level with groups, some at a time: one call takes so much.
    private static void fill(RunningService on, int groups, int atATime) {
        for (int from = 0; from < groups; from += atATime) {
            StringBuilder records = new StringBuilder();
            for (int i = from; i < from + atATime; i++) {
                records.append("{\"id\":%d,\"v\":1,\"desk\":\"d%07d\",\"value\":%d}\n".formatted(i, i, groups - i));
            }
            byte[] bytes = RunningService.bytes(records.toString());
            on.trades.append("s", from + 1L, bytes, bytes.length);
        }
    }

    @Test
    void a_level_of_a_million_groups_is_ranked_and_scrolled_and_each_group_is_found_by_its_name() throws Exception {
        try (RunningService on = new RunningService(directory)) {
            fill(on, 1_000_000, 50_000);
            open(at(on.service, "#/trades"));
            browser.await("1,000,000 groups by desk.");
            browser.await("d0000000");
            assertThat((Long) browser.run("return document.querySelectorAll('.tree [role=row]').length"))
                    .isLessThan(50);
            browser.run("document.querySelector('.tree').scrollTop = 36 * 80000");
            browser.await("d0080005");
            open(at(on.service, "#/trades/main/d0999999"));
            browser.await("d0999999");
            assertThat(browser.console()).isEmpty();
        }
    }
}
