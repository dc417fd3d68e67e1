/// The dead letters: their log, and off the heap where in it each one is.
@NullMarked
package dev.onefold.embedded.letters;

import org.jspecify.annotations.NullMarked;
