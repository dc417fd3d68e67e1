package dev.onefold.jdbc;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// A statement with names of fields, such as `insert into quakes values (:id, cast(:time as timestamptz))`.
///
/// @param sql with `?` in the place of each name
/// @param fields in the order of their places
record InsertStatement(String sql, List<String> fields) {
    /// A text, a quoted name, a comment, a cast of PostgreSQL, or the name of a field.
    private static final Pattern PART =
            Pattern.compile("'(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*|(?s:/\\*.*?\\*/)|::|:(?<field>[A-Za-z_][A-Za-z0-9_]*)");

    InsertStatement {
        fields = List.copyOf(fields);
    }

    /// @throws IllegalArgumentException if it names no field
    static InsertStatement of(String text) {
        StringBuilder sql = new StringBuilder();
        List<String> fields = new ArrayList<>();
        Matcher part = PART.matcher(text);
        int end = 0;
        while (part.find()) {
            sql.append(text, end, part.start());
            String field = part.group("field");
            if (field == null) {
                sql.append(part.group());
            } else {
                sql.append('?');
                fields.add(field);
            }
            end = part.end();
        }
        sql.append(text.substring(end));
        if (fields.isEmpty()) {
            throw new IllegalArgumentException(
                    "The statement of 'insert' names no field. Write ':' before the name of a"
                            + " field: insert into t (id) values (:id)");
        }
        return new InsertStatement(sql.toString(), fields);
    }
}
