package dev.onefold.cli.deploy;

import dev.onefold.aws.Connection;
import dev.onefold.aws.template.Template;
import dev.onefold.core.bytes.Sha256;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.async.AsyncRequestBody;
import software.amazon.awssdk.core.async.AsyncResponseTransformer;
import software.amazon.awssdk.regions.PartitionMetadata;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.model.Bucket;
import software.amazon.awssdk.services.s3.model.CreateBucketRequest;
import software.amazon.awssdk.services.s3.model.DeleteObjectsResponse;
import software.amazon.awssdk.services.s3.model.ListObjectVersionsResponse;
import software.amazon.awssdk.services.s3.model.NoSuchBucketException;
import software.amazon.awssdk.services.s3.model.ObjectIdentifier;
import software.amazon.awssdk.services.s3.model.S3Exception;

/// Buckets that a trial makes, fills, reads, empties and removes, and those of the code of deployments. Any
/// thread.
public record Buckets(S3AsyncClient objects) {
    private static final String PREFIX = "onefold-trial-";
    private static final String US_EAST_1 = "us-east-1"; // The one region that must not be said.
    private static final Duration CONTENT_MAX = Duration.ofMinutes(15);
    private static final int MISSING = 404;
    private static final int HASH_CHARACTERS = 16;

    /// The name of the bucket for the code of a trial.
    ///
    /// @param mark 12 hexadecimal digits, by which the trial knows what it has made
    public static String name(String trial, String mark) {
        return PREFIX + trial + "-" + mark;
    }

    /// Whether a bucket of this name was made for the code of the trial of this name.
    public static boolean isOf(String trial, String bucket) {
        return Pattern.matches(PREFIX + Pattern.quote(trial) + "-[0-9a-f]{12}", bucket);
    }

    public void make(String name) {
        String region = objects.serviceClientConfiguration().region().id();
        CreateBucketRequest.Builder request = CreateBucketRequest.builder().bucket(name);
        if (!region.equals(US_EAST_1)) {
            request.createBucketConfiguration(where -> where.locationConstraint(region));
        }
        Connection.THREADS.await(objects.createBucket(request.build()));
    }

    /// Whether there is such a bucket.
    boolean isThere(String bucket) {
        return found(() -> Connection.THREADS.await(objects.headBucket(request -> request.bucket(bucket))));
    }

    /// Whether there is such an object.
    boolean isThere(String bucket, String key) {
        return found(() -> Connection.THREADS.await(
                objects.headObject(request -> request.bucket(bucket).key(key))));
    }

    private static boolean found(Runnable look) {
        try {
            look.run();
            return true;
        } catch (S3Exception e) {
            if (e.statusCode() == MISSING) {
                return false;
            }
            throw e;
        }
    }

    public void put(String bucket, String key, Path file) {
        put(bucket, key, AsyncRequestBody.fromFile(file));
    }

    void put(String bucket, String key, byte[] content) {
        put(bucket, key, AsyncRequestBody.fromBytes(content));
    }

    private void put(String bucket, String key, AsyncRequestBody content) {
        Connection.THREADS.await(objects.putObject(
                request -> request.bucket(bucket)
                        .key(key)
                        .overrideConfiguration(
                                call -> call.apiCallTimeout(CONTENT_MAX).apiCallAttemptTimeout(CONTENT_MAX)),
                content));
    }

    /// A template as a request has it: its text, or where it is.
    public record TemplateText(
            @Nullable String body, @Nullable String url) {}

    /// A template for a request; one that is too long for that goes by the bucket, under its hash.
    public TemplateText template(String bucket, String yaml) {
        byte[] bytes = yaml.getBytes(StandardCharsets.UTF_8);
        if (bytes.length <= Template.BYTES_MAX) {
            return new TemplateText(yaml, null);
        }
        String key = "template-" + Sha256.hex(bytes).substring(0, HASH_CHARACTERS) + ".yaml";
        put(bucket, key, bytes);
        Region region = objects.serviceClientConfiguration().region();
        String suffix = PartitionMetadata.of(region).dnsSuffix();
        return new TemplateText(null, "https://" + bucket + ".s3." + region.id() + "." + suffix + "/" + key);
    }

    /// The keys of all objects that begin so, and when each was written.
    public SortedMap<String, Instant> written(String bucket, String prefix) {
        SortedMap<String, Instant> written = new TreeMap<>();
        String token = null;
        do {
            String from = token;
            var page = Connection.THREADS.await(objects.listObjectsV2(
                    request -> request.bucket(bucket).prefix(prefix).continuationToken(from)));
            page.contents().forEach(each -> written.put(each.key(), each.lastModified()));
            token = page.nextContinuationToken();
        } while (token != null && !token.isEmpty());
        return written;
    }

    /// Reads an object into a new file.
    public void get(String bucket, String key, Path file) {
        Connection.THREADS.await(objects.getObject(
                request -> request.bucket(bucket)
                        .key(key)
                        .overrideConfiguration(
                                call -> call.apiCallTimeout(CONTENT_MAX).apiCallAttemptTimeout(CONTENT_MAX)),
                AsyncResponseTransformer.toFile(file)));
    }

    /// The buckets of the code of a trial.
    public List<String> of(String trial) {
        String region = objects.serviceClientConfiguration().region().id();
        return named(PREFIX + trial + "-", region).stream()
                .filter(name -> isOf(trial, name))
                .toList();
    }

    /// The names of the caller's buckets in a region that begin so. A list has those of all regions, and a
    /// bucket answers, and serves functions, in its own.
    List<String> named(String prefix, String region) {
        List<String> found = new ArrayList<>();
        String token = null;
        do {
            String from = token;
            var page = Connection.THREADS.await(
                    objects.listBuckets(request -> request.prefix(prefix).continuationToken(from)));
            page.buckets().stream()
                    .filter(each ->
                            each.bucketRegion() == null || each.bucketRegion().equals(region))
                    .map(Bucket::name)
                    .filter(name -> name.startsWith(prefix)) // A store may not know the parameter.
                    .forEach(found::add);
            token = page.continuationToken();
        } while (token != null && !token.isEmpty());
        return found;
    }

    /// Deletes all that is in a bucket, older versions included; nothing if there is no such bucket.
    ///
    /// @throws IllegalStateException naming an object that cannot be deleted
    public void empty(String bucket) {
        unlessMissing(() -> {
            ListObjectVersionsResponse page;
            do {
                page = Connection.THREADS.await(objects.listObjectVersions(request -> request.bucket(bucket)));
                delete(bucket, page);
            } while (Boolean.TRUE.equals(page.isTruncated())); // The listed ones are gone: the rest comes first now.
        });
    }

    private void delete(String bucket, ListObjectVersionsResponse page) {
        List<ObjectIdentifier> doomed = Stream.concat(
                        page.versions().stream().map(each -> identifier(each.key(), each.versionId())),
                        page.deleteMarkers().stream().map(each -> identifier(each.key(), each.versionId())))
                .toList();
        if (doomed.isEmpty()) {
            return;
        }
        DeleteObjectsResponse done = Connection.THREADS.await(objects.deleteObjects(request ->
                request.bucket(bucket).delete(objects -> objects.objects(doomed).quiet(true))));
        if (!done.errors().isEmpty()) {
            var first = done.errors().getFirst();
            throw new IllegalStateException(first.key() + " cannot be deleted: " + first.message());
        }
    }

    private static ObjectIdentifier identifier(String key, String version) {
        return ObjectIdentifier.builder().key(key).versionId(version).build();
    }

    /// Deletes a bucket with all that is in it; nothing if there is none.
    public void remove(String bucket) {
        empty(bucket);
        unlessMissing(() -> Connection.THREADS.await(objects.deleteBucket(request -> request.bucket(bucket))));
    }

    private static void unlessMissing(Runnable action) {
        try {
            action.run();
        } catch (S3Exception e) {
            if (!(e instanceof NoSuchBucketException) && e.statusCode() != MISSING) {
                throw e;
            }
        }
    }
}
