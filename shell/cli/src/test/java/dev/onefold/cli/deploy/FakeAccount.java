package dev.onefold.cli.deploy;

import dev.onefold.aws.Connection;
import java.lang.reflect.Proxy;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import software.amazon.awssdk.core.SdkClient;
import software.amazon.awssdk.core.async.AsyncRequestBody;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.cloudformation.CloudFormationAsyncClient;
import software.amazon.awssdk.services.cloudformation.CloudFormationServiceClientConfiguration;
import software.amazon.awssdk.services.cloudformation.model.CloudFormationException;
import software.amazon.awssdk.services.cloudformation.model.DeleteStackRequest;
import software.amazon.awssdk.services.cloudformation.model.DeleteStackResponse;
import software.amazon.awssdk.services.cloudformation.model.DescribeStackEventsRequest;
import software.amazon.awssdk.services.cloudformation.model.DescribeStackEventsResponse;
import software.amazon.awssdk.services.cloudformation.model.DescribeStacksRequest;
import software.amazon.awssdk.services.cloudformation.model.DescribeStacksResponse;
import software.amazon.awssdk.services.cloudformation.model.Parameter;
import software.amazon.awssdk.services.cloudformation.model.Stack;
import software.amazon.awssdk.services.cloudformation.model.StackEvent;
import software.amazon.awssdk.services.cloudformation.model.UpdateStackRequest;
import software.amazon.awssdk.services.cloudformation.model.UpdateStackResponse;
import software.amazon.awssdk.services.cloudwatch.CloudWatchAsyncClient;
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.model.Bucket;
import software.amazon.awssdk.services.s3.model.HeadBucketRequest;
import software.amazon.awssdk.services.s3.model.HeadBucketResponse;
import software.amazon.awssdk.services.s3.model.HeadObjectRequest;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.ListBucketsRequest;
import software.amazon.awssdk.services.s3.model.ListBucketsResponse;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.PutObjectResponse;
import software.amazon.awssdk.services.s3.model.S3Exception;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;

/// CloudFormation and S3 of an account in which somebody else is at work, too: a test says what becomes of the
/// one stack between two looks at it. One thread.
final class FakeAccount implements CloudFormationAsyncClient {
    static final String NAME = "orders";
    private static final String ID = "arn:aws:cloudformation:eu-central-1:1:stack/orders/1";
    private static final String HERE = "eu-central-1";

    /// What happens before each of the next looks at the stack.
    final Deque<Runnable> next = new ArrayDeque<>();

    /// What happens before an update is asked for; by default it begins.
    Runnable beforeUpdate = () -> {};

    final List<Bucket> buckets = new ArrayList<>();
    private final List<StackEvent> events = new ArrayList<>();
    private final String description;
    private String status;

    /// The token of the command's own update; empty if it was refused.
    String token = "";

    FakeAccount(String status, String description) {
        this.status = status;
        this.description = description;
    }

    Services services() {
        return new Services(
                new Connection.Place(HERE, null, null),
                this,
                none(CloudWatchAsyncClient.class),
                new Objects(),
                none(KinesisAsyncClient.class),
                none(SqsAsyncClient.class));
    }

    private static <C extends SdkClient> C none(Class<C> client) {
        return client.cast(Proxy.newProxyInstance(client.getClassLoader(), new Class<?>[] {client}, (_, method, _) -> {
            throw new AssertionError(method + " is not asked for");
        }));
    }

    void bucket(String name, String region) {
        buckets.add(Bucket.builder().name(name).bucketRegion(region).build());
    }

    /// The stack is in another state.
    ///
    /// @param of the token of the one who did it
    void become(String state, String of) {
        status = state;
        event("AWS::CloudFormation::Stack", NAME, state, of);
    }

    void event(String type, String resource, String state, String of) {
        events.add(StackEvent.builder()
                .eventId("e" + events.size())
                .resourceType(type)
                .logicalResourceId(resource)
                .resourceStatus(state)
                .resourceStatusReason("Table of " + of + " is too wide")
                .clientRequestToken(of)
                .build());
    }

    @Override
    public CompletableFuture<DescribeStacksResponse> describeStacks(DescribeStacksRequest request) {
        Runnable change = next.poll();
        if (change != null) {
            change.run();
        }
        return answer(() -> DescribeStacksResponse.builder()
                .stacks(Stack.builder()
                        .stackName(NAME)
                        .stackId(ID)
                        .description(description)
                        .creationTime(Instant.EPOCH)
                        .stackStatus(status)
                        .parameters(Parameter.builder()
                                .parameterKey("CodeBucket")
                                .parameterValue("code")
                                .build())
                        .build())
                .build());
    }

    @Override
    public CompletableFuture<DescribeStackEventsResponse> describeStackEvents(DescribeStackEventsRequest request) {
        return answer(() -> {
            List<StackEvent> latest = new ArrayList<>(events);
            Collections.reverse(latest);
            return DescribeStackEventsResponse.builder().stackEvents(latest).build();
        });
    }

    @Override
    public CompletableFuture<UpdateStackResponse> updateStack(UpdateStackRequest request) {
        beforeUpdate.run();
        return answer(() -> {
            if (status.endsWith("_IN_PROGRESS")) {
                throw CloudFormationException.builder()
                        .message("Stack:" + ID + " is in " + status + " state and can not be updated.")
                        .build();
            }
            token = request.clientRequestToken();
            become("UPDATE_IN_PROGRESS", token);
            return UpdateStackResponse.builder().stackId(ID).build();
        });
    }

    @Override
    public CompletableFuture<DeleteStackResponse> deleteStack(DeleteStackRequest request) {
        return answer(() -> {
            become("DELETE_IN_PROGRESS", "");
            return DeleteStackResponse.builder().build();
        });
    }

    private static <T> CompletableFuture<T> answer(Supplier<T> made) {
        try {
            return CompletableFuture.completedFuture(made.get());
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    @Override
    public CloudFormationServiceClientConfiguration serviceClientConfiguration() {
        return CloudFormationServiceClientConfiguration.builder()
                .region(Region.of(HERE))
                .build();
    }

    @Override
    public String serviceName() {
        return "fake";
    }

    @Override
    public void close() {}

    /// Buckets are listed wherever they are, and answer where they are alone.
    private final class Objects implements S3AsyncClient {
        @Override
        public CompletableFuture<ListBucketsResponse> listBuckets(ListBucketsRequest request) {
            return answer(() -> ListBucketsResponse.builder().buckets(buckets).build());
        }

        @Override
        public CompletableFuture<HeadBucketResponse> headBucket(HeadBucketRequest request) {
            return answer(() -> {
                boolean isElsewhere = buckets.stream()
                        .anyMatch(each -> each.name().equals(request.bucket())
                                && !each.bucketRegion().equals(HERE));
                if (isElsewhere) {
                    throw S3Exception.builder()
                            .statusCode(301)
                            .message("Moved Permanently")
                            .build();
                }
                return HeadBucketResponse.builder().build();
            });
        }

        @Override
        public CompletableFuture<HeadObjectResponse> headObject(HeadObjectRequest request) {
            return answer(() -> {
                throw S3Exception.builder().statusCode(404).build();
            });
        }

        @Override
        public CompletableFuture<PutObjectResponse> putObject(PutObjectRequest request, AsyncRequestBody body) {
            return answer(() -> PutObjectResponse.builder().build());
        }

        @Override
        public String serviceName() {
            return "fake";
        }

        @Override
        public void close() {}
    }
}
