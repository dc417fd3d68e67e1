// What the page knows. Whoever changes it calls changed(), and the page is drawn at the next frame.

export const state = {
  place: { pipeline: null, rollup: null, group: [], by: null },
  pipelines: null, // All that the token may see; null until they are known.
  needsToken: false,
  tokenProblem: null,
  problem: null, // Why the pipeline cannot be shown.
  lost: null, // {since, why} while the service does not answer.
  said: '', // For screen readers, seldom.
};

let draw = () => {};
let isAsked = false;

/** Says how the page is drawn. */
export function onChange(callback) {
  draw = callback;
}

/** Draws the page soon. */
export function changed() {
  if (!isAsked) {
    isAsked = true;
    requestAnimationFrame(() => {
      isAsked = false;
      draw();
    });
  }
}

/** Says something to screen readers. */
export function say(text) {
  state.said = text;
  changed();
}

/** Whether the service tells how the pipeline is. A function on AWS does not: there CloudWatch does. */
export function hasStatus() {
  return pipeline()?.missing?.STATUS === undefined;
}

/** The pipeline of the place; undefined if there is none. */
export function pipeline() {
  return state.pipelines?.find((each) => each.pipeline === state.place.pipeline);
}
