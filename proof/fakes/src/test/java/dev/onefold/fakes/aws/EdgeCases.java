package dev.onefold.fakes.aws;

import static dev.onefold.fakes.aws.EdgeExpressions.CONDITIONS;
import static dev.onefold.fakes.aws.EdgeExpressions.KEY_CONDITIONS;
import static dev.onefold.fakes.aws.EdgeExpressions.NAMES;
import static dev.onefold.fakes.aws.EdgeExpressions.PROJECTIONS;
import static dev.onefold.fakes.aws.EdgeExpressions.UPDATES;
import static dev.onefold.fakes.aws.EdgeExpressions.VALUES;
import static dev.onefold.fakes.aws.EdgeExpressions.used;
import static dev.onefold.fakes.aws.Service.item;
import static dev.onefold.fakes.aws.Service.key;
import static dev.onefold.fakes.aws.Service.number;
import static dev.onefold.fakes.aws.Service.text;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.KeysAndAttributes;
import software.amazon.awssdk.services.dynamodb.model.ReturnConsumedCapacity;
import software.amazon.awssdk.services.dynamodb.model.ReturnValue;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;

/// Calls at the edge of what is allowed, each with a name. They are made in this order, on the same tables.
final class EdgeCases {
    private final Map<String, Answer.Call> cases = new LinkedHashMap<>();
    private final String table;

    private EdgeCases(String table) {
        this.table = table;
    }

    static Map<String, Answer.Call> of(String table) {
        EdgeCases cases = new EdgeCases(table);
        cases.conditions();
        cases.updates();
        cases.projections();
        cases.queries();
        cases.numbers();
        cases.values();
        cases.keys();
        cases.placeholders();
        cases.transactions();
        cases.sizes();
        return cases.cases;
    }

    private static Map<String, AttributeValue> full() {
        Map<String, AttributeValue> item = new HashMap<>(item("text", "n", number(1)));
        item.put("s", text("text"));
        item.put("b", AttributeValue.fromBool(true));
        item.put("status", text("text"));
        item.put("a.b", text("text"));
        item.put("ss", AttributeValue.fromSs(List.of("x", "te")));
        item.put("ns", AttributeValue.fromNs(List.of("1", "3")));
        item.put("l", AttributeValue.fromL(List.of(number(1), text("x"), number(3))));
        item.put("m", AttributeValue.fromM(Map.of("in", number(1))));
        return item;
    }

    private void conditions() {
        put("full item", full());
        for (String condition : CONDITIONS) {
            cases.put(
                    "condition '" + condition + "'",
                    it -> it.deleteItem(request -> request.tableName(table)
                                    .key(key("text", "none"))
                                    .conditionExpression(condition)
                                    .expressionAttributeNames(used(condition, NAMES))
                                    .expressionAttributeValues(used(condition, VALUES)))
                            .thenApply(_ -> "done"));
            cases.put(
                    "condition on an item '" + condition + "'",
                    it -> it.updateItem(request -> request.tableName(table)
                                    .key(key("text"))
                                    .conditionExpression(condition)
                                    .expressionAttributeNames(used(condition, NAMES))
                                    .expressionAttributeValues(used(condition, VALUES)))
                            .thenApply(_ -> "done"));
        }
    }

    private void updates() {
        for (String update : UPDATES) {
            for (String pk : List.of("text", "none")) {
                for (ReturnValue returned : List.of(ReturnValue.ALL_NEW, ReturnValue.UPDATED_NEW)) {
                    put("full item before '" + update + "' " + pk + returned, full());
                    cases.put(
                            "update '" + update + "' of " + pk + " " + returned,
                            it -> it.updateItem(request -> request.tableName(table)
                                            .key(key(pk))
                                            .updateExpression(update)
                                            .returnValues(returned)
                                            .expressionAttributeNames(used(update, NAMES))
                                            .expressionAttributeValues(used(update, VALUES)))
                                    .thenApply(response -> Answer.shown(response.attributes())));
                    get("after '" + update + "' of " + pk + " " + returned, pk);
                    delete(pk);
                }
            }
        }
    }

    private void projections() {
        put("full item again", full());
        for (String projection : PROJECTIONS) {
            cases.put(
                    "projection '" + projection + "'",
                    it -> it.getItem(request -> request.tableName(table)
                                    .key(key("text"))
                                    .projectionExpression(projection)
                                    .expressionAttributeNames(used(projection, NAMES)))
                            .thenApply(response -> Answer.shown(response.item())));
        }
    }

    private void queries() {
        for (String condition : KEY_CONDITIONS) {
            cases.put(
                    "key condition '" + condition + "'",
                    it -> it.query(request -> request.tableName(table)
                                    .keyConditionExpression(condition)
                                    .expressionAttributeNames(used(condition, NAMES))
                                    .expressionAttributeValues(used(condition, VALUES)))
                            .thenApply(response -> Answer.shown(response.items())));
        }
        for (String filter : List.of("n = :one", "sk = :one", "attribute_exists(pk)", "missing = :one")) {
            Map<String, AttributeValue> values = new TreeMap<>(Map.of(":t", text("text")));
            values.putAll(used(filter, VALUES) == null ? Map.of() : used(filter, VALUES));
            cases.put(
                    "filter '" + filter + "'",
                    it -> it.query(request -> request.tableName(table)
                                    .keyConditionExpression("pk = :t")
                                    .filterExpression(filter)
                                    .expressionAttributeValues(values))
                            .thenApply(response -> Answer.shown(response.items()) + response.scannedCount()));
        }
    }

    private void numbers() {
        for (String text : List.of(
                "0",
                "-0",
                "00",
                "1.0",
                "1e2",
                "1E+2",
                "1E125",
                "9.9E125",
                "1E126",
                "1E-130",
                "1E-131",
                "abc",
                "",
                " 1",
                "1 ",
                "+1",
                "0x1",
                "NaN",
                ".5",
                "5.",
                "1_0",
                "-1E-130",
                "12345678901234567890123456789012345678",
                "123456789012345678901234567890123456789",
                "100000000000000000000000000000000000000000",
                "0.00000000000000000000000000000000000000000000000001",
                "1e",
                "１")) {
            put("number '" + text + "'", item("numbers", "n", AttributeValue.fromN(text)));
            get("after number '" + text + "'", "numbers");
        }
        String most = "9".repeat(38);
        put("many digits", item("digits", "n", AttributeValue.fromN(most)));
        for (String addend : List.of("1", "0.1", "1E-30", "1E80", "-1E37", "1E120", "-" + most)) {
            cases.put(
                    "digits + " + addend,
                    it -> it.updateItem(request -> request.tableName(table)
                                    .key(key("digits"))
                                    .updateExpression("ADD n :a")
                                    .returnValues(ReturnValue.ALL_NEW)
                                    .expressionAttributeValues(Map.of(":a", AttributeValue.fromN(addend))))
                            .thenApply(response -> Answer.shown(response.attributes())));
        }
    }

    private void values() {
        put("empty text", item("a", "x", text("")));
        put("empty bytes", item("a", "x", AttributeValue.fromB(SdkBytes.fromByteArray(new byte[0]))));
        put("empty set", item("a", "x", AttributeValue.fromSs(List.of())));
        put("empty list", item("a", "x", AttributeValue.fromL(List.of())));
        put("empty map", item("a", "x", AttributeValue.fromM(Map.of())));
        put("no value", item("a", "x", AttributeValue.builder().build()));
        put("set twice", item("a", "x", AttributeValue.fromSs(List.of("a", "a"))));
        put("set of equal numbers", item("a", "x", AttributeValue.fromNs(List.of("1", "1.0"))));
        put("empty text in a set", item("a", "x", AttributeValue.fromSs(List.of("", "a"))));
        put("null", item("a", "x", AttributeValue.fromNul(true)));
        put("null that is false", item("a", "x", AttributeValue.fromNul(false)));
        put("empty name", item("a", "", number(1)));
        for (int depth : List.of(30, 31, 32, 33, 34)) {
            AttributeValue nested = number(1);
            for (int i = 0; i < depth; i++) {
                nested = AttributeValue.fromL(List.of(nested));
            }
            put("depth " + depth, item("a", "x", nested));
        }
    }

    private void keys() {
        for (int length : List.of(1_023, 1_024, 1_025, 2_047, 2_048, 2_049)) {
            put("partition key of " + length, key("p".repeat(length)));
            put("sort key of " + length, key("a", "s".repeat(length)));
        }
        put("empty partition key", key(""));
        put("empty sort key", key("a", ""));
        put("no sort key", Map.of("pk", text("a")));
        put("number as key", Map.of("pk", text("a"), "sk", number(1)));
        int room = 400 * 1024 - "pk".length() - "a".length() - "sk".length() - "0".length() - "x".length();
        put("400 KB", item("a", "x", text("x".repeat(room))));
        put("400 KB and a byte", item("a", "x", text("x".repeat(room + 1))));
        put(
                "400 KB with a number",
                item("a", "x", AttributeValue.fromL(List.of(number(12345), text("x".repeat(room - 12))))));
    }

    private void placeholders() {
        cases.put(
                "unused value",
                it -> it.deleteItem(request -> request.tableName(table)
                                .key(key("a"))
                                .conditionExpression("attribute_exists(pk)")
                                .expressionAttributeValues(Map.of(":one", number(1))))
                        .thenApply(_ -> "done"));
        cases.put(
                "unused name",
                it -> it.deleteItem(request -> request.tableName(table)
                                .key(key("a"))
                                .conditionExpression("attribute_exists(pk)")
                                .expressionAttributeNames(Map.of("#n", "n")))
                        .thenApply(_ -> "done"));
        cases.put(
                "names without expression",
                it -> it.deleteItem(request ->
                                request.tableName(table).key(key("a")).expressionAttributeNames(Map.of("#n", "n")))
                        .thenApply(_ -> "done"));
        cases.put(
                "bad placeholder",
                it -> it.deleteItem(request -> request.tableName(table)
                                .key(key("a"))
                                .conditionExpression("n = :one")
                                .expressionAttributeValues(Map.of("one", number(1))))
                        .thenApply(_ -> "done"));
        cases.put(
                "key with more",
                it -> it.getItem(request -> request.tableName(table).key(item("a", "x", number(1))))
                        .thenApply(response -> Answer.shown(response.item())));
        cases.put(
                "key with less",
                it -> it.getItem(request -> request.tableName(table).key(Map.of("pk", text("a"))))
                        .thenApply(response -> Answer.shown(response.item())));
        cases.put(
                "no such table",
                it -> it.getItem(request -> request.tableName("Nowhere").key(key("a")))
                        .thenApply(response -> Answer.shown(response.item())));
    }

    private void transactions() {
        for (int count : List.of(1, 100, 101)) {
            transaction(
                    "transaction of " + count,
                    IntStream.range(0, count).mapToObj(i -> put(key("t" + i))).toList());
            cases.put(
                    "batch get of " + count,
                    it -> it.batchGetItem(request -> request.requestItems(Map.of(
                                    table,
                                    KeysAndAttributes.builder()
                                            .keys(IntStream.range(0, count)
                                                    .mapToObj(i -> key("t" + i))
                                                    .toList())
                                            .build())))
                            .thenApply(response ->
                                    Answer.sorted(response.responses().get(table))));
        }
        transaction("no transaction", List.of());
        transaction("twice", List.of(put(key("a")), put(key("a"))));
        transaction("empty key", List.of(put(key(""))));
        transaction("too large", List.of(put(item("a", "x", text("x".repeat(410_000))))));
        transaction("bad number", List.of(put(item("a", "x", AttributeValue.fromN("x")))));
        transaction(
                "over 4 MB",
                IntStream.range(0, 11)
                        .mapToObj(i -> put(item("m" + i, "x", text("x".repeat(390_000)))))
                        .toList());
        put("a text", item("typed", "n", text("text")));
        for (String update : UPDATES) {
            transaction(
                    "update in a transaction '" + update + "'", List.of(put(key("beside")), update("typed", update)));
        }
    }

    private void sizes() {
        for (int i = 0; i < 5; i++) {
            Map<String, AttributeValue> item = new HashMap<>(key("big", "s" + i));
            item.put("x", text("x".repeat(300_000)));
            put("big " + i, item);
        }
        for (boolean consistent : List.of(true, false)) {
            cases.put(
                    "a page, consistent " + consistent,
                    it -> it.query(request -> request.tableName(table)
                                    .keyConditionExpression("pk = :p")
                                    .consistentRead(consistent)
                                    .projectionExpression("sk")
                                    .returnConsumedCapacity(ReturnConsumedCapacity.TOTAL)
                                    .expressionAttributeValues(Map.of(":p", text("big"))))
                            .thenApply(response -> response.count()
                                    + Answer.shown(response.lastEvaluatedKey())
                                    + response.consumedCapacity().capacityUnits()));
            for (String sk : List.of("s1", "none")) {
                cases.put(
                        "units to get " + sk + consistent,
                        it -> it.getItem(request -> request.tableName(table)
                                        .key(key("big", sk))
                                        .consistentRead(consistent)
                                        .returnConsumedCapacity(ReturnConsumedCapacity.TOTAL))
                                .thenApply(response ->
                                        "" + response.consumedCapacity().capacityUnits()));
            }
        }
        for (int length : List.of(900, 1_013, 1_014, 1_015, 1_016, 1_017, 1_018, 5_000, 10)) {
            cases.put(
                    "units to put " + length,
                    it -> it.putItem(request -> request.tableName(table)
                                    .item(item("u", "x", text("x".repeat(length))))
                                    .returnConsumedCapacity(ReturnConsumedCapacity.TOTAL))
                            .thenApply(
                                    response -> "" + response.consumedCapacity().capacityUnits()));
        }
        for (String n : List.of("1", "12", "-12", "123", "1E20", "0.001", "99999999999999999999999999999999999999")) {
            for (int fill = 1_000; fill < 1_020; fill++) {
                Map<String, AttributeValue> item = new HashMap<>(item("u", "x", text("x".repeat(fill))));
                item.put("n", AttributeValue.fromN(n));
                delete("u");
                cases.put(
                        "units to put " + n + " beside " + fill,
                        it -> it.putItem(request -> request.tableName(table)
                                        .item(item)
                                        .returnConsumedCapacity(ReturnConsumedCapacity.TOTAL))
                                .thenApply(response ->
                                        "" + response.consumedCapacity().capacityUnits()));
            }
        }
        cases.put(
                "units of a transaction",
                it -> it.transactWriteItems(request -> request.transactItems(put(key("w")), update("v", "ADD n :one"))
                                .returnConsumedCapacity(ReturnConsumedCapacity.TOTAL))
                        .thenApply(response ->
                                "" + response.consumedCapacity().getFirst().capacityUnits()));
    }

    private TransactWriteItem put(Map<String, AttributeValue> item) {
        return TransactWriteItem.builder()
                .put(put -> put.tableName(table).item(item))
                .build();
    }

    private TransactWriteItem update(String pk, String update) {
        return TransactWriteItem.builder()
                .update(request -> request.tableName(table)
                        .key(key(pk))
                        .updateExpression(update)
                        .expressionAttributeNames(used(update, NAMES))
                        .expressionAttributeValues(used(update, VALUES)))
                .build();
    }

    private void transaction(String what, List<TransactWriteItem> items) {
        cases.put(
                what,
                it -> it.transactWriteItems(request -> request.transactItems(items))
                        .thenApply(_ -> "done"));
    }

    private void put(String what, Map<String, AttributeValue> item) {
        cases.put(
                what,
                it -> it.putItem(request -> request.tableName(table).item(item)).thenApply(_ -> "done"));
    }

    private void get(String what, String pk) {
        cases.put(
                what,
                it -> it.getItem(
                                request -> request.tableName(table).key(key(pk)).consistentRead(true))
                        .thenApply(response -> Answer.shown(response.item())));
    }

    private void delete(String pk) {
        cases.put(
                "delete " + cases.size(),
                it -> it.deleteItem(request -> request.tableName(table).key(key(pk)))
                        .thenApply(_ -> "done"));
    }
}
