package dev.onefold.core.event;

import java.util.List;
import java.util.regex.Pattern;

/// Changes of tables in forms that are read as JSON, and what to write for each.
///
/// @param sign what such a record has and others have not
record OtherChanges(Pattern sign, String advice) {
    private static final List<OtherChanges> ALL = List.of(
            new OtherChanges(
                    Pattern.compile("\"record-type\"\\s*:\\s*\"(data|control)\""),
                    "It is of AWS DMS, which gives no order to two changes of one transaction. Write 'format: json', and"
                            + " for version a field of the row that grows with each change"),
            new OtherChanges(
                    Pattern.compile("\"xid\"\\s*:"),
                    "It is of Maxwell. Write 'format: json', 'key: data.id' with your key, 'delete: type = \"delete\"'"
                            + " and 'version: [xid, {field: xoffset, missing: highest}]'"),
            new OtherChanges(
                    Pattern.compile("\"updated\"\\s*:\\s*\"[0-9]+[.][0-9]{10}\""),
                    "It is of CockroachDB. Write 'format: json', 'key: {field: key, element: 0}', 'delete: after is"
                            + " missing' and 'version: {field: updated, type: hlc}'"),
            new OtherChanges(
                    Pattern.compile("\"operationType\"\\s*:"),
                    "It is of MongoDB's own connector, whose updates are patches. Let Debezium's send whole documents:"
                            + " capture.mode=change_streams_update_full"));

    /// Advice for a record that is no change of Debezium, as further sentences; empty if it is not known.
    static String advice(String record) {
        return ALL.stream()
                .filter(each -> each.sign.matcher(record).find())
                .findFirst()
                .map(each -> ". " + each.advice)
                .orElse("");
    }
}
