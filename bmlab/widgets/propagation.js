// What a unit i tells j: the field of i from all others, through the weight between them.
function messageOf({ weights, biases }, T, told, i, j) {
  return Math.atanh(Math.tanh(weights[i][j] / T) * Math.tanh(heardBy({ weights, biases }, T, told, i, j)));
}

function heardBy({ weights, biases }, T, told, i, without = -1) {
  return weights[i].reduce((sum, w, k) => sum + (w && k !== without ? told.get(`${k} ${i}`) ?? 0 : 0), biases[i] / T);
}

// All messages [from, to]: those towards the root from the farthest on, then those away from it.
function schedule(weights, root) {
  const depth = weights.map((_, i) => i === root ? 0 : Infinity), near = [root];
  for (const i of near) weights[i].forEach((w, j) => {
    if (w && depth[j] === Infinity) { depth[j] = depth[i] + 1; near.push(j); }
  });
  const all = near.flatMap((i) => near.filter((j) => weights[i][j]).map((j) => [i, j]));
  return [...all.filter(([i, j]) => depth[i] >= depth[j]).sort((a, b) => depth[b[0]] - depth[a[0]]),
    ...all.filter(([i, j]) => depth[i] < depth[j]).sort((a, b) => depth[a[0]] - depth[b[0]])];
}
