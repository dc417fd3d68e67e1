package dev.onefold.api;

import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The letters of an engine that has rejected nothing.
final class NoLetters implements DeadLetters {
    final List<Long> purged = new ArrayList<>();

    @Override
    public List<DeadLetter> list(long after, int limit) {
        return List.of();
    }

    @Override
    public long size() {
        return 0;
    }

    @Override
    public byte[] record(long id) {
        throw new IllegalArgumentException("There is no dead letter " + id);
    }

    @Override
    public Optional<byte[]> edited(long id) {
        return Optional.empty();
    }

    @Override
    public List<OfKey> ofKey(List<String> key, int limit) {
        return List.of();
    }

    @Override
    public Redriven redrive(long id, byte @Nullable [] edited, Keys keys) {
        return Redriven.GONE;
    }

    @Override
    public int purge(List<Long> ids) {
        purged.addAll(ids);
        return ids.size();
    }
}
