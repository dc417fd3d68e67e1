/// The rules of batches, alike on both runtimes: when a batch is sealed, how its delivery proceeds, and how
/// its receiver can prove that no record is missing or doubled.
@NullMarked
package dev.onefold.core.batch;

import org.jspecify.annotations.NullMarked;
