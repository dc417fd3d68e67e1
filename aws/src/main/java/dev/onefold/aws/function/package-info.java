/// The functions that Lambda invokes.
@NullMarked
package dev.onefold.aws.function;

import org.jspecify.annotations.NullMarked;
