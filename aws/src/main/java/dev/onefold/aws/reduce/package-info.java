/// The second function: consumes deltas into aggregates in one transaction.
@NullMarked
package dev.onefold.aws.reduce;

import org.jspecify.annotations.NullMarked;
