/// The rules of batches, alike on both runtimes: the lines of a batch, when it is sealed, and how its delivery
/// proceeds.
@NullMarked
package dev.onefold.core.seal;

import org.jspecify.annotations.NullMarked;
