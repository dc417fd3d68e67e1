/// What a comparison of a deployment's rows with their source needs of the tables: the rows, and the turn to repair.
@NullMarked
package dev.onefold.aws.resync;

import org.jspecify.annotations.NullMarked;
