// A machine that learns patterns in the page: W += rate * (clamped - free - penalty W), chains kept from step to step.
function learner(n, next, { chains = 30, rate = 0.03, penalty = 0.01 } = {}) {
  const weights = Array.from({ length: n }, () => new Float64Array(n)), biases = new Float64Array(n);
  const machine = { weights, biases }, coin = () => next() < 0.5 ? 1 : -1;
  const dreams = Array.from({ length: chains }, () => Array.from({ length: n }, coin));
  const state = { machine, dreams, mismatch: 1, steps: 0, step };

  // One step: a sweep of every chain, and the moments of both phases.
  function step(patterns) {
    for (const s of dreams) sweep(machine, s, 1, next);
    let largest = 0;
    const moment = (rows, f) => rows.reduce((sum, s) => sum + f(s), 0) / rows.length;
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < i; j++) {
        const pull = moment(patterns, (s) => s[i] * s[j]) - moment(dreams, (s) => s[i] * s[j]);
        largest = Math.max(largest, Math.abs(pull));
        weights[i][j] += rate * (pull - penalty * weights[i][j]);
        weights[j][i] = weights[i][j];
      }
      biases[i] += rate * (moment(patterns, (s) => s[i]) - moment(dreams, (s) => s[i]));
    }
    state.steps++;
    state.mismatch = 0.95 * state.mismatch + 0.05 * largest;      // over some twenty steps
  }
  return state;
}
