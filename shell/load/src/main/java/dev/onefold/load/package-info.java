/// Generators of load, and the results that are right for it.
@NullMarked
package dev.onefold.load;

import org.jspecify.annotations.NullMarked;
