/// Dead letters in a table: kept once, whole, for as long as nobody removes them.
@NullMarked
package dev.onefold.aws.letter;

import org.jspecify.annotations.NullMarked;
