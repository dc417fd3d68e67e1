/// The types that a receiver of batches in Java needs: [BatchHandler] is what a user writes.
@NullMarked
package dev.onefold.batch;

import org.jspecify.annotations.NullMarked;
