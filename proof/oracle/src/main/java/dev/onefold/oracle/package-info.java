/// The right totals of any input, computed the plain way: maps, lists and `BigDecimal`, after `docs/pipelines.md`
/// alone.
///
/// It shares no code with the product, so that the two can only be wrong together where the reference is. It is slow on
/// purpose: nothing here is clever, so that what is right can be seen.
///
/// A package imports only those to its right:
///
///     generate > oracle
@NullMarked
package dev.onefold.oracle;

import org.jspecify.annotations.NullMarked;
