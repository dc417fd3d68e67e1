/// The event source mapping: what reads streams and queues and invokes functions with what it finds.
///
/// A package imports only those to its right:
///
///     mapping > source
@NullMarked
package dev.onefold.mapping;

import org.jspecify.annotations.NullMarked;
