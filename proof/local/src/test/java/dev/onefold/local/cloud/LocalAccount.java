package dev.onefold.local.cloud;

import dev.onefold.local.stack.Machine;
import dev.onefold.local.stack.StackFaults;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.awscore.client.builder.AwsAsyncClientBuilder;
import software.amazon.awssdk.awscore.client.builder.AwsClientBuilder;
import software.amazon.awssdk.http.Protocol;
import software.amazon.awssdk.http.async.SdkAsyncHttpClient;
import software.amazon.awssdk.http.nio.netty.NettyNioAsyncHttpClient;
import software.amazon.awssdk.http.nio.netty.SdkEventLoopGroup;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.cloudformation.CloudFormationAsyncClient;
import software.amazon.awssdk.services.cloudformation.model.Capability;
import software.amazon.awssdk.services.cloudformation.model.OnFailure;
import software.amazon.awssdk.services.cloudformation.model.Parameter;
import software.amazon.awssdk.services.cloudformation.model.Stack;
import software.amazon.awssdk.services.cloudformation.model.StackEvent;
import software.amazon.awssdk.services.cloudwatch.CloudWatchAsyncClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.model.Bucket;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;

/// An account on this machine, and AWS's own clients for it.
final class LocalAccount implements AutoCloseable {
    private static final Duration POLL = Duration.ofMillis(50);
    private static final Duration WAIT_MAX = Duration.ofMinutes(2);
    private static final Duration MINUTE = Duration.ofSeconds(5);

    final LocalCloud cloud;
    private final NioEventLoopGroup threads = new NioEventLoopGroup(1);
    private final SdkAsyncHttpClient http = NettyNioAsyncHttpClient.builder()
            .eventLoopGroup(SdkEventLoopGroup.create(threads, NioSocketChannel::new))
            .protocol(Protocol.HTTP1_1)
            .build();
    final CloudFormationAsyncClient stacks;
    final CloudWatchAsyncClient metrics;
    final DynamoDbAsyncClient tables;
    final KinesisAsyncClient streams;
    final SqsAsyncClient queues;
    final S3AsyncClient objects;

    private LocalAccount() throws IOException {
        System.setProperty("aws.cborEnabled", "false");
        cloud = LocalCloud.open(
                new Machine(List.of(), Path.of(System.getProperty("onefold.node")), 2, MINUTE), StackFaults.NONE);
        stacks = at(CloudFormationAsyncClient.builder()).build();
        metrics = at(CloudWatchAsyncClient.builder()).build();
        tables = at(DynamoDbAsyncClient.builder()).build();
        streams = at(KinesisAsyncClient.builder()).build();
        queues = at(SqsAsyncClient.builder()).build();
        objects = at(S3AsyncClient.builder()).build();
    }

    static LocalAccount open() throws IOException {
        return new LocalAccount();
    }

    private <B extends AwsClientBuilder<B, C> & AwsAsyncClientBuilder<B, C>, C> B at(B builder) {
        return builder.endpointOverride(cloud.endpoint())
                .region(Region.EU_CENTRAL_1)
                .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("OPERATOR", "secret")))
                .httpClient(http);
    }

    private static List<Parameter> given(Map<String, String> parameters) {
        return new TreeMap<>(parameters)
                .entrySet().stream()
                        .map(entry -> Parameter.builder()
                                .parameterKey(entry.getKey())
                                .parameterValue(entry.getValue())
                                .build())
                        .toList();
    }

    /// Begins to make a stack.
    ///
    /// @return its id
    String create(String name, String yaml, Map<String, String> parameters, OnFailure onFailure) {
        return stacks.createStack(request -> request.stackName(name)
                        .templateBody(yaml)
                        .parameters(given(parameters))
                        .onFailure(onFailure)
                        .capabilities(Capability.CAPABILITY_IAM))
                .join()
                .stackId();
    }

    String create(String name, String yaml) {
        return create(name, yaml, Map.of(), OnFailure.ROLLBACK);
    }

    /// Updates a stack, and waits until that has ended somehow.
    Stack update(String name, String yaml, Map<String, String> parameters) {
        return settled(stacks.updateStack(request -> request.stackName(name)
                        .templateBody(yaml)
                        .parameters(given(parameters))
                        .capabilities(Capability.CAPABILITY_IAM))
                .join()
                .stackId());
    }

    Stack describe(String name) {
        return stacks.describeStacks(request -> request.stackName(name))
                .join()
                .stacks()
                .getFirst();
    }

    /// The stack as soon as nothing happens to it any more.
    Stack settled(String id) {
        return settled(id, stack -> !stack.stackStatusAsString().endsWith("_IN_PROGRESS"));
    }

    Stack settled(String id, Predicate<Stack> isSettled) {
        long end = System.nanoTime() + WAIT_MAX.toNanos();
        Stack stack = describe(id);
        while (!isSettled.test(stack)) {
            if (System.nanoTime() > end) {
                throw new IllegalStateException("Still waiting: " + stack + events(id));
            }
            dev.onefold.aws.Connection.THREADS.pause(POLL);
            stack = describe(id);
        }
        return stack;
    }

    /// Deletes a stack, and waits until that has ended somehow.
    Stack delete(String id) {
        stacks.deleteStack(request -> request.stackName(id)).join();
        return settled(id);
    }

    List<StackEvent> events(String id) {
        return stacks.describeStackEvents(request -> request.stackName(id))
                .join()
                .stackEvents();
    }

    /// The reasons of the resources that have failed, by their names.
    Map<String, String> failures(String id) {
        Map<String, String> failures = new TreeMap<>();
        events(id).stream()
                .filter(event -> event.resourceStatusAsString().endsWith("_FAILED")
                        && !event.resourceType().equals("AWS::CloudFormation::Stack"))
                .forEach(event -> failures.put(event.logicalResourceId(), event.resourceStatusReason()));
        return failures;
    }

    /// All that is stored, by service.
    List<String> stored() {
        List<String> all = new java.util.ArrayList<>();
        tables.listTables().join().tableNames().forEach(name -> all.add("table " + name));
        streams.listStreams().join().streamNames().forEach(name -> all.add("stream " + name));
        queues.listQueues().join().queueUrls().forEach(url -> all.add("queue " + url));
        objects.listBuckets().join().buckets().stream().map(Bucket::name).forEach(name -> all.add("bucket " + name));
        return all;
    }

    @Override
    public void close() {
        List.of(stacks, metrics, tables, streams, queues, objects).forEach(client -> {
            try {
                client.close();
            } catch (Exception e) {
                throw new IllegalStateException("A client does not close", e);
            }
        });
        cloud.close();
        http.close();
        var _ = threads.shutdownGracefully(0, 1, java.util.concurrent.TimeUnit.SECONDS);
    }
}
