/// The rules of a user's function per key: the events that are folded, their order, and the changes that
/// follow. Both runtimes store the bytes that are made here. It is one idea: the state that is kept of a key,
/// and how an event changes it.
@NullMarked
package dev.onefold.core.process;

import org.jspecify.annotations.NullMarked;
