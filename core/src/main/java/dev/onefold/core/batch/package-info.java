/// The rules of batches, alike on both runtimes: when one is sealed, what becomes of its delivery, and how its
/// receiver can prove that nothing is missing or doubled.
@NullMarked
package dev.onefold.core.batch;

import org.jspecify.annotations.NullMarked;
