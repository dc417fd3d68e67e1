/// Hands sealed batches to their receivers: [Receivers] opens the one that a pipeline file names.
/// [Verification] proves a folder of batches from their manifests alone.
@NullMarked
package dev.onefold.receivers;

import org.jspecify.annotations.NullMarked;
