package dev.onefold.local.stack;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onefold.local.function.FunctionSettings;
import dev.onefold.local.gate.Role;
import dev.onefold.local.template.StackTemplate;
import dev.onefold.mapping.MappingSettings;
import dev.onefold.mapping.source.TableSource;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import software.amazon.awssdk.services.dynamodb.model.OperationType;

/// What a template says of roles, functions, mappings and schedules.
public final class Stack {
    private static final Pattern RATE = Pattern.compile("rate\\(([0-9]+) (minute|day)s?\\)");
    private static final ObjectMapper JSON = new ObjectMapper();

    private final StackTemplate template;
    private final String region;

    /// Reads a template.
    public Stack(StackTemplate template, String region) {
        this.template = template;
        this.region = region;
    }

    /// What a mapping reads and invokes.
    ///
    /// @param name its own
    /// @param function its logical name in the template
    /// @param onFailure name of the queue that is told what was given up; empty for none
    /// @param filter of a table's changes
    record Mapping(
            String name,
            String sourceArn,
            String function,
            MappingSettings settings,
            String onFailure,
            TableSource.Filter filter) {}

    /// What a schedule invokes.
    record Schedule(Duration every, String function, String input) {}

    /// The roles of the functions, by their names in the template.
    public Map<String, Role> roles() {
        Map<String, Role> roles = new TreeMap<>();
        for (String name : template.resources("AWS::IAM::Role")) {
            List<Role.Statement> statements = new ArrayList<>();
            for (Map<String, Object> policy :
                    Properties.list(template.properties(name).get("Policies"))) {
                Map<String, Object> document = Properties.map(policy.get("PolicyDocument"));
                for (Map<String, Object> statement : Properties.list(document.get("Statement"))) {
                    if (!Properties.text(statement, "Effect").equals("Allow") || statement.containsKey("Condition")) {
                        throw new IllegalArgumentException(
                                "Role " + name + " has a statement that does more than allow");
                    }
                    statements.add(new Role.Statement(
                            Properties.text(statement, "Sid"),
                            Properties.texts(statement.get("Action")),
                            Properties.texts(statement.get("Resource"))));
                }
            }
            roles.put(name, new Role(name, name.toUpperCase(Locale.ROOT), statements));
        }
        return roles;
    }

    /// The name in the template of the role that a function has.
    String roleOf(String function) {
        String arn = Properties.text(template.properties(function), "Role");
        return template.resources("AWS::IAM::Role").stream()
                .filter(role -> template.value(role + ".Arn").equals(arn))
                .findFirst()
                .orElseThrow(
                        () -> new IllegalArgumentException(function + " has a role that the template does not make"));
    }

    /// The functions, by their names in the template.
    ///
    /// @param endpoint of all services
    Map<String, FunctionSettings> functions(URI endpoint, int sandboxesMax) {
        Map<String, FunctionSettings> functions = new TreeMap<>();
        for (String name : template.resources("AWS::Lambda::Function")) {
            Map<String, Object> properties = template.properties(name);
            Map<String, String> environment = new TreeMap<>();
            Properties.map(Properties.map(properties.get("Environment")).get("Variables"))
                    .forEach((variable, value) -> environment.put(variable, value.toString()));
            environment.put("AWS_REGION", region);
            environment.put("AWS_ACCESS_KEY_ID", roleOf(name).toUpperCase(Locale.ROOT));
            environment.put("AWS_SECRET_ACCESS_KEY", "secret");
            environment.put("AWS_ENDPOINT_URL", endpoint.toString());
            functions.put(
                    name,
                    new FunctionSettings(
                            template.value(name),
                            Properties.text(properties, "Handler"),
                            environment,
                            Properties.seconds(properties, "Timeout"),
                            Properties.number(properties, "MemorySize"),
                            sandboxesMax,
                            List.of("-Daws.cborEnabled=false"))); // The gate reads JSON.
        }
        return functions;
    }

    /// The mappings, in the order of the template.
    List<Mapping> mappings() {
        List<Mapping> mappings = new ArrayList<>();
        for (String name : template.resources("AWS::Lambda::EventSourceMapping")) {
            Map<String, Object> properties = template.properties(name);
            String onFailure = properties.containsKey("DestinationConfig")
                    ? Properties.text(
                            Properties.map(Properties.map(properties.get("DestinationConfig"))
                                    .get("OnFailure")),
                            "Destination")
                    : "";
            mappings.add(new Mapping(
                    name,
                    Properties.text(properties, "EventSourceArn"),
                    function(Properties.text(properties, "FunctionName")),
                    settings(properties),
                    onFailure,
                    filter(properties)));
        }
        return mappings;
    }

    private static MappingSettings settings(Map<String, Object> properties) {
        int age = Properties.number(properties, "MaximumRecordAgeInSeconds", -1);
        boolean reports = properties.containsKey("FunctionResponseTypes")
                && Properties.texts(properties.get("FunctionResponseTypes")).contains("ReportBatchItemFailures");
        return new MappingSettings(
                Properties.number(properties, "BatchSize"),
                Duration.ofSeconds(Properties.number(properties, "MaximumBatchingWindowInSeconds", 0)),
                Properties.number(properties, "ParallelizationFactor", 1),
                new MappingSettings.Failing(
                        Properties.number(properties, "MaximumRetryAttempts", -1),
                        age == -1 ? MappingSettings.FOREVER : Duration.ofSeconds(age),
                        Boolean.parseBoolean(Properties.text(properties, "BisectBatchOnFunctionError", "false")),
                        reports),
                new MappingSettings.Start(
                        MappingSettings.StartingPosition.valueOf(
                                Properties.text(properties, "StartingPosition", "TRIM_HORIZON")),
                        properties.containsKey("StartingPositionTimestamp")
                                ? Instant.ofEpochSecond(Properties.number(properties, "StartingPositionTimestamp"))
                                : null));
    }

    private static TableSource.Filter filter(Map<String, Object> properties) {
        Set<OperationType> all = EnumSet.of(OperationType.INSERT, OperationType.MODIFY, OperationType.REMOVE);
        if (!properties.containsKey("FilterCriteria")) {
            return new TableSource.Filter(all, Map.of());
        }
        List<Map<String, Object>> filters =
                Properties.list(Properties.map(properties.get("FilterCriteria")).get("Filters"));
        if (filters.size() != 1) {
            throw new IllegalArgumentException("Several filters of a mapping are not known here: " + filters);
        }
        try {
            return filter(JSON.readTree(Properties.text(filters.getFirst(), "Pattern")));
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("A filter is not JSON: " + filters, e);
        }
    }

    /// Kinds of changes, and perhaps texts that a part of the key may have.
    private static TableSource.Filter filter(JsonNode pattern) {
        Set<OperationType> kinds = EnumSet.noneOf(OperationType.class);
        pattern.path("eventName").forEach(kind -> kinds.add(OperationType.fromValue(kind.asText())));
        Map<String, Set<String>> keys = new TreeMap<>();
        pattern.at("/dynamodb/Keys").properties().forEach(key -> {
            Set<String> texts = new TreeSet<>();
            key.getValue().path("S").forEach(text -> texts.add(text.asText()));
            keys.put(key.getKey(), texts);
        });
        if (kinds.isEmpty() || pattern.size() != (keys.isEmpty() ? 1 : 2) || keys.containsValue(Set.of())) {
            throw new IllegalArgumentException("The filter is not known here: " + pattern);
        }
        return new TableSource.Filter(kinds, keys);
    }

    /// The function that an alias of the template leads to.
    private String function(String alias) {
        for (String name : template.resources("AWS::Lambda::Alias")) {
            if (template.value(name).equals(alias)) {
                String function = Properties.text(template.properties(name), "FunctionName");
                return template.resources("AWS::Lambda::Function").stream()
                        .filter(id -> template.value(id).equals(function))
                        .findFirst()
                        .orElseThrow();
            }
        }
        throw new IllegalArgumentException("Something invokes " + alias + ", which is no alias of the template");
    }

    /// What is invoked by the clock.
    List<Schedule> schedules() {
        List<Schedule> schedules = new ArrayList<>();
        for (String name : template.resources("AWS::Events::Rule")) {
            Map<String, Object> properties = template.properties(name);
            Matcher rate = RATE.matcher(Properties.text(properties, "ScheduleExpression"));
            if (!rate.matches()) {
                throw new IllegalArgumentException("The schedule of " + name + " is not known here");
            }
            for (Map<String, Object> target : Properties.list(properties.get("Targets"))) {
                schedules.add(new Schedule(
                        Duration.of(
                                Long.parseLong(rate.group(1)),
                                rate.group(2).equals("day") ? ChronoUnit.DAYS : ChronoUnit.MINUTES),
                        function(Properties.text(target, "Arn")),
                        Properties.text(target, "Input")));
            }
        }
        return schedules;
    }
}
