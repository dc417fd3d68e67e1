package dev.onefold.local.cloud;

import dev.onefold.local.template.StackTemplate;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/// Which resources and properties are known here. What is not known is refused, never left out.
final class Rules {
    static final String MAPPING = "AWS::Lambda::EventSourceMapping";
    static final String FUNCTION = "AWS::Lambda::Function";
    static final String VERSION = "AWS::Lambda::Version";
    static final String ALIAS = "AWS::Lambda::Alias";
    static final String ROLE = "AWS::IAM::Role";
    static final String TABLE = "AWS::DynamoDB::Table";

    /// Its making and its update are an invocation of a function, which says whether they succeed.
    static final String CUSTOM = "AWS::CloudFormation::CustomResource";

    /// What is stored has rules of its own, where it is made.
    private static final Set<String> STORED =
            Set.of("AWS::DynamoDB::Table", "AWS::Kinesis::Stream", "AWS::S3::Bucket", "AWS::SQS::Queue");

    /// In the order in which they are made, behind what is stored.
    private static final List<String> TYPES = List.of(
            "AWS::S3::BucketPolicy",
            "AWS::IAM::Role",
            "AWS::Logs::LogGroup",
            FUNCTION,
            "AWS::Lambda::Version",
            "AWS::Lambda::Alias",
            "AWS::Lambda::EventInvokeConfig",
            MAPPING,
            "AWS::Events::Rule",
            "AWS::Lambda::Permission",
            "AWS::CloudWatch::Alarm",
            "AWS::CloudWatch::Dashboard",
            "AWS::ApplicationAutoScaling::ScalableTarget",
            "AWS::ApplicationAutoScaling::ScalingPolicy",
            CUSTOM);

    private static final Map<String, Set<String>> PROPERTIES = Map.ofEntries(
            Map.entry("AWS::S3::BucketPolicy", Set.of("Bucket", "PolicyDocument")),
            Map.entry("AWS::IAM::Role", Set.of("AssumeRolePolicyDocument", "Policies")),
            Map.entry("AWS::Logs::LogGroup", Set.of("RetentionInDays")),
            Map.entry(
                    FUNCTION,
                    Set.of(
                            "Runtime",
                            "Architectures",
                            "Handler",
                            "Code",
                            "Role",
                            "MemorySize",
                            "Timeout",
                            "SnapStart",
                            "LoggingConfig",
                            "Environment")),
            Map.entry(CUSTOM, Set.of("ServiceToken", "ServiceTimeout", "Version", "Input", "From", "Factor")),
            Map.entry("AWS::Lambda::Version", Set.of("FunctionName", "Description")),
            Map.entry("AWS::Lambda::Alias", Set.of("Name", "FunctionName", "FunctionVersion")),
            Map.entry(
                    "AWS::Lambda::EventInvokeConfig",
                    Set.of("FunctionName", "Qualifier", "MaximumEventAgeInSeconds", "MaximumRetryAttempts")),
            Map.entry(
                    MAPPING,
                    Set.of(
                            "EventSourceArn",
                            "FunctionName",
                            "StartingPosition",
                            "StartingPositionTimestamp",
                            "BatchSize",
                            "MaximumBatchingWindowInSeconds",
                            "ParallelizationFactor",
                            "BisectBatchOnFunctionError",
                            "FunctionResponseTypes",
                            "MaximumRecordAgeInSeconds",
                            "MaximumRetryAttempts",
                            "DestinationConfig",
                            "FilterCriteria",
                            "ScalingConfig")),
            Map.entry("AWS::Events::Rule", Set.of("Description", "ScheduleExpression", "State", "Targets")),
            Map.entry("AWS::Lambda::Permission", Set.of("Action", "FunctionName", "Principal", "SourceArn")));

    /// They are not evaluated and not shown here, whatever they say.
    private static final Set<String> LEFT_OUT = Set.of(
            "AWS::CloudWatch::Alarm",
            "AWS::CloudWatch::Dashboard",
            "AWS::ApplicationAutoScaling::ScalableTarget",
            "AWS::ApplicationAutoScaling::ScalingPolicy");

    /// Properties of which CloudFormation says "Update requires: Replacement". Of a version and a permission that is
    /// all.
    private static final Map<String, Set<String>> IMMUTABLE = Map.of(
            TABLE,
            Set.of("TableName", "KeySchema"),
            "AWS::Kinesis::Stream",
            Set.of("Name"),
            "AWS::SQS::Queue",
            Set.of("QueueName", "FifoQueue"),
            "AWS::S3::BucketPolicy",
            Set.of("Bucket"),
            VERSION,
            Set.of("FunctionName", "Description"),
            ALIAS,
            Set.of("Name", "FunctionName"),
            "AWS::Lambda::EventInvokeConfig",
            Set.of("FunctionName", "Qualifier"),
            MAPPING,
            Set.of("EventSourceArn", "StartingPosition", "StartingPositionTimestamp"),
            "AWS::Lambda::Permission",
            Set.of("Action", "FunctionName", "Principal", "SourceArn"));

    /// By what a resource is named, if the template names it: two cannot be there at the same time.
    private static final Map<String, String> NAME =
            Map.of(TABLE, "TableName", "AWS::Kinesis::Stream", "Name", "AWS::SQS::Queue", "QueueName");

    private static final Set<String> POLICIES = Set.of("Delete", "Retain", "RetainExceptOnCreate");

    private Rules() {}

    /// Refuses a template with a type that is not known.
    static void requireKnown(StackTemplate template) {
        Set<String> unknown = new TreeSet<>();
        for (String resource : template.resources()) {
            String type = template.type(resource);
            if (!STORED.contains(type) && !TYPES.contains(type)) {
                unknown.add(type);
            }
            if (!POLICIES.contains(template.deletionPolicy(resource))) {
                throw Refusal.invalid("The stand-in for CloudFormation does not know the DeletionPolicy "
                        + template.deletionPolicy(resource) + " of " + resource);
            }
        }
        if (unknown.contains("AWS::Kinesis::StreamConsumer")) {
            throw Refusal.invalid("Template format error: Unrecognized resource types: " + unknown
                    + ". The Kinesis server of this machine has no enhanced fan-out: leave it off.");
        }
        if (!unknown.isEmpty()) {
            throw Refusal.invalid("Template format error: Unrecognized resource types: " + unknown
                    + ". The stand-in for CloudFormation makes no such resources.");
        }
    }

    /// Whether it makes roles, which must be allowed by whoever makes the stack.
    static boolean makesRoles(StackTemplate template) {
        return !template.resources("AWS::IAM::Role").isEmpty();
    }

    /// The names of the resources that are not stored, in the order in which they are made: by their types, and each
    /// behind those that it refers to or depends on.
    static List<String> behindStorage(StackTemplate template) {
        List<String> left = new ArrayList<>(TYPES.stream()
                .flatMap(type -> template.resources(type).stream())
                .toList());
        List<String> ordered = new ArrayList<>();
        while (!left.isEmpty()) {
            String next = left.stream()
                    .filter(each -> Collections.disjoint(template.needs(each), left))
                    .findFirst()
                    .orElseThrow(() -> Refusal.invalid("Circular dependency between resources: " + left));
            left.remove(next);
            ordered.add(next);
        }
        return ordered;
    }

    /// Whether a resource is replaced when these properties change, and not changed as it is.
    ///
    /// @throws IllegalArgumentException if it must be replaced and has a name of its own that stays
    static boolean isReplaced(String type, Set<String> changed, Map<String, Object> properties) {
        if (Collections.disjoint(changed, IMMUTABLE.getOrDefault(type, Set.of()))) {
            return false;
        }
        String name = NAME.getOrDefault(type, "");
        if (properties.containsKey(name) && !changed.contains(name)) {
            throw new IllegalArgumentException(
                    "CloudFormation cannot update a stack when a custom-named resource requires replacing. Rename "
                            + properties.get(name) + " and update the stack again.");
        }
        return true;
    }

    /// Whether the stand-in knows what a change of these properties does to a resource that stays.
    static boolean isChangeKnown(String type, Set<String> changed) {
        return switch (type) {
            case MAPPING -> false;
            case "AWS::Events::Rule" -> Set.of("Description").containsAll(changed);
            default -> true;
        };
    }

    /// Refuses a property that is not known.
    static void requireKnown(StackTemplate template, String resource) {
        String type = template.type(resource);
        if (LEFT_OUT.contains(type)) {
            return;
        }
        Set<String> unknown = new TreeSet<>(template.properties(resource).keySet());
        unknown.removeAll(PROPERTIES.getOrDefault(type, Set.of()));
        if (!unknown.isEmpty()) {
            throw new IllegalArgumentException("Encountered unsupported property " + String.join(", ", unknown)
                    + ": the stand-in for CloudFormation does not know it of " + type);
        }
    }
}
