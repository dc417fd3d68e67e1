/// Batches into a bucket of S3: [S3Receiver] writes each as an object that is never replaced.
@NullMarked
package dev.onefold.s3;

import org.jspecify.annotations.NullMarked;
