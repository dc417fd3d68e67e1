package dev.onefold.cli.trial;

import dev.onefold.aws.Connection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import software.amazon.awssdk.services.cloudformation.CloudFormationAsyncClient;
import software.amazon.awssdk.services.cloudformation.model.Capability;
import software.amazon.awssdk.services.cloudformation.model.CloudFormationException;
import software.amazon.awssdk.services.cloudformation.model.OnFailure;
import software.amazon.awssdk.services.cloudformation.model.Parameter;
import software.amazon.awssdk.services.cloudformation.model.Stack;
import software.amazon.awssdk.services.cloudformation.model.StackResource;
import software.amazon.awssdk.services.cloudformation.model.Tag;

/// Stacks of CloudFormation, as far as a trial needs them.
record Stacks(CloudFormationAsyncClient client) {
    static final String CODE_BUCKET = "CodeBucket";
    static final String TAG = "onefold-trial";
    private static final String NOT_THERE = "does not exist";

    /// Begins to make a stack. A stack that fails is left as it is, so that the reason can be read.
    ///
    /// @param token makes a repeated request the same one
    void create(String name, String template, Map<String, String> parameters, String token) {
        List<Parameter> given = parameters.entrySet().stream()
                .map(each -> Parameter.builder()
                        .parameterKey(each.getKey())
                        .parameterValue(each.getValue())
                        .build())
                .toList();
        Connection.THREADS.await(client.createStack(request -> request.stackName(name)
                .templateBody(template)
                .parameters(given)
                .capabilities(Capability.CAPABILITY_IAM)
                .onFailure(OnFailure.DO_NOTHING)
                .tags(Tag.builder().key(TAG).value(name).build())
                .clientRequestToken(token)));
    }

    /// A stack by its name or its id, unless it is gone.
    Optional<Stack> find(String nameOrId) {
        try {
            List<Stack> found = Connection.THREADS
                    .await(client.describeStacks(request -> request.stackName(nameOrId)))
                    .stacks();
            return found.stream()
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
    List<StackResource> resources(String nameOrId) {
        return Connection.THREADS
                .await(client.describeStackResources(request -> request.stackName(nameOrId)))
                .stackResources();
    }

    void delete(String id) {
        Connection.THREADS.await(client.deleteStack(request -> request.stackName(id)));
    }

    /// A stack as a person knows it: by its name, age and state.
    static String said(Stack stack) {
        return stack.stackName() + " (made " + stack.creationTime() + ", " + stack.stackStatusAsString() + ")";
    }

    /// Whether a trial of this name has made a stack. Both must say so: a tag is soon copied.
    static boolean isOf(String trial, Stack stack) {
        return Buckets.isOf(trial, codeBucket(stack))
                && stack.tags().stream()
                        .anyMatch(tag -> tag.key().equals(TAG) && tag.value().equals(trial));
    }

    /// The bucket that a stack's functions come from; empty if it has no such parameter.
    static String codeBucket(Stack stack) {
        return stack.parameters().stream()
                .filter(each -> each.parameterKey().equals(CODE_BUCKET))
                .map(Parameter::parameterValue)
                .findFirst()
                .orElse("");
    }

    static Map<String, String> outputs(Stack stack) {
        Map<String, String> outputs = new TreeMap<>();
        stack.outputs().forEach(output -> outputs.put(output.outputKey(), output.outputValue()));
        return outputs;
    }
}
