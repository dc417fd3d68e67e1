package dev.onefold.server;

import dev.onefold.api.Scope;
import dev.onefold.core.Engine;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.embedded.EmbeddedEngine;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import javax.imageio.ImageIO;
import org.jspecify.annotations.Nullable;
import org.openqa.selenium.Keys;

/// Makes pictures of the live page in its main states, over real engines:
///
///     mvn -q test-compile -pl shell/server -am && java -cp "$CLASSPATH" dev.onefold.server.PagePictures FOLDER
public final class PagePictures {
    private static final int WIDE = 1280;
    private static final int HIGH = 1000;
    private static final int PHONE = 360;
    private static final List<String> DESKS = List.of("Rates", "Credit", "FX", "Equity", "Commodities", "Metals");
    private static final int BOOKS = 400;
    private static final int LINES = 400;
    private static final int LOOKS = 24;
    private static final double SMALL = 0.7;
    private static final int COLOURS = 0xF0F0F0; // Four bits of each.

    private final Path folder;
    private final Random random = new Random(42);
    private int next;

    private PagePictures(Path folder) {
        this.folder = folder;
    }

    /// @param arguments the folder where the pictures go
    public static void main(String[] arguments) throws Exception {
        Path folder = Path.of(arguments[0]);
        Files.createDirectories(folder);
        new PagePictures(folder).make();
    }

    private void make() throws Exception {
        Path data = Files.createTempDirectory("onefold-pictures");
        try (Engine trades = EmbeddedEngine.open(
                        data.resolve("trades"),
                        PipelineBuilder.named("trades")
                                .key("id")
                                .version("v")
                                .rollup(rollup -> rollup.levels("measure", "desk", "book")
                                        .sum("value", "value", 18, 2)
                                        .count("trades"))
                                .build(),
                        dev.onefold.embedded.Settings.defaults());
                Engine bursts = EmbeddedEngine.open(
                        data.resolve("bursts"),
                        ((Reading.Read) PipelineText.read("{\"pipeline\":\"bursts\",\"input\":{\"id\":\"id\"},"
                                        + "\"batch\":{\"size\":10,\"wait\":\"1h\",\"deliver\":{\"file\":\"" + data
                                        + "/{number}.ndjson\"}}}"))
                                .pipeline(),
                        dev.onefold.embedded.Settings.defaults());
                Browser browser = new Browser()) {
            List<Served> served = List.of(Served.of(trades, null), Served.of(bursts, null));
            try (HttpService service = HttpService.open(settings(null), served)) {
                states(browser, service.uri(), bursts);
            }
            browser.await("Connection lost");
            browser.picture(folder.resolve("lost.png"));
            small("books", "page-totals", SMALL);
            small("lost", "page-lost", SMALL);
            small("phone", "page-phone", 1);
            Tokens tokens = Tokens.read(List.of(Tokens.line("desk", "secret", EnumSet.of(Scope.READ), List.of("*"))));
            try (HttpService service = HttpService.open(settings(tokens), served)) {
                browser.open(service.uri());
                browser.find("#token");
                browser.picture(folder.resolve("token.png"));
            }
        }
    }

    /// A picture for the documents, of few colours, so that its file is small.
    private void small(String name, String smallName, double scale) throws IOException {
        BufferedImage picture = ImageIO.read(folder.resolve(name + ".png").toFile());
        BufferedImage small = new BufferedImage(
                (int) (picture.getWidth() * scale), (int) (picture.getHeight() * scale), BufferedImage.TYPE_INT_RGB);
        Graphics2D graphics = small.createGraphics();
        graphics.setRenderingHint(RenderingHints.KEY_INTERPOLATION, RenderingHints.VALUE_INTERPOLATION_BICUBIC);
        graphics.drawImage(picture, 0, 0, small.getWidth(), small.getHeight(), null);
        graphics.dispose();
        for (int y = 0; y < small.getHeight(); y++) {
            for (int x = 0; x < small.getWidth(); x++) {
                small.setRGB(x, y, (small.getRGB(x, y) & COLOURS) | (small.getRGB(x, y) & COLOURS) >>> 4);
            }
        }
        ImageIO.write(small, "png", folder.resolve(smallName + ".png").toFile());
    }

    private static Settings settings(@Nullable Tokens tokens) {
        return new Settings(InetAddress.getLoopbackAddress(), 0, null, tokens, Settings.Limits.USUAL);
    }

    private void states(Browser browser, URI uri, Engine bursts) throws Exception {
        browser.size(WIDE, HIGH, false);
        browser.open(uri);
        browser.await("No data yet");
        browser.picture(folder.resolve("empty.png"));
        HttpClient client = HttpClient.newHttpClient();
        for (int i = 0; i < LOOKS; i++) {
            client.send(
                    HttpRequest.newBuilder(uri.resolve("/v1/trades/records?source=desk-" + i % 3))
                            .POST(HttpRequest.BodyPublishers.ofString(lines()))
                            .build(),
                    HttpResponse.BodyHandlers.discarding());
            Thread.sleep(700);
        }
        browser.await("dead letters");
        browser.picture(folder.resolve("light.png"));
        tall(browser, false, "light-tall");
        tall(browser, true, "dark-tall");
        browser.size(WIDE, HIGH, true);
        browser.picture(folder.resolve("dark.png"));
        browser.find(".tree [data-row='1']").click();
        browser.press(Keys.ARROW_DOWN);
        browser.press(Keys.ARROW_RIGHT);
        browser.find(".path li:nth-child(2)");
        Thread.sleep(1500);
        browser.press(Keys.ARROW_RIGHT);
        browser.picture(folder.resolve("drilled.png"));
        browser.size(WIDE, HIGH, false);
        browser.open(uri.resolve("/#/trades/main/PV/Rates"));
        Thread.sleep(3000);
        browser.picture(folder.resolve("books.png"));
        browser.find("button[aria-pressed]").click();
        browser.find(".letters button").click();
        browser.find("#record");
        browser.run("document.getElementById('letters').scrollIntoView()");
        browser.picture(folder.resolve("letter.png"));
        browser.size(PHONE, 740, false);
        browser.leave();
        browser.open(uri.resolve("/#/trades"));
        Thread.sleep(2000);
        browser.picture(folder.resolve("phone.png"));
        browser.size(PHONE, 3400, true);
        browser.picture(folder.resolve("phone-tall.png"));
        batches(bursts);
        browser.size(WIDE, HIGH, false);
        browser.open(uri.resolve("/#/bursts"));
        browser.await("Seal the open batch");
        Thread.sleep(1500);
        browser.picture(folder.resolve("batches.png"));
        browser.open(uri.resolve("/#/nothing"));
        browser.await("There is no pipeline");
        browser.picture(folder.resolve("nothing.png"));
        browser.open(uri.resolve("/#/trades"));
        browser.await("The way of a record");
    }

    private void tall(Browser browser, boolean isDark, String name) throws IOException {
        browser.size(WIDE, 1900, isDark);
        browser.picture(folder.resolve(name + ".png"));
    }

    private static void batches(Engine bursts) {
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < 25; i++) {
            lines.append("{\"id\":").append(i).append("}\n");
        }
        byte[] bytes = lines.toString().getBytes(StandardCharsets.UTF_8);
        bursts.append("bursts", 1, bytes, bytes.length);
    }

    private String lines() {
        StringBuilder lines = new StringBuilder();
        int count = LINES / 2 + random.nextInt(LINES);
        for (int i = 0; i < count; i++) {
            int id = random.nextInt(20) == 0 ? random.nextInt(next + 1) : next++;
            lines.append(String.format(
                    "{\"id\":%d,\"v\":%d,\"measure\":\"%s\",\"desk\":\"%s\",\"book\":\"B%03d\",\"value\":%s}%n",
                    id,
                    1 + random.nextInt(2),
                    random.nextBoolean() ? "PV" : random.nextBoolean() ? "Delta" : "Vega",
                    DESKS.get((int) (DESKS.size() * random.nextDouble() * random.nextDouble())),
                    (int) (BOOKS * random.nextDouble() * random.nextDouble()),
                    random.nextInt(400) == 0
                            ? "\"much\""
                            : String.format("%.2f", random.nextGaussian() * 40_000 + 9_000)));
        }
        return lines.toString();
    }
}
