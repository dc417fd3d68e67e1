package dev.onefold.tables;

import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Input.Format;
import dev.onefold.core.pipeline.Pipeline;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.DestinationStatus;
import software.amazon.awssdk.services.dynamodb.model.KeySchemaElement;
import software.amazon.awssdk.services.dynamodb.model.ResourceNotFoundException;
import software.amazon.awssdk.services.dynamodb.model.TableDescription;
import software.amazon.awssdk.services.dynamodb.model.TableStatus;

/// The description of a table by DynamoDB.
///
/// @param id an id that changes when the table is made again under its name
/// @param key names of the attributes of the table's key
/// @param items number and bytes of the items, which may be some hours old
/// @param active whether the table is ready, and no change of its settings is under way
/// @param stream ARN of the table's change stream; `null` if the stream is off
public record SourceTable(
        String name,
        String id,
        List<String> key,
        Size items,
        boolean active,
        @Nullable String stream) {
    private static final Pattern STREAM = Pattern.compile("arn:[^:]*:dynamodb:[^:]*:[^:]*:table/([^/]+)/stream/(.+)");

    /// The number of the items, and their bytes.
    public record Size(long count, long bytes) {}

    /// Describes a table.
    ///
    /// @throws IllegalArgumentException if there is no such table
    /// @throws SdkException if DynamoDB cannot be asked
    public static SourceTable describe(DynamoDbAsyncClient client, String name) {
        TableDescription table;
        try {
            table = client.describeTable(request -> request.tableName(name))
                    .join()
                    .table();
        } catch (CompletionException e) {
            if (e.getCause() instanceof ResourceNotFoundException) {
                throw new IllegalArgumentException("There is no table " + name + " in this account and region", e);
            }
            throw e.getCause() instanceof SdkException failure ? failure : e;
        }
        boolean streams = table.streamSpecification() != null
                && Boolean.TRUE.equals(table.streamSpecification().streamEnabled());
        return new SourceTable(
                name,
                String.valueOf(table.tableId()),
                table.keySchema().stream().map(KeySchemaElement::attributeName).toList(),
                new Size(
                        table.itemCount() == null ? 0 : table.itemCount(),
                        table.tableSizeBytes() == null ? 0 : table.tableSizeBytes()),
                table.tableStatus() == TableStatus.ACTIVE,
                streams ? table.latestStreamArn() : null);
    }

    /// Requires that no change of its settings is under way.
    ///
    /// @throws IllegalArgumentException if one is
    public SourceTable requireActive() {
        if (!active) {
            throw new IllegalArgumentException("Table " + name
                    + " is being changed, so its change stream may not be on yet. Try again when the table is ACTIVE");
        }
        return this;
    }

    /// Requires that the pipeline reads the changes of a table, if its file names one.
    ///
    /// @param table its name or ARN
    /// @throws IllegalArgumentException if it reads those of another one
    public static void requireNamed(Pipeline pipeline, String table) {
        String named = pipeline.input().format() instanceof Format.DynamoDbStream format ? format.table() : null;
        boolean isArn = named != null && named.contains("/") && table.contains("/");
        if (named != null && !(isArn ? named.equals(table) : ownName(named).equals(ownName(table)))) {
            throw new IllegalArgumentException("Pipeline " + pipeline.name() + " reads the changes of the table "
                    + named
                    + " ('table' under input), and a row of " + table + " with an equal key would be the same row. Read"
                    + " the rows of " + ownName(named) + ", or write 'table: " + ownName(table) + "' there");
        }
    }

    private static String ownName(String table) {
        return table.substring(table.lastIndexOf('/') + 1);
    }

    /// Requires that the key of the pipeline is the whole key of the table. A change names its row by that;
    /// with a part of it, several rows would be one.
    ///
    /// @throws IllegalArgumentException if it is another one
    public void requireKey(Pipeline pipeline) {
        requireNamed(pipeline, name);
        if (pipeline.input().format() instanceof Format.Changes
                && pipeline.input().identity() instanceof Identity.Versioned versioned) {
            Set<String> read = versioned.key().stream()
                    .map(path -> path.names().size() == 1 ? path.names().getFirst() : path.toString())
                    .collect(Collectors.toSet());
            if (!read.equals(Set.copyOf(key))) {
                throw new IllegalArgumentException("The key of table " + name + " is " + String.join(", ", key)
                        + ", and the key of pipeline " + pipeline.name() + " is "
                        + versioned.key().stream().map(FieldPath::toString).collect(Collectors.joining(", "))
                        + ". A change names its row by the table's key: write that one under 'key'");
            }
        }
    }

    /// Requires that changes of the table go to a stream of Kinesis.
    ///
    /// @throws IllegalArgumentException if they do not
    public String requireSentTo(DynamoDbAsyncClient client, String kinesis) {
        if (!isSentTo(client, name, kinesis)) {
            throw new IllegalArgumentException("Changes of table " + name + " do not go to " + kinesis
                    + ". Switch that on first, and let the pipeline read it");
        }
        return kinesis;
    }

    /// Whether it is the ARN of a Kinesis stream.
    public static boolean isKinesis(String stream) {
        return stream.matches("arn:[^:]*:kinesis:.*");
    }

    /// Whether the changes of a table go to a Kinesis stream.
    ///
    /// @throws SdkException if DynamoDB cannot be asked
    public static boolean isSentTo(DynamoDbAsyncClient client, String table, String stream) {
        try {
            return client
                    .describeKinesisStreamingDestination(request -> request.tableName(table))
                    .join()
                    .kinesisDataStreamDestinations()
                    .stream()
                    .anyMatch(
                            to -> stream.equals(to.streamArn()) && to.destinationStatus() == DestinationStatus.ACTIVE);
        } catch (CompletionException e) {
            throw e.getCause() instanceof SdkException failure ? failure : e;
        }
    }

    /// The name of the table of a change stream; empty if it is the ARN of something else.
    static String ofStream(String streamArn) {
        Matcher matcher = STREAM.matcher(streamArn);
        return matcher.matches() ? matcher.group(1) : "";
    }

    /// The time at which a stream was switched on, by its ARN.
    ///
    /// @throws IllegalArgumentException if this is not the ARN of a stream
    public static Instant begin(String streamArn) {
        Matcher matcher = STREAM.matcher(streamArn);
        if (matcher.matches()) {
            try {
                return LocalDateTime.parse(matcher.group(2)).toInstant(ZoneOffset.UTC);
            } catch (DateTimeParseException e) {
                throw new IllegalArgumentException(notOne(streamArn), e);
            }
        }
        throw new IllegalArgumentException(notOne(streamArn));
    }

    private static String notOne(String streamArn) {
        return "'" + streamArn + "' is not the ARN of a table's stream, such as"
                + " arn:aws:dynamodb:eu-central-1:123456789012:table/Favourites/stream/2026-11-01T00:00:00.123";
    }
}
