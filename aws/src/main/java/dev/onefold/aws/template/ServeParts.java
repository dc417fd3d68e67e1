package dev.onefold.aws.template;

import dev.onefold.aws.template.Template.Service;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/// The parts of the template that the service makes, of the resource `serve.yaml`: each section is added to the
/// section of the same name.
final class ServeParts {
    private static final String NAME = "serve.yaml";
    private static final Pattern SECTION = Pattern.compile("[A-Z]\\w+:");

    /// The line before which a section is inserted that the template does not have.
    private static final String BEFORE = "Resources:";

    private ServeParts() {}

    /// The stack that has the template.
    ///
    /// @param isBatch whether it has batches, not totals
    /// @param isQueue whether records come through a queue, not through a stream
    /// @param isOwn whether the template makes that queue or stream
    /// @param readPermissions of the function's tables
    record Target(boolean isBatch, boolean isQueue, boolean isOwn, String readPermissions) {}

    /// The template with the service.
    ///
    /// @param yaml the template without it
    ///
    /// @throws IllegalArgumentException if the pipeline is too long for it
    static String added(String yaml, Service service, Target target, String pipelineCode) {
        if (pipelineCode.length() > Environment.SERVED_CHARACTERS_MAX) {
            throw new IllegalArgumentException("The pipeline cannot be served by HTTP on AWS: its text takes "
                    + pipelineCode.length() + " characters of the function's environment, and beside what it needs for"
                    + " tokens at most " + Environment.SERVED_CHARACTERS_MAX
                    + " are left for it. Make two pipelines of it, or deploy it without '--serve'.");
        }
        String input = target.isQueue ? "InputQueue" : "InputStream";
        String text = TemplateFile.text(NAME, conditions(service, target))
                .replace("<tables that are read>\n", target.readPermissions)
                .replace("<input arn>", target.isOwn ? "!GetAtt " + input + ".Arn" : "!Ref " + input + "Arn")
                .replace("<input>", "!Ref " + input + (target.isOwn ? "" : "Arn"))
                .replace("<pipeline code>", pipelineCode);
        String merged = yaml;
        for (Map.Entry<String, List<String>> section : sections(text).entrySet()) {
            merged = merged(merged, section.getKey(), section.getValue());
        }
        return TemplateFile.withDigests(merged, List.of("Serve"));
    }

    private static Set<String> conditions(Service service, Target target) {
        Set<String> conditions = new HashSet<>();
        conditions.add(target.isBatch ? "batches" : "totals");
        if (service == Service.WRITE) {
            String input = target.isQueue ? "queue" : "stream";
            conditions.add("to-" + input);
            if (!target.isOwn) {
                conditions.add("given-" + input);
                conditions.add(input + "-key");
            }
        }
        return conditions;
    }

    /// The lines of each section, without the line of its name.
    private static Map<String, List<String>> sections(String text) {
        Map<String, List<String>> sections = new LinkedHashMap<>();
        List<String> lines = new ArrayList<>();
        for (String line : text.lines().toList()) {
            if (SECTION.matcher(line).matches()) {
                lines = sections.computeIfAbsent(line, _ -> new ArrayList<>());
            } else {
                lines.add(line);
            }
        }
        return sections;
    }

    private static String merged(String yaml, String section, List<String> more) {
        List<String> lines = new ArrayList<>(yaml.lines().toList());
        int begin = lines.indexOf(section);
        if (begin < 0) {
            int at = lines.indexOf(BEFORE);
            lines.addAll(at, more);
            lines.add(at, section);
        } else {
            int end = begin + 1;
            while (end < lines.size()
                    && (lines.get(end).isEmpty() || lines.get(end).startsWith(" "))) {
                end++;
            }
            while (lines.get(end - 1).isEmpty()) {
                end--;
            }
            lines.addAll(end, more);
        }
        return String.join("\n", lines) + "\n";
    }
}
