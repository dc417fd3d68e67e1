package dev.onefold.fakes.aws.expression;

import dev.onefold.fakes.aws.expression.DocumentPath.Field;
import dev.onefold.fakes.aws.expression.DocumentPath.Index;
import dev.onefold.fakes.aws.expression.DocumentPath.Step;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// The parts of an item that are asked for.
public final class Projection {
    private final List<DocumentPath> paths;

    Projection(List<DocumentPath> paths) {
        this.paths = paths;
    }

    static Projection parse(Parser parser) {
        List<DocumentPath> paths = new ArrayList<>();
        do {
            DocumentPath path = parser.path();
            if (paths.stream().anyMatch(path::clashesWith)) {
                throw parser.tokens.refused(
                        "Two document paths overlap with each other; must remove or rewrite one" + " of these paths;");
            }
            paths.add(path);
        } while (parser.tokens.take(","));
        parser.tokens.expectEnd();
        return new Projection(paths);
    }

    /// The parts, each where it was; lists are closed up.
    public Map<String, AttributeValue> of(Map<String, AttributeValue> item) {
        AttributeValue whole = AttributeValue.fromM(item);
        AttributeValue part =
                part(whole, paths.stream().map(DocumentPath::steps).toList());
        return part == null ? Map.of() : Collections.unmodifiableMap(new TreeMap<>(part.m()));
    }

    /// What these ways lead to, or null if none leads anywhere.
    private static @Nullable AttributeValue part(AttributeValue value, List<List<Step>> ways) {
        if (ways.stream().anyMatch(List::isEmpty)) {
            return value;
        }
        Map<String, List<List<Step>>> fields = new TreeMap<>();
        Map<Integer, List<List<Step>>> indices = new TreeMap<>();
        for (List<Step> way : ways) {
            List<Step> rest = way.subList(1, way.size());
            switch (way.getFirst()) {
                case Field(String name) ->
                    fields.computeIfAbsent(name, _ -> new ArrayList<>()).add(rest);
                case Index(int index) ->
                    indices.computeIfAbsent(index, _ -> new ArrayList<>()).add(rest);
            }
        }
        Map<String, AttributeValue> map = new TreeMap<>();
        fields.forEach((name, rests) -> {
            AttributeValue inner = DocumentPath.into(value, new Field(name));
            AttributeValue part = inner == null ? null : part(inner, rests);
            if (part != null) {
                map.put(name, part);
            }
        });
        List<AttributeValue> list = new ArrayList<>();
        indices.forEach((index, rests) -> {
            AttributeValue inner = DocumentPath.into(value, new Index(index));
            AttributeValue part = inner == null ? null : part(inner, rests);
            if (part != null) {
                list.add(part);
            }
        });
        if (!list.isEmpty()) {
            return AttributeValue.fromL(list);
        }
        return map.isEmpty() ? null : AttributeValue.fromM(map);
    }
}
