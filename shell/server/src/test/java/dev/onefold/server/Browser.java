package dev.onefold.server;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.logging.Level;
import org.openqa.selenium.By;
import org.openqa.selenium.JavascriptExecutor;
import org.openqa.selenium.Keys;
import org.openqa.selenium.OutputType;
import org.openqa.selenium.StaleElementReferenceException;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.interactions.Actions;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;
import org.openqa.selenium.support.ui.WebDriverWait;

/// Chromium without a window, as a person would use it. Not thread-safe.
final class Browser implements AutoCloseable {
    private static final Duration WAIT_MAX = Duration.ofSeconds(30);
    private static final String CHROMIUM = "chromium";
    private static final String DRIVER = "chromedriver";

    private final ChromeDriver driver;

    Browser() {
        LoggingPreferences logs = new LoggingPreferences();
        logs.enable(LogType.BROWSER, Level.ALL);
        ChromeOptions options = new ChromeOptions();
        options.setBinary(program(CHROMIUM).orElseThrow().toFile());
        options.addArguments("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--lang=en");
        options.setCapability(ChromeOptions.LOGGING_PREFS, logs);
        driver = new ChromeDriver(
                new ChromeDriverService.Builder()
                        .usingDriverExecutable(program(DRIVER).orElseThrow().toFile())
                        .build(),
                options);
    }

    /// Whether there is one on this machine.
    static boolean isThere() {
        return program(CHROMIUM).isPresent() && program(DRIVER).isPresent();
    }

    private static Optional<Path> program(String name) {
        return Arrays.stream(System.getenv("PATH").split(File.pathSeparator, -1))
                .map(folder -> Path.of(folder, name))
                .filter(Files::isExecutable)
                .findFirst();
    }

    /// Sets the size of the visible page, and the colours that the reader prefers.
    void size(int width, int height, boolean isDark) {
        driver.executeCdpCommand(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", false));
        driver.executeCdpCommand(
                "Emulation.setEmulatedMedia",
                Map.of(
                        "features",
                        List.of(Map.of("name", "prefers-color-scheme", "value", isDark ? "dark" : "light"))));
    }

    void open(URI uri) {
        driver.get(uri.toString());
    }

    /// Leaves the page, and forgets the lines of its console.
    void leave() {
        driver.get("about:blank");
        console();
    }

    String address() {
        return Objects.requireNonNull(driver.getCurrentUrl());
    }

    /// The first element of a selector, as soon as it is there.
    WebElement find(String css) {
        return until(
                css,
                () -> driver.findElements(By.cssSelector(css)).stream()
                        .findFirst()
                        .orElse(null));
    }

    /// Waits until the page has a text.
    void await(String text) {
        until(text, () -> text().contains(text) ? text : null);
    }

    /// Waits until the page has a text no more.
    void awaitWithout(String text) {
        until("no " + text, () -> text().contains(text) ? null : text);
    }

    /// Waits until an expression of the page is true.
    void awaitTrue(String expression) {
        until(expression, () -> Boolean.TRUE.equals(run("return " + expression)) ? expression : null);
    }

    /// Clicks until the page has a text: a click that comes too soon after another one is passed over.
    void awaitClicked(String css, String text) {
        until(text, () -> {
            if (!text().contains(text)) {
                driver.findElements(By.cssSelector(css)).stream().findFirst().ifPresent(WebElement::click);
            }
            return text().contains(text) ? text : null;
        });
    }

    void doubleClick(String css) {
        new Actions(driver).doubleClick(find(css)).perform();
    }

    String text() {
        return String.valueOf(run("return document.body.innerText"));
    }

    private <T> T until(String what, Supplier<T> look) {
        return new WebDriverWait(driver, WAIT_MAX, Duration.ofMillis(50))
                .withMessage(() -> what + " in: " + text())
                .ignoring(StaleElementReferenceException.class)
                .until(_ -> look.get());
    }

    /// Presses a key where the focus is.
    void press(Keys key) {
        driver.switchTo().activeElement().sendKeys(key);
    }

    Object run(String script, Object... arguments) {
        return ((JavascriptExecutor) driver).executeScript(script, arguments);
    }

    /// The violations that axe finds on the page, as a person reads them; empty if there are none.
    String violations() throws IOException {
        try (InputStream script = Objects.requireNonNull(Browser.class.getResourceAsStream("/axe.min.js"))) {
            run(new String(script.readAllBytes(), StandardCharsets.UTF_8));
        }
        return String.valueOf(
                driver.executeAsyncScript(
                        "const done = arguments[0];"
                                + "axe.run(document, {resultTypes: ['violations']}).then(found => done(found.violations.map(each =>"
                                + " each.id + ': ' + each.nodes.map(node => node.html + ' ' + node.failureSummary).join('; ')).join('\\n')))"));
    }

    /// The lines of the console since the last call.
    List<String> console() {
        return driver.manage().logs().get(LogType.BROWSER).getAll().stream()
                .map(LogEntry::getMessage)
                .toList();
    }

    void picture(Path file) throws IOException {
        Files.write(file, driver.getScreenshotAs(OutputType.BYTES));
    }

    @Override
    public void close() {
        driver.quit();
    }
}
