package dev.onefold.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.api.Scope;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The files of the live page, as a browser gets them.
@Timeout(60)
class PageFilesTest {
    private static final Path SOURCES = Path.of("../../engine/api/src/main/resources/dev/onefold/api/page");
    private static final Pattern REFERENCE =
            Pattern.compile("(?:src|href)=\"(page/[^\"]*)\"|from *['\"]([^'\"]*)['\"]");
    private static final Pattern INLINE = Pattern.compile(
            "<script(?![^>]*\\ssrc=)|<style|\\sstyle=|\\son[a-z]+=|javascript:", Pattern.CASE_INSENSITIVE);

    @TempDir
    Path directory;

    private RunningService service() throws Exception {
        return new RunningService(
                directory, Tokens.read(List.of(Tokens.line("desk", "secret", EnumSet.of(Scope.READ), List.of("*")))));
    }

    /// The addresses of all files that the page loads, itself included.
    private static Set<String> loaded(RunningService on) throws Exception {
        Set<String> found = new TreeSet<>();
        Deque<String> next = new ArrayDeque<>(List.of("/"));
        while (!next.isEmpty()) {
            String path = next.remove();
            if (found.add(path)) {
                Matcher reference = REFERENCE.matcher(on.get(path).body());
                while (reference.find()) {
                    String file = reference.group(1) == null ? reference.group(2) : "/" + reference.group(1);
                    next.add(file.startsWith("./") ? path.replaceFirst("[^/]*$", "") + file.substring(2) : file);
                }
            }
        }
        return found;
    }

    @Test
    void each_file_is_sent_without_a_token_with_its_type_and_under_a_strict_policy() throws Exception {
        try (RunningService on = service()) {
            Set<String> loaded = loaded(on);
            assertThat(loaded).hasSizeGreaterThan(10);
            for (String path : loaded) {
                HttpResponse<String> answer = on.get(path);
                assertThat(answer.statusCode()).as(path).isEqualTo(200);
                String type =
                        path.endsWith(".js") ? "text/javascript" : path.endsWith(".css") ? "text/css" : "text/html";
                assertThat(answer.headers().firstValue("Content-Type")).contains(type + "; charset=utf-8");
                assertThat(answer.headers().firstValue("X-Content-Type-Options"))
                        .contains("nosniff");
                String policy =
                        answer.headers().firstValue("Content-Security-Policy").orElseThrow();
                assertThat(policy)
                        .contains(
                                "default-src 'none'", "script-src 'self';", "style-src 'self';", "connect-src 'self';")
                        .contains("frame-ancestors 'none'", "base-uri 'none'", "require-trusted-types-for 'script'")
                        .doesNotContain("unsafe", "http", "*");
            }
        }
    }

    @Test
    void a_browser_that_has_a_file_keeps_it_and_asks_for_the_page_itself_each_time() throws Exception {
        try (RunningService on = service()) {
            for (String path : loaded(on)) {
                HttpResponse<String> answer = on.get(path);
                assertThat(answer.headers().firstValue("Cache-Control"))
                        .contains(path.equals("/") ? "no-cache" : "public, max-age=31536000, immutable");
                String tag = answer.headers().firstValue("ETag").orElseThrow();
                assertThat(on.get(path, "If-None-Match", "\"other\", " + tag).statusCode())
                        .isEqualTo(304);
            }
        }
    }

    @Test
    void nothing_comes_from_another_host_and_no_script_or_style_stands_in_the_page() throws Exception {
        try (RunningService on = service()) {
            for (String path : loaded(on)) {
                String text = on.get(path).body();
                if (path.endsWith("lit-html.js")) {
                    assertThat(text).doesNotContain("import(", "eval(", "new Function");
                } else {
                    assertThat(text).as(path).doesNotContain("http:", "https:", "eval(", "new Function", "innerHTML");
                }
            }
            assertThat(INLINE.matcher(on.get("/").body()).find()).isFalse();
        }
    }

    @Test
    void all_files_of_the_folder_are_sent_and_no_others() throws Exception {
        try (RunningService on = service();
                Stream<Path> files = Files.list(SOURCES)) {
            Set<String> sent = loaded(on).stream()
                    .map(path -> path.replaceFirst(".*/", ""))
                    .collect(Collectors.toCollection(TreeSet::new));
            Set<String> there =
                    files.map(file -> file.getFileName().toString()).collect(Collectors.toCollection(TreeSet::new));
            there.add("lit-html.js");
            there.remove("index.html");
            there.add("");
            assertThat(sent).isEqualTo(there);
        }
    }

    @Test
    void no_path_leads_out_of_the_folder() throws Exception {
        try (RunningService on = service()) {
            String script = loaded(on).stream()
                    .filter(path -> path.endsWith("app.js"))
                    .findFirst()
                    .orElseThrow();
            String folder = script.replaceFirst("app.js$", "");
            for (String path : List.of(
                    folder,
                    folder + "../openapi.json",
                    folder + "..%2fopenapi.json",
                    folder + "%2e%2e/PageFiles.class",
                    folder + "index.html",
                    folder + "./app.js",
                    "/page/0000000000000000/app.js",
                    "/page/../../module-info.class",
                    "//page/app.js",
                    "/index.html",
                    folder.substring(1) + "app.js%00.css")) {
                String answer = on.raw(("GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                        .getBytes(StandardCharsets.US_ASCII));
                assertThat(answer).as(path).doesNotContain("200 OK").containsPattern("^HTTP/1.1 40[014]");
            }
            assertThat(on.post("/", "").statusCode()).isEqualTo(401);
            assertThat(on.get("/v1").statusCode()).isEqualTo(401);
        }
    }

    @Test
    void a_level_is_read_in_parts_by_rank_and_says_how_much_there_is() throws Exception {
        try (RunningService on = new RunningService(directory)) {
            StringBuilder records = new StringBuilder();
            for (int i = 0; i < 9; i++) {
                records.append("{\"id\":%d,\"v\":1,\"desk\":\"d%d\",\"value\":%d}\n".formatted(i, i, i * 5 % 9));
            }
            on.post("/v1/trades/records", records.toString());
            String at = "/v1/trades/totals";
            HttpResponse<String> part = on.get(at + "?limit=2&skip=1&by=value");
            assertThat(part.body().replaceAll("\\s", ""))
                    .contains("\"groups\":[{\"group\":[],\"values\":{\"value\":36.00,\"n\":9}},"
                            + "{\"group\":[\"d5\"],\"values\":{\"value\":7.00,\"n\":1}},"
                            + "{\"group\":[\"d3\"],\"values\":{\"value\":6.00,\"n\":1}}],\"below\":9,\"cut\":")
                    .doesNotContain("d7");
            String tag = part.headers().firstValue("ETag").orElseThrow();
            assertThat(on.get(at + "?limit=2&skip=1&by=value", "If-None-Match", tag)
                            .statusCode())
                    .isEqualTo(304);
            assertThat(on.get(at + "?limit=1&skip=8").body()).contains("d8").doesNotContain("d7");
            for (String wrong : List.of("?limit=1&by=other", "?limit=1&depth=2", "?skip=1", "?limit=1&top=1&by=n")) {
                assertThat(on.get(at + wrong).statusCode()).as(wrong).isEqualTo(400);
            }
            assertThat(on.get(at + "?limit=100001&by=n").body()).contains("first 100000 groups");
        }
    }
}
