// Machines that read, one a class: bmlab/widgets/reading.py, line by line, held against it in tests/test_widgets.py.
//     p(class | known) ~ exp(log Z_class(clamped to known) - log Z_class),     log Z(clamped) by mean field

// `weights` (classes x n x n) and `biases` (classes x n) are over T, in one array each; known is -1/+1, or 0.
function readers({ weights, biases, logZ }) {
  const classes = logZ.length, n = biases.length / classes, means = new Float64Array(classes * n);
  const free = new Uint8Array(n);
  let known = [], open = false;

  const field = (c, i) => {
    let h = biases[c * n + i];
    for (let j = 0, w = (c * n + i) * n; j < n; j++) h += weights[w + j] * means[c * n + j];
    return h;
  };
  const begin = (values) => {
    known = values;
    for (let i = 0; i < n; i++) free[i] = known[i] ? 0 : 1;
    for (let k = 0; k < means.length; k++) means[k] = known[k % n] || 0;
    open = free.includes(1);
  };
  // One sweep of all: half a step to tanh((W m + b) / T); it returns whether there is more to do.
  const fields = new Float64Array(n);
  const sweep = (tolerance = 1e-4) => {
    let largest = 0;
    for (let c = 0; c < classes && open; c++) {
      for (let i = 0; i < n; i++) if (free[i]) fields[i] = field(c, i);
      for (let i = 0; i < n; i++) if (free[i]) {
        const change = (Math.tanh(fields[i]) - means[c * n + i]) / 2;
        means[c * n + i] += change;
        largest = Math.max(largest, Math.abs(change));
      }
    }
    return largest >= tolerance;
  };
  const logZClamped = (c) => {
    let total = 0;
    for (let i = 0; i < n; i++) {
      const m = means[c * n + i];
      total += m * (field(c, i) + biases[c * n + i]) / 2;
      for (const p of free[i] ? [(1 + m) / 2, (1 - m) / 2] : []) total -= p * Math.log(Math.max(p, 1e-300));
    }
    return total;
  };
  // { p: of each class, best: its number, means: what each class expects, mean: what all do }.
  const answer = (pixels = n) => {
    const logP = logZ.map((z, c) => logZClamped(c) - z), top = Math.max(...logP);
    const weightsOf = logP.map((l) => Math.exp(l - top)), total = weightsOf.reduce((a, b) => a + b);
    const p = weightsOf.map((w) => w / total);
    const each = p.map((_, c) => Array.from(means.subarray(c * n, c * n + pixels)));
    const mean = each[0].map((_, i) => p.reduce((sum, share, c) => sum + share * each[c][i], 0));
    return { p, best: p.indexOf(Math.max(...p)), means: each, mean };
  };
  return { begin, sweep, answer };
}
