package dev.onefold.simulator.deployment;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.item.Definition;
import dev.onefold.aws.reduce.Reduce;
import dev.onefold.aws.state.Definitions;
import dev.onefold.aws.state.RowFill;
import dev.onefold.aws.store.Store;
import dev.onefold.core.Truth;
import dev.onefold.core.Verification;
import dev.onefold.fakes.aws.SimulatedClient;
import dev.onefold.fakes.aws.VirtualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/// Some people at once, who verify, rebuild, replay, ask, and take care of dead letters, each as it occurs to
/// them and whatever the others do; whose machine now and then dies in the middle. Who is unlucky with the
/// services, or in somebody's way, lets it be.
public final class People {
    private static final int PEOPLE_MAX = 3;
    private static final Duration PAUSE_MAX = Duration.ofSeconds(24);
    private static final Duration KILL_MAX = Duration.ofSeconds(2);

    private final Deployment deployment;
    private final SplittableRandom random;
    private final double faultChance;
    private final Work work;
    private final List<String> story;
    private final List<Person> all = new ArrayList<>();
    private boolean stopped;

    /// What they deal with.
    record Work(Questions questions, LetterOperator clerk, Intake intake, Readers readers, Restores restores) {}

    People(Deployment deployment, SplittableRandom random, double faultChance, Work work, List<String> story) {
        this.deployment = deployment;
        this.random = random;
        this.faultChance = faultChance;
        this.work = work;
        this.story = story;
        for (int people = 1 + random.nextInt(PEOPLE_MAX); people > 0; people--) {
            begin();
        }
    }

    private void begin() {
        SimulatedClient client = deployment.dynamo.client("person");
        Life life = new Life(client);
        all.add(Person.begin(deployment.time, life::live));
        life.person = all.getLast();
    }

    /// Nobody begins anything more.
    void stop() {
        stopped = true;
    }

    /// Whoever is in the middle of something leaves.
    ///
    /// @throws AssertionError if anything was wrong
    void leave() {
        stop();
        all.forEach(Person::close);
        deployment.time.runFor(Duration.ZERO);
        throwFailure();
    }

    /// @throws AssertionError if anything was wrong
    void throwFailure() {
        for (Person person : all) {
            if (person.failure() != null) {
                throw new AssertionError("A person met " + person.failure().getMessage(), person.failure());
            }
        }
    }

    /// One person, for as long as the machine lives.
    private final class Life {
        private final SimulatedClient client;
        private @Nullable Person person;

        Life(SimulatedClient client) {
            this.client = client;
        }

        private void live(Person me) {
            Store store = deployment.store(client, me);
            AwsEngine engine = AwsEngine.deployed(store);
            while (true) {
                me.pause(Duration.ofNanos(random.nextLong(PAUSE_MAX.toNanos()) + 1));
                if (stopped) {
                    return;
                }
                VirtualTime.Moment death = random.nextDouble() < faultChance
                        ? deployment.time.schedule(Duration.ofNanos(random.nextLong(KILL_MAX.toNanos())), this::die)
                        : null;
                doSomething(store, engine);
                if (death != null) {
                    deployment.time.cancel(death);
                }
            }
        }

        private void die() {
            client.kill();
            if (person != null) {
                person.close();
            }
            if (!stopped) {
                begin();
            }
        }

        private void doSomething(Store store, AwsEngine engine) {
            if (work.restores.isUnderWay()) {
                return;
            }
            int restores = work.restores.count();
            try {
                switch (random.nextInt(16)) {
                    case 0 -> requireEqual("verify", engine.verify());
                    case 1 -> requireEqual("rebuild", engine.rebuild());
                    case 2 -> requireEqual("verify of some", engine.verify(new Truth.Rows(2 + random.nextInt(3))));
                    case 3 -> addView(store);
                    case 4 -> story.add("replay " + work.intake.replay(store, random));
                    case 5 -> work.questions.lookAt(store);
                    case 6, 7, 8 -> work.questions.query(engine);
                    case 9, 10 -> work.questions.get(engine);
                    default -> work.clerk.work(engine.deadLetters());
                }
            } catch (RuntimeException | AssertionError failed) {
                boolean mayDiffer = work.restores.count() > restores; // Tables were restored in the middle of it.
                if (!mayDiffer && !isUnlucky(failed)) {
                    throw failed;
                }
                story.add("unlucky, or in the way: " + failed);
            }
        }

        private void requireEqual(String verb, Verification verification) {
            story.add(verb + ": " + verification.differences());
            if (!verification.isEqual()) {
                throw new AssertionError(verb + " found " + verification.differences());
            }
        }

        /// A second view of the same definition, from some time on; with the first one it is equal in every
        /// cut.
        private void addView(Store store) {
            Definitions definitions = new Definitions(store);
            Definition before = definitions.load();
            if (before.views().size() > 1) {
                return;
            }
            Definition both = before.withView(before.servedView().pipeline(), 1, "reader");
            if (definitions.replace(both).equals(both)) {
                RowFill.fill(store, both, both.last(), () -> true);
                for (int lane = 0; lane < both.lanes(); lane++) {
                    Reduce.lane(store, lane); // From then on all that the filling wrote is in.
                }
                work.readers.begin(both);
                story.add("view " + both.last() + " added");
            }
        }
    }

    /// Whether it may fail so because of the services, or of what others do at the same time; a bug must not
    /// hide among these.
    public static boolean isUnlucky(Throwable failure) {
        String message = String.valueOf(failure.getMessage()).toLowerCase(Locale.ROOT);
        return failure instanceof software.amazon.awssdk.core.exception.SdkException
                || failure instanceof IllegalStateException
                        && (message.contains("try again")
                                || message.contains("ask again")
                                || message.contains("could not be written in")
                                || message.contains("is added the next time"));
    }
}
