/// Functions as Lambda runs them: each sandbox is a process with Lambda's own Java runtime client and our handlers.
@NullMarked
package dev.onefold.local.function;

import org.jspecify.annotations.NullMarked;
