/// Which definition serves, and how a view of another one is filled and takes its place.
@NullMarked
package dev.onefold.embedded.definition;

import org.jspecify.annotations.NullMarked;
