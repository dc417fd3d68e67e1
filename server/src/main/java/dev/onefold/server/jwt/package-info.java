/// [Issuer] says what a token allows that somebody else has signed.
@NullMarked
package dev.onefold.server.jwt;

import org.jspecify.annotations.NullMarked;
