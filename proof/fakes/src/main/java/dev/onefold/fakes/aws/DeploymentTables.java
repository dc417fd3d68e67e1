package dev.onefold.fakes.aws;

import java.util.List;
import java.util.Set;
import software.amazon.awssdk.services.dynamodb.model.AttributeDefinition;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.CreateTableRequest;
import software.amazon.awssdk.services.dynamodb.model.KeySchemaElement;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;

/// The four tables that the template of a deployment makes, for stand-ins that read no template.
public final class DeploymentTables {
    private DeploymentTables() {}

    /// The requests that make tables with these names.
    public static List<CreateTableRequest> requests(String rows, String deltas, String totals, String letters) {
        return List.of(
                table(rows, attribute("k", ScalarAttributeType.B)),
                table(deltas, attribute("l", ScalarAttributeType.S), attribute("i", ScalarAttributeType.S)),
                table(totals, attribute("p", ScalarAttributeType.S), attribute("g", ScalarAttributeType.B)),
                table(letters, attribute("p", ScalarAttributeType.S), attribute("i", ScalarAttributeType.B)));
    }

    /// The request that makes the table of a table of the user's function.
    ///
    /// @param key names of one or two attributes
    /// @param numbers the names among them that are numbers; the others are texts
    public static CreateTableRequest output(String name, List<String> key, Set<String> numbers) {
        return table(
                name,
                key.stream()
                        .map(part ->
                                attribute(part, numbers.contains(part) ? ScalarAttributeType.N : ScalarAttributeType.S))
                        .toArray(AttributeDefinition[]::new));
    }

    private static AttributeDefinition attribute(String name, ScalarAttributeType type) {
        return AttributeDefinition.builder()
                .attributeName(name)
                .attributeType(type)
                .build();
    }

    private static CreateTableRequest table(String name, AttributeDefinition... key) {
        return CreateTableRequest.builder()
                .tableName(name)
                .billingMode(BillingMode.PAY_PER_REQUEST)
                .attributeDefinitions(key)
                .keySchema(List.of(key).stream()
                        .map(attribute -> KeySchemaElement.builder()
                                .attributeName(attribute.attributeName())
                                .keyType(attribute.equals(key[0]) ? KeyType.HASH : KeyType.RANGE)
                                .build())
                        .toList())
                .build();
    }
}
