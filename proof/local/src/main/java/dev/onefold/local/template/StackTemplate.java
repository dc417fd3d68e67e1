package dev.onefold.local.template;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// A template with the values of its parameters: what each resource is to be. A property can be read as soon as the
/// resources that it refers to are known, some of whose attributes only their making tells. Not thread-safe.
///
/// What is not known here is refused, never left out: a template that begins to use more of CloudFormation fails.
public final class StackTemplate {
    private static final Pattern PLACEHOLDER = Pattern.compile("\\$\\{([^}]+)}");

    private final Account account;
    private final String stack;
    private final String suffix;
    private final Map<String, Object> document;
    private final Map<String, String> parameters = new LinkedHashMap<>();

    /// By "resource" and by "resource.attribute".
    private final Map<String, String> known = new LinkedHashMap<>();

    /// The part of it that the making of resources has told.
    private final Map<String, String> learned = new LinkedHashMap<>();

    /// Parses a template.
    ///
    /// @param given values of parameters; the others have their defaults
    public StackTemplate(Account account, String stack, String yaml, Map<String, String> given) {
        this(account, stack, "", yaml, given);
    }

    /// The same, and names that are made up end with a suffix, so that none is that of an earlier stack.
    public StackTemplate(Account account, String stack, String suffix, String yaml, Map<String, String> given) {
        this.account = account;
        this.stack = stack;
        this.suffix = suffix;
        document = Document.read(yaml);
        section("Parameters").forEach((name, value) -> {
            Object byDefault = Document.map(value).get("Default");
            String chosen = given.getOrDefault(name, byDefault == null ? "" : byDefault.toString());
            if (byDefault == null && !given.containsKey(name)) {
                throw new IllegalArgumentException("The template's parameter " + name + " must be given");
            }
            requireAllowed(name, Document.map(value), chosen);
            parameters.put(name, chosen);
        });
        for (String name : given.keySet()) {
            if (!parameters.containsKey(name)) {
                throw new IllegalArgumentException("The template has no parameter " + name);
            }
        }
        section("Rules").forEach((name, rule) -> requireHeld(Document.map(rule)));
        section("Resources").forEach((name, value) -> name(name, type(name)));
    }

    /// What an update makes of it: the same stack by another template, in which resources keep their made-up names.
    public StackTemplate updated(String yaml, Map<String, String> given) {
        StackTemplate next = new StackTemplate(account, stack, suffix, yaml, given);
        Map<String, Object> resources = next.section("Resources");
        learned.forEach((name, value) -> {
            if (resources.containsKey(name.split("\\.", 2)[0])) {
                next.learn(name, value);
            }
        });
        return next;
    }

    private void requireHeld(Map<String, Object> rule) {
        if (rule.containsKey("RuleCondition") && !isTrue(rule.get("RuleCondition"))) {
            return;
        }
        for (Object each : Document.list(rule.get("Assertions"))) {
            Map<String, Object> assertion = Document.map(each);
            if (!isTrue(assertion.get("Assert"))) {
                throw new IllegalArgumentException(
                        "Template parameter validation failed: " + assertion.get("AssertDescription"));
            }
        }
    }

    /// A parameter of a template.
    public record Parameter(String name, Optional<String> byDefault, String description) {}

    /// What parameters a template has.
    ///
    /// @throws IllegalArgumentException if it is no template
    public static List<Parameter> parameters(String yaml) {
        Map<String, Object> document = Document.read(yaml);
        if (!document.containsKey("Resources")) {
            throw new IllegalArgumentException("At least one Resources member must be defined.");
        }
        List<Parameter> parameters = new ArrayList<>();
        Document.map(document.getOrDefault("Parameters", Map.of())).forEach((name, value) -> {
            Map<String, Object> parameter = Document.map(value);
            parameters.add(new Parameter(
                    name,
                    Optional.ofNullable(parameter.get("Default")).map(Object::toString),
                    String.valueOf(parameter.getOrDefault("Description", ""))));
        });
        return parameters;
    }

    private static void requireAllowed(String name, Map<String, Object> parameter, String chosen) {
        Object pattern = parameter.get("AllowedPattern");
        Object values = parameter.get("AllowedValues");
        Object least = parameter.get("MinValue");
        Object most = parameter.get("MaxValue");
        String wanted = null;
        if (pattern != null && !chosen.matches(pattern.toString())) {
            wanted = pattern.toString();
        } else if (values != null && !Document.list(values).contains(chosen)) {
            wanted = "one of " + Document.list(values);
        } else if ((least != null && isLess(chosen, least)) || (most != null && isLess(most, chosen))) {
            wanted = "a number from " + least + (most == null ? " on" : " to " + most);
        }
        if (wanted != null) {
            throw new IllegalArgumentException(
                    "The template's parameter " + name + " cannot be '" + chosen + "': it is " + wanted);
        }
    }

    private static boolean isLess(Object number, Object bound) {
        try {
            return new BigDecimal(number.toString()).compareTo(new BigDecimal(bound.toString())) < 0;
        } catch (NumberFormatException e) {
            return true; // What is no number is not in bounds.
        }
    }

    private Map<String, Object> section(String name) {
        return Document.map(document.getOrDefault(name, Map.of()));
    }

    /// Gives a resource the name that CloudFormation would make up, and the attributes that follow from it.
    private void name(String id, String type) {
        String own = stack + "-" + id + suffix;
        switch (type) {
            case "AWS::DynamoDB::Table" -> {
                String table = String.valueOf(properties(id).get("TableName"));
                know(id, table, account.arn("dynamodb", "table/" + table));
            }
            case "AWS::Kinesis::Stream" -> {
                String stream = String.valueOf(properties(id).getOrDefault("Name", own));
                know(id, stream, account.arn("kinesis", "stream/" + stream));
            }
            case "AWS::SQS::Queue" -> {
                Object given = Document.map(resource(id).getOrDefault("Properties", Map.of()))
                        .get("QueueName"); // What else it has may speak of queues that have no name yet.
                String queue = given == null ? own : text(given);
                know(id, queue, account.arn("sqs", queue));
                known.put(id + ".QueueName", queue);
            }
            case "AWS::S3::Bucket" -> {
                String bucket = own.toLowerCase(Locale.ROOT);
                know(id, bucket, "arn:aws:s3:::" + bucket);
            }
            case "AWS::IAM::Role" -> know(id, own, account.globalArn("iam", "role/" + own));
            case "AWS::Lambda::Function" -> know(id, own, account.arn("lambda", "function:" + own));
            case "AWS::Lambda::Version" -> {
                known.put(id, own);
                known.put(id + ".Version", "1"); // Until its making says another one.
            }
            case "AWS::Logs::LogGroup" -> know(id, own, account.arn("logs", "log-group:" + own));
            case "AWS::Events::Rule" -> know(id, own, account.arn("events", "rule/" + own));
            default -> known.put(id, own);
        }
    }

    private void know(String id, String name, String arn) {
        known.put(id, name);
        known.put(id + ".Arn", arn);
    }

    /// Gives a parameter another value.
    public void set(String parameter, String value) {
        if (parameters.replace(parameter, value) == null) {
            throw new IllegalArgumentException("The template has no parameter " + parameter);
        }
    }

    /// Adds what the making of a resource told.
    ///
    /// @param name of the resource, or "resource.attribute"
    public void learn(String name, String value) {
        known.put(name, value);
        learned.put(name, value);
    }

    /// The names of all resources, in the order of the template.
    public List<String> resources() {
        return section("Resources").keySet().stream()
                .filter(name -> isMade(resource(name)))
                .toList();
    }

    /// What becomes of a resource when the stack is deleted: its `DeletionPolicy`.
    public String deletionPolicy(String resource) {
        return String.valueOf(resource(resource).getOrDefault("DeletionPolicy", "Delete"));
    }

    /// What becomes of a resource when an update replaces it: its `UpdateReplacePolicy`.
    public String replacePolicy(String resource) {
        return String.valueOf(resource(resource).getOrDefault("UpdateReplacePolicy", "Delete"));
    }

    /// The values of all parameters, by their names.
    public Map<String, String> parameters() {
        return Map.copyOf(parameters);
    }

    /// The template's own description; empty if it has none.
    public String description() {
        return String.valueOf(document.getOrDefault("Description", ""));
    }

    /// The names of the resources of a type, in the order of the template.
    public List<String> resources(String type) {
        return section("Resources").keySet().stream()
                .filter(name -> type(name).equals(type) && isMade(resource(name)))
                .toList();
    }

    private boolean isMade(Map<String, Object> resourceOrOutput) {
        Object condition = resourceOrOutput.get("Condition");
        return condition == null || isTrue(section("Conditions").get(condition.toString()));
    }

    /// The names that a resource refers to, and those that it says it depends on.
    public Set<String> needs(String resource) {
        Set<String> needs = new TreeSet<>();
        Map<String, Object> all = resource(resource);
        Object given = all.getOrDefault("DependsOn", List.of());
        (given instanceof List<?> list ? list : List.of(given)).forEach(name -> needs.add(String.valueOf(name)));
        collect(all.get("Properties"), needs);
        return needs;
    }

    private static void collect(@Nullable Object value, Set<String> needs) {
        switch (value) {
            case Document.Call(String function, String name)
            when function.equals("Sub") ->
                PLACEHOLDER
                        .matcher(name)
                        .results()
                        .forEach(each -> needs.add(each.group(1).split("\\.", 2)[0]));
            case Document.Call(String _, String name) -> needs.add(name.split("\\.", 2)[0]);
            case Document.Call(String _, Object argument) -> collect(argument, needs);
            case Map<?, ?> entries -> entries.values().forEach(each -> collect(each, needs));
            case List<?> items -> items.forEach(each -> collect(each, needs));
            case null, default -> {}
        }
    }

    /// The type of a resource, such as `AWS::SQS::Queue`.
    public String type(String resource) {
        return String.valueOf(resource(resource).get("Type"));
    }

    private Map<String, Object> resource(String name) {
        return Document.map(section("Resources").get(name));
    }

    /// The properties of a resource: text, lists and maps.
    public Map<String, Object> properties(String resource) {
        Object properties = evaluate(resource(resource).getOrDefault("Properties", Map.of()));
        return Document.map(properties == null ? Map.of() : properties);
    }

    /// What the stack tells of itself.
    public Map<String, String> outputs() {
        Map<String, String> outputs = new LinkedHashMap<>();
        section("Outputs").forEach((name, output) -> {
            if (isMade(Document.map(output))) {
                outputs.put(name, String.valueOf(evaluate(Document.map(output).get("Value"))));
            }
        });
        return outputs;
    }

    /// The name of a resource, or an attribute of it ("resource.attribute"), or the value of a parameter.
    public String value(String name) {
        String value = known.getOrDefault(name, parameters.get(name));
        if (value == null) {
            throw new IllegalArgumentException("The template speaks of " + name + ", which is not known here");
        }
        return value;
    }

    /// `null` stands for AWS::NoValue.
    private @Nullable Object evaluate(@Nullable Object value) {
        return switch (value) {
            case Document.Call call -> call(call);
            case Map<?, ?> entries -> {
                Map<String, Object> map = new LinkedHashMap<>();
                Document.map(entries).forEach((name, entry) -> {
                    Object evaluated = evaluate(entry);
                    if (evaluated != null) {
                        map.put(name, evaluated);
                    }
                });
                yield map;
            }
            case List<?> items -> {
                List<Object> list = new ArrayList<>();
                for (Object item : items) {
                    Object evaluated = evaluate(item);
                    if (evaluated != null) {
                        list.add(evaluated);
                    }
                }
                yield list;
            }
            case null -> null;
            default -> value;
        };
    }

    private @Nullable Object call(Document.Call call) {
        return switch (call.function()) {
            case "Ref" -> reference(call.argument().toString());
            case "GetAtt" -> value(call.argument().toString());
            case "Sub" -> substituted(call.argument().toString());
            case "FindInMap" -> {
                List<Object> path = Document.list(call.argument());
                Object map = section("Mappings").get(text(path.get(0)));
                Object entry = Document.map(map == null ? Map.of() : map).get(text(path.get(1)));
                yield Document.map(entry == null ? Map.of() : entry).get(text(path.get(2)));
            }
            case "If" -> {
                List<Object> parts = Document.list(call.argument());
                yield evaluate(isTrue(section("Conditions").get(text(parts.get(0)))) ? parts.get(1) : parts.get(2));
            }
            case "Join" -> {
                List<Object> parts = Document.list(call.argument());
                yield texts(parts.get(1)).collect(Collectors.joining(text(parts.get(0))));
            }
            case "Select" -> {
                List<Object> parts = Document.list(call.argument());
                yield Document.list(evaluate(parts.get(1))).get(Integer.parseInt(text(parts.get(0))));
            }
            case "Split" -> {
                List<Object> parts = Document.list(call.argument());
                yield List.of(text(parts.get(1)).split(Pattern.quote(text(parts.get(0))), -1));
            }
            default ->
                throw new IllegalArgumentException(
                        "The template calls !" + call.function() + ", which is not known here");
        };
    }

    private Stream<String> texts(Object list) {
        return Document.list(evaluate(list)).stream().map(String::valueOf);
    }

    private String text(Object value) {
        return String.valueOf(evaluate(value));
    }

    private boolean isTrue(@Nullable Object condition) {
        if (condition instanceof Document.Call(String function, Object argument)) {
            List<Object> parts = Document.list(argument);
            if (function.equals("Not")) {
                return !isTrue(parts.getFirst());
            }
            if (function.equals("And")) {
                return parts.stream().allMatch(this::isTrue);
            }
            if (function.equals("Or")) {
                return parts.stream().anyMatch(this::isTrue);
            }
            if (function.equals("Equals")) {
                return text(parts.get(0)).equals(text(parts.get(1)));
            }
        }
        throw new IllegalArgumentException("The template has a condition that is not known here: " + condition);
    }

    private @Nullable String reference(String name) {
        return switch (name) {
            case "AWS::NoValue" -> null;
            case "AWS::StackName" -> stack;
            case "AWS::Partition" -> "aws";
            case "AWS::Region" -> account.region();
            case "AWS::AccountId" -> account.id();
            default -> value(name);
        };
    }

    private String substituted(String text) {
        Matcher matcher = PLACEHOLDER.matcher(text);
        StringBuilder result = new StringBuilder();
        while (matcher.find()) {
            matcher.appendReplacement(result, Matcher.quoteReplacement(String.valueOf(reference(matcher.group(1)))));
        }
        return matcher.appendTail(result).toString();
    }
}
