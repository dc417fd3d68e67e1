/// Compares a deployment's rows with their source again and again, over several invocations of a function.
@NullMarked
package dev.onefold.aws.comparison;

import org.jspecify.annotations.NullMarked;
