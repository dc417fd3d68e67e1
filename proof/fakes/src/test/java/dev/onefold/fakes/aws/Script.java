package dev.onefold.fakes.aws;

import static dev.onefold.fakes.aws.Service.number;
import static dev.onefold.fakes.aws.Service.text;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.KeysAndAttributes;
import software.amazon.awssdk.services.dynamodb.model.ReturnValue;
import software.amazon.awssdk.services.dynamodb.model.ReturnValuesOnConditionCheckFailure;
import software.amazon.awssdk.services.dynamodb.model.TransactGetItem;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;
import software.amazon.awssdk.services.dynamodb.model.WriteRequest;

/// Random calls on few keys of tables with keys of every type, made to both services.
final class Script {
    private static final List<String> CONDITIONS = List.of(
            "attribute_exists(pk)",
            "attribute_not_exists(pk)",
            "attribute_exists(n)",
            "n = :v",
            "n <> :v",
            "n < :v",
            "n >= :v",
            "n BETWEEN :v AND :w",
            "n IN (:v, :w)",
            "NOT n = :v",
            "n = :v OR n = :w",
            "attribute_not_exists(n) OR n > :v",
            "attribute_exists(o) AND (n < :v OR n > :w)",
            "contains(x, :v)",
            "begins_with(x, :t)",
            "size(x) > :v",
            "x = :t",
            "o = n",
            "n > o",
            "m.k = :v",
            "m.k < n");
    private static final List<String> UPDATES = List.of(
            "ADD n :v",
            "SET n = :v",
            "SET n = n + :v",
            "SET n = if_not_exists(n, :v) + :w",
            "SET o = n",
            "REMOVE n",
            "SET n = n - :v, o = :w",
            "ADD n :v SET o = :w REMOVE x",
            "SET x = :t",
            "ADD x :s",
            "DELETE x :s",
            "SET m = :m",
            "SET m.k = :v",
            "ADD m.k :v",
            "REMOVE m.k",
            "SET n = m.k",
            "ADD n :v, o :w");
    private static final List<String> RANGES = List.of(
            "",
            " AND sk = :a",
            " AND sk < :a",
            " AND sk >= :a",
            " AND sk BETWEEN :a AND :b",
            " AND begins_with(sk, :a)");

    private final RandomGenerator random;
    private final LocalLikenessTest.Pair pair;

    Script(RandomGenerator random, LocalLikenessTest.Pair pair) {
        this.random = random;
        this.pair = pair;
    }

    /// One of four kinds: the key is two texts, numbers (N) or bytes (B), or one text (H).
    private record Table(String name, String kind) {}

    void step() {
        Table table = table(pair.name() + kind());
        switch (random.nextInt(12)) {
            case 0, 1 -> put(table);
            case 2, 3 -> update(table);
            case 4 -> delete(table);
            case 5 -> get(table);
            case 6 -> query(table);
            case 7 -> scan(table);
            case 8, 9 -> transact();
            case 10 -> batchWrite(table);
            default -> batchGet(table);
        }
    }

    private String kind() {
        return pick(List.of("", "N", "B", "H"));
    }

    private Table table(String name) {
        return new Table(name, name.substring(pair.name().length()));
    }

    private <T> T pick(List<T> list) {
        return list.get(random.nextInt(list.size()));
    }

    private AttributeValue part(Table table, int choice) {
        return switch (table.kind()) {
            case "N" ->
                AttributeValue.fromN(List.of("-1.5", "0", "1", "10", "2e3").get(choice));
            case "B" ->
                AttributeValue.fromB(SdkBytes.fromByteArray(
                        List.of(new byte[] {1}, new byte[] {-1}, new byte[] {1, -128}, new byte[] {127}, new byte[] {
                                    1, 1
                                })
                                .get(choice)));
            default -> text(List.of("a", "b", "ab", "é", "B").get(choice));
        };
    }

    private Map<String, AttributeValue> key(Table table) {
        Map<String, AttributeValue> key = new TreeMap<>();
        key.put("pk", part(table, random.nextInt(2)));
        if (!table.kind().equals("H")) {
            key.put("sk", part(table, random.nextInt(5)));
        }
        return key;
    }

    private Map<String, AttributeValue> item(Table table) {
        Map<String, AttributeValue> item = key(table);
        if (random.nextInt(4) > 0) {
            item.put("n", random.nextInt(8) > 0 ? number(random.nextInt(5)) : text("1"));
        }
        if (random.nextBoolean()) {
            item.put("o", number(random.nextInt(5)));
        }
        switch (random.nextInt(5)) {
            case 0 -> item.put("x", text("b".repeat(random.nextInt(3)) + "c"));
            case 1 -> item.put("x", AttributeValue.fromSs(List.of("b", "c")));
            case 2 -> item.put("x", AttributeValue.fromL(List.of(number(1), text("b"))));
            case 3 -> item.put("m", AttributeValue.fromM(Map.of("k", number(2), "j", number(1))));
            default -> {}
        }
        return item;
    }

    private Map<String, AttributeValue> values(String... expressions) {
        String all = String.join(" ", expressions);
        Map<String, AttributeValue> values = new TreeMap<>();
        int low = random.nextInt(4);
        Map<String, AttributeValue> possible = Map.of(
                ":v", number(low),
                ":w", number(low + random.nextInt(3)),
                ":t", text("b"),
                ":s", AttributeValue.fromSs(List.of("b", "d")),
                ":m", AttributeValue.fromM(Map.of("k", number(1))));
        for (String name : List.of(":v", ":w", ":t", ":s", ":m")) {
            if (all.contains(name)) {
                values.put(name, possible.get(name));
            }
        }
        return values;
    }

    private static <K, V> @Nullable Map<K, V> orNull(Map<K, V> map) {
        return map.isEmpty() ? null : map;
    }

    private @Nullable String condition() {
        return random.nextBoolean() ? null : pick(CONDITIONS);
    }

    private @Nullable ReturnValuesOnConditionCheckFailure onFailure() {
        return random.nextBoolean() ? null : ReturnValuesOnConditionCheckFailure.ALL_OLD;
    }

    private void put(Table table) {
        Map<String, AttributeValue> item = item(table);
        String condition = condition();
        Map<String, AttributeValue> values = values(textOf(condition));
        var onFailure = onFailure();
        ReturnValue returned = pick(List.of(ReturnValue.NONE, ReturnValue.ALL_OLD));
        pair.compare(
                "put " + item + " if " + condition + values,
                it -> it.putItem(request -> request.tableName(table.name())
                                .item(item)
                                .conditionExpression(condition)
                                .expressionAttributeValues(orNull(values))
                                .returnValues(returned)
                                .returnValuesOnConditionCheckFailure(onFailure))
                        .thenApply(response -> Answer.shown(response.attributes())));
    }

    private static String textOf(@Nullable String expression) {
        return expression == null ? "" : expression;
    }

    private void delete(Table table) {
        Map<String, AttributeValue> key = key(table);
        String condition = condition();
        Map<String, AttributeValue> values = values(textOf(condition));
        var onFailure = onFailure();
        pair.compare(
                "delete " + key + " if " + condition + values,
                it -> it.deleteItem(request -> request.tableName(table.name())
                                .key(key)
                                .conditionExpression(condition)
                                .expressionAttributeValues(orNull(values))
                                .returnValues(ReturnValue.ALL_OLD)
                                .returnValuesOnConditionCheckFailure(onFailure))
                        .thenApply(response -> Answer.shown(response.attributes())));
    }

    private void update(Table table) {
        Map<String, AttributeValue> key = key(table);
        String condition = condition();
        String update = pick(UPDATES);
        Map<String, AttributeValue> values = values(textOf(condition), update);
        var onFailure = onFailure();
        ReturnValue returned = pick(List.of(ReturnValue.NONE, ReturnValue.ALL_OLD, ReturnValue.ALL_NEW));
        pair.compare(
                "update " + key + " " + update + " if " + condition + values,
                it -> it.updateItem(request -> request.tableName(table.name())
                                .key(key)
                                .updateExpression(update)
                                .conditionExpression(condition)
                                .expressionAttributeValues(orNull(values))
                                .returnValues(returned)
                                .returnValuesOnConditionCheckFailure(onFailure))
                        .thenApply(response -> Answer.shown(response.attributes())));
    }

    private void get(Table table) {
        Map<String, AttributeValue> key = key(table);
        String projection = pick(List.of("pk", "n, o", "m.k", "x[1], n"));
        pair.compare(
                "get " + key + projection,
                it -> it.getItem(request ->
                                request.tableName(table.name()).key(key).projectionExpression(projection))
                        .thenApply(response -> Answer.shown(response.item())));
    }

    private void query(Table table) {
        boolean sorted = !table.kind().equals("H");
        String range = sorted ? pick(table.kind().equals("N") ? RANGES.subList(0, 5) : RANGES) : "";
        Map<String, AttributeValue> values = new TreeMap<>();
        values.put(":p", part(table, random.nextInt(2)));
        if (range.contains(":a")) {
            values.put(":a", part(table, random.nextInt(5)));
        }
        if (range.contains(":b")) {
            values.put(":b", part(table, random.nextInt(5)));
        }
        String filter = random.nextBoolean() ? null : pick(CONDITIONS.subList(2, CONDITIONS.size()));
        values.putAll(values(textOf(filter)));
        Integer limit = random.nextBoolean() ? null : random.nextInt(1, 4);
        boolean forward = random.nextBoolean();
        Map<String, AttributeValue> start = new TreeMap<>(key(table));
        start.put("pk", values.get(":p"));
        boolean starts = random.nextInt(3) == 0;
        pair.compare(
                "query " + range + values + " filter " + filter + " limit " + limit + " from " + (starts ? start : ""),
                it -> it.query(request -> request.tableName(table.name())
                                .keyConditionExpression("pk = :p" + range)
                                .filterExpression(filter)
                                .expressionAttributeValues(values)
                                .limit(limit)
                                .scanIndexForward(forward)
                                .exclusiveStartKey(starts ? start : null))
                        .thenApply(response -> Answer.shown(response.items()) + response.count() + "/"
                                + response.scannedCount() + Answer.shown(response.lastEvaluatedKey())));
    }

    private void scan(Table table) {
        String filter = random.nextBoolean() ? null : pick(CONDITIONS);
        Map<String, AttributeValue> values = values(textOf(filter));
        pair.compare(
                "scan " + filter + values,
                it -> it.scan(request -> request.tableName(table.name())
                                .filterExpression(filter)
                                .expressionAttributeValues(orNull(values)))
                        .thenApply(response -> Answer.sorted(response.items())
                                + response.scannedCount()
                                + Answer.shown(response.lastEvaluatedKey())));
    }

    private void transact() {
        // Of each table one item: of two writes to one item the emulator tells only if no condition fails.
        List<String> kinds = new ArrayList<>(List.of("", "N", "B", "H"));
        kinds.removeIf(_ -> random.nextInt(3) == 0);
        List<TransactWriteItem> items = kinds.stream()
                .map(kind -> transactItem(table(pair.name() + kind)))
                .toList();
        pair.compare(
                "transaction " + items,
                it -> it.transactWriteItems(request -> request.transactItems(items))
                        .thenApply(_ -> "done"));
        List<TransactGetItem> gets = new ArrayList<>();
        for (String kind : List.of("", "H")) {
            Table table = table(pair.name() + kind);
            Map<String, AttributeValue> key = key(table);
            gets.add(TransactGetItem.builder()
                    .get(get -> get.tableName(table.name()).key(key))
                    .build());
        }
        pair.compare(
                "transaction " + gets,
                it -> it.transactGetItems(request -> request.transactItems(gets))
                        .thenApply(response -> response.responses().stream()
                                .map(one -> Answer.shown(one.item()))
                                .toList()
                                .toString()));
    }

    private TransactWriteItem transactItem(Table table) {
        TransactWriteItem.Builder item = TransactWriteItem.builder();
        String name = table.name();
        Map<String, AttributeValue> key = key(table);
        String sure = pick(CONDITIONS);
        String condition = random.nextBoolean() ? null : sure;
        String update =
                pick(List.of("ADD n :v", "SET n = :v", "SET o = :w", "SET n = if_not_exists(o, :v)", "REMOVE n"));
        Map<String, AttributeValue> values = values(textOf(condition));
        Map<String, AttributeValue> updateValues = values(textOf(condition), update);
        var onFailure = onFailure();
        return switch (random.nextInt(4)) {
            case 0 -> {
                Map<String, AttributeValue> whole = item(table);
                yield item.put(put -> put.tableName(name)
                                .item(whole)
                                .conditionExpression(condition)
                                .expressionAttributeValues(orNull(values))
                                .returnValuesOnConditionCheckFailure(onFailure))
                        .build();
            }
            case 1 ->
                item.update(it -> it.tableName(name)
                                .key(key)
                                .updateExpression(update)
                                .conditionExpression(condition)
                                .expressionAttributeValues(orNull(updateValues))
                                .returnValuesOnConditionCheckFailure(onFailure))
                        .build();
            case 2 ->
                item.delete(delete -> delete.tableName(name)
                                .key(key)
                                .conditionExpression(condition)
                                .expressionAttributeValues(orNull(values))
                                .returnValuesOnConditionCheckFailure(onFailure))
                        .build();
            default ->
                item.conditionCheck(check -> check.tableName(name)
                                .key(key)
                                .conditionExpression(sure)
                                .expressionAttributeValues(orNull(values(sure)))
                                .returnValuesOnConditionCheckFailure(onFailure))
                        .build();
        };
    }

    private void batchWrite(Table table) {
        List<WriteRequest> writes = IntStream.range(0, random.nextInt(1, 4))
                .mapToObj(_ -> random.nextBoolean()
                        ? WriteRequest.builder()
                                .putRequest(put -> put.item(item(table)))
                                .build()
                        : WriteRequest.builder()
                                .deleteRequest(delete -> delete.key(key(table)))
                                .build())
                .toList();
        pair.compare(
                "batch " + writes,
                it -> it.batchWriteItem(request -> request.requestItems(Map.of(table.name(), writes)))
                        .thenApply(response -> "left " + response.unprocessedItems()));
    }

    private void batchGet(Table table) {
        List<Map<String, AttributeValue>> keys = IntStream.range(0, random.nextInt(1, 4))
                .mapToObj(_ -> key(table))
                .toList();
        KeysAndAttributes wanted = KeysAndAttributes.builder().keys(keys).build();
        pair.compare(
                "batch " + keys,
                it -> it.batchGetItem(request -> request.requestItems(Map.of(table.name(), wanted)))
                        .thenApply(
                                response -> Answer.sorted(response.responses().get(table.name()))));
    }
}
