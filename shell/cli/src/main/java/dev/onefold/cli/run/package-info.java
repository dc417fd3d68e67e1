/// `onefold run`: brings input to the engine, from files, from files that are still being written, and from standard
/// input.
@NullMarked
package dev.onefold.cli.run;

import org.jspecify.annotations.NullMarked;
