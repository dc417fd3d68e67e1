package dev.onefold.simulator.embedded;

import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.simulator.embedded.MovingTable.Change;
import dev.onefold.simulator.embedded.MovingTable.Content;
import dev.onefold.tables.RowForm;
import java.math.BigInteger;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// What the changes of a [MovingTable] look like, and whose version a row has.
public enum ChangeForm {
    DYNAMODB("input: {format: dynamodb-stream, table: Tab, key: id}\n"),
    DEBEZIUM("input: {format: debezium, table: public.t, key: id}\n"),
    OWN("input: {key: id, version: v, delete: 'op = \"delete\"'}\n"),
    DEBEZIUM_OWN("input: {format: debezium, table: public.t, key: id, version: v}\n");

    private static final String ARN =
            "arn:aws:dynamodb:eu-west-1:123456789012:table/Tab/stream/2026-11-01T00:00:00.123";
    private static final long GENERATION = 1_793_491_200;
    private static final String ROLLUP = """
            rollup:
              levels: [city]
              measures:
                n: count()
                stars: sum(stars) decimal(18,0)
            """;

    private final String input;

    ChangeForm(String input) {
        this.input = input;
    }

    /// One of them.
    public static ChangeForm any(RandomGenerator random) {
        return List.of(values()).get(random.nextInt(values().length));
    }

    /// The pipeline that reads them.
    public Pipeline pipeline() {
        return PipelineYaml.read("pipeline: moving\n" + input + ROLLUP);
    }

    /// Whether the place of a change is its version.
    public boolean isByPlace() {
        return this == DYNAMODB || this == DEBEZIUM;
    }

    /// Whether the table has transactions, and is read in one snapshot.
    public boolean hasTransactions() {
        return this == DEBEZIUM || this == DEBEZIUM_OWN;
    }

    /// The generation of the log.
    public long generation() {
        return this == DYNAMODB ? GENERATION : 0;
    }

    /// The ARN of the change stream, if it has one.
    public @Nullable String stream() {
        return this == DYNAMODB ? ARN : null;
    }

    /// The position of the change in the table that has this place in the log.
    public BigInteger position(BigInteger place) {
        return this == DEBEZIUM ? place.shiftRight(Long.SIZE) : place; // The rest is source.lsn.
    }

    /// The form of rows that a seeding or a re-sync brings.
    public RowForm rows(long number) {
        if (isByPlace()) {
            return RowForm.positioned(generation(), number);
        }
        return this == OWN ? RowForm.plain() : RowForm.row();
    }

    /// A row, as a reader of the table sees it.
    public static String row(String key, Content content) {
        return "{\"id\":\"%s\",\"v\":%d,\"city\":\"%s\",\"stars\":%d}"
                .formatted(key, content.version(), content.city(), content.stars());
    }

    /// A change, as its log tells it.
    public String record(Change change) {
        String keyOnly = "{\"id\":\"" + change.key + "\",\"v\":" + change.position + "}";
        String image = change.after == null ? keyOnly : row(change.key, change.after);
        return switch (this) {
            case DYNAMODB ->
                "{\"eventName\":\"%s\",\"SequenceNumber\":\"%d\",\"eventSourceARN\":\"%s\",\"Keys\":{\"id\":\"%s\"}%s}"
                        .formatted(
                                change.after == null ? "REMOVE" : "MODIFY",
                                change.position,
                                ARN,
                                change.key,
                                change.after == null ? "" : ",\"NewImage\":" + image);
            case DEBEZIUM, DEBEZIUM_OWN ->
                "{\"before\":%1$s,\"after\":%2$s,\"source\":{\"connector\":\"postgresql\",\"schema\":\"public\",\"table\":\"t\",\"lsn\":%4$d,\"sequence\":\"[\\\"%3$d\\\",\\\"%4$d\\\"]\"},\"op\":\"%5$s\"}"
                        .formatted(
                                change.after == null ? image : "null",
                                change.after == null ? "null" : image,
                                change.position,
                                Math.floorMod(
                                        change.position * 7_919,
                                        10_007), // No order: changes are logged before commits.
                                change.after == null ? "d" : "u");
            case OWN ->
                change.after == null
                        ? "{\"id\":\"" + change.key + "\",\"v\":" + change.position + ",\"op\":\"delete\"}"
                        : image;
        };
    }
}
