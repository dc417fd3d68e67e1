package dev.onefold.embedded.rows;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.fixtures.Seeds;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class IndexTest {
    private static long find(Index index, long hash, long location) {
        for (long slot = index.home(hash); index.get(slot) != 0; slot = index.next(slot)) {
            if (Index.mayBe(index.get(slot), hash) && Index.location(index.get(slot)) == location) {
                return slot;
            }
        }
        return -1;
    }

    private static void add(Index index, long hash, long location) {
        if (index.isFull()) {
            index.grow();
        }
        long slot = index.home(hash);
        while (index.get(slot) != 0) {
            slot = index.next(slot);
        }
        index.add(slot, hash, location);
    }

    @Test
    void each_location_is_found_by_its_hash_while_the_table_grows() {
        Seeds.forAllSeeds(5, random -> {
            Index index = new Index();
            Map<Long, Long> hashes = new HashMap<>();
            for (long location = 0; location < 30_000; location++) {
                long hash = random.nextInt(4) == 0 ? random.nextLong() & 0xf000_0000_0000_0000L : random.nextLong();
                hashes.put(location, hash);
                add(index, hash, location);
            }
            assertThat(index.count()).isEqualTo(30_000);
            for (long location = 0; location < 30_000; location += random.nextInt(1, 500)) {
                assertThat(find(index, hashes.get(location), location)).isNotNegative();
            }
            assertThat(find(index, hashes.get(7L), 40_000)).isEqualTo(-1);
            index.close();
        });
    }
}
