/// Delivery of sealed batches: their content as it is handed over, the state of each delivery, and its
/// threads.
@NullMarked
package dev.onefold.embedded.delivery;

import org.jspecify.annotations.NullMarked;
