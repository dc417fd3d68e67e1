/// `onefold test`: a sample of a pipeline, and what it is expected to come to.
@NullMarked
package dev.onefold.cli.test;

import org.jspecify.annotations.NullMarked;
