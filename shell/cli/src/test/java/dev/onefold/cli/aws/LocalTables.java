package dev.onefold.cli.aws;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.store.Store;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import software.amazon.awssdk.services.dynamodb.model.AttributeDefinition;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.KeySchemaElement;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.ResourceInUseException;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;

/// Tables on DynamoDB Local.
final class LocalTables {
    private LocalTables() {}

    /// The last of the names is the one of this type; one before it is a text.
    static void create(Store store, String table, ScalarAttributeType type, String... names) {
        List<AttributeDefinition> attributes = new ArrayList<>();
        List<KeySchemaElement> keys = new ArrayList<>();
        for (int i = 0; i < names.length; i++) {
            attributes.add(AttributeDefinition.builder()
                    .attributeName(names[i])
                    .attributeType(i == names.length - 1 ? type : ScalarAttributeType.S)
                    .build());
            keys.add(KeySchemaElement.builder()
                    .attributeName(names[i])
                    .keyType(i == 0 ? KeyType.HASH : KeyType.RANGE)
                    .build());
        }
        try {
            store.client()
                    .createTable(request -> request.tableName(table)
                            .billingMode(BillingMode.PAY_PER_REQUEST)
                            .attributeDefinitions(attributes)
                            .keySchema(keys))
                    .join();
        } catch (CompletionException e) {
            // An attempt that was not answered in time has made the table, and the next attempt finds it.
            assertThat(e.getCause()).isInstanceOf(ResourceInUseException.class);
        }
    }
}
