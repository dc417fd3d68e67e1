package dev.onefold.core;

import dev.onefold.core.event.Event.Silence;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/// Why records were stale, conflicting or silent, as far as the cause has a name: how often each came. Like the
/// numbers of stale records, these depend on the order of arrival; the totals do not.
///
/// @param counts by fate and cause, such as `stale: behind a delete`
public record Causes(Map<String, Long> counts) {
    /// There was none.
    public static final Causes NONE = new Causes(Map.of());

    /// A lower version than that of the delete of its key.
    public static final String BEHIND_DELETE = "stale: behind a delete";

    /// Two changes of an item whose times are equal, in a table's Kinesis stream of milliseconds.
    public static final String WITHIN_MILLISECOND = "conflicting: within one millisecond";

    private static final String SILENT = "silent: ";

    /// Of a time bucket that was not kept any more when it came.
    public static final String BEYOND_KEEP = SILENT + "beyond keep";

    private static final String OTHER_TABLE = SILENT + "of ";
    private static final String UNNAMED = SILENT + Silence.UNNAMED.what();
    private static final Map<String, String> ADVICE = Map.of(
            BEHIND_DELETE,
            "A record behind a delete has a lower version than the delete, and does not count. If rows are inserted again"
                    + " with versions that begin again, name a field that grows for ever, such as a time:"
                    + " 'version: {field: updatedAt, type: iso}' under input.",
            BEYOND_KEEP,
            "A record beyond keep is of a time bucket that has ended, so no answer shows what it adds.",
            WITHIN_MILLISECOND,
            "Times in milliseconds do not order two changes of an item within one. Let the Kinesis stream of the table"
                    + " have microseconds: aws dynamodb update-kinesis-streaming-destination --table-name TABLE"
                    + " --stream-arn ARN --update-kinesis-streaming-configuration"
                    + " ApproximateCreationDateTimePrecision=MICROSECOND");

    public Causes {
        counts = Collections.unmodifiableMap(new TreeMap<>(counts));
    }

    /// The cause of so many silent records.
    public static Causes of(Silence silence, long records) {
        return new Causes(Map.of(SILENT + silence.what(), records));
    }

    /// The sum of both. At most [Silence#TABLES_MAX] other tables keep a name of their own, these first.
    public Causes plus(Causes more) {
        return plus(more, Silence.TABLES_MAX);
    }

    /// The same, with another limit for the tables that have no name here yet.
    public Causes plus(Causes more, int tablesMax) {
        Map<String, Long> all = new TreeMap<>(counts);
        more.counts.forEach((name, count) -> {
            boolean isNamed = !isOfNamedTable(name) || counts.containsKey(name) || named(all) < tablesMax;
            all.merge(isNamed ? name : UNNAMED, count, Long::sum);
        });
        return new Causes(all);
    }

    private static long named(Map<String, Long> causes) {
        return causes.keySet().stream().filter(Causes::isOfNamedTable).count();
    }

    /// Whether the name of a cause has that of another table.
    public static boolean isOfNamedTable(String name) {
        return name.startsWith(OTHER_TABLE) && !name.equals(UNNAMED);
    }

    /// Those that have more than in an earlier reading, with the difference.
    public Causes since(Causes before) {
        Map<String, Long> more = new TreeMap<>();
        counts.forEach((name, count) -> {
            long since = count - before.counts.getOrDefault(name, 0L);
            if (since > 0) {
                more.put(name, since);
            }
        });
        return new Causes(more);
    }

    /// The causes of one fate.
    public Map<String, Long> of(String fate) {
        String prefix = fate + ": ";
        return counts.entrySet().stream()
                .filter(each -> each.getKey().startsWith(prefix))
                .collect(Collectors.toMap(
                        each -> each.getKey().substring(prefix.length()),
                        Map.Entry::getValue,
                        Long::sum,
                        TreeMap::new));
    }

    /// The changes of other tables than the pipeline's, by table.
    public Map<String, Long> ofOtherTables() {
        Map<String, Long> others = new TreeMap<>(counts);
        others.keySet().removeIf(name -> !name.startsWith(OTHER_TABLE));
        return others;
    }

    /// Why records were silent, without the names of other tables: so no name here is a record's.
    public Map<String, Long> ofSilence() {
        Map<String, Long> all = new TreeMap<>();
        of("silent").forEach((cause, count) -> {
            boolean isOfTable = (SILENT + cause).startsWith(OTHER_TABLE);
            all.merge(isOfTable ? "other table" : cause, count, Long::sum);
        });
        return all;
    }

    /// Advice where a cause is probably a fault, as sentences.
    public List<String> advice() {
        List<String> advice = new ArrayList<>();
        counts.keySet().stream().filter(ADVICE::containsKey).forEach(name -> advice.add(ADVICE.getOrDefault(name, "")));
        return advice;
    }
}
