/// The rows and the turn to repair: the part of the tables that a comparison of a deployment's rows with their
/// source needs.
@NullMarked
package dev.onefold.aws.resync;

import org.jspecify.annotations.NullMarked;
