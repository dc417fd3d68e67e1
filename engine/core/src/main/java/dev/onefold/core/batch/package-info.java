/// Sealed batches and their deliveries, as values: the manifests by which a receiver proves that no record is
/// missing or doubled, and the state of each delivery.
@NullMarked
package dev.onefold.core.batch;

import org.jspecify.annotations.NullMarked;
