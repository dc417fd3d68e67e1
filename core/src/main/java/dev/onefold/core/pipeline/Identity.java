package dev.onefold.core.pipeline;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What makes a record the same event when it comes again.
public sealed interface Identity {
    /// The highest version of a key counts; a version replaces its predecessor.
    /// A `null` version type is an integer of up to 64 digits; else the version is a time.
    record Versioned(
            List<FieldPath> key,
            FieldPath version,
            @Nullable TimeType versionTime) implements Identity {
        public Versioned {
            key = List.copyOf(key);
        }
    }

    /// Append-only: each id counts once. A record whose time is more than the horizon before its arrival is too old.
    record ById(List<FieldPath> id, @Nullable Duration horizon) implements Identity {
        public ById {
            id = List.copyOf(id);
        }
    }

    /// Append-only: each record counts once by the place where it was first read.
    record ByPlace() implements Identity {}
}
