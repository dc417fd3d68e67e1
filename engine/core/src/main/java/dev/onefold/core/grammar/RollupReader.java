package dev.onefold.core.grammar;

import dev.onefold.core.document.Node;
import dev.onefold.core.json.NearestWord;
import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.core.pipeline.Figure;
import dev.onefold.core.pipeline.Input.EventTime;
import dev.onefold.core.pipeline.Level;
import dev.onefold.core.pipeline.Limits;
import dev.onefold.core.pipeline.Processing.Feed;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.pipeline.TimeType;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Reads roll-ups, their levels and their measures. Not thread-safe.
final class RollupReader {
    private static final Pattern MEASURE_NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_-]*");
    private static final List<String> LEVEL_FUNCTIONS = List.of("bucket", "prefix", "step");
    static final String NO_FUNCTION = "is no function here";

    private final FieldGrammar fields;
    private final MeasureReader measures;
    private final @Nullable EventTime time;
    private final @Nullable ZoneId zone;

    /// @param time the time of an event; `null` if it has none, or it is not known
    RollupReader(FieldGrammar fields, @Nullable EventTime time) {
        this(fields, time, null);
    }

    /// @param zone of times that have none, and of the calendar
    RollupReader(FieldGrammar fields, @Nullable EventTime time, @Nullable ZoneId zone) {
        this.fields = fields;
        this.time = time;
        this.zone = zone;
        measures = new MeasureReader(fields, time);
    }

    /// The roll-ups of a file; wrong ones are noted and left out.
    List<Rollup> rollups(Section file) {
        List<Rollup> rollups = new ArrayList<>();
        Setting single = file.get("rollup");
        Setting several = file.get("rollups");
        if (single != null && several != null) {
            file.refuse("rollups", "stands beside rollup", "write all roll-ups under rollups, each with a name");
        } else if (single == null && several == null) {
            file.require("rollup", "write what is to be totalled under rollup: its levels and its measures");
        }
        if (single != null) {
            rollups.addAll(Stream.ofNullable(rollup(Rollup.MAIN, single)).toList());
        }
        if (several != null && several.node() instanceof Node.Mapping) {
            rollups.addAll(named(several, ROLLUPS, this::rollup));
        } else if (several != null) {
            several.refuseKind("roll-ups, each with a name: 'by-town: …'");
        }
        refuseGroups(file, single != null ? "rollup" : "rollups", rollups);
        long kept = rollups.stream().filter(rollup -> rollup.keep() != null).count();
        if (kept > 0 && kept < rollups.size()) {
            file.refuse(
                    "rollups",
                    "have keep in some and not in others, and a row is freed when no roll-up needs it any more",
                    "write keep in each, or put the others into a pipeline of their own");
        }
        return rollups;
    }

    private static void refuseGroups(Section file, String name, List<Rollup> rollups) {
        int groups =
                rollups.stream().mapToInt(rollup -> rollup.levels().size() + 1).sum();
        if (groups > Limits.GROUPS_PER_RECORD_MAX) {
            file.refuse(
                    name,
                    "make one record touch " + groups + " groups (levels + 1 over all roll-ups)",
                    "at most " + Limits.GROUPS_PER_RECORD_MAX + " are possible");
        }
    }

    /// The roll-ups of tables; wrong ones are noted and left out. A function need not have any.
    List<Feed> feeds(Section file, List<String> tables) {
        Setting several = file.get("rollups");
        if (several == null) {
            return List.of();
        }
        if (!(several.node() instanceof Node.Mapping)) {
            several.refuseKind("roll-ups, each with a name: 'by-club: {of: TABLE, …}'");
            return List.of();
        }
        List<Feed> feeds = named(several, ROLLUPS, (name, setting) -> feed(name, setting, tables));
        List<Rollup> rollups = feeds.stream().map(Feed::rollup).toList();
        refuseGroups(file, "rollups", rollups);
        return feeds;
    }

    private @Nullable Feed feed(String name, Setting setting, List<String> tables) {
        Section section = Section.of(setting, Section.Kind.FEED);
        if (section == null) {
            return null;
        }
        section.require("of", "write the table whose rows are totalled");
        String table = section.read("of", text -> {
            String of = text.whole();
            if (!tables.contains(of)) {
                throw text.refuseFrom(0, "is no table of process", NearestWord.advice(of, tables));
            }
            return of;
        });
        Rollup rollup = rollup(name, section);
        return table == null ? null : new Feed(table, rollup);
    }

    /// A kind of entries in a map, each under its own name.
    private record Named(String one, String example, int countMax, Function<Expression, String> name) {}

    private static final Named ROLLUPS = new Named("roll-up", "with a name", Limits.ROLLUPS_MAX, PipelineReader::name);
    private static final Named MEASURES =
            new Named("measure", "like 'trades: count()'", Limits.MEASURES_MAX, RollupReader::measureName);

    private static <T> List<T> named(Setting map, Named kind, BiFunction<String, Setting, @Nullable T> reader) {
        Map<String, Node.Entry> entries = map.entries();
        if (entries.isEmpty()) {
            map.refuse("", "has no " + kind.one, "write at least one, " + kind.example);
        }
        map.refuseMoreThan(kind.countMax, entries.size());
        List<T> items = new ArrayList<>();
        entries.forEach((name, entry) -> {
            Setting setting = map.entry(entry);
            Expression.read(entry.name(), setting.path(), map.problems(), kind.name);
            T item = reader.apply(name, setting);
            if (item != null) {
                items.add(item);
            }
        });
        return items;
    }

    private @Nullable Rollup rollup(String name, Setting setting) {
        Section section = Section.of(setting, Section.Kind.ROLLUP);
        return section == null ? null : rollup(name, section);
    }

    private Rollup rollup(String name, Section section) {
        Setting levels =
                section.require("levels", "write the fields to group by, outermost first; [] for a grand total alone");
        Setting measures = section.require("measures", "write at least one, like 'trades: count()'");
        List<Level> all = levels == null ? List.of() : levels(levels);
        return Rollup.of(name, all, measures == null ? List.of() : figures(measures))
                .kept(section.has("keep") ? keep(section, all) : null);
    }

    /// Groups end with their time bucket: one level further up, a group would lose a part of what it holds.
    private @Nullable Duration keep(Section section, List<Level> levels) {
        boolean isOfTime = !levels.isEmpty()
                && time != null
                && levels.getFirst().missing() == null
                && levels.getFirst().source() instanceof Level.Source.Timed first
                && first.field().equals(time.field())
                && first.type() == time.type();
        if (time == null) {
            section.refuse("keep", "needs to know the time of a record", "write time: FIELD under input");
        } else if (!isOfTime) {
            section.refuse(
                    "keep",
                    "frees a time bucket with all groups in it, and the first level is not a bucket of the event's time, with"
                            + " its type",
                    "begin with bucket(" + time.field() + ", 1d" + type(time.type())
                            + ") or another size, without a default; or leave keep out");
        }
        return section.read("keep", text -> {
            Duration kept = text.duration(Limits.DURATION_DAYS_MAX);
            text.end("write one number and one unit, like 90d");
            return kept;
        });
    }

    private static String type(TimeType type) {
        return type == TimeType.AUTO ? "" : ", " + type.word();
    }

    private List<Level> levels(Setting setting) {
        if (!(setting.node() instanceof Node.Sequence)) {
            setting.refuseKind("a list: levels: [field, field]");
        }
        setting.refuseMoreThan(Limits.LEVELS_MAX, setting.items().size());
        List<Level> levels = new ArrayList<>();
        Map<String, String> paths = new HashMap<>();
        for (Setting item : setting.items()) {
            Level level = item.node() instanceof Node.Mapping ? namedLevel(item) : item.read(this::level);
            if (level == null) {
                continue;
            }
            String first = paths.putIfAbsent(level.name(), item.path());
            if (first != null) {
                item.refuse(
                        level.name(), "is also the name of " + first, "give one of them another: {field: …, name: …}");
            }
            levels.add(level);
        }
        return levels;
    }

    private @Nullable Level namedLevel(Setting setting) {
        Section settings = Section.of(setting, Section.Kind.LEVEL);
        if (settings == null || settings.require("field", "write the field, or a function of it") == null) {
            return null;
        }
        Level level = settings.read("field", this::level);
        String name = settings.read("name", RollupReader::levelName);
        String missing = settings.read("missing", Expression::whole);
        if (level == null || settings.has("name") && name == null) {
            return null;
        }
        if (settings.has("missing") && level.missing() != null) {
            settings.refuse("missing", "is also said in field", "say it once");
        }
        return new Level(
                name == null ? level.name() : name, level.source(), missing == null ? level.missing() : missing);
    }

    private static String levelName(Expression expression) {
        String name = expression.whole();
        if (name.isBlank()
                || name.length() > Limits.NAME_LENGTH_MAX
                || name.chars().anyMatch(Character::isISOControl)) {
            throw expression.refuseFrom(
                    0,
                    name.isBlank() ? "is empty" : "is not a name",
                    "write 1 to " + Limits.NAME_LENGTH_MAX + " characters, without line breaks or tabs");
        }
        return name;
    }

    private Level level(Expression expression) {
        Level.Source source = source(expression);
        String missing = null;
        if (expression.takeWord("missing")) {
            missing = expression.quotedText();
            if (missing == null) {
                throw expression.refuse(
                        "is no text", "write what stands in for a missing value, in quotes: missing \"unknown\"");
            }
        }
        expression.refuseArithmetic("");
        String right = "a level is a field or one function of it, and may end with: missing \"text\"";
        expression.end(expression.isPlainWords() ? right + "; " + expression.nameAdvice() : right);
        return new Level(PipelineText.of(source), source, missing);
    }

    private Level.Source source(Expression expression) {
        int start = expression.offset();
        boolean isFunction = !expression.word().isEmpty() && expression.take('(');
        expression.back(start);
        if (!isFunction) {
            return new Level.Source.Text(fields.read(expression));
        }
        return switch (expression.oneOf(LEVEL_FUNCTIONS, NO_FUNCTION)) {
            case "bucket" -> {
                String right = "write bucket(field, 1h) or bucket(field, 1h, epoch-millis)";
                yield bucket(expression, firstOf(expression, right), right);
            }
            case "prefix" -> {
                String right = "write prefix(field, 2)";
                FieldPath field = firstOf(expression, right);
                int length = expression.wholeNumber(1, Limits.PREFIX_LENGTH_MAX);
                expression.expect(')', right);
                yield new Level.Source.Prefix(field, length);
            }
            default -> {
                String right = "write step(field, 0.5)";
                FieldPath field = firstOf(expression, right);
                BigDecimal step = step(expression, right);
                expression.expect(')', right);
                yield new Level.Source.Step(field, step);
            }
        };
    }

    private Level.Source bucket(Expression expression, FieldPath field, String right) {
        int start = expression.offset();
        Level.Unit unit = unit(expression);
        Duration size = unit == null ? expression.duration(Limits.DURATION_DAYS_MAX) : Duration.ZERO;
        if (size.equals(Duration.ofDays(1))) {
            unit = Level.Unit.DAY;
        }
        boolean hasMore = expression.take(',');
        TimeType type = hasMore && !isZone(expression) ? PipelineReader.timeType(expression) : TimeType.AUTO;
        boolean hasZone = hasMore && (isZone(expression) || expression.take(',') && isZone(expression));
        int zoneStart = expression.offset();
        ZoneId of = hasZone ? ValuesReader.zone(expression, expression.argument(), zoneStart) : zone;
        expression.expect(')', right);
        if (unit == null && hasZone) {
            throw expression.refuseFrom(
                    start,
                    "has a zone, and only parts of its calendar begin there",
                    "write 1d, week, month, quarter or year; or leave the zone out");
        }
        return unit == null || unit == Level.Unit.DAY && of == null
                ? new Level.Source.Bucket(field, size, type)
                : new Level.Source.Calendar(field, unit, type, of);
    }

    private static Level.@Nullable Unit unit(Expression expression) {
        return Stream.of(Level.Unit.values())
                .filter(unit -> unit != Level.Unit.DAY && expression.takeWord(unit.word()))
                .findFirst()
                .orElse(null);
    }

    /// Whether the name of a zone is next: it has a sign, or capital letters.
    private static boolean isZone(Expression expression) {
        int start = expression.offset();
        String word = expression.argument();
        expression.back(start);
        return word.chars().anyMatch(c -> c == '/' || c == ':' || c == '+' || c >= 'A' && c <= 'Z');
    }

    private FieldPath firstOf(Expression expression, String right) {
        expression.expect('(', right);
        FieldPath field = fields.read(expression);
        expression.expect(',', right);
        return field;
    }

    private static BigDecimal step(Expression expression, String right) {
        int start = expression.offset();
        BigDecimal step = expression.number();
        if (step == null) {
            throw expression.refuse("is not a number", right);
        }
        if (step.signum() <= 0) {
            throw expression.refuseFrom(start, "is no step", "a step is above zero");
        }
        return step;
    }

    private List<Figure> figures(Setting setting) {
        if (!(setting.node() instanceof Node.Mapping mapping)) {
            setting.refuseKind("measures, each with a name: 'trades: count()'");
            return List.of();
        }
        List<String> names =
                mapping.entries().stream().map(entry -> entry.name().text()).toList();
        List<Figure> figures = named(
                setting,
                MEASURES,
                (name, figure) -> figure.read(text -> measures.read(name, without(names, name), text)));
        if (figures.stream().map(Figure::name).distinct().count()
                == Set.copyOf(names).size()) {
            new FormulaCheck(figures).refuseWrong(setting, mapping.entries());
        }
        return figures;
    }

    private static List<String> without(List<String> names, String name) {
        return names.stream().filter(each -> !each.equals(name)).toList();
    }

    private static String measureName(Expression expression) {
        String name = expression.whole();
        if (name.length() > Limits.NAME_LENGTH_MAX
                || !MEASURE_NAME.matcher(name).matches()) {
            throw expression.refuseFrom(
                    0,
                    name.isEmpty() ? "is empty" : "is not a name of a measure",
                    "write letters A-Z and a-z, digits, '_' and '-', at most " + Limits.NAME_LENGTH_MAX
                            + ", '-' not first");
        }
        return name;
    }
}
