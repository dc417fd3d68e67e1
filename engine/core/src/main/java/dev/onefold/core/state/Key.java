package dev.onefold.core.state;

import dev.onefold.core.bytes.Utf8;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Pipeline;
import java.nio.charset.StandardCharsets;
import java.util.List;

/// The identity of an event, or its id, as parts and as bytes: one part is its UTF-8 bytes, several are a [Tuple].
public final class Key {
    private Key() {}

    private static int partsOf(Pipeline pipeline) {
        return switch (pipeline.input().identity()) {
            case Identity.Versioned versioned -> versioned.key().size();
            case Identity.ById byId -> byId.id().size();
            case Identity.ByMessage _ -> 1;
            case Identity.ByPlace _ -> 0;
        };
    }

    /// The bytes of a key in an event, of its parts.
    ///
    /// @throws IllegalArgumentException if the pipeline's keys have another number of parts, or it has none
    public static byte[] bytes(Pipeline pipeline, List<String> key) {
        int parts = partsOf(pipeline);
        if (parts == 0) {
            throw new IllegalArgumentException("Pipeline " + pipeline.name() + " has no keys");
        }
        if (key.size() != parts) {
            throw new IllegalArgumentException("A key of pipeline " + pipeline.name() + " has " + parts
                    + (parts == 1 ? " part, not " : " parts, not ") + key.size());
        }
        key.forEach(part -> Utf8.encode("A part of the key", part));
        return parts == 1
                ? key.getFirst().getBytes(StandardCharsets.UTF_8)
                : Tuple.of(key).bytes();
    }

    /// The parts of a key, of its bytes in an event.
    public static List<String> parts(Pipeline pipeline, byte[] key) {
        return partsOf(pipeline) == 1 ? List.of(new String(key, StandardCharsets.UTF_8)) : new Tuple(key).parts();
    }
}
