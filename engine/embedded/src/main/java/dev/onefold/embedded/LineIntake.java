package dev.onefold.embedded;

import dev.onefold.api.body.JsonRecords;
import dev.onefold.core.EngineException;
import dev.onefold.core.event.RecordEnds;
import dev.onefold.embedded.framing.LineReader;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/// Appends a stream of lines to a source, such as standard input: numbers the lines, and appends as many at
/// once as there are. Not thread-safe.
public final class LineIntake {
    private final EmbeddedEngine engine;
    private final String source;
    private final LongConsumer acknowledged;
    private RecordEnds ends;
    private long next;
    private LineReader.@Nullable Lines rest;

    /// @param next number of the first line to come, from 1
    /// @param acknowledged receives, after each force, how many lines of the source are forced
    public LineIntake(EmbeddedEngine engine, String source, long next, LongConsumer acknowledged) {
        this.engine = engine;
        this.source = source;
        this.next = next;
        this.acknowledged = acknowledged;
        ends = RecordEnds.ofSource(engine.pipeline());
    }

    /// Appends whole lines until the stream ends.
    ///
    /// @return bytes of an unfinished last record, which is not appended
    /// @throws EngineException if a record has no end that can be known, or is another header; the records in
    ///     front of it are appended
    public long run(InputStream lines) throws IOException {
        if (next > 1 && ends.awaitsHeader()) {
            byte[] header = engine.header(source);
            ends = header.length > 0 ? ends.behind(header, header.length) : RecordEnds.of(engine.pipeline());
        }
        LineReader reader = LineReader.eager(ends, JsonRecords.of(ends, lines), true);
        try {
            for (LineReader.Lines some = reader.next(); some != null; some = reader.next()) {
                String refusal = next > 1 ? null : JsonRecords.refusal(engine.pipeline(), some.bytes(), some.length());
                if (refusal != null) {
                    throw new EngineException(
                            EngineException.Kind.SOURCE_UNREADABLE,
                            "Source " + source + " " + refusal + ". Nothing of it was taken.");
                }
                append(some, some.bytes(), some.length());
            }
        } catch (JsonRecords.Broken e) {
            throw new EngineException(
                    EngineException.Kind.SOURCE_UNREADABLE,
                    "Source " + source + " is read up to record " + (next - 1) + ": " + e.getMessage()
                            + ". The records in front of it are folded.",
                    e);
        }
        ends = reader.ends();
        RecordEnds.Fault fault = reader.fault();
        if (fault != null) {
            throw unreadable(fault);
        }
        rest = reader.rest();
        if (rest != null && ends.behindAllComments(rest.bytes(), 0, rest.length()) == rest.length()) {
            append(rest, rest.bytes(), rest.length()); // Lines of comments with no record behind them are whole.
            rest = null;
        }
        return rest == null ? 0 : rest.consumed();
    }

    /// Requires that no quote is open at the end of the stream, which is the end of its last record, and that
    /// this record is not another header.
    ///
    /// @throws EngineException if one is
    public void requireWhole() {
        LineReader.Lines line = rest;
        if (line != null && !ends.areWhole(line.bytes(), 0, line.length())) {
            throw unreadable(ends.fault(line.bytes(), 0, line.length()));
        }
    }

    private EngineException unreadable(RecordEnds.Fault fault) {
        return new EngineException(
                EngineException.Kind.SOURCE_UNREADABLE,
                "Source " + source + " is read up to line " + (next - 1) + ": " + fault.message(next - 1)
                        + ". The lines in front of it are folded.");
    }

    /// Appends the unfinished last line as a record, if it is [whole][#requireWhole].
    public void takeRest() {
        LineReader.Lines line = rest;
        if (line != null) {
            byte[] ended = Arrays.copyOf(line.bytes(), line.length() + 1);
            ended[line.length()] = '\n';
            append(line, ended, ended.length);
            rest = null;
        }
    }

    private void append(LineReader.Lines lines, byte[] bytes, int length) {
        if (lines.oversized() >= 0) {
            acknowledged.accept(engine.appendOversized(source, next, lines.oversized(), lines.oversizedHash()));
            next++;
        } else {
            acknowledged.accept(engine.append(source, next, bytes, length).acknowledged());
            next += RecordEnds.lines(bytes, 0, length);
        }
    }
}
