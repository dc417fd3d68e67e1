/// Answers of one cut.
@NullMarked
package dev.onefold.aws.read;

import org.jspecify.annotations.NullMarked;
