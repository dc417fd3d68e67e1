package dev.onefold.embedded.fold;

import dev.onefold.core.EngineException;
import dev.onefold.core.codec.Change;
import dev.onefold.core.codec.Changes;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.pipeline.Processing.Code;
import dev.onefold.core.pipeline.Processing.Program.JavaClass;
import dev.onefold.core.process.LoadedFunction;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// The versions of a function: that of the stored data, and the given one.
record FunctionVersions(Pipeline stored, Processing has, Pipeline given, Processing wants) {
    /// Reports that the code has changed and its version has not; empty unless the two definitions differ in
    /// the jar of their function alone.
    Optional<String> otherJar() {
        return !stored.equals(given) && stored.with(withoutHash(has)).equals(given.with(withoutHash(wants)))
                ? Optional.of(warning())
                : Optional.empty();
    }

    private static Processing withoutHash(Processing processing) {
        Code code = processing.code();
        return new Processing(
                processing.program() instanceof JavaClass java
                        ? new JavaClass(java.name(), null)
                        : processing.program(),
                processing.version(),
                processing.onNewVersion(),
                processing.order(),
                processing.keep(),
                processing.tables(),
                processing.feeds(),
                code == null ? null : new Code("", code.context(), code.event(), code.tables()));
    }

    private String warning() {
        return "The function of pipeline " + given.name() + " has another hash than the one that has folded, and the"
                + " same version: " + hash(wants) + ", and " + hash(has)
                + " before. If it computes something else, raise its version.";
    }

    private static String hash(Processing processing) {
        return processing.code() != null && !processing.code().sha256().isEmpty()
                ? processing.code().sha256()
                : "none (it is in no jar and in no file beside the pipeline file)";
    }

    /// Why the stored keys are not enough for the given definition; empty if they are.
    String impossible(Codes codes) {
        if (!stored.input().equals(given.input())) {
            return "its input is read in another way";
        }
        Optional<String> otherRules = stored.otherRules(given);
        if (otherRules.isPresent()) {
            return otherRules.get();
        }
        if (has.order() != wants.order()) {
            return "the order was " + has.order().word() + ", and is "
                    + wants.order().word();
        }
        if (!has.tables().equals(wants.tables())) {
            return "its tables are others";
        }
        Code before = has.code();
        Code now = wants.code();
        if (before == null || now == null) {
            return "";
        }
        boolean upgrades = codes.of(given, wants).map(LoadedFunction::upgrades).orElse(false);
        List<Change> context = Changes.of(before.context(), now.context()).refused();
        if (!context.isEmpty() && !upgrades) {
            return "the context has changed: " + context.getFirst();
        }
        List<Change> event =
                Changes.withoutDefaults(before.event(), now.event()).refused();
        return !event.isEmpty() && wants.order() == Processing.Order.IN_ORDER
                ? "the event has changed: " + event.getFirst()
                : "";
    }

    /// Why a fold of all records might have another result than one that continues from the keys; empty if it
    /// could not.
    ///
    /// @param letters number of letters that wait
    String doubt(long letters) {
        List<String> doubts = new ArrayList<>();
        if (has.version() != wants.version()) {
            doubts.add(
                    wants.onNewVersion() == Processing.NewVersion.REFOLD
                            ? "events that are not kept stay as version " + has.version() + " has folded them"
                            : "keys go on from what version " + has.version() + " has left");
        }
        if (letters > 0 && !has.feeds().equals(wants.feeds())) {
            doubts.add("events whose rows did not fit the roll-ups stay dead letters until 'rebuild --from-sources'"
                    + " decides them afresh, or until they are redriven, where they are not too late");
        }
        if (has.keep() != wants.keep()) {
            doubts.add("which events are too late was decided with keep: " + has.keep() + " until now");
        }
        return String.join("; ", doubts);
    }

    /// Requires that the given function is not older than that of the stored data.
    void requireNotLower() {
        if (wants.version() < has.version()) {
            throw new EngineException(
                    EngineException.Kind.DEFINITION_CHANGED,
                    "Version " + has.version() + " of the function has folded the data of pipeline " + given.name()
                            + ", and version " + wants.version()
                            + " is given. Nothing was changed. Give the newer code, or raise the version.");
        }
    }
}
