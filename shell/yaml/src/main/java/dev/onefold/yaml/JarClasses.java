package dev.onefold.yaml;

import dev.onefold.core.process.LoadedFunction;
import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.MalformedURLException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.URLConnection;
import java.net.URLStreamHandler;
import java.util.Collections;
import java.util.Enumeration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.jar.Manifest;
import java.util.zip.ZipEntry;
import java.util.zip.ZipException;
import java.util.zip.ZipInputStream;
import org.jspecify.annotations.Nullable;

/// The classes and resources of a jar whose bytes are in memory. So a function is the one whose hash is recorded, also
/// when a build writes its jar over while it runs. Safe for use by several threads.
final class JarClasses extends ClassLoader {
    private static final String VERSIONS = "META-INF/versions/";
    private static final int FIRST_VERSION = 9; // Of Java, that knows jars with classes for several versions.

    private final Map<String, byte[]> entries = new HashMap<>();
    private final boolean hasVersions;

    static {
        registerAsParallelCapable();
    }

    /// @throws ZipException if the bytes are not a jar, or only the beginning of one
    JarClasses(byte[] jar) throws IOException {
        super(new LoadedFunction.Classes());
        try (ZipInputStream in = new ZipInputStream(new ByteArrayInputStream(jar))) {
            for (ZipEntry entry = in.getNextEntry(); entry != null; entry = in.getNextEntry()) {
                entries.put(entry.getName(), in.readAllBytes());
            }
        } catch (EOFException e) {
            throw (ZipException) new ZipException("its end is missing").initCause(e);
        }
        if (entries.isEmpty()) {
            throw new ZipException("it has no entries");
        }
        byte[] manifest = entries.getOrDefault(JarFile.MANIFEST_NAME, new byte[0]);
        hasVersions = "true"
                .equalsIgnoreCase(new Manifest(new ByteArrayInputStream(manifest))
                        .getMainAttributes()
                        .getValue(Attributes.Name.MULTI_RELEASE));
    }

    private byte @Nullable [] entry(String name) {
        for (int version = Runtime.version().feature(); hasVersions && version >= FIRST_VERSION; version--) {
            byte[] bytes = entries.get(VERSIONS + version + "/" + name);
            if (bytes != null) {
                return bytes;
            }
        }
        return entries.get(name);
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        byte[] bytes = entry(name.replace('.', '/') + ".class");
        if (bytes == null) {
            throw new ClassNotFoundException(name);
        }
        return defineClass(name, bytes, 0, bytes.length);
    }

    @Override
    protected @Nullable URL findResource(String name) {
        byte[] bytes = entry(name);
        try {
            return bytes == null ? null : URL.of(new URI("function", null, "/" + name, null), new InMemory(bytes));
        } catch (URISyntaxException | MalformedURLException e) {
            throw new IllegalStateException("A resource has no address: " + name, e);
        }
    }

    @Override
    protected Enumeration<URL> findResources(String name) {
        URL found = findResource(name);
        return Collections.enumeration(found == null ? List.of() : List.of(found));
    }

    private static final class InMemory extends URLStreamHandler {
        private final byte[] bytes;

        InMemory(byte[] bytes) {
            this.bytes = bytes;
        }

        @Override
        protected URLConnection openConnection(URL url) {
            return new URLConnection(url) {
                @Override
                public void connect() {}

                @Override
                public InputStream getInputStream() {
                    return new ByteArrayInputStream(bytes);
                }
            };
        }
    }
}
