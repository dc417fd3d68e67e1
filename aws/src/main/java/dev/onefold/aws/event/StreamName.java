package dev.onefold.aws.event;

/// The name of a stream as it stands in the place of a record.
public final class StreamName {
    private static final String STREAM = ":stream/";
    private static final String TABLE = ":table/";
    private static final String TABLE_STREAM = "/stream/";

    private static final String CONSUMER = "/consumer/";

    private StreamName() {}

    /// The ARN of the stream, also of what reads it by enhanced fan-out, whose name follows behind that.
    public static String arn(String streamOrConsumer) {
        int consumer = streamOrConsumer.indexOf(CONSUMER);
        return consumer < 0 || !streamOrConsumer.contains(STREAM)
                ? streamOrConsumer
                : streamOrConsumer.substring(0, consumer);
    }

    /// Of Kinesis the stream's name, `trades`. Of a table its name and the time at which this stream of it was
    /// switched on, `Trades/2026-11-21T00:00:00.000`, because another stream of the table counts from its start
    /// again. Of anything else all of it.
    public static String of(String arn) {
        if (isTable(arn)) {
            int label = arn.indexOf(TABLE_STREAM);
            return arn.substring(arn.indexOf(TABLE) + TABLE.length(), label) + "/"
                    + arn.substring(label + TABLE_STREAM.length());
        }
        int stream = arn.indexOf(STREAM);
        return stream < 0 ? arn : arn.substring(stream + STREAM.length());
    }

    /// Whether it is the change stream of a table.
    public static boolean isTable(String arn) {
        int table = arn.indexOf(TABLE);
        return table >= 0 && arn.indexOf(TABLE_STREAM) > table;
    }
}
