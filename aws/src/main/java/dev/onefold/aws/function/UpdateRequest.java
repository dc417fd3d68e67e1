package dev.onefold.aws.function;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;

/// A custom-resource request of CloudFormation in the middle of an update, which asks whether the update may go
/// on. A refusal fails the update with its reason, and CloudFormation rolls its changes back.
///
/// @param fields texts of the request, by their paths, such as `ResourceProperties.Input`
record UpdateRequest(Map<String, String> fields) {
    private static final JsonFactory JSON = new JsonFactory();
    private static final String URL = "ResponseURL";
    private static final String ID = "PhysicalResourceId";

    /// A request has a few thousand. What is longer is records.
    private static final int EVENT_BYTES_MAX = 32_768;

    /// CloudFormation takes an answer of 4,096 bytes.
    private static final int REASON_MAX = 1_000;

    private static final int TIMEOUT_MS = 10_000;

    UpdateRequest {
        fields = Map.copyOf(fields);
    }

    /// The request that an event is; empty if it is something else.
    static Optional<UpdateRequest> read(byte[] event) {
        if (event.length > EVENT_BYTES_MAX || !new String(event, StandardCharsets.UTF_8).contains('"' + URL + '"')) {
            return Optional.empty();
        }
        Map<String, String> fields = new TreeMap<>();
        try (JsonParser json = JSON.createParser(event)) {
            while (json.nextToken() != null) {
                if (json.currentToken().isScalarValue() && json.currentToken() != JsonToken.VALUE_NULL) {
                    String path = json.getParsingContext().pathAsPointer().toString();
                    fields.put(path.substring(1).replace('/', '.'), json.getText());
                }
            }
        } catch (IOException e) {
            return Optional.empty(); // Whatever it is, who reads it says what is wrong with it.
        }
        return fields.containsKey(URL) && fields.containsKey("RequestType")
                ? Optional.of(new UpdateRequest(fields))
                : Optional.empty();
    }

    /// A property of the resource; empty if it has none of that name.
    String property(String name) {
        return fields.getOrDefault("ResourceProperties." + name, "");
    }

    /// The same before the update.
    String propertyBefore(String name) {
        return fields.getOrDefault("OldResourceProperties." + name, "");
    }

    boolean isUpdate() {
        return "Update".equals(fields.get("RequestType"));
    }

    /// Whether it leads back to an older version of the Lambda function, as only a rollback does: Lambda
    /// numbers the versions of a function one after another.
    boolean isToOlderVersion() {
        String to = property("Version");
        String from = propertyBefore("Version");
        int name = to.lastIndexOf(':') + 1;
        return isUpdate()
                && to.substring(0, name).equals(from.substring(0, from.lastIndexOf(':') + 1))
                && number(to.substring(name)) < number(from.substring(name));
    }

    private static int number(String version) {
        return version.matches("[0-9]{1,9}") ? Integer.parseInt(version) : 0;
    }

    /// The resource's name, as the last accepted request made it; empty before that.
    String name() {
        return fields.getOrDefault(ID, "");
    }

    /// Answers.
    ///
    /// @param accepted the resource's name if the answer is yes
    /// @param refusal why the update may not go on; not asked where a resource is only removed
    void answer(String accepted, Supplier<Optional<String>> refusal) {
        Optional<String> no;
        try {
            no = "Delete".equals(fields.get("RequestType")) ? Optional.empty() : refusal.get();
        } catch (RuntimeException e) { // CloudFormation waits for an answer, and shows it to a person.
            no = Optional.of("It cannot be said whether this version may serve: " + e);
        }
        // A resource that CloudFormation removes, or that was refused, keeps its name.
        boolean isNamed = no.isEmpty() && !"Delete".equals(fields.get("RequestType"));
        send(isNamed ? accepted : fields.getOrDefault(ID, accepted), no);
    }

    private void send(String id, Optional<String> no) {
        try {
            HttpURLConnection to = (HttpURLConnection)
                    URI.create(fields.getOrDefault(URL, "")).toURL().openConnection();
            to.setConnectTimeout(TIMEOUT_MS);
            to.setReadTimeout(TIMEOUT_MS);
            to.setDoOutput(true);
            to.setRequestMethod("PUT"); // Signed for a request that states no type of content, as this class sends one.
            try (OutputStream out = to.getOutputStream();
                    JsonGenerator json = JSON.createGenerator(out)) {
                json.writeStartObject();
                json.writeStringField("Status", no.isEmpty() ? "SUCCESS" : "FAILED");
                json.writeStringField("Reason", no.map(UpdateRequest::cut).orElse("It may serve."));
                json.writeStringField(ID, id);
                for (String same : new String[] {"StackId", "RequestId", "LogicalResourceId"}) {
                    json.writeStringField(same, fields.getOrDefault(same, ""));
                }
                json.writeEndObject();
            }
            try (InputStream in = to.getInputStream()) {
                in.readAllBytes();
            }
        } catch (IOException e) {
            throw new UncheckedIOException("CloudFormation cannot be told whether the update may go on", e);
        }
    }

    private static String cut(String reason) {
        return reason.length() <= REASON_MAX ? reason : reason.substring(0, REASON_MAX) + "...";
    }
}
