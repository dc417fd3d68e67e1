/// The simulator as a program.
///
/// A package imports only those to its right:
///
///     simulator > deployment > embedded > generate > judge > oracle > aws.bucket > queue > stream > wire >
///     disk > aws > aws.table > aws.expression > aws.item
@NullMarked
package dev.onefold.simulator;

import org.jspecify.annotations.NullMarked;
