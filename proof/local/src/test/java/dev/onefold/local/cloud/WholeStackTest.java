package dev.onefold.local.cloud;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.Connection;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.stream.PartitionKeys;
import dev.onefold.aws.stream.Producer;
import dev.onefold.aws.stream.StreamRecord;
import dev.onefold.aws.template.Template;
import dev.onefold.aws.template.Template.Input;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Query;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.core.async.AsyncRequestBody;
import software.amazon.awssdk.services.cloudformation.model.OnFailure;
import software.amazon.awssdk.services.cloudformation.model.Output;
import software.amazon.awssdk.services.cloudformation.model.Stack;
import software.amazon.awssdk.services.cloudformation.model.StackStatus;
import software.amazon.awssdk.services.cloudwatch.model.Dimension;
import software.amazon.awssdk.services.cloudwatch.model.Metric;
import software.amazon.awssdk.services.cloudwatch.model.MetricDataQuery;
import software.amazon.awssdk.services.s3.model.ListObjectVersionsResponse;
import software.amazon.awssdk.services.s3.model.ObjectIdentifier;

/// The whole template of a pipeline: made, used and deleted as in an account of AWS, by AWS's own clients.
class WholeStackTest {
    private static final Duration WAIT_MAX = Duration.ofMinutes(3);
    private static final int RECORDS = 500;
    private static final Pipeline PIPELINE = PipelineBuilder.named("tried")
            .key("id")
            .version("v")
            .rollup(rollup -> rollup.levels("desk").sum("value", "value", 18, 2).count("trades"))
            .build();

    /// As `onefold aws package` makes it: what is in folders is at the root, and jars are in `lib`.
    static byte[] archive() throws IOException {
        return archive(Map.of());
    }

    /// The same with files of its root, some of which may be in place of others.
    static byte[] archive(Map<String, byte[]> own) throws IOException {
        Path file = Path.of(System.getProperty("onefold.functions")).normalize();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ZipOutputStream zip = new ZipOutputStream(bytes)) {
            zip.setLevel(0);
            for (Map.Entry<String, byte[]> each : own.entrySet()) {
                zip.putNextEntry(new ZipEntry(each.getKey()));
                zip.write(each.getValue());
            }
            addFolder(zip, file.resolveSibling("classes"), own.keySet());
            for (String path : Files.readString(file).strip().split(File.pathSeparator, -1)) {
                if (Files.isDirectory(Path.of(path))) {
                    addFolder(zip, Path.of(path), own.keySet());
                } else {
                    zip.putNextEntry(new ZipEntry("lib/" + Path.of(path).getFileName()));
                    Files.copy(Path.of(path), zip);
                }
            }
        }
        return bytes.toByteArray();
    }

    private static void addFolder(ZipOutputStream zip, Path folder, Set<String> without) throws IOException {
        try (Stream<Path> files = Files.walk(folder.toRealPath())) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                String name = folder.toRealPath().relativize(file).toString();
                if (!name.startsWith("META-INF/") && !without.contains(name)) {
                    zip.putNextEntry(new ZipEntry(name));
                    Files.copy(file, zip);
                }
            }
        }
    }

    private static Store store(LocalAccount account) {
        return new Store(
                account.tables,
                Store.Tables.of("tried"),
                Connection.THREADS,
                new SecureRandom(),
                InstantSource.system());
    }

    private static void put(LocalAccount account, String stream) {
        PartitionKeys keys = new PartitionKeys(PIPELINE);
        Producer producer =
                new Producer(account.streams, stream, Connection.THREADS, new SecureRandom(), (record, reason) -> {
                    throw new IllegalStateException(record + " is refused: " + reason);
                });
        for (int number = 1; number <= RECORDS; number++) {
            byte[] record = "{\"id\":\"%d\",\"v\":1,\"desk\":\"d%d\",\"value\":1.25}"
                    .formatted(number, number % 3)
                    .getBytes(StandardCharsets.UTF_8);
            producer.add(new StreamRecord(number, keys.of(record), record));
        }
        producer.finish();
    }

    private static String total(LocalAccount account) {
        AwsEngine engine;
        try {
            engine = AwsEngine.deployed(store(account));
        } catch (IllegalStateException notYet) {
            assertThat(notYet).hasMessageContaining("no record has come yet");
            return "";
        }
        return engine.query(Query.all("main")).lines().stream()
                .filter(line -> line.group().isEmpty())
                .map(line -> line.values().toString())
                .collect(Collectors.joining());
    }

    private static void awaitTotal(LocalAccount account, String wanted) {
        long end = System.nanoTime() + WAIT_MAX.toNanos();
        while (!total(account).equals(wanted)) {
            assertThat(System.nanoTime()).as("%s", total(account)).isLessThan(end);
            Connection.THREADS.pause(Duration.ofMillis(200));
        }
    }

    private static Metric metric(String namespace, String name, String dimension, String resource) {
        return Metric.builder()
                .namespace(namespace)
                .metricName(name)
                .dimensions(Dimension.builder().name(dimension).value(resource).build())
                .build();
    }

    static double sum(LocalAccount account, String namespace, String metric, String dimension, String name) {
        Instant now = Instant.now();
        MetricDataQuery query = MetricDataQuery.builder()
                .id("it")
                .metricStat(stat -> stat.stat("Sum").period(60).metric(metric(namespace, metric, dimension, name)))
                .build();
        return account
                .metrics
                .getMetricData(request -> request.startTime(now.minusSeconds(1_200))
                        .endTime(now.plusSeconds(60))
                        .metricDataQueries(List.of(query)))
                .join()
                .metricDataResults()
                .getFirst()
                .values()
                .stream()
                .mapToDouble(Double::doubleValue)
                .sum();
    }

    /// Deletes all versions of all objects, and the markers of those that were deleted.
    static void empty(LocalAccount account, String bucket) {
        ListObjectVersionsResponse all = account.objects
                .listObjectVersions(request -> request.bucket(bucket))
                .join();
        List<ObjectIdentifier> doomed = Stream.concat(
                        all.versions().stream().map(version -> version(version.key(), version.versionId())),
                        all.deleteMarkers().stream().map(marker -> version(marker.key(), marker.versionId())))
                .toList();
        if (!doomed.isEmpty()) {
            account.objects
                    .deleteObjects(request -> request.bucket(bucket).delete(delete -> delete.objects(doomed)))
                    .join();
        }
    }

    private static ObjectIdentifier version(String key, String id) {
        return ObjectIdentifier.builder().key(key).versionId(id).build();
    }

    @Test
    @Tag("campaign")
    void a_deletable_stack_is_made_counts_its_records_and_leaves_nothing_behind() throws IOException {
        String yaml = Template.of(PIPELINE, Input.NEW_STREAM).deletableYaml();
        try (LocalAccount account = LocalAccount.open()) {
            account.objects.createBucket(request -> request.bucket("code")).join();
            account.objects
                    .putObject(
                            request -> request.bucket("code").key("functions.zip"),
                            AsyncRequestBody.fromBytes(archive()))
                    .join();
            String id = account.create(
                    "tried",
                    yaml,
                    Map.of(
                            "CodeBucket", "code",
                            "CodeKey", "functions.zip",
                            "DeletionProtection", "false",
                            "Gates", "64",
                            "TickMinutes", "1"),
                    OnFailure.ROLLBACK);
            Stack stack = account.settled(id);
            assertThat(stack.stackStatus()).as("%s", account.failures(id)).isEqualTo(StackStatus.CREATE_COMPLETE);
            Map<String, String> outputs = new TreeMap<>();
            stack.outputs().forEach((Output output) -> outputs.put(output.outputKey(), output.outputValue()));
            put(account, outputs.get("InputStreamName"));
            awaitTotal(account, "[625.00, 500]");
            assertThat(sum(account, "AWS/Kinesis", "IncomingRecords", "StreamName", outputs.get("InputStreamName")))
                    .isEqualTo(RECORDS);
            assertThat(sum(account, "AWS/Lambda", "Invocations", "FunctionName", outputs.get("StateFunction")))
                    .isPositive();
            assertThat(sum(account, "AWS/Lambda", "Duration", "FunctionName", outputs.get("StateFunction")))
                    .isPositive();
            assertThat(sum(
                            account,
                            "AWS/DynamoDB",
                            "ConsumedWriteCapacityUnits",
                            "TableName",
                            outputs.get("RowsTable")))
                    .isGreaterThanOrEqualTo(2.0 * RECORDS);
            assertThat(sum(account, "Onefold", "Records", "Stack", "tried")).isGreaterThanOrEqualTo(RECORDS);
            assertThat(account.cloud.usage().refused()).isEmpty();
            empty(account, outputs.get("LettersBucketName"));
            assertThat(account.delete(id).stackStatus())
                    .as("%s", account.failures(id))
                    .isEqualTo(StackStatus.DELETE_COMPLETE);
            assertThat(account.stored()).containsExactly("bucket code");
        }
    }
}
