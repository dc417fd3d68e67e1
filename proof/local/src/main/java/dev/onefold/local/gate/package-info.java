/// What stands in front of the servers: it knows who calls, refuses what a role does not allow, and lets requests fail
/// as those of AWS do now and then.
@NullMarked
package dev.onefold.local.gate;

import org.jspecify.annotations.NullMarked;
