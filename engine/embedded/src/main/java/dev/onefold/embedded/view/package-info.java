/// The totals under one definition: opened, checkpointed, filled from another view.
@NullMarked
package dev.onefold.embedded.view;

import org.jspecify.annotations.NullMarked;
