/// Tests of a user's function per key, for a plain unit test: no server, no file, no clock. The rules that fold are
/// those of the engines; what is stored is kept as bytes in memory.
@NullMarked
package dev.onefold.test;

import org.jspecify.annotations.NullMarked;
