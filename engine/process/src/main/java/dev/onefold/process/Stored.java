package dev.onefold.process;

import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.List;
import java.util.Optional;

/// A context as an older version of a function stored it, for [Processor#upgrade]. Each value is found by the
/// name of its component; it is empty if there was none of that name, if it was an empty [Optional], or if it
/// is of another type than the requested one.
public interface Stored {
    /// The names of the components.
    List<String> names();

    /// A text, or the name of an enum's constant.
    Optional<String> text(String name);

    /// An integer or a decimal.
    Optional<BigDecimal> number(String name);

    Optional<Boolean> flag(String name);

    Optional<Instant> time(String name);

    Optional<LocalDate> date(String name);

    Optional<Duration> duration(String name);

    /// A nested record.
    Optional<Stored> nested(String name);

    /// The items of a list: each has one component, named `item`.
    Optional<List<Stored>> list(String name);
}
