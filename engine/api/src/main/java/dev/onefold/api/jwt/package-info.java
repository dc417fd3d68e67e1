/// [Issuer] verifies tokens of an issuer, and reads their permissions.
@NullMarked
package dev.onefold.api.jwt;

import org.jspecify.annotations.NullMarked;
