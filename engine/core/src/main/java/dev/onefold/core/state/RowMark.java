package dev.onefold.core.state;

import dev.onefold.core.bytes.Hash;
import dev.onefold.core.event.Event;
import dev.onefold.core.event.Version;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Pipeline;
import java.util.List;

/// The key, version and content hash of a row: they tell it from another content of its key.
///
/// @param key its bytes, as [Key] makes them
/// @param content a hash of the row's contribution, and of its version if that is the user's own; [#NOTHING]
///     of a deleted row
public record RowMark(byte[] key, Version version, long content) {
    /// The content of a key that has no row, or a deleted one.
    public static final long NOTHING = 0;

    /// The mark of a row.
    public static RowMark of(Pipeline pipeline, Row row) {
        return new RowMark(
                Key.bytes(pipeline, row.key()), row.version(), content(pipeline, row.version(), row.payload()));
    }

    /// The hash of a content.
    public static long content(Pipeline pipeline, Version version, Contribution contribution) {
        if (contribution.kind() == Event.Kind.DELETE) {
            return NOTHING;
        }
        long hash = Hash.of(ContributionBytes.of(contribution));
        if (hasOwnVersion(pipeline)) {
            hash = hash * 31 + Hash.of(version.bytes());
        }
        return hash == NOTHING ? 1 : hash;
    }

    /// Whether a version is a field of the row, so that it is a part of the source's data.
    public static boolean hasOwnVersion(Pipeline pipeline) {
        return pipeline.input().identity() instanceof Identity.Versioned versioned && versioned.version() != null;
    }

    /// The parts of the key.
    public List<String> parts(Pipeline pipeline) {
        return Key.parts(pipeline, key);
    }

    /// Whether the row contributes nothing, and its key is as good as never seen.
    public boolean isNothing() {
        return content == NOTHING;
    }
}
