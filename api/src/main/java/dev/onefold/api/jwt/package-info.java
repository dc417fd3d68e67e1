/// [Issuer] says what a token allows that somebody else has signed.
@NullMarked
package dev.onefold.api.jwt;

import org.jspecify.annotations.NullMarked;
