package dev.onefold.core.pipeline;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// The identity of an event: the fields or the place by which a record is known to be the same event again.
public sealed interface Identity {
    /// A part of a key or an id.
    ///
    /// @param type the meaning of its texts; `null`: a text, refused if it is an unusual spelling of a number
    /// @param missing stands for a missing field; `null`: a record without the field is refused
    /// @param element of the array that the field holds, from 0; [#WHOLE]: the field itself is meant
    record Part(
            FieldPath field,
            @Nullable PartType type,
            @Nullable String missing,
            int element) {
        /// No element is meant.
        public static final int WHOLE = -1;

        /// A field that has to be there.
        public Part(FieldPath field) {
            this(field, null, null, WHOLE);
        }

        /// Whether all that was read as another part is read alike as this one.
        boolean includes(Part other) {
            boolean isRead = other.type == type || other.type == null && type == PartType.TEXT;
            return field.equals(other.field)
                    && element == other.element
                    && isRead
                    && (other.missing == null || other.missing.equals(missing));
        }

        private static List<Part> of(List<FieldPath> fields) {
            return fields.stream().map(Part::new).toList();
        }

        private static List<FieldPath> fields(List<Part> parts) {
            return parts.stream().map(Part::field).toList();
        }

        private static boolean include(List<Part> parts, List<Part> others) {
            return parts.size() == others.size()
                    && IntStream.range(0, parts.size())
                            .allMatch(i -> parts.get(i).includes(others.get(i)));
        }
    }

    /// The meaning of the texts in a part of a key.
    enum PartType {
        /// A text is itself.
        TEXT("text"),
        /// All spellings of an integer are one.
        INTEGER("integer");

        private final String word;

        PartType(String word) {
            this.word = word;
        }

        /// The word for it in a pipeline file.
        public String word() {
            return word;
        }
    }

    /// A part of a version of several fields, from zero.
    ///
    /// @param time how it is written; `null`: it is an integer
    /// @param missing an integer, or [#HIGHEST], that stands for a missing field; `null`: a record without it
    ///     is refused
    record VersionPart(
            FieldPath field,
            @Nullable TimeType time,
            @Nullable String missing) {
        /// Stands for a part above all others.
        public static final String HIGHEST = "highest";

        public static final int COUNT_MAX = 4;

        /// Digits of a time of today, in nanoseconds and perhaps with a counter, or of an id.
        public static int digitsOf(TimeType type) {
            return type.isId() ? 39 : type == TimeType.HLC ? 29 : 19;
        }

        /// Digits that each of so many parts may have.
        public static int digits(int parts) {
            return Limits.VERSION_DIGITS_MAX / parts;
        }
    }

    /// The highest version of a key counts; a version replaces its predecessor. A `null` version type is an
    /// integer of up to 64 digits; else the version is a time. A `null` version is the place of the change in
    /// its table's log, which is for [Input.Format.Changes] alone.
    ///
    /// @param composite the parts of a version of several fields, compared one after the other; the first of
    ///     them
    ///     is `version`. Empty: the version is one field
    record Versioned(
            List<Part> parts,
            @Nullable FieldPath version,
            @Nullable TimeType versionTime,
            List<VersionPart> composite) implements Identity {
        public Versioned {
            parts = List.copyOf(parts);
            composite = List.copyOf(composite);
        }

        /// With a version of one field, or of none.
        public Versioned(List<Part> parts, @Nullable FieldPath version, @Nullable TimeType versionTime) {
            this(parts, version, versionTime, List.of());
        }

        /// With a version of several fields.
        public static Versioned of(List<Part> parts, List<VersionPart> composite) {
            return new Versioned(parts, composite.getFirst().field(), null, composite);
        }

        /// Whether a part of the version may be a time without an offset.
        public boolean isVersionLocal() {
            return isLocal(versionTime) || composite.stream().anyMatch(part -> isLocal(part.time()));
        }

        private static boolean isLocal(@Nullable TimeType type) {
            return type != null && type.mayBeLocal();
        }

        /// With a key of these fields, which have to be there.
        public static Versioned of(List<FieldPath> key, @Nullable FieldPath version, @Nullable TimeType versionTime) {
            return new Versioned(Part.of(key), version, versionTime);
        }

        /// The fields of the key.
        public List<FieldPath> key() {
            return Part.fields(parts);
        }
    }

    /// Append-only: each id counts once. A record whose time is more than the horizon before its arrival is too
    /// old.
    record ById(List<Part> parts, @Nullable Duration horizon) implements Identity {
        public ById {
            parts = List.copyOf(parts);
        }

        /// With an id of these fields, which have to be there.
        public static ById of(List<FieldPath> id, @Nullable Duration horizon) {
            return new ById(Part.of(id), horizon);
        }

        /// The fields of the id.
        public List<FieldPath> id() {
            return Part.fields(parts);
        }
    }

    /// Whether each record that had a key or an id by another identity has the same one, and the same version,
    /// by this one.
    default boolean includes(Identity other) {
        return switch (this) {
            case Versioned now ->
                other instanceof Versioned old
                        && Part.include(now.parts, old.parts)
                        && Objects.equals(now.version, old.version)
                        && now.versionTime == old.versionTime
                        && now.composite.equals(old.composite);
            case ById now -> other instanceof ById old && Part.include(now.parts, old.parts);
            case ByMessage _, ByPlace _ -> equals(other);
        };
    }

    /// Append-only: each message of a queue, or each record of a stream or log, counts once, by the id that
    /// its source gives it: the queue's message id; stream, shard, sequence number and sub-sequence number;
    /// log, partition and offset.
    record ByMessage() implements Identity {
        /// The word for it in a pipeline file.
        public static final String WORD = "message";

        /// Requires that a pipeline does not identify records by ids of their source: this source gives none.
        ///
        /// @param source the source to be folded, as the subject of a sentence
        /// @throws IllegalArgumentException if it does
        public static void requireNone(Pipeline pipeline, String source) {
            problem(pipeline, source).ifPresent(problem -> {
                throw new IllegalArgumentException(problem);
            });
        }

        /// Why a source that gives its records no ids cannot be folded; empty if it can.
        public static Optional<String> problem(Pipeline pipeline, String source) {
            return pipeline.input().identity() instanceof ByMessage
                    ? Optional.of("Pipeline " + pipeline.name() + " knows records by their messages (id: message), and "
                            + source + " has no message. Leave 'id' out: then each line counts by its place. Or name"
                            + " the field that is the id.")
                    : Optional.empty();
        }
    }

    /// Append-only: each record counts once by the place where it was first read.
    record ByPlace() implements Identity {}
}
