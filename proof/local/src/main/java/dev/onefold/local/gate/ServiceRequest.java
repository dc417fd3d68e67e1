package dev.onefold.local.gate;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.onefold.local.server.FunctionServer;
import dev.onefold.local.template.Account;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// What a request asks for, and which permissions it needs.
///
/// @param operation as the service's API names it, such as `TransactWriteItems`
/// @param body `null` where it is not JSON
record ServiceRequest(
        Service service,
        String operation,
        Set<Role.Need> needs,
        @Nullable ObjectNode body) {
    static final ObjectMapper JSON = new ObjectMapper();

    private static final Pattern ACTION = Pattern.compile("(?:^|&)Action=([A-Za-z]+)");

    /// Many messages in one request need the permission of one.
    private static final Pattern BATCH = Pattern.compile("Batch$");

    /// Operations whose permissions are those of the items, not one of their own.
    private static final Map<String, String> ITEMS = Map.of(
            "Put", "dynamodb:PutItem",
            "Update", "dynamodb:UpdateItem",
            "Delete", "dynamodb:DeleteItem",
            "ConditionCheck", "dynamodb:ConditionCheckItem",
            "Get", "dynamodb:GetItem",
            "PutRequest", "dynamodb:BatchWriteItem",
            "DeleteRequest", "dynamodb:BatchWriteItem");

    /// Reads requests. An iterator of a stream names nothing that is documented, so it remembers what they are of. Any
    /// thread.
    static final class Reader {
        private static final int ITERATORS_MAX = 100_000;

        private final Account account;
        private final Map<String, String> streams = new ConcurrentHashMap<>();

        Reader(Account account) {
            this.account = account;
        }

        /// @param service that its signature is for
        /// @param target the header `X-Amz-Target`; `null` for services that have none
        /// @throws IOException if it is nothing that is known
        ServiceRequest read(String service, @Nullable String target, String method, URI uri, byte[] body)
                throws IOException {
            if (service.equals("cloudformation")) {
                return stacks(body);
            }
            if (service.equals("monitoring")) {
                return metrics(uri.getPath());
            }
            if (target == null) {
                return uri.getPath().startsWith(FunctionServer.PATH) ? function(uri.getPath()) : object(method, uri);
            }
            return tableOrStreamOrQueue(target, body);
        }

        private ServiceRequest tableOrStreamOrQueue(String target, byte[] body) throws IOException {
            int dot = target.indexOf('.');
            String api = target.substring(0, Math.max(dot, 0));
            String operation = target.substring(dot + 1);
            ObjectNode json = (ObjectNode) JSON.readTree(body);
            Service service = service(api);
            Set<Role.Need> needs = new LinkedHashSet<>();
            switch (service) {
                case DYNAMODB -> tables(operation, json, needs);
                case STREAMS -> needs.add(need(service, operation, changes(operation, json)));
                case KINESIS -> needs.add(need(service, operation, kinesis(json)));
                case SQS -> needs.add(need(service, BATCH.matcher(operation).replaceFirst(""), queue(json)));
                case S3, LAMBDA, CLOUDFORMATION, CLOUDWATCH ->
                    throw new IOException("A request to " + service + " has no X-Amz-Target");
            }
            return new ServiceRequest(service, operation, needs, json);
        }

        private static Service service(String api) throws IOException {
            return switch (api) {
                case "DynamoDB_20120810" -> Service.DYNAMODB;
                case "DynamoDBStreams_20120810" -> Service.STREAMS;
                case "Kinesis_20131202" -> Service.KINESIS;
                case "AmazonSQS" -> Service.SQS;
                default -> throw new IOException("No service here has the API '" + api + "'");
            };
        }

        private static Role.Need need(Service service, String operation, String resource) {
            return new Role.Need(service.prefix + ":" + operation, resource);
        }

        private void tables(String operation, JsonNode json, Set<Role.Need> needs) {
            switch (operation) {
                case "TransactWriteItems", "TransactGetItems" -> {
                    for (JsonNode item : json.path("TransactItems")) {
                        item.properties()
                                .forEach(entry -> needs.add(new Role.Need(
                                        ITEMS.getOrDefault(entry.getKey(), "dynamodb:" + entry.getKey()),
                                        table(entry.getValue().path("TableName").asText()))));
                    }
                }
                case "BatchGetItem", "BatchWriteItem" ->
                    json.path("RequestItems")
                            .fieldNames()
                            .forEachRemaining(table -> needs.add(new Role.Need("dynamodb:" + operation, table(table))));
                default ->
                    needs.add(new Role.Need(
                            "dynamodb:" + operation,
                            table(json.path("TableName").asText())));
            }
        }

        private String table(String name) {
            return name.startsWith("arn:") ? name : account.arn("dynamodb", "table/" + name);
        }

        private String stream(JsonNode json, String field) {
            String iterator = json.path("ShardIterator").asText("");
            return iterator.isEmpty() ? json.path(field).asText() : streams.getOrDefault(iterator, "unknown");
        }

        /// To list the streams of a table is asked of all of them.
        private String changes(String operation, JsonNode json) {
            return operation.equals("ListStreams")
                    ? table(json.path("TableName").asText()) + "/stream/*"
                    : stream(json, "StreamArn");
        }

        private String kinesis(JsonNode json) {
            String name = json.path("StreamName").asText("");
            return name.isEmpty() ? stream(json, "StreamARN") : account.arn("kinesis", "stream/" + name);
        }

        private String queue(JsonNode json) {
            String url = json.path("QueueUrl").asText("");
            return account.arn("sqs", url.substring(url.lastIndexOf('/') + 1));
        }

        private ServiceRequest function(String path) {
            String name = FunctionServer.name(path);
            String arn = name.startsWith("arn:") ? name : account.arn("lambda", "function:" + name);
            return new ServiceRequest(
                    Service.LAMBDA, "InvokeFunction", Set.of(new Role.Need("lambda:InvokeFunction", arn)), null);
        }

        private static ServiceRequest stacks(byte[] body) {
            Matcher action = ACTION.matcher(new String(body, StandardCharsets.UTF_8));
            String operation = action.find() ? action.group(1) : "nothing";
            return new ServiceRequest(
                    Service.CLOUDFORMATION, operation, Set.of(need(Service.CLOUDFORMATION, operation, "*")), null);
        }

        private static ServiceRequest metrics(String path) {
            String operation = path.substring(path.lastIndexOf('/') + 1);
            return new ServiceRequest(
                    Service.CLOUDWATCH, operation, Set.of(need(Service.CLOUDWATCH, operation, "*")), null);
        }

        private ServiceRequest object(String method, URI uri) throws IOException {
            String path = uri.getPath();
            boolean isBucket = path.indexOf('/', 1) < 0;
            String operation = switch (method) {
                case "PUT" -> isBucket ? "PutBucket" : "PutObject";
                case "GET", "HEAD" -> isBucket ? "ListBucket" : "GetObject";
                case "DELETE" -> isBucket ? "DeleteBucket" : "DeleteObject";
                case "POST" -> "DeleteObject"; // Of many objects: another POST is refused by the store.
                default -> throw new IOException("The object store is not asked to " + method);
            };
            Role.Need need = new Role.Need("s3:" + operation, "arn:aws:s3:::" + path.substring(1));
            return new ServiceRequest(Service.S3, operation, Set.of(need), null);
        }

        /// Remembers of which stream the iterators in an answer are.
        void answered(ServiceRequest asked, byte[] body) throws IOException {
            boolean hasIterator = asked.operation().equals("GetShardIterator")
                    || asked.operation().equals("GetRecords");
            if (hasIterator && (asked.service() == Service.KINESIS || asked.service() == Service.STREAMS)) {
                JsonNode answer;
                try {
                    answer = JSON.readTree(body);
                } catch (JsonProcessingException e) {
                    throw new IOException("The answer to " + asked.operation() + " is not JSON", e);
                }
                if (streams.size() > ITERATORS_MAX) {
                    streams.clear(); // Whoever still has an older one is refused, and takes another.
                }
                String stream = List.copyOf(asked.needs()).getFirst().resource();
                for (String field : List.of("ShardIterator", "NextShardIterator")) {
                    String iterator = answer.path(field).asText("");
                    if (!iterator.isEmpty() && !iterator.equals("null")) {
                        streams.put(iterator, stream);
                    }
                }
            }
        }
    }

    /// How many items a transaction has.
    int items() {
        return body == null ? 0 : body.path("TransactItems").size();
    }

    /// The needs as a list, for messages.
    List<Role.Need> needsInOrder() {
        return new ArrayList<>(needs);
    }
}
