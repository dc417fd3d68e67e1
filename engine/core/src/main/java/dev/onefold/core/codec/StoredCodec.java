package dev.onefold.core.codec;

import dev.onefold.core.bytes.BytesOut;
import dev.onefold.core.pipeline.Type;
import org.jspecify.annotations.Nullable;

/// The codec of records that are bytes already.
record StoredCodec(Type.Fields type) implements Codec<StoredRecord> {
    @Override
    public Class<StoredRecord> record() {
        return StoredRecord.class;
    }

    @Override
    public byte[] encode(StoredRecord some, BytesOut scratch) {
        return some.bytes();
    }

    @Override
    public StoredRecord decode(byte[] bytes, int from, @Nullable StoredRecord defaults) {
        return new StoredRecord(Reshaped.fitted(bytes, from, type, defaults == null ? null : defaults.bytes()));
    }
}
