package dev.onefold.local.server;

import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/// XML that is written element by element. Not thread-safe.
public final class Xml {
    private final StringBuilder text = new StringBuilder("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");

    private Xml() {}

    /// A document.
    ///
    /// @param namespace of its elements
    /// @param content writes what is in the root
    public static byte[] document(String root, String namespace, Consumer<Xml> content) {
        Xml xml = new Xml();
        xml.text.append('<').append(root).append(" xmlns=\"").append(namespace).append("\">");
        content.accept(xml);
        xml.text.append("</").append(root).append('>');
        return xml.text.toString().getBytes(StandardCharsets.UTF_8);
    }

    /// An element with others in it.
    public Xml in(String name, Runnable content) {

        text.append('<').append(name).append('>');
        content.run();
        text.append("</").append(name).append('>');
        return this;
    }

    /// An element with text in it.
    public Xml add(String name, Object value) {
        text.append('<').append(name).append('>');
        escape(value.toString());
        text.append("</").append(name).append('>');
        return this;
    }

    private void escape(String value) {
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            switch (c) {
                case '<' -> text.append("&lt;");
                case '>' -> text.append("&gt;");
                case '&' -> text.append("&amp;");
                case '"' -> text.append("&quot;");
                case '\r' -> text.append("&#13;");
                default -> text.append(c);
            }
        }
    }
}
