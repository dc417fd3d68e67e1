package dev.onefold.api;

import dev.onefold.core.bytes.BytesIn;
import dev.onefold.core.bytes.BytesOut;
import dev.onefold.core.event.Version;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.state.RowMark;
import java.util.ArrayList;
import java.util.List;

/// Marks of rows as bytes: for each its key, its version and eight bytes of its content.
final class RowMarks {
    private RowMarks() {}

    public static byte[] write(List<RowMark> marks) {
        BytesOut out = new BytesOut().number(marks.size());
        for (RowMark mark : marks) {
            out.bytes(mark.key()).bytes(mark.version().bytes());
            for (int shift = Long.SIZE - Byte.SIZE; shift >= 0; shift -= Byte.SIZE) {
                out.octet((int) (mark.content() >>> shift & 0xff));
            }
        }
        return out.toBytes();
    }

    public static List<RowMark> read(Pipeline pipeline, byte[] bytes) {
        BytesIn in = new BytesIn(bytes);
        List<RowMark> marks = new ArrayList<>();
        for (long left = in.number(); left > 0; left--) {
            byte[] key = in.bytes();
            Version version = Version.of(pipeline, in.bytes());
            long content = 0;
            for (int i = 0; i < Long.BYTES; i++) {
                content = content << Byte.SIZE | in.octet();
            }
            marks.add(new RowMark(key, version, content));
        }
        in.requireEnd();
        return marks;
    }
}
