package dev.onefold.cli.seed;

import dev.onefold.cli.show.Words;
import dev.onefold.core.event.Event;
import dev.onefold.core.event.Version;
import dev.onefold.core.form.GroupPath;
import dev.onefold.core.form.JsonForm;
import dev.onefold.core.json.Json;
import dev.onefold.core.json.JsonRecord;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.state.Amount;
import dev.onefold.core.state.Contribution;
import dev.onefold.core.state.Row;
import dev.onefold.core.state.RowMark;
import dev.onefold.tables.compare.Difference;
import dev.onefold.tables.compare.Difference.Kind;
import dev.onefold.tables.compare.Difference.Outcome;
import dev.onefold.tables.compare.Report;
import dev.onefold.tables.compare.SourceRow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The result of a comparison with a source, for a person or a program.
///
/// @param repair options that repair; empty if they were given
record ReportText(Pipeline pipeline, Report report, String repair) {
    String text(String source, Duration elapsed) {
        StringBuilder text = new StringBuilder("Compared ")
                .append(pipeline.name())
                .append(" with ")
                .append(source);
        text.append(": ").append(Words.count(report.rows(), "row")).append(", read ");
        text.append(report.readings() == 1 ? "once" : report.readings() + " times");
        text.append(", in ").append(Words.duration(elapsed)).append(".\n");
        if (report.isClean()) {
            text.append("All rows are equal.\n");
        } else if (report.isEqual() && report.count(Outcome.REPAIRED) + report.count(Outcome.OVERTAKEN) == 0) {
            text.append("All rows are equal, but for these:\n");
        }
        for (Kind kind : Kind.values()) {
            append(text, kind);
        }
        line(text, "without a readable key", report.withoutKey());
        line(text, "perhaps expired", report.expired());
        line(text, "changed meanwhile", report.moved());
        for (Kind kind : Kind.values()) {
            appendFirst(text, kind);
        }
        boolean isRepairable = Stream.of(Kind.MISSING, Kind.DIFFERENT, Kind.GHOST)
                .anyMatch(kind -> report.count(kind, Outcome.REPORTED) > 0);
        if (!repair.isEmpty() && isRepairable) {
            text.append("The same command with ").append(repair).append(" brings them to what the source has.\n");
        }
        if (report.count(Outcome.HELD_BACK) > 0) {
            text.append("The source is empty, or it lacks more than a tenth of the rows that are here, so they stay."
                    + " If they are\nto go, say --remove-many.\n");
        }
        return text.toString();
    }

    private void append(StringBuilder text, Kind kind) {
        line(text, name(kind), report.count(kind));
        for (Outcome outcome : Outcome.values()) {
            if (outcome != Outcome.REPORTED) {
                line(text, "  " + name(outcome), report.count(kind, outcome));
            }
        }
    }

    private static void line(StringBuilder text, String name, long count) {
        if (count > 0) {
            text.append(Words.line(name, count));
        }
    }

    private static String name(Kind kind) {
        return switch (kind) {
            case MISSING -> "missing here";
            case DIFFERENT -> "different";
            case GHOST -> "gone from the source";
            case VERSION_BROKEN -> "version not above ours";
            case REFUSED -> "refused";
        };
    }

    private static String name(Outcome outcome) {
        return switch (outcome) {
            case REPORTED -> "reported";
            case EXPLAINED -> "dead letters wait";
            case REPAIRED -> "repaired";
            case OVERTAKEN -> "changed since";
            case NOT_REPAIRABLE -> "not repaired";
            case HELD_BACK -> "too many to remove";
        };
    }

    private void appendFirst(StringBuilder text, Kind kind) {
        List<Difference> first = report.first(kind);
        if (first.isEmpty()) {
            return;
        }
        text.append('\n')
                .append(Character.toUpperCase(name(kind).charAt(0)))
                .append(name(kind).substring(1));
        text.append(report.count(kind) > first.size() ? ", the first " + first.size() : "")
                .append(":\n");
        for (Difference finding : first) {
            text.append("  ").append(Words.visible(Json.of(finding.key())));
            text.append("\n    here   ").append(Words.visible(shown(finding.ours())));
            text.append("\n    source ").append(Words.visible(shown(finding.theirs())));
            text.append(finding.outcome() == Outcome.REPORTED ? "\n" : "\n    " + name(finding.outcome()) + "\n");
        }
    }

    private static String shown(@Nullable Row ours) {
        return ours == null ? Words.NONE : shown(ours.version(), ours.payload());
    }

    private String shown(@Nullable SourceRow theirs) {
        if (theirs == null) {
            return Words.NONE;
        }
        Contribution contribution = theirs.contribution();
        if (contribution == null) {
            return "refused: " + theirs.reason();
        }
        return RowMark.hasOwnVersion(pipeline) ? shown(theirs.mark().version(), contribution) : shown(contribution);
    }

    private static String shown(Version version, Contribution contribution) {
        return "version " + version + ", " + shown(contribution);
    }

    private static String shown(Contribution contribution) {
        if (contribution.kind() != Event.Kind.COUNTED) {
            return contribution.kind() == Event.Kind.DELETE ? "deleted" : "filtered out";
        }
        List<String> parts = new ArrayList<>();
        contribution.groups().forEach(group -> parts.add(GroupPath.write(group.parts())));
        contribution.amounts().forEach(amount -> parts.add(String.valueOf(value(amount))));
        return String.join(", ", parts);
    }

    private static @Nullable Object value(Amount amount) {
        return switch (amount) {
            case Amount.None _ -> null;
            case Amount.Number(var number) -> number;
            case Amount.Text(var text) -> text;
        };
    }

    String json() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("pipeline", pipeline.name());
        json.put("equal", report.isEqual());
        json.put("rows", report.rows());
        json.put("readings", report.readings());
        json.put("changed_meanwhile", report.moved());
        json.put("without_key", report.withoutKey());
        json.put("perhaps_expired", report.expired());
        for (Kind kind : Kind.values()) {
            Map<String, Object> of = new LinkedHashMap<>();
            of.put("count", report.count(kind));
            for (Outcome outcome : Outcome.values()) {
                of.put(word(outcome), report.count(kind, outcome));
            }
            of.put("first", report.first(kind).stream().map(this::json).toList());
            json.put(word(kind), of);
        }
        return Json.of(json) + "\n";
    }

    private static String word(Enum<?> constant) {
        return JsonRecord.word(constant).replace(' ', '_');
    }

    private Map<String, @Nullable Object> json(Difference finding) {
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("key", finding.key());
        json.put("outcome", word(finding.outcome()));
        Row ours = finding.ours();
        json.put("here", ours == null ? null : json(ours.version().toString(), ours.payload()));
        SourceRow theirs = finding.theirs();
        if (theirs == null) {
            json.put("source", null);
        } else if (theirs.contribution() == null) {
            json.put("source", Map.of("refused", theirs.reason()));
        } else {
            String version =
                    RowMark.hasOwnVersion(pipeline) ? theirs.mark().version().toString() : null;
            json.put("source", json(version, theirs.contribution()));
        }
        return json;
    }

    private Map<String, @Nullable Object> json(@Nullable String version, Contribution contribution) {
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        if (version != null) {
            json.put("version", version);
        }
        json.put("kind", contribution.kind().name().toLowerCase(Locale.ROOT));
        Map<String, Object> groups = new LinkedHashMap<>();
        for (int i = 0; i < contribution.groups().size(); i++) {
            groups.put(
                    Rollups.of(pipeline).all().get(i).name(),
                    contribution.groups().get(i).parts());
        }
        json.put("groups", groups);
        Map<String, @Nullable Object> amounts = new LinkedHashMap<>();
        for (int i = 0; i < contribution.amounts().size(); i++) {
            amounts.put(
                    JsonForm.input(Rollups.of(pipeline).inputs().get(i)),
                    value(contribution.amounts().get(i)));
        }
        json.put("amounts", amounts);
        return json;
    }
}
