package dev.onefold.cli.trial;

import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.event.Decoder;
import dev.onefold.core.event.Event;
import dev.onefold.core.event.Malformed;
import dev.onefold.core.pipeline.Pipeline;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// What is right for batches. The id and the contents of each record are noted, and what the receiver has is
/// struck off: each id is in exactly one batch, with a content that was put. An id that the pipeline's filter
/// leaves out with one of its contents, and not with another, may be in none.
final class BatchOracle implements Oracle {
    private final Decoder decoder;
    private final Map<Print, Member> members = new HashMap<>();
    private final Set<String> rejected = new HashSet<>();
    private long required;

    /// The first half of a SHA-256.
    private record Print(long first, long second) {
        static Print of(byte[] bytes) {
            ByteBuffer hash = ByteBuffer.wrap(Sha256.of(bytes));
            return new Print(hash.getLong(), hash.getLong());
        }
    }

    /// What was put under one id.
    private static final class Member {
        final long putMs = System.currentTimeMillis();
        Set<Print> contents = Set.of();
        boolean isLeftOut;
        int received;
        long delayMs;

        boolean isRequired() {
            return !contents.isEmpty() && !isLeftOut;
        }
    }

    /// What the receiver has, against what was put.
    ///
    /// @param missing ids that are in no batch
    /// @param doubled ids that are in batches more than once
    record Struck(long missing, long doubled) {}

    BatchOracle(Pipeline pipeline) {
        decoder = new Decoder(pipeline);
    }

    @Override
    public void note(List<byte[]> records) {
        records.forEach(this::note);
    }

    private void note(byte[] record) {
        if (decode(record) != null) {
            rejected.add(Sha256.hex(record));
        } else if (decoder.event().silence == null) {
            Member member = members.computeIfAbsent(id(), _ -> new Member());
            boolean wasRequired = member.isRequired();
            if (decoder.event().kind == Event.Kind.COUNTED) {
                add(member, Print.of(record));
            } else {
                member.isLeftOut = true;
            }
            required += (member.isRequired() ? 1 : 0) - (wasRequired ? 1 : 0);
        }
    }

    private static void add(Member member, Print content) {
        if (!member.contents.contains(content)) {
            Set<Print> more = new HashSet<>(member.contents);
            more.add(content);
            member.contents = Set.copyOf(more);
        }
    }

    private @Nullable Malformed decode(byte[] record) {
        return decoder.decode(Arrays.copyOf(record, record.length + Decoder.PADDING), 0, record.length);
    }

    private Print id() {
        Event event = decoder.event();
        return Print.of(Arrays.copyOfRange(event.data, event.keyFrom, event.keyTo));
    }

    /// Strikes off a record that the receiver has.
    ///
    /// @param at when it had it
    /// @return whether it was put
    boolean strike(byte[] record, Instant at) {
        if (decode(record) != null) {
            return false;
        }
        if (decoder.event().silence != null) {
            return true; // The header of a batch of CSV.
        }
        Member member = members.get(id());
        if (member == null || !member.contents.contains(Print.of(record))) {
            return false;
        }
        if (member.received++ == 0) {
            member.delayMs = Math.max(0, at.toEpochMilli() - member.putMs);
        }
        return true;
    }

    /// The delays of the records that were struck off, from the first time that each was put, milliseconds,
    /// ascending.
    long[] delaysMs() {
        return members.values().stream()
                .filter(member -> member.received > 0)
                .mapToLong(member -> member.delayMs)
                .sorted()
                .toArray();
    }

    /// How many were not struck off, or several times.
    Struck struck() {
        return new Struck(
                members.values().stream()
                        .filter(member -> member.isRequired() && member.received == 0)
                        .count(),
                members.values().stream().filter(member -> member.received > 1).count());
    }

    /// The hashes of the different records that are no events.
    Set<String> rejections() {
        return Set.copyOf(rejected);
    }

    @Override
    public Right right() {
        return new Right(new LinkedHashMap<>(), required);
    }

    @Override
    public long rejected() {
        return rejected.size();
    }
}
