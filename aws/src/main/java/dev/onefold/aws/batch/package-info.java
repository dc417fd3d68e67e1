/// Batches: messages are collected into lanes, cut into sealed batches, and delivered.
///
///     messages --Collect--> claims, chunks of lanes --Cutter--> sealed batches --Deliver--> receiver
///
/// Each arrow is one transaction with its mark, so each may be lost, repeated or late.
@NullMarked
package dev.onefold.aws.batch;

import org.jspecify.annotations.NullMarked;
