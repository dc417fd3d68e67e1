/// Pipelines built in Java, by the rules of the grammar.
@NullMarked
package dev.onefold.core.builder;

import org.jspecify.annotations.NullMarked;
