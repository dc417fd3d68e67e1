/// `onefold seed`: brings the rows of a table to a pipeline.
@NullMarked
package dev.onefold.cli.seed;

import org.jspecify.annotations.NullMarked;
