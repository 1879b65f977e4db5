// A machine that learns patterns in the page, its chains kept from step to step:
//     change of a weight = rate * (together when shown - together when dreaming - penalty * weight)
function learner(n, next, { chains = 30, rate = 0.03, penalty = 0.01 } = {}) {
  const weights = Array.from({ length: n }, () => new Float64Array(n)), biases = new Float64Array(n);
  const machine = { weights, biases }, noise = () => Array.from({ length: n }, () => next() < 0.5 ? 1 : -1);
  const dreams = Array.from({ length: chains }, noise);
  const state = { machine, dreams, mismatch: 1, steps: 0, noise, dream, step };

  // A sweep of every chain; `held` has -1/+1 for a clamped unit, 0 for a free one.
  function dream(T = 1, held = biases.map(() => 0)) {
    const free = [...held.keys()].filter((i) => !held[i]);
    for (const s of dreams) {
      held.forEach((x, i) => { if (x) s[i] = x; });
      sweep(machine, s, T, next, free);
    }
  }

  // A sweep of every chain, and a change of every weight; `shown` or `dreamt` is 0 where that half of the rule is left
  // out, and by `signs` all differences count alike.
  function step(patterns, { T = 1, shown = 1, dreamt = 1, signs = false } = {}) {
    dream(T);
    let largest = 0;
    const moment = (rows, f) => rows.reduce((sum, s) => sum + f(s), 0) / (rows.length || 1);
    const pull = (f) => {
      const a = moment(patterns, f), b = moment(dreams, f), difference = shown * a - dreamt * b;
      largest = Math.max(largest, Math.abs(a - b));
      return signs ? Math.sign(difference) : difference;
    };
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < i; j++) {
        weights[i][j] += rate * (pull((s) => s[i] * s[j]) - penalty * weights[i][j]);
        weights[j][i] = weights[i][j];
      }
      biases[i] += rate * pull((s) => s[i]);
    }
    state.steps++;
    state.mismatch = 0.95 * state.mismatch + 0.05 * largest;      // over some twenty steps
  }
  return state;
}
