package dev.onefold.cli.deploy;

import dev.onefold.aws.Connection;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import software.amazon.awssdk.services.cloudformation.CloudFormationAsyncClient;
import software.amazon.awssdk.services.cloudformation.model.CloudFormationException;
import software.amazon.awssdk.services.cloudformation.model.Parameter;
import software.amazon.awssdk.services.cloudformation.model.Stack;
import software.amazon.awssdk.services.cloudformation.model.StackEvent;
import software.amazon.awssdk.services.cloudformation.model.StackResource;

/// What CloudFormation says of stacks. Any thread.
public record Stacks(CloudFormationAsyncClient client) {
    public static final String CODE_BUCKET = "CodeBucket";
    static final String CODE_KEY = "CodeKey";

    /// The tag of a stack that a trial has made, with the trial's name.
    public static final String TRIAL_TAG = "onefold-trial";

    private static final String NOT_THERE = "does not exist";

    /// A stack by its name or its id, unless it is gone.
    public Optional<Stack> find(String nameOrId) {
        try {
            return Connection.THREADS
                    .await(client.describeStacks(request -> request.stackName(nameOrId)))
                    .stacks()
                    .stream()
                    .filter(stack -> !stack.stackStatusAsString().equals("DELETE_COMPLETE"))
                    .findFirst();
        } catch (CloudFormationException e) {
            if (String.valueOf(e.getMessage()).contains(NOT_THERE)) {
                return Optional.empty();
            }
            throw e;
        }
    }

    /// The resources of a stack.
    public List<StackResource> resources(String nameOrId) {
        return Connection.THREADS
                .await(client.describeStackResources(request -> request.stackName(nameOrId)))
                .stackResources();
    }

    /// What has happened to a stack, the earliest first.
    ///
    /// @param before the id of the last event that is known; empty if none is
    List<StackEvent> events(String nameOrId, String before) {
        List<StackEvent> events = new ArrayList<>();
        String token = null;
        do {
            String from = token;
            var page = Connection.THREADS.await(client.describeStackEvents(
                    request -> request.stackName(nameOrId).nextToken(from)));
            for (StackEvent event : page.stackEvents()) {
                if (event.eventId().equals(before)) {
                    Collections.reverse(events);
                    return events;
                }
                events.add(event);
            }
            token = page.nextToken();
        } while (token != null);
        Collections.reverse(events);
        return events;
    }

    /// The outputs of a stack, by their names.
    public static Map<String, String> outputs(Stack stack) {
        Map<String, String> outputs = new TreeMap<>();
        stack.outputs().forEach(output -> outputs.put(output.outputKey(), output.outputValue()));
        return outputs;
    }

    /// The values of a stack's parameters, by their names.
    static Map<String, String> parameters(Stack stack) {
        Map<String, String> parameters = new TreeMap<>();
        stack.parameters().forEach(each -> parameters.put(each.parameterKey(), each.parameterValue()));
        return parameters;
    }

    /// The bucket that a stack's functions come from; empty if it has no such parameter.
    public static String codeBucket(Stack stack) {
        return parameters(stack).getOrDefault(CODE_BUCKET, "");
    }

    /// A stack as a person knows it: by its name, age and state.
    public static String said(Stack stack) {
        return stack.stackName() + " (made " + stack.creationTime() + ", " + stack.stackStatusAsString() + ")";
    }

    /// Parameters with their values, as a request has them.
    public static List<Parameter> given(Map<String, String> parameters) {
        return parameters.entrySet().stream()
                .map(each -> Parameter.builder()
                        .parameterKey(each.getKey())
                        .parameterValue(each.getValue())
                        .build())
                .toList();
    }
}
