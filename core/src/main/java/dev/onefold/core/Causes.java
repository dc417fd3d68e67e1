package dev.onefold.core;

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
    private static final String OTHER_TABLE = SILENT + "of ";
    private static final Map<String, String> ADVICE = Map.of(
            BEHIND_DELETE,
            "A record behind a delete has a lower version than the delete, and does not count. If rows are inserted again"
                    + " with versions that begin anew, name a field that grows for ever, such as a time:"
                    + " 'version: {field: updatedAt, type: iso}' under input.",
            WITHIN_MILLISECOND,
            "Times in milliseconds do not order two changes of an item within one. Let the Kinesis stream of the table"
                    + " have microseconds: aws dynamodb update-kinesis-streaming-destination --table-name TABLE"
                    + " --stream-arn ARN --update-kinesis-streaming-configuration"
                    + " ApproximateCreationDateTimePrecision=MICROSECOND");

    public Causes {
        counts = Collections.unmodifiableMap(new TreeMap<>(counts));
    }

    /// The name of a cause for which records are silent.
    public static String ofSilence(String cause) {
        return SILENT + cause;
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

    /// Advice where a cause is probably a fault, as sentences.
    public List<String> advice() {
        List<String> advice = new ArrayList<>();
        counts.keySet().stream().filter(ADVICE::containsKey).forEach(name -> advice.add(ADVICE.getOrDefault(name, "")));
        return advice;
    }
}
