package dev.onefold.oracle;

import dev.onefold.oracle.Document.Literal;
import java.math.BigDecimal;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// What a record of a table's change log says of a row.
///
/// @param row the fields of the table; of a row that is gone, its key at least
/// @param version its place in the log as one number; null where a field has the version
record Changes(Document row, boolean isRemoved, @Nullable BigDecimal version) {
    private static final String SEED = "$onefold";

    /// In front of the part of a table's name, in the name of the field that stands for it.
    static final String ORIGIN = "origin: ";

    /// Empty if the record tells of no row.
    static Optional<Changes> of(Document record, Definition definition) {
        if (record.fields().containsKey(SEED)) {
            return Optional.of(seed(record, definition));
        }
        return definition.format().equals("debezium") ? debezium(record, definition) : dynamoDb(record, definition);
    }

    /// Whether a record says how a row is, whatever the pipeline's format.
    static boolean isSeed(Document record) {
        return record.fields().containsKey(SEED);
    }

    private static Changes seed(Document record, Definition definition) {
        Document row = document(record.at(List.of("row"))).orElseThrow(() -> new Refused("no row"));
        boolean isRemoved = Boolean.TRUE.equals(record.at(List.of(SEED, "removed")));
        if (definition.version() != null) {
            String stated = text(record.at(List.of(SEED, "version")));
            return new Changes(row, isRemoved, stated.isEmpty() ? null : new BigDecimal(stated));
        }
        return new Changes(
                row,
                isRemoved,
                place(
                        text(record.at(List.of(SEED, "generation"))),
                        text(record.at(List.of(SEED, "position"))),
                        text(record.at(List.of(SEED, "number")))));
    }

    private static Optional<Changes> debezium(Document record, Definition definition) {
        Object key = record.fields().get("key");
        Object value = record.fields().containsKey("value") ? record.fields().get("value") : record;
        Document envelope = payload(value).orElse(null);
        if (envelope == null) {
            return Optional.empty();
        }
        String op = text(envelope.fields().get("op"));
        Optional<Document> after = document(envelope.fields().get("after"));
        Optional<Document> before = document(envelope.fields().get("before"));
        boolean isMark = op.isEmpty() && envelope.fields().containsKey("event_count");
        if (op.equals("m") || isMark) {
            return Optional.empty();
        }
        String table = text(envelope.at(List.of("source", "table")));
        String schema = text(envelope.at(List.of("source", "schema")));
        String database = text(envelope.at(List.of("source", "db")));
        boolean hasDatabases = text(envelope.at(List.of("source", "connector"))).equals("sqlserver");
        if (!op.isEmpty() && !table.isEmpty() && !isWanted(definition, database, schema, table, hasDatabases)) {
            return Optional.empty();
        }
        if (table.isEmpty() || !Set.of("c", "u", "d", "r").contains(op)) {
            throw new Refused("op " + op);
        }
        boolean isRemoved = op.equals("d");
        Optional<Document> image = isRemoved ? before : after;
        Map<String, @Nullable Object> origin = new LinkedHashMap<>();
        origin.put(ORIGIN + "database", database.isEmpty() ? null : database);
        origin.put(ORIGIN + "schema", schema.isEmpty() ? null : schema);
        origin.put(ORIGIN + "table", table);
        Document row = merged(Optional.of(merged(image, payload(key))), Optional.of(new Document(origin, Set.of())));
        boolean namesSchema = document(value)
                .filter(document -> document.fields().containsKey("schema"))
                .isPresent();
        if ((!isRemoved || namesSchema) && !hasSchema(value)) {
            requireClear(row, definition);
        }
        String at = op.equals("r")
                ? text(envelope.at(List.of("source", "ts_ms")))
                : sequence(text(envelope.at(List.of("source", "sequence"))));
        if (at.isEmpty() && definition.version() == null) {
            throw new Refused("no place");
        }
        List<String> logs = definition.logs();
        int generation = logs.isEmpty() ? 0 : logs.indexOf(text(envelope.at(List.of("source", "name"))));
        if (generation < 0) {
            throw new Refused("another log");
        }
        String log = String.valueOf(generation);
        BigDecimal place =
                definition.version() != null ? null : op.equals("r") ? place(log, "0", at) : place(log, at, "0");
        return Optional.of(new Changes(row, isRemoved, place));
    }

    /// Whether a change is of a table that the file names: in full, so that nothing is left open.
    private static boolean isWanted(
            Definition definition, String database, String schema, String table, boolean hasDatabases) {
        boolean isOpen = false;
        for (String name : definition.tables()) {
            List<String> wanted = List.of(name.split("[.]", 3));
            List<String> full = schema.isEmpty()
                    ? database.isEmpty() ? List.of(table) : List.of(database, table)
                    : wanted.size() == 3 || hasDatabases && !database.isEmpty()
                            ? List.of(database, schema, table)
                            : List.of(schema, table);
            int left = full.size() - wanted.size();
            if (left == 0 && fits(wanted, full)) {
                return true;
            }
            isOpen |= left > 0 && fits(wanted, full.subList(left, full.size()))
                    || wanted.size() == 2 && !schema.isEmpty() && fits(wanted, List.of(database, table));
        }
        if (isOpen) {
            throw new Refused("the schema or database is left open");
        }
        return false;
    }

    private static boolean hasSchema(@Nullable Object value) {
        return document(value)
                .map(document -> document.at(List.of("schema", "fields")))
                .isPresent();
    }

    /// Without a schema, a text that may be base64 or a number has to be said to be a number.
    private static void requireClear(Document row, Definition definition) {
        for (List<String> path : definition.numbers()) {
            boolean isText = row.at(path) instanceof String;
            String text = text(row.at(path));
            boolean isBoth = !text.isEmpty() && text.length() % 4 == 0 && text.matches("[0-9eE+]*");
            if (isText && (isBoth && definition.decimals() == null || "precise".equals(definition.decimals()))) {
                throw new Refused("a number or base64");
            }
        }
    }

    private static boolean fits(List<String> wanted, List<String> full) {
        for (int i = 0; i < full.size(); i++) {
            String pattern = "\\Q" + wanted.get(i).replace("*", "\\E.*\\Q") + "\\E";
            if (!full.get(i).matches(pattern)) {
                return false;
            }
        }
        return true;
    }

    /// The end of the commit before, or the change itself where there is none, and the change.
    private static String sequence(String text) {
        String[] parts = text.replaceAll("[\\[\\] \"\\\\]", "").split(",", -1);
        if (parts.length != 2) {
            return "";
        }
        BigDecimal before = new BigDecimal(parts[0].equals("null") ? parts[1] : parts[0]);
        return before.multiply(BigDecimal.TWO.pow(64))
                .add(new BigDecimal(parts[1]))
                .toPlainString();
    }

    private static Optional<Document> payload(@Nullable Object value) {
        return document(value)
                .flatMap(document -> document.fields().containsKey("payload")
                        ? document(document.fields().get("payload"))
                        : Optional.of(document));
    }

    private static Optional<Changes> dynamoDb(Document record, Definition definition) {
        Optional<Document> typed = document(record.fields().get("dynamodb"));
        Document body = typed.orElse(record);
        String name = text(record.fields().get("eventName"));
        if (!Set.of("INSERT", "MODIFY", "REMOVE").contains(name)) {
            throw new Refused("eventName " + name);
        }
        boolean isExpiry =
                text(record.at(List.of("userIdentity", "principalId"))).equals("dynamodb.amazonaws.com");
        boolean isRemove = name.equals("REMOVE");
        String arn = text(record.fields().get("eventSourceARN"));
        String whole = arn.isEmpty() ? text(record.fields().get("tableName")) : arn.replaceFirst("/stream/.*", "");
        String tableName = whole.substring(whole.lastIndexOf('/') + 1);
        if (!whole.isEmpty() && definition.tables().isEmpty()) {
            throw new Refused("no table in the file");
        }
        if (!whole.isEmpty() && !definition.tables().isEmpty()) {
            String wanted = definition.tables().getFirst();
            if (!wanted.equals(whole) && !wanted.equals(tableName) && !wanted.endsWith(":table/" + whole)) {
                return Optional.empty();
            }
        }
        Optional<Document> image = document(body.fields().get(isRemove ? "OldImage" : "NewImage"));
        Optional<Document> keys = document(body.fields().get("Keys"));
        if (keys.isEmpty() || !isRemove && image.isEmpty()) {
            throw new Refused("no keys or no image");
        }
        Document row = merged(image, keys);
        BigDecimal place = definition.version() != null
                ? null
                : place(generation(arn), text(body.fields().get("SequenceNumber")), "0");
        boolean isRemoved = isRemove && !(isExpiry && definition.keepsExpired());
        return Optional.of(new Changes(typed.isPresent() ? plain(row) : row, isRemoved, place));
    }

    private static String generation(String arn) {
        if (arn.isEmpty()) {
            throw new Refused("no stream");
        }
        return String.valueOf(
                LocalDateTime.parse(arn.substring(arn.lastIndexOf('/') + 1)).toEpochSecond(ZoneOffset.UTC));
    }

    private static Document merged(Optional<Document> row, Optional<Document> key) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        Set<String> twice = new HashSet<>();
        for (Optional<Document> part : List.of(row, key)) {
            part.ifPresent(document -> {
                fields.putAll(document.fields());
                twice.addAll(document.twice());
            });
        }
        return new Document(fields, twice);
    }

    /// Attributes without their types.
    private static Document plain(Document item) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        item.fields().forEach((name, attribute) -> fields.put(name, plain(attribute)));
        return new Document(fields, Set.of());
    }

    private static @Nullable Object plain(@Nullable Object attribute) {
        Document typed = document(attribute).orElseThrow(() -> new Refused("no attribute"));
        Map.Entry<String, @Nullable Object> only =
                typed.fields().entrySet().iterator().next();
        return switch (only.getKey()) {
            case "N" -> new Literal(text(only.getValue()));
            case "NULL" -> null;
            case "M" -> plain(document(only.getValue()).orElseThrow());
            case "L", "SS", "NS", "BS" -> new ArrayList<>();
            default -> only.getValue();
        };
    }

    private static Optional<Document> document(@Nullable Object value) {
        return value instanceof Document document ? Optional.of(document) : Optional.empty();
    }

    private static String text(@Nullable Object value) {
        return switch (value) {
            case null -> "";
            case Literal literal -> literal.digits();
            default -> value.toString();
        };
    }

    /// One number in the order of generation, position and number.
    private static BigDecimal place(String generation, String position, String number) {
        try {
            return new BigDecimal(generation)
                    .movePointRight(60)
                    .add(new BigDecimal(position).movePointRight(15))
                    .add(new BigDecimal(number));
        } catch (NumberFormatException e) {
            throw new Refused("no place: " + e.getMessage());
        }
    }
}
