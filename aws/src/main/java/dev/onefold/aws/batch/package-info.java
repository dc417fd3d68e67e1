/// Batches: messages are collected into lanes, cut into sealed batches, and delivered.
///
///     messages --Collect--> claims, chunks of lanes --Cutter--> sealed batches --Deliver--> receiver
///
/// Each arrow is one transaction with its mark, so each may be lost, repeated or late. A direct record goes
/// from Collect to its receiver. It is one idea: the claims, lanes and states that all steps read and write.
@NullMarked
package dev.onefold.aws.batch;

import org.jspecify.annotations.NullMarked;
