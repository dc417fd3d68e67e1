package dev.onefold.core.codec;

import dev.onefold.core.bytes.BytesIn;
import dev.onefold.core.bytes.BytesOut;
import dev.onefold.core.pipeline.Type;
import org.jspecify.annotations.Nullable;

/// The codec of a public record.
final class ClassCodec<T extends Record> implements Codec<T> {
    private final Class<T> record;
    private final RecordForm form;

    ClassCodec(Class<T> record) {
        this.record = record;
        form = Forms.of(record);
    }

    @Override
    public Class<T> record() {
        return record;
    }

    @Override
    public Type.Fields type() {
        return form.type();
    }

    @Override
    public byte[] encode(T some, BytesOut scratch) {
        scratch.clear();
        form.writeContent(scratch, some);
        return scratch.toBytes();
    }

    @Override
    public T decode(byte[] bytes, int from, @Nullable T defaults) {
        BytesIn in = new BytesIn(bytes, from, bytes.length);
        T decoded = record.cast(form.readContent(in, defaults));
        in.requireEnd();
        return decoded;
    }
}
