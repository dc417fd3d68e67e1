package dev.onefold.core.event;

import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Input;
import dev.onefold.core.pipeline.Input.Format;
import dev.onefold.core.pipeline.TableName;
import dev.onefold.core.pipeline.TableName.Origin;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;

/// The tables whose changes a pipeline reads. A change is of one of them, or of another table; or the pipeline
/// file leaves open which schema or database it means.
final class TableNames {
    /// Whether a change is of the pipeline's tables.
    enum Fit {
        SAME,
        OTHER,
        OPEN
    }

    private final List<TableName> names;
    private final Name[] all;
    private final boolean isStrict;
    private final boolean needsSchema;

    TableNames(Format.Debezium format, Input input) {
        names = format.tables();
        all = names.stream().map(Name::new).toArray(Name[]::new);
        boolean isNew = names.size() > 1 || names.getFirst().toString().indexOf(TableName.ANY) >= 0;
        isStrict = isNew || input.readsBy(3);
        needsSchema = input.identity() instanceof Identity.Versioned versioned
                && format.varies(TableName::schema, false)
                && !versioned.key().contains(Origin.SCHEMA.field());
    }

    /// Whether a change is of these tables.
    ///
    /// @param named the fields that name its table: its own name, perhaps behind its schema or database, and
    ///     behind
    ///     both where a log has several databases
    /// @param database the field of its database
    Fit fit(Fields raw, int[] named, int database) {
        Fit best = Fit.OTHER;
        for (Name name : all) {
            Fit fit = isStrict ? name.strict(raw, named, database) : name.loose(raw, named, database);
            if (fit == Fit.SAME) {
                return needsSchema && named.length > 1 && named[named.length - 2] != database ? Fit.OPEN : fit;
            }
            best = fit == Fit.OPEN ? fit : best;
        }
        return best;
    }

    /// The name to write for the table of a change whose schema or database is open.
    String advice(String name) {
        return names.size() > 1
                ? name
                : name.substring(0, name.lastIndexOf('.') + 1)
                        + names.getFirst().table();
    }

    /// As a pipeline file has them.
    @Override
    public String toString() {
        return names.size() == 1
                ? names.getFirst().toString()
                : names.stream().map(TableName::toString).collect(Collectors.joining(", ", "[", "]"));
    }

    private static final class Name {
        private final Part database;
        private final Part schema;
        private final Part table;
        private final Part qualifier;
        private final int parts;

        Name(TableName name) {
            database = new Part(name.database());
            schema = new Part(name.schema());
            table = new Part(name.table());
            parts = name.parts().size();
            qualifier = new Part(String.join(".", name.parts().subList(0, parts - 1)));
        }

        Fit strict(Fields raw, int[] named, int ofDatabase) {
            if (!table.fits(raw, named[named.length - 1])) {
                return Fit.OTHER;
            }
            if (parts == 1 || named.length == 1) {
                return parts == named.length ? Fit.SAME : parts == 1 ? Fit.OPEN : Fit.OTHER;
            }
            int second = named[named.length - 2];
            if (parts == 2) {
                return schema.fits(raw, second)
                        ? named.length == 2 ? Fit.SAME : Fit.OPEN
                        : schema.fits(raw, ofDatabase) ? Fit.OPEN : Fit.OTHER;
            }
            return second != ofDatabase && schema.fits(raw, second) && database.fits(raw, ofDatabase)
                    ? Fit.SAME
                    : Fit.OTHER;
        }

        /// The rule before edition 3: a name without a schema is that of the table in any, and all before the
        /// last dot is one name.
        Fit loose(Fields raw, int[] named, int ofDatabase) {
            boolean isQualified = parts == 1
                    || named.length > 1 && qualifier.fits(raw, named[named.length - 2])
                    || qualifier.fits(raw, ofDatabase);
            return isQualified && table.fits(raw, named[named.length - 1]) ? Fit.SAME : Fit.OTHER;
        }
    }

    /// A part of a name: a text, or the text before a `*` and the text behind it.
    private static final class Part {
        private final byte[] before;
        private final byte[] behind;
        private final boolean isOpen;

        Part(String text) {
            int star = text.indexOf(TableName.ANY);
            isOpen = star >= 0;
            before = text.substring(0, isOpen ? star : text.length()).getBytes(StandardCharsets.UTF_8);
            behind = text.substring(isOpen ? star + 1 : text.length()).getBytes(StandardCharsets.UTF_8);
        }

        boolean fits(Fields raw, int slot) {
            if (raw.kind[slot] == Fields.ESCAPED_TEXT) {
                byte[] text = raw.unescaped(slot);
                return fits(text, 0, text.length);
            }
            return raw.kind[slot] == Fields.TEXT && fits(raw.bytes, raw.from[slot], raw.to[slot]);
        }

        private boolean fits(byte[] bytes, int from, int to) {
            return (isOpen ? to - from >= before.length + behind.length : to - from == before.length)
                    && same(bytes, from, before)
                    && same(bytes, to - behind.length, behind);
        }

        private static boolean same(byte[] bytes, int from, byte[] wanted) {
            for (int i = 0; i < wanted.length; i++) {
                if (bytes[from + i] != wanted[i]) {
                    return false;
                }
            }
            return true;
        }
    }
}
