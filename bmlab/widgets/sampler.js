// The sampler of the page, held against Python's in tests/test_widgets.py: same uniforms, same states.

// SplitMix64, as in bmlab/infer/sampling/numpy_engine.py: uniform numbers (word >> 11) / 2^53, from halves of 32 bits.
function uniforms(seed) {
  let hi = Math.floor(seed / 2 ** 32) >>> 0, lo = seed >>> 0;
  return () => {
    const h = hi, l = lo;
    lo = (lo + 0x7F4A7C15) >>> 0;
    hi = (hi + 0x9E3779B9 + (lo < 0x7F4A7C15 ? 1 : 0)) >>> 0;
    const m = times(h ^ (h >>> 30), l ^ ((l >>> 30) | (h << 2)), 0xBF58476D, 0x1CE4E5B9);
    const z = times(high ^ (high >>> 27), m ^ ((m >>> 27) | (high << 5)), 0x94D049BB, 0x133111EB);
    const top = (high ^ (high >>> 31)) >>> 0, low = (z ^ ((z >>> 31) | (high << 1))) >>> 0;
    return (top * 2 ** 21 + (low >>> 11)) * 2 ** -53;
  };
}

// The low 64 bits of a product: it returns the lower 32 and leaves the others in `high` (no array: a tenth the time).
let high = 0;

function times(ah, al, bh, bl) {
  const a0 = al & 0xFFFF, a1 = al >>> 16, b0 = bl & 0xFFFF, b1 = bl >>> 16;
  const middle = a1 * b0 + ((a0 * b0) >>> 16);
  const carry = a0 * b1 + (middle & 0xFFFF);
  high = a1 * b1 + Math.floor(middle / 65536) + Math.floor(carry / 65536);
  high = (high + Math.imul(ah, bl) + Math.imul(al, bh)) >>> 0;
  return Math.imul(al, bl) >>> 0;
}

// p(s_i = +1 | the others) for the field h of a unit.
function chanceOfPlus(h, T) {
  return 1 / (1 + Math.exp(-(2 * h / T)));
}

function field({ weights, biases }, s, i) {
  let h = 0;
  for (let j = 0; j < s.length; j++) h += weights[i][j] * s[j];
  return h + biases[i];
}

// One sweep of a machine {weights, biases}, one unit after the other, in place.
function sweep(machine, s, T, next, units = s.keys()) {
  for (const i of units) s[i] = next() < chanceOfPlus(field(machine, s, i), T) ? 1 : -1;
  return s;
}

// -E(s)/T of all states, but for the offset; state k has the binary digits of k, unit 0 first, as in bmlab.states().
function logWeights({ weights, biases }, T) {
  const n = biases.length, logs = new Float64Array(2 ** n), s = new Array(n);
  for (let k = 0; k < 2 ** n; k++) {
    let minus = 0;
    for (let i = 0; i < n; i++) {
      s[i] = digit(k, i, n);
      let h = biases[i];
      for (let j = 0; j < i; j++) h += weights[i][j] * s[j];
      minus += h * s[i];
    }
    logs[k] = minus / T;
  }
  return logs;
}

function digit(k, i, n) {
  return (k >> (n - 1 - i)) & 1 ? 1 : -1;
}

// Whether state k is one of those that are left; `fixed` holds -1/+1 for a clamped unit, 0 for a free one.
function isLeft(k, fixed) {
  return fixed.every((held, i) => !held || held === digit(k, i, fixed.length));
}

function logSumExp(logs) {
  const top = logs.reduce((a, b) => Math.max(a, b));
  return top + Math.log(logs.reduce((sum, x) => sum + Math.exp(x - top), 0));
}

// The probabilities of all states given the units that are clamped.
function enumerate(machine, T, fixed) {
  const logs = logWeights(machine, T).map((x, k) => isLeft(k, fixed) ? x : -Infinity), logZ = logSumExp(logs);
  return logs.map((x) => Math.exp(x - logZ));
}

function numberOf(s) {
  return s.reduce((k, x) => 2 * k + (x > 0 ? 1 : 0), 0);
}

// The state of a number, in signs: signs(6, 3) is "++−".
function signs(k, n) {
  return k.toString(2).padStart(n, "0").replaceAll("0", "−").replaceAll("1", "+");
}

// Split R-hat, the root of (variance over all halves of chains) / (variance inside them), as in diagnostics.py.
function splitRhat(chains) {
  const half = Math.floor(chains[0].length / 2), mean = (x) => x.reduce((a, b) => a + b, 0) / x.length;
  const variance = (x) => { const m = mean(x); return x.reduce((v, a) => v + (a - m) ** 2, 0) / (x.length - 1); };
  const halves = chains.flatMap((x) => [x.slice(0, half), x.slice(x.length - half)]);
  return Math.sqrt(variance(halves.map(mean)) / mean(halves.map(variance)) + (half - 1) / half);
}
