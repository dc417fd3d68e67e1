/// Delivery of sealed batches: their content as it is handed over, how far each one is, and the threads that hand over.
@NullMarked
package dev.onefold.embedded.delivery;

import org.jspecify.annotations.NullMarked;
