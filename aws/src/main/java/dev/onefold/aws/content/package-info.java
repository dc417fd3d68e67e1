/// Contents of batches as objects in the bucket of a deployment.
@NullMarked
package dev.onefold.aws.content;

import org.jspecify.annotations.NullMarked;
