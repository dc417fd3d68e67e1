package dev.onefold.s3;

import dev.onefold.receivers.Handover;

/// The content that an object is to have.
///
/// @param source source of the bytes, which are streamed
/// @param bytes number of bytes
/// @param sha256 SHA-256 of the bytes, in hex
record Content(Handover.Source source, long bytes, String sha256) {}
