package dev.onefold.kafka.format;

import dev.onefold.core.document.Node;
import dev.onefold.core.document.Problems;
import dev.onefold.core.json.JsonText;
import dev.onefold.core.pipeline.Origin.Encoded;
import dev.onefold.kafka.format.SchemaCopies.Copy;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/// A registry of schemas with the REST interface of Confluent. It is asked in threads of its own, and its caller asks
/// again for the answer. An id means one schema for ever, so each is asked for once: its copy is in the data directory.
/// Only the registry's own word that it lacks an id makes the id unknown; any other failure is tried again.
final class Registry implements Schemas {
    private static final Duration ANSWER_MAX = Duration.ofSeconds(10);
    private static final Duration PAUSE = Duration.ofSeconds(2); // Before an open question is asked again.
    private static final Duration UNKNOWN_FOR = Duration.ofSeconds(30);
    private static final int ANSWER_BYTES_MAX = 4 << 20;
    private static final int KNOWN_MAX = 1_000;
    private static final int REFERENCES_MAX = 100;
    private static final int FOUND = 200;
    private static final int NOT_FOUND = 404;
    private static final String NO_SUCH_SCHEMA = "40403";

    private final String address;
    private final Optional<String> authorization;
    private final SchemaCopies copies;
    private final Map<String, CompletableFuture<Told>> asked = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, CompletableFuture<Told>> eldest) {
            return size() > KNOWN_MAX;
        }
    };

    /// @param sinceNanos when it came: a slow answer is not over by then
    private record Told(Answer answer, long sinceNanos) {
        boolean isOver() {
            long age = System.nanoTime() - sinceNanos;
            return switch (answer) {
                case Answer.Known _ -> false;
                case Answer.Unknown _ -> age > UNKNOWN_FOR.toNanos();
                case Answer.Open _ -> age > PAUSE.toNanos();
            };
        }
    }

    /// @param authorization the value of the header of that name
    Registry(String address, Optional<String> authorization, SchemaCopies copies) {
        this.address = address;
        this.authorization = authorization;
        this.copies = copies;
    }

    @Override
    public Answer find(String id) {
        CompletableFuture<Told> question = asked.get(id);
        if (question == null || question.isDone() && question.join().isOver()) {
            CompletableFuture<Told> fresh = new CompletableFuture<>();
            Thread.ofVirtual().name("kafka-schema").start(() -> {
                Answer answer = ask(id);
                fresh.complete(new Told(answer, System.nanoTime()));
            });
            question = fresh;
            asked.put(id, question);
        }
        return question.isDone() ? question.join().answer : open(id, "has not answered yet");
    }

    private Answer open(String id, String how) {
        return new Answer.Open("the registry " + address + ", asked for schema " + id + ", " + how);
    }

    private Answer ask(String id) {
        HttpClient client = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .followRedirects(HttpClient.Redirect.NEVER)
                .connectTimeout(ANSWER_MAX)
                .build();
        try {
            Optional<Copy> kept = copies.read(id);
            Copy copy = kept.isPresent() ? kept.get() : copy(client, id);
            if (copy == null) {
                return new Answer.Unknown("the registry " + address + " has no schema " + id);
            }
            Answer known = new Answer.Known(Schema.of(format(copy.type()), copy.texts()));
            if (kept.isEmpty()) {
                copies.write(id, copy);
            }
            return known;
        } catch (Undecodable e) {
            return new Answer.Unknown("of schema " + id + " at " + address + ": " + e.getMessage());
        } catch (IOException | IllegalStateException e) {
            return open(id, "gave no answer that can be used: " + e.getMessage());
        } catch (InterruptedException e) {
            return open(id, "was interrupted");
        } catch (RuntimeException | Error e) {
            return open(id, "failed: " + e);
        } finally {
            client.shutdownNow();
        }
    }

    private static Encoded format(String type) throws Undecodable {
        return switch (type) {
            case "AVRO" -> Encoded.AVRO;
            case "PROTOBUF" -> Encoded.PROTOBUF;
            case "JSON" -> Encoded.JSON_SCHEMA;
            default -> throw new Undecodable("its type is " + type);
        };
    }

    private @Nullable Copy copy(HttpClient client, String id) throws IOException, InterruptedException {
        String path = "/schemas/ids/" + id;
        Node schema = get(client, path);
        if (schema == null) {
            return null;
        }
        String type = schema.find("schemaType") instanceof Node.Scalar word ? word.text() : "AVRO";
        String form = type.equals("PROTOBUF") ? "?format=serialized" : "";
        List<String> texts = new ArrayList<>();
        add(client, form.isEmpty() ? schema : there(client, path + form), form, new HashSet<>(), texts);
        return new Copy(type, texts);
    }

    /// Adds the texts of the schemas that one refers to, each once, and then its own.
    private void add(HttpClient client, Node schema, String form, Set<String> seen, List<String> texts)
            throws IOException, InterruptedException {
        if (schema.find("references") instanceof Node.Sequence references) {
            for (Node each : references.items()) {
                String subject = URLEncoder.encode(each.get("subject").text(), StandardCharsets.UTF_8);
                String path = "/subjects/" + subject.replace("+", "%20") + "/versions/"
                        + Integer.parseInt(each.get("version").text());
                if (seen.size() == REFERENCES_MAX) {
                    throw new IOException("it refers to more than " + REFERENCES_MAX + " schemas");
                }
                if (seen.add(path)) {
                    add(client, there(client, path + form), form, seen, texts);
                }
            }
        }
        texts.add(schema.get("schema").text());
    }

    private Node there(HttpClient client, String path) throws IOException, InterruptedException {
        Node found = get(client, path);
        if (found == null) {
            throw new IOException("it has nothing at " + path);
        }
        return found;
    }

    /// What the registry says of a path; `null` if it knows no such schema.
    private @Nullable Node get(HttpClient client, String path) throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(address + path))
                .header("Accept", "application/vnd.schemaregistry.v1+json, application/json");
        authorization.ifPresent(value -> request.header("Authorization", value));
        CompletableFuture<HttpResponse<String>> response =
                client.sendAsync(request.build(), BodyHandlers.limiting(BodyHandlers.ofString(), ANSWER_BYTES_MAX));
        try {
            HttpResponse<String> answer = response.get(ANSWER_MAX.toNanos(), TimeUnit.NANOSECONDS);
            Node body = JsonText.read(answer.body(), new Problems());
            int status = answer.statusCode();
            boolean isUnknown = status == NOT_FOUND
                    && body != null
                    && body.find("error_code") instanceof Node.Scalar code
                    && code.text().equals(NO_SUCH_SCHEMA);
            if (isUnknown) {
                return null;
            }
            if (status != FOUND || body == null) {
                throw new IOException(status == FOUND ? "its answer is not JSON" : "it answered " + status);
            }
            return body;
        } catch (TimeoutException e) {
            throw new IOException("it did not answer within " + ANSWER_MAX.toSeconds() + " s", e);
        } catch (ExecutionException e) {
            String cause = String.valueOf(e.getCause());
            throw new IOException("it cannot be reached: " + cause, e);
        } finally {
            response.cancel(true);
        }
    }
}
