package dev.onefold.local.stack;

import java.util.function.Consumer;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.CreateTableRequest;

/// A table of the user's own, which is there before the stack. Its change stream is switched on behind its first rows.
///
/// @param request makes the table, without a stream
/// @param rows puts the rows that no stream tells of
public record GivenTable(CreateTableRequest request, Consumer<DynamoDbAsyncClient> rows) {
    /// A table whose rows all come later.
    public static GivenTable empty(CreateTableRequest request) {
        return new GivenTable(request, _ -> {});
    }
}
