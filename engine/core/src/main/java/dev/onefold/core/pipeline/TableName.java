package dev.onefold.core.pipeline;

import java.util.List;

/// The name of tables as a pipeline file has it: the table's own name, perhaps behind the name of its schema, and
/// that behind the name of its database, with dots between. A part may hold one `*`, for any characters.
///
/// @param database the part before the last two; empty if there is none
/// @param schema the part before the last one, which is a database where tables have no schemas; empty if there is
///     none
public record TableName(String database, String schema, String table) {
    /// Stands for any characters.
    public static final char ANY = '*';

    /// Reads a name.
    public static TableName of(String text) {
        int dot = text.lastIndexOf('.');
        int before = text.lastIndexOf('.', dot - 1);
        return new TableName(
                before <= 0 ? "" : text.substring(0, before),
                dot < 0 ? "" : text.substring(Math.max(0, before + 1), dot),
                text.substring(dot + 1));
    }

    /// All parts that it has.
    public List<String> parts() {
        return database.isEmpty()
                ? schema.isEmpty() ? List.of(table) : List.of(schema, table)
                : List.of(database, schema, table);
    }

    @Override
    public String toString() {
        return String.join(".", parts());
    }

    /// A part of the name of a change's table, as a part of a key: the fields of the row do not have it.
    public enum Origin {
        DATABASE,
        SCHEMA,
        TABLE;

        /// The word for it in a pipeline file.
        public String word() {
            return name().toLowerCase(java.util.Locale.ROOT);
        }

        /// The field that stands for it. A row of a seeding may bring it under this name.
        public FieldPath field() {
            return FieldPath.of("origin: " + word());
        }
    }
}
