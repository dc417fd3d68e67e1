package dev.onefold.yaml;

import dev.onefold.core.document.TextPlace;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// The lines of a text, as YAML counts them: ended by LF, CR LF or CR.
record SourceLines(List<String> lines) {
    SourceLines {
        lines = List.copyOf(lines);
    }

    static SourceLines of(String text) {
        List<String> lines = new ArrayList<>();
        int start = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '\n' || c == '\r' && !text.startsWith("\n", i + 1)) {
                lines.add(text.substring(start, i > start && c == '\n' && text.charAt(i - 1) == '\r' ? i - 1 : i));
                start = i + 1;
            }
        }
        lines.add(text.substring(start));
        return new SourceLines(lines);
    }

    /// The line of this number, from 1.
    Optional<String> line(int number) {
        return number <= lines.size() ? Optional.of(lines.get(number - 1)) : Optional.empty();
    }

    /// The place behind the last character.
    TextPlace end() {
        String last = lines.getLast();
        return new TextPlace(lines.size(), last.codePointCount(0, last.length()) + 1);
    }
}
