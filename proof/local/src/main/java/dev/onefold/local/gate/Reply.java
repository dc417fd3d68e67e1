package dev.onefold.local.gate;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;

/// An answer, a server's or our own.
record Reply(int status, Map<String, List<String>> headers, byte[] body) {
    private static final String TOO_MANY = "ProvisionedThroughputExceededException";

    /// The same with its JSON changed; an error stays what it is.
    Reply edited(Consumer<ObjectNode> edit) throws IOException {
        if (status != 200) {
            return this;
        }
        ObjectNode json = (ObjectNode) ServiceRequest.JSON.readTree(body);
        edit.accept(json);
        Map<String, List<String>> kept = new java.util.TreeMap<>(headers);
        kept.keySet().removeIf(name -> name.toLowerCase(Locale.ROOT).equals("x-amz-crc32"));
        return new Reply(status, kept, ServiceRequest.JSON.writeValueAsBytes(json));
    }

    static Reply unknownCaller(ServiceRequest asked) {
        return error(
                asked, 403, "UnrecognizedClientException", "The security token included in the request is invalid.");
    }

    static Reply denied(ServiceRequest asked, Role role, Role.Need need) {
        return error(
                asked,
                asked.service() == Service.S3 || asked.service() == Service.LAMBDA ? 403 : 400,
                "AccessDeniedException",
                "User: " + role.name() + " is not authorized to perform: " + need.action() + " on resource: "
                        + need.resource() + " because no identity-based policy allows the " + need.action()
                        + " action");
    }

    static Reply throttled(ServiceRequest asked) {
        return switch (asked.service()) {
            case DYNAMODB, STREAMS, KINESIS -> error(asked, 400, TOO_MANY, "Rate exceeded (injected)");
            case SQS -> error(asked, 400, "RequestThrottled", "Rate exceeded (injected)");
            case LAMBDA -> error(asked, 429, "TooManyRequestsException", "Rate exceeded (injected)");
            case S3, CLOUDFORMATION, CLOUDWATCH -> error(asked, 503, "SlowDown", "Reduce your request rate (injected)");
        };
    }

    static Reply broken(ServiceRequest asked) {
        return error(asked, 500, "InternalServerError", "Internal server error (injected)");
    }

    static Reply conflict(ServiceRequest asked) {
        if (asked.items() == 0) {
            return error(asked, 400, "TransactionConflictException", "Transaction is ongoing for the item (injected)");
        }
        ObjectNode json = json("TransactionCanceledException", "Transaction cancelled (injected)");
        ArrayNode reasons = json.putArray("CancellationReasons");
        for (int i = 0; i < asked.items(); i++) {
            reasons.addObject().put("Code", i == asked.items() / 2 ? "TransactionConflict" : "None");
        }
        return reply(400, json);
    }

    static ObjectNode throttledEntry() {
        return ServiceRequest.JSON
                .createObjectNode()
                .put("ErrorCode", TOO_MANY)
                .put("ErrorMessage", "Rate exceeded for shard (injected)");
    }

    private static Reply error(ServiceRequest asked, int status, String code, String message) {
        if (asked.service() == Service.S3 || asked.service() == Service.CLOUDFORMATION) {
            return new Reply(
                    status,
                    Map.of("Content-Type", List.of("application/xml")),
                    ("<Error><Code>" + code + "</Code><Message>" + message + "</Message></Error>")
                            .getBytes(StandardCharsets.UTF_8));
        }
        return reply(status, json(code, message));
    }

    private static ObjectNode json(String code, String message) {
        return ServiceRequest.JSON
                .createObjectNode()
                .put("__type", "com.amazonaws.local#" + code)
                .put("message", message)
                .put("Message", message);
    }

    private static Reply reply(int status, ObjectNode json) {
        try {
            return new Reply(
                    status,
                    Map.of("Content-Type", List.of("application/x-amz-json-1.0")),
                    ServiceRequest.JSON.writeValueAsBytes(json));
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("Plain JSON cannot be written", e);
        }
    }
}
