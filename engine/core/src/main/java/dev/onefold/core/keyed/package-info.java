/// The rules of a user's function per key: the events that are kept, their order, and the changes that follow.
/// Both runtimes store the bytes that are made here.
@NullMarked
package dev.onefold.core.keyed;

import org.jspecify.annotations.NullMarked;
