package dev.onefold.aws.stream;

import dev.onefold.aws.store.Store;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbException;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItemsRequest;

/// Tables that take everything but what has a certain text in it: whatever is in a transaction with that fails.
final class Cursed {
    private Cursed() {}

    static Store store(Store store, String text) {
        InvocationHandler handler = (proxy, method, arguments) -> {
            if (method.isDefault() && arguments != null && arguments[0] instanceof Consumer) {
                return InvocationHandler.invokeDefault(proxy, method, arguments);
            }
            if (arguments != null
                    && arguments[0] instanceof TransactWriteItemsRequest request
                    && holds(request, text)) {
                return CompletableFuture.failedFuture(DynamoDbException.builder()
                        .message("Cursed")
                        .statusCode(400)
                        .build());
            }
            try {
                return method.invoke(store.client(), arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        };
        DynamoDbAsyncClient client = (DynamoDbAsyncClient) Proxy.newProxyInstance(
                Cursed.class.getClassLoader(), new Class<?>[] {DynamoDbAsyncClient.class}, handler);
        return Pauseless.store(store, client);
    }

    private static boolean holds(TransactWriteItemsRequest request, String text) {
        return request.transactItems().stream()
                .filter(item -> item.put() != null)
                .flatMap(item -> item.put().item().values().stream())
                .anyMatch(value -> value.b() != null
                        && value.b().asString(StandardCharsets.ISO_8859_1).contains(text));
    }
}
