/// `onefold reset` and `onefold aws reset`: data that are emptied for the next run.
@NullMarked
package dev.onefold.cli.reset;

import org.jspecify.annotations.NullMarked;
