package dev.onefold.embedded.rows;

import dev.onefold.core.bytes.BytesIn;
import dev.onefold.core.bytes.BytesOut;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.keyed.RowId;
import dev.onefold.core.pipeline.Processing;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The rows of the tables that several keys of a function write. A row is in the shard of its own key, in whatever
/// shard its owner is, so that any step finds it. The events of such a pipeline are therefore folded one after
/// another, in the order in which they came.
///
///     key   = key of the row, encoded as the key of an owner in [KeyRecords]; 1; 1 + number of the table
///     value = the owner's key as an event has it, and content, each behind its varint length; nothing: the row was
///             removed
///
/// It is not thread-safe; another object may read the same rows beside it.
final class SharedRows {
    private final List<Processing.Table> tables;
    private final Keys near;
    private RowBatch.@Nullable EncodedKey scratch; // Made when it is needed: most functions share no rows.

    /// @param near one of the shards that have the rows
    SharedRows(List<Processing.Table> tables, Keys near) {
        this.tables = tables;
        this.near = near;
    }

    /// A row that is there.
    record Owned(byte[] owner, byte[] content) {
        static Owned of(byte[] value) {
            BytesIn in = new BytesIn(value);
            return new Owned(in.bytes(), in.bytes());
        }
    }

    /// The row; `null` if it is not there.
    @Nullable
    Owned get(RowId row) {
        RowBatch.EncodedKey key = key(row);
        byte[] value = shard(key).store.get(KeyRecords.hash(key.bytes, key.length), key.bytes, key.length);
        return value == null || value.length == 0 ? null : Owned.of(value);
    }

    /// Stores a row, which is its owner's.
    ///
    /// @param content `null`: the row is removed, and any key may own the next one
    /// @return the shard that has it
    Keys put(RowId row, byte[] owner, byte @Nullable [] content) {
        RowBatch.EncodedKey key = key(row);
        Keys shard = shard(key);
        byte[] value = content == null
                ? new byte[0]
                : new BytesOut().bytes(owner).bytes(content).toBytes();
        shard.store.put(KeyRecords.hash(key.bytes, key.length), key.bytes, key.length, value);
        return shard;
    }

    private Keys shard(RowBatch.EncodedKey key) {
        Keys[] shards = near.siblings();
        return shards[key.shard(shards.length)];
    }

    /// The hash of the encoded key is that of its part for the owner, which says the shard.
    private RowBatch.EncodedKey key(RowId row) {
        RowBatch.EncodedKey key = scratch == null ? new RowBatch.EncodedKey() : scratch;
        scratch = key;
        List<String> parts = row.key().parts();
        byte[] own = parts.size() == 1
                ? parts.getFirst().getBytes(StandardCharsets.UTF_8)
                : row.key().bytes();
        key.set(own, 0, own.length);
        key.bytes[key.length++] = 1;
        key.bytes[key.length++] = (byte) (KeyRecords.ROW + row.table());
        return key;
    }

    /// The row whose encoded key is that of an owner with this key.
    RowId row(int table, byte[] own) {
        return new RowId(
                table,
                tables.get(table).key().size() == 1
                        ? Tuple.of(List.of(new String(own, StandardCharsets.UTF_8)))
                        : new Tuple(own));
    }
}
