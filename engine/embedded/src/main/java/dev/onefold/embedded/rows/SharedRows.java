package dev.onefold.embedded.rows;

import dev.onefold.core.bytes.BytesIn;
import dev.onefold.core.bytes.BytesOut;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.process.RowId;
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
    private final RowBatch.EncodedKey key = new RowBatch.EncodedKey();

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
        Keys shard = at(row);
        byte[] value = shard.store.get(KeyRecords.hash(key.bytes, key.length), key.bytes, key.length);
        return value == null || value.length == 0 ? null : Owned.of(value);
    }

    /// Stores a row, which is its owner's.
    ///
    /// @param content `null`: the row is removed, and any key may own the next one
    /// @return the shard that has it
    Keys put(RowId row, byte[] owner, byte @Nullable [] content) {
        Keys shard = at(row);
        byte[] value = content == null
                ? new byte[0]
                : new BytesOut().bytes(owner).bytes(content).toBytes();
        shard.store.put(KeyRecords.hash(key.bytes, key.length), key.bytes, key.length, value);
        return shard;
    }

    /// Encodes the key of a row; returns its shard.
    private Keys at(RowId row) {
        List<String> parts = row.key().parts();
        byte[] own = parts.size() == 1
                ? parts.getFirst().getBytes(StandardCharsets.UTF_8)
                : row.key().bytes();
        Keys[] shards = near.siblings();
        Keys shard = shards[key.set(own, 0, own.length).shard(shards.length)];
        key.bytes[key.length++] = 1;
        key.bytes[key.length++] = (byte) (KeyRecords.ROW + row.table());
        return shard;
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
