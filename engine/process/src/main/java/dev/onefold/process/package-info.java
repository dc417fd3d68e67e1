/// The types that a function per key needs: a user implements [Processor].
@NullMarked
package dev.onefold.process;

import org.jspecify.annotations.NullMarked;
