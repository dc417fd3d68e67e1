package dev.onefold.cli;

import dev.onefold.cli.call.Screen;
import dev.onefold.cli.show.Words;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.IHelpSectionRenderer;
import picocli.CommandLine.Model.UsageMessageSpec;

/// How a help fits its screen. Picocli lays it out in 55 columns or more. For a narrower terminal each entry is
/// laid out in one line, and broken here: the name on a line of its own, its description indented below. Examples
/// are never broken, because they are copied.
final class HelpText {
    private static final int LAID_OUT_MIN = 55;

    /// Wider lines are hard to read.
    private static final int WIDTH_MAX = 100;

    /// Room for any entry in one line.
    private static final int UNBROKEN = 10_000;

    private static final int NAMES_INDENT_MAX = 8;
    private static final String INDENT = "      ";

    private HelpText() {}

    static int width(Screen screen) {
        if (isNarrow(screen)) {
            return UNBROKEN;
        }
        return screen.outIsTerminal() ? Math.min(screen.width(), WIDTH_MAX) : Screen.WIDTH_DEFAULT;
    }

    static Map<String, IHelpSectionRenderer> sections(CommandLine commandLine, Screen screen) {
        Map<String, IHelpSectionRenderer> sections = new HashMap<>(commandLine.getHelpSectionMap());
        if (isNarrow(screen)) {
            sections.replaceAll((_, renderer) -> help -> narrow(renderer.render(help), screen.width()));
            sections.put(UsageMessageSpec.SECTION_KEY_SYNOPSIS_HEADING, _ -> "");
            sections.put(
                    UsageMessageSpec.SECTION_KEY_SYNOPSIS,
                    help -> narrow(help.synopsisHeading() + help.synopsis(0), screen.width()));
        }
        sections.put(UsageMessageSpec.SECTION_KEY_FOOTER, HelpText::footer);
        return sections;
    }

    /// Where lines are broken here, colours would count as columns.
    static Ansi colours(Screen screen) {
        return screen.colour() && !isNarrow(screen) ? Ansi.ON : Ansi.OFF;
    }

    private static boolean isNarrow(Screen screen) {
        return screen.outIsTerminal() && screen.width() < LAID_OUT_MIN;
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
        int indent = line.length() - line.stripLeading().length();
        String[] entry = line.strip().split(" {2,}", 2);
        if (entry.length == 2) {
            return " ".repeat(Math.min(indent, 2)) + entry[0] + "\n" + Words.indented(entry[1], INDENT, width);
        }
        return Words.indented(line.strip(), indent > NAMES_INDENT_MAX ? INDENT : " ".repeat(indent), width);
    }
}
