package dev.onefold.cli;

import dev.onefold.cli.call.Screen;
import dev.onefold.cli.show.Words;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.IHelpSectionRenderer;
import picocli.CommandLine.Model.UsageMessageSpec;

/// How a help fits its screen. Picocli lays it out in 55 columns or more; on a narrower terminal each line is broken
/// between words once more. Examples are never broken, because they are copied.
final class HelpText {
    private static final int LAID_OUT_MIN = 55;

    /// Wider lines are hard to read.
    private static final int WIDTH_MAX = 100;

    private static final int INDENT_MAX = 8;

    private HelpText() {}

    static int width(Screen screen) {
        return screen.outIsTerminal() ? Math.clamp(screen.width(), LAID_OUT_MIN, WIDTH_MAX) : Screen.WIDTH_DEFAULT;
    }

    static Map<String, IHelpSectionRenderer> sections(CommandLine commandLine, Screen screen) {
        Map<String, IHelpSectionRenderer> sections = new HashMap<>(commandLine.getHelpSectionMap());
        if (screen.outIsTerminal() && screen.width() < LAID_OUT_MIN) {
            sections.replaceAll((_, renderer) -> help -> narrow(renderer.render(help), screen.width()));
        }
        sections.put(UsageMessageSpec.SECTION_KEY_FOOTER, HelpText::footer);
        return sections;
    }

    private static String footer(Help help) {
        return String.join("\n", help.commandSpec().usageMessage().footer()).indent(0);
    }

    private static String narrow(String text, int width) {
        return text.lines()
                .map(line -> narrowLine(line, width))
                .collect(Collectors.joining("\n", "", text.endsWith("\n") ? "\n" : ""));
    }

    private static String narrowLine(String line, int width) {
        if (line.length() <= width) {
            return line;
        }
        String words = line.strip();
        int indent = Math.min(line.length() - line.stripLeading().length(), INDENT_MAX);
        return Words.indented(words.replaceAll(" {2,}", "  "), " ".repeat(indent), width);
    }
}
