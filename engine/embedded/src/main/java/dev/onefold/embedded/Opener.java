package dev.onefold.embedded;

import dev.onefold.core.EngineException;
import dev.onefold.core.pipeline.Edition;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.process.LoadedFunction;
import dev.onefold.core.state.Derivation;
import dev.onefold.embedded.checkpoint.Checkpoint;
import dev.onefold.embedded.directory.Stored;
import dev.onefold.embedded.disk.DirectoryLock;
import dev.onefold.embedded.disk.Disk;
import dev.onefold.embedded.disk.FileNames;
import dev.onefold.embedded.fold.Codes;
import dev.onefold.embedded.fold.ShardFold;
import dev.onefold.embedded.fold.Workers;
import dev.onefold.embedded.guard.Delays;
import dev.onefold.embedded.guard.Guard;
import dev.onefold.embedded.guard.OwnThread;
import dev.onefold.embedded.guard.Space;
import dev.onefold.embedded.view.View;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Opens a data directory on the engine's own thread; if that fails, closes all that is open already.
final class Opener {
    private static final System.Logger LOG = System.getLogger("dev.onefold.embedded");

    private final Path root;
    private final @Nullable Pipeline asked;
    private final @Nullable LoadedFunction function;
    private final byte @Nullable [] jar;
    private final Settings given;
    private final OwnThread own;
    private final Space space;
    private final Deque<AutoCloseable> open = new ArrayDeque<>();

    Opener(Path root, @Nullable Pipeline pipeline, Settings given) {
        this(root, pipeline, null, null, given);
    }

    /// @param jar the bytes of the jar that has the function; `null`: it is not in a jar
    Opener(Path root, LoadedFunction function, byte @Nullable [] jar, Settings given) {
        this(root, function.pipeline(), function, jar, given);
    }

    /// @param code folds what is stored, if it is the function of it and the directory does not keep it
    static Opener stored(Path root, @Nullable LoadedFunction code, Settings given) {
        return new Opener(root, null, code, null, given);
    }

    private Opener(
            Path root,
            @Nullable Pipeline pipeline,
            @Nullable LoadedFunction function,
            byte @Nullable [] jar,
            Settings given) {
        this.function = function;
        this.jar = jar;
        if (pipeline != null) {
            ShardFold.requireFound(pipeline);
        }
        this.root = Objects.requireNonNull(root, "The directory is null");
        asked = pipeline;
        this.given = Objects.requireNonNull(given, "The settings are null");
        own = new OwnThread(given.threads() > 0, "onefold-engine");
        space = new Space(
                given.machine().pause(),
                given.machine().clock(),
                given.machine().spaceListener());
    }

    /// Opens the directory as its owner; without a pipeline it must hold data.
    EmbeddedEngine open() {
        return onOwnThread(() -> {
            FileNames.requireFolder(root);
            if (asked == null) {
                Stored.requireData(root);
            } else {
                space.change(() -> Disk.createDirectories(root));
                FileNames.requireOurs(root);
            }
            String holder = "process " + ProcessHandle.current().pid() + ", since "
                    + given.machine().clock().instant();
            return whole(DirectoryLock.take(root, holder));
        });
    }

    /// Opens the directory to read it.
    EmbeddedEngine read() {
        return onOwnThread(() -> {
            FileNames.requireFolder(root);
            Stored.requireData(root);
            return Stored.besideAnOwner(root, () -> whole(null));
        });
    }

    private EmbeddedEngine onOwnThread(Supplier<EmbeddedEngine> opening) {
        boolean whole = false;
        try {
            EmbeddedEngine engine = own.call(opening);
            whole = true;
            return engine;
        } finally {
            if (!whole) {
                own.close();
            }
        }
    }

    private EmbeddedEngine whole(@Nullable DirectoryLock held) {
        open.clear();
        if (held != null) {
            open.push(held);
        }
        try {
            return recover(held);
        } catch (RuntimeException | Error e) {
            closeAll(e);
            throw e;
        }
    }

    private <T extends AutoCloseable> T kept(T part) {
        open.push(part);
        return part;
    }

    private void closeAll(Throwable failure) {
        for (AutoCloseable part : open) {
            try {
                part.close();
            } catch (Exception e) {
                failure.addSuppressed(e);
            }
        }
    }

    private void replay(Stored found, View view) {
        Optional<String> otherRules = view.pipeline.otherRules();
        if (otherRules.isEmpty() && (held(found) || view.fold.canFold())) {
            found.replayed().forEach(view.commits::replay);
        } else if (!found.replayed().isEmpty()) {
            String reason = otherRules.orElse("the function's code is not here");
            String entries = found.replayed().size() + " entries of the journal of " + root + " are not ";
            if (held(found)) {
                throw new EngineException(
                        EngineException.Kind.DEFINITION_CHANGED,
                        entries + "in a checkpoint yet, and " + reason
                                + ". Nothing was changed. Open the directory once"
                                + " with the Java (or the tzdata) of before, and close it.");
            }
            LOG.log(System.Logger.Level.WARNING, entries + "shown: " + reason + ".");
        }
    }

    private static boolean held(Stored found) {
        return found.lock() != null;
    }

    /// The functions of the directory; empty if neither definition has one.
    private Optional<Codes> codes(Pipeline stored, Pipeline wanted, boolean isOwner) {
        Optional<Codes> codes = ShardFold.codes(root, function, stored, wanted);
        codes.ifPresent(found -> {
            kept(found).otherJar().ifPresent(warning -> LOG.log(System.Logger.Level.WARNING, warning));
            if (isOwner && jar != null) {
                found.keep(jar);
            }
        });
        return codes;
    }

    /// The requested pipeline; `null` if none was requested. If its file names no edition, that of the data
    /// applies, or the newest one if there is no data.
    private @Nullable Pipeline inEditionOf(@Nullable Pipeline data) {
        return asked == null ? null : data == null ? asked.inEdition(Edition.NEWEST) : asked.ofDataOf(data);
    }

    private EmbeddedEngine recover(@Nullable DirectoryLock held) {
        Stored found = held == null
                ? Stored.read(root)
                : Stored.own(
                        root,
                        new Stored.Wish(given.keepJournal(), given.machine().random()),
                        held,
                        space);
        kept(found.journal());
        Checkpoint checkpoint = found.checkpoint();
        Pipeline data = checkpoint == null ? null : View.definition(root, checkpoint);
        Pipeline pipeline = inEditionOf(data);
        Pipeline stored = data == null ? pipeline : data;
        if (stored == null) {
            throw Stored.noData(root);
        }
        if (pipeline != null) {
            View.requireName(root, stored, pipeline);
        }
        Pipeline wanted = pipeline == null ? stored.inThisJava() : pipeline;
        Optional<Codes> codes = codes(stored, wanted, held != null);
        Pipeline last = codes.flatMap(Codes::otherJar).isPresent() ? wanted : stored;
        boolean same = held == null || Derivation.storesSame(last, wanted);
        Pipeline serving = pipeline != null && same ? pipeline : last; // Formulas alone change nothing that is stored.
        Settings settings = pipeline == null && checkpoint != null
                ? given.withShards(checkpoint.rows().size()) // An open for reading does not divide the rows again.
                : given;
        Workers workers = kept(new Workers(settings.threads()));
        Guard guard = new Guard(settings.threads() > 0);
        View.Opening opening = new View.Opening(
                root,
                settings.running(),
                workers,
                codes,
                found,
                own,
                guard,
                space,
                new Delays(settings.running().clock()));
        View view = View.open(opening, Math.max(found.current().number(), 1), serving, checkpoint);
        open.push(() -> view.close(false));
        replay(found, view);
        if (checkpoint == null) {
            view.serve(opening);
        } else if (checkpoint.rows().size() != settings.shards() || held != null && !serving.equals(stored)) {
            // A new number of shards, another formula or another jar is durable before anything is folded.
            view.checkpoints.take();
            view.checkpoints.await();
        }
        if (held == null) {
            found.requireUnchanged(root);
        } else {
            view.letters.log(serving.name());
            LOG.log(
                    System.Logger.Level.INFO,
                    "Opened " + root + ": view " + view.number + " of pipeline " + serving.name() + " serves.");
        }
        return new EmbeddedEngine(held, opening, view, same ? null : wanted);
    }
}
