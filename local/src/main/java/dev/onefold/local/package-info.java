/// What AWS does for the functions, on this machine: for the demo and for tests.
@NullMarked
package dev.onefold.local;

import org.jspecify.annotations.NullMarked;
