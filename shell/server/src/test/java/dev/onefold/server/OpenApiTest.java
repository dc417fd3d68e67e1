package dev.onefold.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.document.Node;
import dev.onefold.core.document.Problems;
import dev.onefold.core.json.JsonText;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The description of the API agrees with the routes, both ways.
@Timeout(60)
class OpenApiTest {
    private static final Pattern KNOWN = Pattern.compile("There is no parameter 'zzz' here(?:; there is ([^\"]*))?\"");
    private static final String WORDS = "totals changes rows keys tables status counts journal release records"
            + " dead-letters record edited redrive purge batches list content settle seal verify rebuild checkpoint change"
            + " range-sums row-marks sync seed repair rows marks finish renew end 1";

    @TempDir
    Path directory;

    /// @param parameters of the query
    private record Operation(String method, String path, Set<String> parameters) {
        /// A path of this form.
        String example() {
            return path.replace("{pipeline}", path.contains("/batches") ? "bursts" : "trades")
                    .replaceAll("\\{\\w+}", "1");
        }

        boolean is(String asked, String target) {
            return method.equals(asked) && target.matches(path.replaceAll("\\{\\w+}", "[^/]+"));
        }
    }

    private static List<Operation> operations(String json) {
        Problems problems = new Problems();
        Node document = JsonText.read(json, problems);
        assertThat(problems.inOrder()).isEmpty();
        List<Operation> operations = new ArrayList<>();
        for (Node.Entry path : entries(find(document, "paths"))) {
            for (Node.Entry method : entries(path.value())) {
                if (!method.name().text().equals("parameters")) {
                    operations.add(new Operation(
                            method.name().text().toUpperCase(Locale.ROOT),
                            path.name().text(),
                            parameters(find(method.value(), "parameters"))));
                }
            }
        }
        return operations;
    }

    private static List<Node.Entry> entries(Node node) {
        return node instanceof Node.Mapping mapping ? mapping.entries() : List.of();
    }

    private static Node find(Node node, String name) {
        return entries(node).stream()
                .filter(entry -> entry.name().text().equals(name))
                .map(Node.Entry::value)
                .findFirst()
                .orElse(Node.of(List.of()));
    }

    private static Set<String> parameters(Node list) {
        Set<String> names = new TreeSet<>();
        if (list instanceof Node.Sequence sequence) {
            for (Node each : sequence.items()) {
                if (((Node.Scalar) find(each, "in")).text().equals("query")) {
                    names.add(((Node.Scalar) find(each, "name")).text());
                }
            }
        }
        return names;
    }

    @Test
    void each_operation_is_a_route_with_these_parameters() throws Exception {
        try (RunningService on = new RunningService(directory)) {
            List<Operation> operations = operations(on.get("/openapi.json").body());
            assertThat(operations).hasSizeGreaterThan(30);
            for (Operation operation : operations) {
                if (!operation.path().startsWith("/v1")) {
                    assertThat(on.get(operation.path()).statusCode())
                            .as(operation.path())
                            .isEqualTo(200);
                    continue;
                }
                String answer = on.send(operation.method(), operation.example() + "?zzz=1", new byte[0])
                        .body();
                Matcher known = KNOWN.matcher(answer);
                assertThat(known.find()).as(operation + " " + answer).isTrue();
                Set<String> names = new TreeSet<>();
                if (known.group(1) != null) {
                    names.addAll(List.of(known.group(1).replaceFirst("\\.$", "").split(", ", -1)));
                }
                assertThat(names).as(operation.toString()).isEqualTo(operation.parameters());
            }
        }
    }

    @Test
    void each_route_is_an_operation() throws Exception {
        List<String> words = List.of(WORDS.split(" ", -1));
        List<String> tails = Stream.concat(
                        words.stream(),
                        Stream.of("dead-letters/1", "batches/1", "sync/1", "batches", "sync", "journal", "dead-letters")
                                .flatMap(first -> words.stream().map(word -> first + "/" + word)))
                .toList();
        try (RunningService on = new RunningService(directory)) {
            List<Operation> operations = operations(on.get("/openapi.json").body());
            for (String tail : tails) {
                for (String method : List.of("GET", "POST")) {
                    String path = "/v1/" + (tail.startsWith("batches") ? "bursts" : "trades") + "/" + tail;
                    HttpResponse<String> answer = on.send(method, path + "?zzz=1", new byte[0]);
                    if (KNOWN.matcher(answer.body()).find()) {
                        assertThat(operations)
                                .as(method + " " + path)
                                .anyMatch(operation -> operation.is(method, path));
                    }
                }
            }
        }
    }
}
