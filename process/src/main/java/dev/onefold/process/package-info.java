/// The types that a function per key needs: [Processor] is what a user writes.
@NullMarked
package dev.onefold.process;

import org.jspecify.annotations.NullMarked;
