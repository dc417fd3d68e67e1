/// A bucket that fails as the service may.
@NullMarked
package dev.onefold.fakes.aws.bucket;

import org.jspecify.annotations.NullMarked;
