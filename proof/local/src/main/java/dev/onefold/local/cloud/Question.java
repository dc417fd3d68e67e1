package dev.onefold.local.cloud;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onefold.local.server.Loopback;
import dev.onefold.mapping.Invoker;
import dev.onefold.mapping.source.Futures;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;

/// What CloudFormation asks the function of a custom resource, and the place where it waits for the answer.
///
/// @param event without the place
/// @param seconds for which it waits
record Question(Map<String, Object> event, int seconds) {
    private static final ObjectMapper JSON = new ObjectMapper();

    /// Asks, and waits.
    ///
    /// @return the name that the answer gives the resource
    /// @throws IllegalArgumentException with the reason, if the answer is no, or does not come
    String of(Invoker function) {
        String request = UUID.randomUUID().toString();
        CompletableFuture<JsonNode> answer = new CompletableFuture<>();
        try (Loopback place = Loopback.open(exchange -> {
            try (exchange) {
                answer.complete(JSON.readTree(exchange.getRequestBody().readAllBytes()));
                exchange.sendResponseHeaders(200, -1);
            }
        })) {
            Map<String, Object> asked = new LinkedHashMap<>(event);
            asked.put("RequestId", request);
            asked.put("ResponseURL", place.uri() + "/answer?signature=1");
            var _ = function.invoke(JSON.writeValueAsBytes(asked)).whenComplete((_, failure) -> {
                if (failure != null) {
                    answer.completeExceptionally(failure);
                }
            });
            JsonNode said = answer.orTimeout(seconds, TimeUnit.SECONDS).join();
            if (!said.path("Status").asText().equals("SUCCESS")) {
                throw new IllegalArgumentException("Received response status [FAILED] from custom resource. Message"
                        + " returned: " + said.path("Reason").asText() + " (RequestId: " + request
                        + ")");
            }
            return said.path("PhysicalResourceId").asText();
        } catch (CompletionException e) {
            throw new IllegalArgumentException(
                    "CloudFormation did not receive a response from your Custom Resource. Please check your logs for"
                            + " requestId [" + request + "]. " + Futures.cause(e),
                    e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
