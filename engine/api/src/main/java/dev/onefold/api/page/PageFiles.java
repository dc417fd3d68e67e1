package dev.onefold.api.page;

import dev.onefold.core.bytes.Sha256;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// The files of the live page, in memory. They are listed here: no other path is looked up anywhere. All but
/// the page itself have addresses that contain the hash of all of them, so that a browser keeps them for
/// ever, and never mixes files of two versions. Any thread may call.
public final class PageFiles {
    /// The first part of the paths of all files but the page itself.
    public static final String FOLDER = "page";

    /// Scripts and styles come from the service alone, the page itself contains none, and no text becomes a
    /// script.
    private static final String POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
            + " img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
            + " require-trusted-types-for 'script'; trusted-types lit-html";

    static final List<String> OWN = List.of(
            "page.css",
            "app.js",
            "batches.js",
            "chart.js",
            "compare.js",
            "counts.js",
            "cuts.js",
            "format.js",
            "letters.js",
            "live.js",
            "place.js",
            "service.js",
            "state.js",
            "tables.js",
            "token.js",
            "tree.js",
            "verify.js");

    /// Of the library that makes the page's elements.
    private static final String LIBRARY = "lit-html";

    private static final List<String> OF_LIBRARY = List.of("lit-html.js");
    private static final String WEBJARS = "META-INF/resources/webjars/";
    private static final String INDEX = "index.html";
    private static final String VERSION = "{version}";
    private static final int VERSION_BYTES = 8;
    private static final Map<String, String> TYPES = Map.of(
            "html", "text/html; charset=utf-8",
            "css", "text/css; charset=utf-8",
            "js", "text/javascript; charset=utf-8");

    private final Map<List<String>, PageFile> files = new LinkedHashMap<>();

    /// A file.
    ///
    /// @param type of its content
    /// @param tag changes with the content
    /// @param isFixed whether its address never has another content
    public record PageFile(String type, byte[] bytes, String tag, boolean isFixed) {
        /// The fields of the head that go with it, whether the content does or not.
        public Map<String, String> headers() {
            return Map.of(
                    "ETag",
                    tag,
                    "Cache-Control",
                    isFixed ? "public, max-age=31536000, immutable" : "no-cache",
                    "Content-Security-Policy",
                    POLICY,
                    "Cross-Origin-Opener-Policy",
                    "same-origin",
                    "Cross-Origin-Resource-Policy",
                    "same-origin",
                    "Referrer-Policy",
                    "no-referrer",
                    "X-Content-Type-Options",
                    "nosniff");
        }
    }

    private PageFiles() {}

    /// Reads all files.
    ///
    /// @throws IOException if one is not there
    public static PageFiles read() throws IOException {
        SortedMap<String, byte[]> contents = new TreeMap<>();
        for (String name : OWN) {
            contents.put(name, resource(PageFiles.class.getResourceAsStream(name), name));
        }
        String library = WEBJARS + LIBRARY + "/" + libraryVersion() + "/";
        for (String name : OF_LIBRARY) {
            contents.put(name, resource(ofLibrary(library + name), library + name));
        }
        MessageDigest all = Sha256.digest();
        contents.forEach((name, bytes) -> {
            all.update(name.getBytes(StandardCharsets.UTF_8));
            all.update(Sha256.digest().digest(bytes));
        });
        String version = HexFormat.of().formatHex(all.digest(), 0, VERSION_BYTES);
        PageFiles read = new PageFiles();
        contents.forEach((name, bytes) -> read.files.put(List.of(FOLDER, version, name), file(name, bytes, true)));
        String page = new String(resource(PageFiles.class.getResourceAsStream(INDEX), INDEX), StandardCharsets.UTF_8);
        byte[] bytes = page.replace(VERSION, version).getBytes(StandardCharsets.UTF_8);
        read.files.put(List.of(""), file(INDEX, bytes, false));
        return read;
    }

    /// The file of a path; empty if there is none.
    public Optional<PageFile> find(List<String> path) {
        return Optional.ofNullable(files.get(path));
    }

    /// The paths of all files.
    List<List<String>> paths() {
        return new ArrayList<>(files.keySet());
    }

    private static PageFile file(String name, byte[] bytes, boolean isFixed) {
        String hash = Base64.getUrlEncoder()
                .withoutPadding()
                .encodeToString(Sha256.digest().digest(bytes));
        String type = TYPES.get(name.substring(name.lastIndexOf('.') + 1));
        if (type == null) {
            throw new IllegalStateException("The type of " + name + " is not known");
        }
        return new PageFile(type, bytes, "\"" + hash + "\"", isFixed);
    }

    /// The version that the build has put beside this.
    private static String libraryVersion() throws IOException {
        String name = "META-INF/maven/org.webjars.npm/" + LIBRARY + "/pom.properties";
        Properties properties = new Properties();
        properties.load(new ByteArrayInputStream(resource(ofLibrary(name), name)));
        return properties.getProperty("version");
    }

    private static @Nullable InputStream ofLibrary(String name) {
        return PageFiles.class.getClassLoader().getResourceAsStream(name);
    }

    private static byte[] resource(@Nullable InputStream in, String name) throws IOException {
        if (in == null) {
            throw new IOException("A file of the page is missing: " + name);
        }
        try (in) {
            return in.readAllBytes();
        }
    }
}
