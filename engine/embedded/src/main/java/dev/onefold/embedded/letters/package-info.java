/// The dead letters: their log, and off the heap the place of each one in it.
@NullMarked
package dev.onefold.embedded.letters;

import org.jspecify.annotations.NullMarked;
