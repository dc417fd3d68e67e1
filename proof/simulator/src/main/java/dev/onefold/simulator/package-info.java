/// The simulator as a program.
///
/// A package imports only those to its right:
///
///     simulator > batches > keyed > lanes > seeding > deployment > embedded > judge
@NullMarked
package dev.onefold.simulator;

import org.jspecify.annotations.NullMarked;
