package dev.onefold.mapping;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/// What a function's answer says where `ReportBatchItemFailures` is on.
final class BatchAnswer {
    private static final JsonFactory FACTORY = new JsonFactory();

    private BatchAnswer() {}

    /// The identifiers of what failed; empty is success, and nothing at all is the failure of the whole batch: an
    /// identifier that is empty or missing, or an answer that is no JSON.
    static Optional<Set<String>> failures(byte[] answer) {
        Set<String> failures = new HashSet<>();
        try (JsonParser json = FACTORY.createParser(answer)) {
            if (json.nextToken() != JsonToken.START_OBJECT) {
                return Optional.of(failures); // No answer, null or anything else says nothing of failures.
            }
            while (json.nextToken() != JsonToken.END_OBJECT) {
                boolean isList = json.currentName().equals("batchItemFailures");
                if (json.nextToken() == JsonToken.START_ARRAY && isList) {
                    while (json.nextToken() != JsonToken.END_ARRAY) {
                        String identifier = identifier(json);
                        if (identifier.isEmpty()) {
                            return Optional.empty();
                        }
                        failures.add(identifier);
                    }
                } else {
                    json.skipChildren();
                }
            }
        } catch (IOException broken) {
            return Optional.empty();
        }
        return Optional.of(failures);
    }

    private static String identifier(JsonParser json) throws IOException {
        String identifier = "";
        if (json.currentToken() != JsonToken.START_OBJECT) {
            json.skipChildren();
            return identifier;
        }
        while (json.nextToken() != JsonToken.END_OBJECT) {
            boolean isIdentifier = json.currentName().equals("itemIdentifier");
            if (json.nextToken() == JsonToken.VALUE_STRING && isIdentifier) {
                identifier = json.getText();
            } else {
                json.skipChildren();
            }
        }
        return identifier;
    }
}
