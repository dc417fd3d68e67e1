package dev.onefold.local.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.async.AsyncRequestBody;
import software.amazon.awssdk.core.async.AsyncResponseTransformer;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.model.Bucket;
import software.amazon.awssdk.services.s3.model.BucketVersioningStatus;
import software.amazon.awssdk.services.s3.model.ListObjectVersionsResponse;
import software.amazon.awssdk.services.s3.model.NoSuchKeyException;
import software.amazon.awssdk.services.s3.model.ObjectIdentifier;
import software.amazon.awssdk.services.s3.model.ObjectVersion;
import software.amazon.awssdk.services.s3.model.S3Object;

/// Buckets as AWS's own client sees them.
class ObjectVersionsTest {
    private static final String KEY = "a <b>/ä & c";
    private static ObjectServer server;
    private static S3AsyncClient client;

    @BeforeAll
    static void open() throws IOException {
        server = ObjectServer.open();
        client = S3AsyncClient.builder()
                .endpointOverride(server.uri())
                .region(Region.EU_CENTRAL_1)
                .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("ANY", "secret")))
                .build();
    }

    @AfterAll
    static void close() {
        client.close();
        server.close();
    }

    private static String versioned(String bucket) {
        client.createBucket(request -> request.bucket(bucket)).join();
        client.putBucketVersioning(request -> request.bucket(bucket)
                        .versioningConfiguration(set -> set.status(BucketVersioningStatus.ENABLED)))
                .join();
        return bucket;
    }

    private static void put(String bucket, String key, String content) {
        client.putObject(request -> request.bucket(bucket).key(key), AsyncRequestBody.fromString(content))
                .join();
    }

    private static String get(String bucket, String key) {
        return client.getObject(request -> request.bucket(bucket).key(key), AsyncResponseTransformer.toBytes())
                .join()
                .asUtf8String();
    }

    private static ListObjectVersionsResponse versions(String bucket) {
        return client.listObjectVersions(request -> request.bucket(bucket)).join();
    }

    @Test
    void a_bucket_goes_only_when_all_versions_and_markers_are_gone() {
        String bucket = versioned("letters-1");
        put(bucket, KEY, "one");
        put(bucket, KEY, "two");
        assertThat(get(bucket, KEY)).isEqualTo("two");
        client.deleteObject(request -> request.bucket(bucket).key(KEY)).join();
        assertThatThrownBy(() -> get(bucket, KEY)).hasCauseInstanceOf(NoSuchKeyException.class);
        assertThat(versions(bucket).versions()).extracting(ObjectVersion::key).containsExactly(KEY, KEY);
        assertThat(versions(bucket).deleteMarkers()).hasSize(1);
        assertThatThrownBy(() ->
                        client.deleteBucket(request -> request.bucket(bucket)).join())
                .hasMessageContaining("delete all versions");
        List<ObjectIdentifier> doomed = versions(bucket).versions().stream()
                .map(version -> ObjectIdentifier.builder()
                        .key(version.key())
                        .versionId(version.versionId())
                        .build())
                .toList();
        client.deleteObjects(request -> request.bucket(bucket).delete(delete -> delete.objects(doomed)))
                .join();
        assertThatThrownBy(() ->
                        client.deleteBucket(request -> request.bucket(bucket)).join())
                .hasMessageContaining("delete all versions");
        client.deleteObject(request -> request.bucket(bucket)
                        .key(KEY)
                        .versionId(versions(bucket).deleteMarkers().getFirst().versionId()))
                .join();
        client.deleteBucket(request -> request.bucket(bucket)).join();
        assertThat(client.listBuckets(request -> request.prefix("letters-1"))
                        .join()
                        .buckets())
                .isEmpty();
    }

    @Test
    void an_older_version_is_back_when_the_marker_is_gone() {
        String bucket = versioned("letters-2");
        put(bucket, KEY, "one");
        client.deleteObject(request -> request.bucket(bucket).key(KEY)).join();
        String marker = versions(bucket).deleteMarkers().getFirst().versionId();
        client.deleteObject(request -> request.bucket(bucket).key(KEY).versionId(marker))
                .join();
        assertThat(get(bucket, KEY)).isEqualTo("one");
    }

    @Test
    void lists_come_page_by_page() {
        String bucket = versioned("letters-3");
        for (int i = 0; i < 7; i++) {
            put(bucket, "k" + i / 2, "content " + i);
        }
        int seen = 0;
        ListObjectVersionsResponse page = client.listObjectVersions(
                        request -> request.bucket(bucket).maxKeys(3))
                .join();
        seen += page.versions().size();
        while (page.isTruncated()) {
            String key = page.nextKeyMarker();
            String version = page.nextVersionIdMarker();
            page = client.listObjectVersions(request ->
                            request.bucket(bucket).maxKeys(3).keyMarker(key).versionIdMarker(version))
                    .join();
            seen += page.versions().size();
        }
        assertThat(seen).isEqualTo(7);
        assertThat(client.listObjectsV2Paginator(
                                request -> request.bucket(bucket).maxKeys(1))
                        .contents())
                .satisfies(all -> {
                    List<String> keys = new java.util.ArrayList<>();
                    all.map(S3Object::key).subscribe(keys::add).join();
                    assertThat(keys).containsExactly("k0", "k1", "k2", "k3");
                });
    }

    @Test
    void a_bucket_that_was_not_made_takes_nothing_and_what_is_not_known_is_refused() {
        assertThatThrownBy(() -> put("nowhere", "k", "content")).hasMessageContaining("bucket does not exist");
        assertThatThrownBy(() ->
                        client.headBucket(request -> request.bucket("nowhere")).join())
                .hasMessageContaining("404");
        String bucket = versioned("letters-4");
        assertThatThrownBy(() ->
                        client.createBucket(request -> request.bucket(bucket)).join())
                .hasMessageContaining("you already own it");
        assertThatThrownBy(() -> client.getBucketPolicy(request -> request.bucket(bucket))
                        .join())
                .hasMessageContaining("does not know 'policy'");
        assertThat(client.listBuckets().join().buckets())
                .extracting(Bucket::name)
                .contains(bucket);
    }

    @Test
    void a_content_that_was_damaged_in_its_chunks_is_refused() throws IOException, InterruptedException {
        String bucket = versioned("letters-5");
        String chunks = "5\r\nhallo\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n"; // The check sum of "hello".
        try (HttpClient http = HttpClient.newHttpClient()) {
            HttpResponse<String> response = http.send(
                    HttpRequest.newBuilder(URI.create(server.uri() + "/" + bucket + "/k"))
                            .header("x-amz-content-sha256", "STREAMING-UNSIGNED-PAYLOAD-TRAILER")
                            .PUT(HttpRequest.BodyPublishers.ofString(chunks))
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
            assertThat(response.body()).contains("BadDigest");
        }
        assertThat(versions(bucket).versions()).isEmpty();
    }
}
