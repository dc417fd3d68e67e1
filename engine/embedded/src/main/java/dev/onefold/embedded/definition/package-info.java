/// The definition that serves, and the view of another definition that is filled and takes its place.
@NullMarked
package dev.onefold.embedded.definition;

import org.jspecify.annotations.NullMarked;
