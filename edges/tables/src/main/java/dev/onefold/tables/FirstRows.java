package dev.onefold.tables;

import dev.onefold.core.Engine.Appended;
import dev.onefold.core.bytes.RecordKind;
import dev.onefold.core.event.Decoder;
import dev.onefold.core.event.Malformed;
import dev.onefold.core.event.Reason;
import dev.onefold.core.event.RecordEnds;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.seal.RecordLine;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Refuses a seeding of which no row can be read, before millions of dead letters are made. One thread.
public final class FirstRows implements Seeder.Intake {
    private static final int ROWS = 100;
    private static final Malformed SILENT =
            new Malformed(Reason.MALFORMED, "The record tells of no row, as the mark of a transaction does");

    private final Pipeline pipeline;
    private final RecordKind kind;
    private final Seeder.Intake intake;
    private final boolean few;
    private final Decoder decoder;
    private final RecordEnds ends;
    private @Nullable Malformed first;
    private boolean hasHeader;
    private int rows;
    private boolean checked;

    /// @param atOnce how many rows may come together
    public FirstRows(Pipeline pipeline, RecordKind kind, Seeder.Intake intake, int atOnce) {
        this.kind = kind;
        this.pipeline = pipeline;
        this.intake = intake;
        few = atOnce < ROWS;
        decoder = new Decoder(pipeline);
        ends = RecordEnds.of(pipeline);
        checked = pipeline.fold() instanceof Processing; // Its code may be out of reach here.
    }

    /// @throws IllegalArgumentException if none of them can be read
    @Override
    public Appended append(byte[] lines, int length) {
        if (!checked) {
            checked = isReadable(lines, length);
        }
        return intake.append(lines, length);
    }

    /// Whether one of the rows so far is a record. Where few come together, those that are none are let
    /// through until there were enough.
    private boolean isReadable(byte[] lines, int length) {
        byte[] padded = Arrays.copyOf(lines, length + Decoder.PADDING);
        int from = 0;
        int next = ends.endAnyhow(padded, from, length);
        int to = RecordLine.end(padded, from, next);
        if (Decoder.wantsHeader(pipeline) && !hasHeader && length > 0) {
            hasHeader = true;
            Malformed malformed = decoder.header(padded, from, to);
            if (malformed != null) {
                throw refused(malformed.message());
            }
            from = next;
            next = ends.endAnyhow(padded, from, length);
            to = RecordLine.end(padded, from, next);
        }
        for (; from < length && rows < ROWS; rows++) {
            Malformed malformed = decoder.decode(kind, padded, from, to);
            if (malformed == null && decoder.event().silence == null) {
                return true;
            }
            malformed = malformed != null ? malformed : SILENT;
            first = first == null ? malformed : first;
            from = next;
            next = ends.endAnyhow(padded, from, length);
            to = RecordLine.end(padded, from, next);
        }
        if (first != null && (rows >= ROWS || !few)) {
            throw refused("of the first " + rows + " not one is a record. The first one: " + first.message());
        }
        return rows == 0 && !few;
    }

    private IllegalArgumentException refused(String why) {
        return new IllegalArgumentException("Pipeline " + pipeline.name() + " cannot read the rows: " + why);
    }
}
