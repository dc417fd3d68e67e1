/// `onefold demo`: shows on generated load, with real kills, that the totals come out right.
@NullMarked
package dev.onefold.cli.demo;

import org.jspecify.annotations.NullMarked;
