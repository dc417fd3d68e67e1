package dev.onefold.local.cloud;

import dev.onefold.local.function.Sandboxes;
import dev.onefold.local.stack.Workings;
import dev.onefold.local.template.StackTemplate;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/// The published versions of functions. A version is what `$LATEST` was, and never changes. One thread at a time.
final class Versions {
    private final Workings workings;
    private final Map<String, String> archives = new HashMap<>();
    private final Map<String, Published> last = new HashMap<>();
    private final Map<String, Sandboxes> byArn = new HashMap<>();

    private record Published(int number, String content) {}

    Versions(Workings workings) {
        this.workings = workings;
    }

    /// Notes the archive of what is `$LATEST` from now on.
    void loaded(String function, String digest) {
        archives.put(function, digest);
    }

    /// Makes a version, as Lambda does: only if code or configuration is another one than that of the version before.
    void publish(StackTemplate template, String resource) {
        String function = function(template, resource);
        Map<String, Object> properties = new TreeMap<>(template.properties(function));
        properties.remove("Code");
        String content = archives.get(function) + properties;
        Published before = last.getOrDefault(function, new Published(0, ""));
        if (before.content().equals(content)) {
            throw new IllegalArgumentException("A version for this Lambda function exists ( " + before.number()
                    + " ). Modify the function to create a new version.");
        }
        Published next = new Published(before.number() + 1, content);
        last.put(function, next);
        String arn = template.value(function + ".Arn") + ":" + next.number();
        byArn.put(arn, workings.latest(function));
        template.learn(resource, arn);
        template.learn(resource + ".Version", String.valueOf(next.number()));
    }

    /// Lets an alias lead to the version that the template says.
    void point(StackTemplate template, String alias) {
        String function = function(template, alias);
        String arn = template.value(function + ".Arn") + ":"
                + template.properties(alias).get("FunctionVersion");
        workings.point(function, Objects.requireNonNull(byArn.get(arn), () -> "There is no version " + arn));
    }

    private static String function(StackTemplate template, String resource) {
        Object name = template.properties(resource).get("FunctionName");
        return template.resources(Rules.FUNCTION).stream()
                .filter(each -> template.value(each).equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(resource + " is of no function of the template"));
    }
}
