package dev.onefold.cli.deploy;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The values of a template's parameters, and what the template requires of them. CloudFormation checks it only when
/// the bucket is made and the code is uploaded. The template is one of ours: each setting is on a line of its own.
final class TemplateValues {
    private final Map<String, Map<String, String>> parameters = new LinkedHashMap<>();
    private final List<String> rules;
    private final Map<String, String> values = new LinkedHashMap<>();

    /// @param given values; the other parameters have their defaults
    TemplateValues(String yaml, Map<String, String> given) {
        Map<String, String> current = Map.of();
        List<String> lines = section(yaml, "Parameters:");
        for (String line : lines) {
            String text = line.strip();
            if (isBelow(line, lines)) {
                current.put(text.substring(0, text.indexOf(':')), unquoted(text.substring(text.indexOf(": ") + 2)));
            } else {
                current = new LinkedHashMap<>();
                parameters.put(text.replace(":", ""), current);
            }
        }
        rules = section(yaml, "Rules:");
        parameters.forEach((name, parameter) -> {
            String byDefault = parameter.get("Default");
            if (byDefault != null) {
                values.put(name, byDefault);
            }
        });
        values.putAll(given);
    }

    private static List<String> section(String yaml, String name) {
        return yaml.lines()
                .dropWhile(line -> !line.equals(name))
                .skip(1)
                .takeWhile(line -> line.isEmpty() || line.startsWith(" ") || line.startsWith("#"))
                .filter(line -> !line.isBlank() && !line.strip().startsWith("#"))
                .toList();
    }

    /// Whether a line belongs to one above it. A template is indented by one blank a level, or by two.
    private static boolean isBelow(String line, List<String> section) {
        return indentation(line) > indentation(section.getFirst());
    }

    private static int indentation(String line) {
        return line.length() - line.stripLeading().length();
    }

    private static String unquoted(String text) {
        return text.startsWith("'") && text.endsWith("'") && text.length() > 1
                ? text.substring(1, text.length() - 1).replace("''", "'")
                : text;
    }

    /// What is wrong with the values; empty if nothing is.
    Optional<String> problem() {
        for (Map.Entry<String, Map<String, String>> each : parameters.entrySet()) {
            String name = each.getKey();
            Map<String, String> parameter = each.getValue();
            String value = values.get(name);
            if (value == null) {
                return Optional.of("The template's parameter " + name + " has no value. It is: "
                        + parameter.get("Description") + " Give --parameter " + name + "=VALUE.");
            }
            String wanted = wanted(parameter, value);
            if (wanted != null) {
                return Optional.of("The template's parameter " + name + " cannot be '"
                        + (parameter.containsKey("NoEcho") ? "…" : value) + "': it is " + wanted + ".");
            }
        }
        return brokenRule();
    }

    private static @Nullable String wanted(Map<String, String> parameter, String value) {
        String choices = parameter.get("AllowedValues");
        if (choices != null) {
            List<String> choice = new ArrayList<>();
            for (String each : choices.substring(1, choices.length() - 1).split(", ", -1)) {
                choice.add(unquoted(each));
            }
            return choice.contains(value) ? null : "one of " + String.join(", ", choice);
        }
        if ("Number".equals(parameter.get("Type"))) {
            String least = parameter.get("MinValue");
            String most = parameter.get("MaxValue");
            boolean fits = value.matches("[0-9]{1,18}")
                    && (least == null || new BigDecimal(value).compareTo(new BigDecimal(least)) >= 0)
                    && (most == null || new BigDecimal(value).compareTo(new BigDecimal(most)) <= 0);
            return fits
                    ? null
                    : "a number" + (least == null ? "" : " from " + least) + (most == null ? "" : " to " + most);
        }
        String pattern = parameter.get("AllowedPattern");
        if (pattern != null && !value.matches(pattern)) {
            return "text like " + pattern;
        }
        String longest = parameter.get("MaxLength");
        return longest == null || value.length() <= Integer.parseInt(longest)
                ? null
                : "text of at most " + longest + " characters";
    }

    private Optional<String> brokenRule() {
        boolean applies = true;
        String description = "";
        for (String line : rules) {
            String text = line.strip();
            String formula = text.substring(text.indexOf(':') + 1).strip();
            if (text.startsWith("RuleCondition: ")) {
                applies = new Formula(formula).isTrue();
            } else if (text.startsWith("- AssertDescription: ")) {
                description = unquoted(formula);
            } else if (text.startsWith("Assert: ") && applies && !new Formula(formula).isTrue()) {
                return Optional.of(description);
            } else if (!isBelow(line, rules)) {
                applies = true; // Another rule begins.
            }
        }
        return Optional.empty();
    }

    /// A condition of a rule: `!Not`, `!And` and `!Or` of others, and `!Equals` of a parameter and a text.
    private final class Formula {
        private final String text;
        private int at;

        Formula(String text) {
            this.text = text;
        }

        boolean isTrue() {
            String operator = upTo(" [");
            if (operator.equals("!Equals")) {
                String one = upTo(", ");
                String other = unquoted(upTo("]"));
                return other.equals(values.get(one.substring("!Ref ".length())));
            }
            boolean all = true;
            boolean any = false;
            do {
                boolean each = isTrue();
                all &= each;
                any |= each;
            } while (upToEither().equals(","));
            return switch (operator) {
                case "!Not" -> !all;
                case "!And" -> all;
                case "!Or" -> any;
                default -> throw new IllegalStateException("A rule of a template has " + operator + ": " + text);
            };
        }

        private String upTo(String end) {
            int from = at;
            int to = text.indexOf(end, from);
            at = to + end.length();
            return text.substring(from, to);
        }

        /// Reads the end of a list, or the comma before its next part.
        private String upToEither() {
            String found = text.substring(at, at + 1);
            at += found.equals(",") ? 2 : 1;
            return found;
        }
    }
}
