/// The members of batches on their way into sealed ones, and what is known of each sealed batch.
@NullMarked
package dev.onefold.embedded.batches;

import org.jspecify.annotations.NullMarked;
