/// The members of batches on their way into sealed ones, and the entries of sealed batches.
@NullMarked
package dev.onefold.embedded.batches;

import org.jspecify.annotations.NullMarked;
