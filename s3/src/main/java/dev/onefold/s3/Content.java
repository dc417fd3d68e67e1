package dev.onefold.s3;

import dev.onefold.receivers.Handover;

/// What an object is to have.
///
/// @param source of its bytes; they are streamed
/// @param bytes how many
/// @param sha256 of them, in hex
record Content(Handover.Source source, long bytes, String sha256) {}
