package dev.onefold.api;

import dev.onefold.core.Engine;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;

/// Makes answers from requests over some engines. The routes do not depend on the transport of the request.
/// `docs/api.md` lists them. Any thread may call.
public final class Routes {
    private static final System.Logger LOG = System.getLogger("dev.onefold.api");
    private static final String VERSION = "v1";
    private static final Set<String> METHODS = Set.of("GET", "POST");

    private final List<EngineRoutes> pipelines;
    private final boolean isOwnUser;
    private final Function<Throwable, Failure> failures;

    /// Routes for callers that are the same user as this process, to one engine, which may have stopped: then each
    /// answer says so.
    Routes(Engine engine) {
        pipelines = List.of(new EngineRoutes(engine));
        isOwnUser = true;
        failures = Failure::of;
    }

    /// Routes to engines, each under the name of its pipeline.
    ///
    /// @throws IllegalArgumentException if two pipelines have one name
    public Routes(List<Engine> engines) {
        failures = Failure::of;
        pipelines = engines.stream().map(EngineRoutes::new).toList();
        isOwnUser = false;
        Set<String> names = new HashSet<>();
        for (EngineRoutes pipeline : pipelines) {
            if (!names.add(pipeline.name())) {
                throw new IllegalArgumentException("Two pipelines have the name " + pipeline.name());
            }
        }
    }

    /// Routes to an engine that may have nothing yet, and fails in ways of its own.
    ///
    /// @param name of its pipeline
    /// @param failures gives the meaning of a failure to a caller
    public Routes(String name, Engine engine, Function<Throwable, Failure> failures) {
        pipelines = List.of(new EngineRoutes(engine, name));
        isOwnUser = false;
        this.failures = failures;
    }

    /// Takes the answer while it is valid.
    public interface Receiver {
        void take(Response response) throws IOException;
    }

    /// Answers a request of a caller who may do everything. A failure before the answer becomes a problem.
    ///
    /// @throws IOException if the receiver throws it
    void answer(Request request, Receiver receiver) throws IOException {
        answer(request, (_, _) -> true, receiver);
    }

    /// The permission of a caller.
    public interface Permission {
        /// Whether the caller may do this with this pipeline.
        boolean allows(String pipeline, Scope scope);
    }

    /// Answers a request of a caller who may do some things. A pipeline with which it may do nothing is not there for
    /// it. A failure before the answer becomes a problem.
    ///
    /// @throws IOException if the receiver throws it
    public void answer(Request request, Permission permission, Receiver receiver) throws IOException {
        Receiving receiving = new Receiving(receiver);
        try {
            route(request, permission, receiving);
        } catch (UncheckedIOException e) {
            throw e.getCause();
        } catch (RuntimeException | Error e) {
            if (receiving.begun) {
                throw e;
            }
            receiver.take(problem(e).response());
        }
    }

    private Failure problem(Throwable e) {
        Failure problem = failures.apply(e);
        if (problem.kind().equals(Failure.BUG)) {
            LOG.log(System.Logger.Level.WARNING, "A request failed, which is a bug in Onefold", e);
        }
        return isOwnUser ? problem : problem.withoutValues();
    }

    /// Waits until the totals have the lines that a request needs in them, so that its answer finds them at
    /// once.
    ///
    /// @param request a request that its caller may send
    /// @return the reason why it is not answered
    public Optional<Failure> await(Request request) {
        try {
            if (request.path().size() == 3 && request.path().getLast().equals(EngineRoutes.TOTALS)) {
                requireAllowed(request, (_, _) -> true).await(request);
            }
            return Optional.empty();
        } catch (RuntimeException | Error e) {
            return Optional.of(problem(e));
        }
    }

    /// Knows whether the answer has begun: a later failure is not a problem of the request.
    private static final class Receiving implements Receiver {
        private final Receiver receiver;
        private boolean begun;

        Receiving(Receiver receiver) {
            this.receiver = receiver;
        }

        @Override
        public void take(Response response) throws IOException {
            begun = true;
            receiver.take(response);
        }
    }

    /// Why a request of this caller is refused with any content; empty if it is answered.
    public Optional<Failure> refusal(Request request, Permission permission) {
        try {
            if (request.path().size() > 1) {
                requireAllowed(request, permission);
            }
            return Optional.empty();
        } catch (Request.Refused e) {
            return Optional.of(e.failure());
        }
    }

    private void route(Request request, Permission permission, Receiver receiver) throws IOException {
        List<String> path = request.path();
        if (path.size() > 1) {
            requireAllowed(request, permission).answer(request, path.subList(2, path.size()), receiver);
            return;
        }
        requireRoute(request);
        if (!request.method().equals("GET")) {
            throw noMethod(request);
        }
        request.allow();
        receiver.take(Response.json(Map.of(
                "pipelines",
                seen(permission).values().stream().map(EngineRoutes::about).toList())));
    }

    private static void requireRoute(Request request) {
        if (!request.path().getFirst().equals(VERSION)) {
            throw noRoute(request);
        }
        if (!METHODS.contains(request.method())) {
            throw noMethod(request);
        }
    }

    private Map<String, EngineRoutes> seen(Permission permission) {
        Map<String, EngineRoutes> seen = new LinkedHashMap<>();
        for (EngineRoutes pipeline : pipelines) {
            String name = pipeline.name();
            if (Stream.of(Scope.values()).anyMatch(scope -> permission.allows(name, scope))) {
                seen.put(name, pipeline);
            }
        }
        return seen;
    }

    private EngineRoutes requireAllowed(Request request, Permission permission) {
        requireRoute(request);
        List<String> path = request.path();
        Map<String, EngineRoutes> seen = seen(permission);
        EngineRoutes pipeline = seen.get(path.get(1));
        if (pipeline == null) {
            throw new Request.Refused(new Failure(
                    404,
                    Failure.NO_ROUTE,
                    "There is no pipeline '" + path.get(1) + "' here; there is " + String.join(", ", seen.keySet())
                            + "."));
        }
        Scope scope = Scope.of(request);
        if (!permission.allows(path.get(1), scope)) {
            throw new Request.Refused(new Failure(
                    403,
                    Failure.NOT_ALLOWED,
                    "The token does not allow to " + scope.word() + " in pipeline " + path.get(1)
                            + ". Add the scope '" + scope.word()
                            + "' to its line in the file of tokens, and restart the"
                            + " service; a signed token has it as 'onefold:" + scope.word() + "'."));
        }
        if (!isOwnUser && EngineRoutes.takesRows(request)) {
            throw noRoute(request);
        }
        return pipeline;
    }

    /// Ends the seedings and repairs of other processes that are under way.
    public void close() {
        pipelines.forEach(EngineRoutes::close);
    }

    private static Request.Refused noMethod(Request request) {
        String methods = request.path().size() == 1 ? "GET" : "GET or POST";
        return new Request.Refused(
                new Failure(405, Failure.NO_ROUTE, "The method is " + methods + ", not " + request.method() + "."));
    }

    static Request.Refused noRoute(Request request) {
        return new Request.Refused(new Failure(
                404,
                Failure.NO_ROUTE,
                "There is no " + request.method() + " /" + String.join("/", request.path()) + "."));
    }
}
