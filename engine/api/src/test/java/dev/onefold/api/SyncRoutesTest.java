package dev.onefold.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.Counts;
import dev.onefold.core.Engine;
import dev.onefold.core.Engine.Appended;
import dev.onefold.core.Sync;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// A service holds the seeding of a client for as long as the client is heard of.
@Timeout(60)
class SyncRoutesTest {
    private final CountDownLatch closed = new CountDownLatch(1);
    private int taken;

    private final class OneRun implements Sync.Run {
        @Override
        public long number() {
            return 7;
        }

        @Override
        public long continued() {
            return 0;
        }

        @Override
        public Map<String, String> marks() {
            return Map.of();
        }

        @Override
        public Appended append(byte[] lines, int length) {
            assertThat(closed.getCount()).as("no row comes after the end").isEqualTo(1);
            taken++;
            return new Appended(taken, new Counts(1, 0, 0, 0, 0), List.of());
        }

        @Override
        public Appended appendRows(byte[] lines, int length) {
            return append(lines, length);
        }

        @Override
        public void save(Map<String, String> marks) {}

        @Override
        public void finish() {}

        @Override
        public void close() {
            closed.countDown();
        }
    }

    private SyncRoutes routes(Duration silenceMax) {
        Sync sync = (Sync) Proxy.newProxyInstance(
                Sync.class.getClassLoader(), new Class<?>[] {Sync.class}, (_, _, _) -> new OneRun());
        Engine engine = (Engine)
                Proxy.newProxyInstance(Engine.class.getClassLoader(), new Class<?>[] {Engine.class}, (_, _, _) -> sync);
        return new SyncRoutes(engine, silenceMax);
    }

    private static Request request(String target, String body) {
        return Request.of("POST", "/v1/trades/sync" + target, body.getBytes(StandardCharsets.UTF_8));
    }

    private static void post(SyncRoutes routes, String target, String body) {
        Request request = request(target, body);
        assertThat(routes.post(request, request.path().subList(3, request.path().size())))
                .isPresent();
    }

    @Test
    void a_client_that_is_not_heard_of_is_ended_and_nothing_more_is_taken_from_it() throws InterruptedException {
        SyncRoutes routes = routes(Duration.ofMillis(50));
        post(routes, "/seed", "a file");
        assertThat(closed.await(50, TimeUnit.SECONDS)).isTrue();
        for (String each : List.of("/7/rows?kind=row", "/7/marks", "/7/finish", "/7/renew", "/7/end")) {
            assertThatThrownBy(() -> post(routes, each, each.endsWith("marks") ? "{}" : ""))
                    .as(each)
                    .isInstanceOf(Request.Refused.class)
                    .hasMessageContaining("this request did nothing");
        }
    }

    @Test
    void a_client_that_is_heard_of_is_held_until_it_or_the_service_ends_it() {
        SyncRoutes routes = routes(Duration.ofHours(1));
        post(routes, "/seed?restart=true", "a file");
        post(routes, "/7/rows?kind=record", "{}\n");
        post(routes, "/7/marks", "{\"0\":\"1\"}");
        post(routes, "/7/renew", "");
        assertThat(taken).isEqualTo(1);
        assertThatThrownBy(() -> post(routes, "/7/rows?kind=record", "{}"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("line end");
        assertThatThrownBy(() -> post(routes, "/7/marks", "1")).isInstanceOf(IllegalArgumentException.class);
        routes.close();
        assertThat(closed.getCount()).isZero();
        assertThatThrownBy(() -> post(routes, "/7/rows?kind=record", "{}\n")).isInstanceOf(Request.Refused.class);
    }
}
