package dev.onefold.fakes.aws.table;

import java.util.Set;
import software.amazon.awssdk.core.SdkField;
import software.amazon.awssdk.core.util.SdkAutoConstructList;
import software.amazon.awssdk.core.util.SdkAutoConstructMap;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbRequest;

/// Parameters that expressions have replaced, and those of indices. Nobody should use them, so they are refused loudly.
final class Legacy {
    private static final Set<String> NAMES = Set.of(
            "Expected",
            "ConditionalOperator",
            "AttributeUpdates",
            "AttributesToGet",
            "KeyConditions",
            "QueryFilter",
            "ScanFilter",
            "IndexName");

    private Legacy() {}

    static void refuse(DynamoDbRequest request) {
        for (SdkField<?> field : request.sdkFields()) {
            if (NAMES.contains(field.memberName())) {
                Object value = request.getValueForField(field.memberName(), Object.class)
                        .orElse(null);
                if (value != null
                        && !(value instanceof SdkAutoConstructMap)
                        && !(value instanceof SdkAutoConstructList)) {
                    throw new UnsupportedOperationException(field.memberName() + " is not simulated: use expressions.");
                }
            }
        }
    }
}
