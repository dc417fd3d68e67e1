/// The rules of a user's function per key: which events are folded, in which order, and what that changes.
/// Both runtimes store the bytes that are made here. It is one idea: what is kept of a key, and how an event changes
/// it.
@NullMarked
package dev.onefold.core.process;

import org.jspecify.annotations.NullMarked;
