/// The verbs on batches.
@NullMarked
package dev.onefold.cli.batches;

import org.jspecify.annotations.NullMarked;
