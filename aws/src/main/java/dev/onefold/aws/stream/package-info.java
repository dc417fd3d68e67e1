/// Streams, written and read by the pipeline's own people: producing, and reading a range of a stream again.
@NullMarked
package dev.onefold.aws.stream;

import org.jspecify.annotations.NullMarked;
