/// Servers that stand in for those of AWS: real ones, of other people, on the loopback interface where they can.
@NullMarked
package dev.onefold.local.server;

import org.jspecify.annotations.NullMarked;
