"""Typical wrong answers: notebook -> name of the answer cell -> pairs (what a student writes, a part of the hint).

Each must score less than full, with a hint that teaches. The longer ones are made from a right answer by one slip.
"""


def letter(name, wrong, hint):
    """A choice: each wrong letter brings the hint, and anything else a request for a letter."""
    return [(f"{name} = '{choice}'", hint) for choice in wrong] + [(f"{name} = 'D'", "answer with one letter")]


RECALL = """
def my_recall(patterns, cue, seen, beta, rounds):
    s = np.where(seen, cue, 0)
    for _ in range(rounds):
        s = np.where(seen, cue, my_attention(patterns, s, beta))
    return s
"""
SCORE = """
def my_score_matching(x):
    mean = x.mean(axis=0)
    K = np.linalg.inv((x - mean).T @ (x - mean) / len(x))
    return K @ mean, K
"""
MADE_UP = "a, b, c = state\nmade_up = -(a * b + b * c / 2 + w02 * a * c + a / 2)"
GROUP = "my_group = bmlab.BoltzmannMachine(WISHES * (1 - np.eye(4)), [1, 0, 0, -0.5])"
SLOPE = """
def my_mean_slope(machine, i, j):
    def mean(b):
        return bmlab.exact(bmlab.BoltzmannMachine(machine.weights, b, machine.temperature)).mean[i]
    nudge = 1e-5 * np.eye(machine.n)[j]
    return (mean(machine.biases + nudge) - mean(machine.biases - nudge)) / 2e-5
"""
TRIANGLE = "8 * np.cosh(b0) * (np.cosh(w01) * np.cosh(w12) * np.cosh(0.5) - np.sinh(w01) * np.sinh(w12) * np.sinh(0.5))"
RING = """
def my_ring_log_z(w, b):
    halves = []
    for s in (-1, 1):
        rest = np.array(b[1:])
        rest[0] += w[0] * s
        rest[-1] += w[-1] * s
        halves.append(b[0] * s + my_chain_log_z(w[1:-1], rest))
    return np.logaddexp(*halves)
"""
RING_TABLE = """
def my_ring_log_z(w, b):
    W = np.roll(np.diag(w), 1, axis=1)
    return np.log(np.exp(-bmlab.BoltzmannMachine(W + W.T, b).energy(bmlab.states(len(b)))).sum())
"""
TOSSES = """
state, my_tosses = -np.ones(3), ""
for k, u in enumerate(coins):
    h = toy.field(state)[k % 3]
    state[k % 3] = 1 if u < 1 / (1 + np.exp(-2 * h / 2)) else -1
    my_tosses += "+" if state[k % 3] > 0 else "-"
"""
CHEAT = """
powers = {x: np.linalg.matrix_power(transition_matrix(f, toy), 1000) for x, f in samplers.items()}
cheat_misplaces, cheat = max((misplaced(power[0], p), x) for x, power in powers.items())
"""
MEANS = """
def my_cheat(model, s, u):
    return np.where(u < (1 + bmlab.exact(model).mean) / 2, 1.0, -1.0)
"""
TOGETHER_LAW = """
def my_together_law(model):
    s, T = bmlab.states(model.n), model.temperature
    log_q = s @ model.biases / T + np.log(2 * np.cosh(model.field(s) / T)).sum(axis=1)
    return np.exp(log_q) / np.exp(log_q).sum()
"""
BLOCK_ERROR = """
def my_block_error(x, blocks):
    length = len(x) // blocks
    averages = np.reshape(x[:length * blocks], (blocks, length)).mean(axis=1)
    return averages.std(ddof=1) / np.sqrt(blocks)
"""
Z_JUMP = "z_jump = Z4 * (times @ np.exp(-energies * (1 - 1 / 4))) / 400"
ESS = """
def my_weight_ess(log_w):
    w = np.exp(log_w - np.max(log_w))
    return w.sum() ** 2 / (w**2).sum()
"""
JUMP = """
def my_jump_error(n, b, T, N):
    return np.sqrt(((1 + np.tanh(b / T) ** 2) ** n - 1) / N)
"""
TOUCH = "np.sqrt(1 - T) - T * np.arctanh(np.sqrt(1 - T))"
FOOLED = "fooled = bmlab.BoltzmannMachine(0.4 * (1 - np.eye(8)), [2.4] + 7 * [-0.2])"
PAIR = """
def pair_corr(w, h0, h1, T):
    t, t0, t1 = np.tanh(w / T), np.tanh(h0 / T), np.tanh(h1 / T)
    return (t + t0 * t1) / (1 + t * t0 * t1)
"""
INTERVAL = """
def my_interval(yes, no):
    return 1 / (1 + np.exp(no.upper - yes.lower)), 1 / (1 + np.exp(no.lower - yes.upper))
"""
PARITY = """
def my_parity(K):
    W, b, c = np.zeros((7, 7)), np.zeros(7), np.array([1, 1, -1, -2])
    for wrong_sum in ([0, 1, 4, 5], [4, 2, 3, 6]):
        W[np.ix_(wrong_sum, wrong_sum)] -= 2 * K * (np.outer(c, c) - np.diag(c**2))
        b[wrong_sum] -= K * c**2
    return bmlab.from_bits(W, b)
"""
TRIPLET = """
def my_triplet(w, b, T):
    def left_behind(total):
        return np.log(2 * np.cosh((b + w * total) / T))
    return (left_behind(3) - 3 * left_behind(1) + 3 * left_behind(-1) - left_behind(-3)) / 8
"""
PLATEAU = """
climbs = [bmlab.fit(newborn(own, scale), xor, rate=0.3, steps=400).steps for scale in (0.1, 1)]
small_start, large_start = (np.argmax([s.log_likelihood > -1.7 for s in k]) for k in climbs)
"""
COMPLETION = """
def my_completion(machines, seen, image):
    inside = [bmlab.exact(machine.clamp(seen, image[seen])) for machine in machines]
    logs = np.array([answer.log_z.value - bmlab.exact(machine).log_z.value
                     for answer, machine in zip(inside, machines)])
    votes = np.exp(logs - np.logaddexp.reduce(logs))
    whole = np.array(image, dtype=float)
    whole[~seen] = votes @ [answer.mean for answer in inside]
    return whole
"""
OVERFLOW = COMPLETION.replace("np.array([answer.log_z.value -", "np.log([np.exp(answer.log_z.value) /").replace(
    " bmlab.exact(machine).log_z.value", " np.exp(bmlab.exact(machine).log_z.value)"
)
OWN_DIGIT = """
drawing = "..####.......##......#.....###.......#.......##......#....####.."
my_image, my_digit = np.where(np.array([*drawing]) == "#", 1.0, -1.0), 3
aside = np.roll(my_image.reshape(8, 8), 1, axis=1).ravel()
before, after = softmax(log_p(machines, log_z, np.array([my_image, aside])), axis=1)[:, my_digit]
"""
VOTES = "votes = np.exp(logs - np.logaddexp.reduce(logs))"
ROW_SLOPE = """
def my_slope(machine, row):
    known, clamped = ~np.isnan(row), np.array(row)
    clamped[~known] = bmlab.exact(machine.clamp(known, row[known])).mean
    return (clamped - bmlab.exact(machine).mean) / machine.temperature
"""
ASKED = "clamped[~known] = bmlab.exact(machine.clamp(known, row[known])).mean"
ADVICE = """
radii = [np.abs(np.linalg.eigvalsh(friend.weights)).max() / friend.temperature for friend in (ann, ben, eve)]
advice = ["exact", *("gibbs" if radius > 0.3 else "mean_field" for radius in radii[1:])]
"""
GAIN = """
my_table = bmlab.states(4)[[0, 1, 3, 7, 8, 9, 14, 15, 15]]
def my_gain(table):
    table = np.asarray(table, dtype=float)
    coins = bmlab.BoltzmannMachine(np.zeros((table.shape[1],) * 2), np.arctanh(table.mean(axis=0)))
    summit = bmlab.maximize(coins, table, penalty=0.03).model
    return judge(summit, table) - judge(coins, table)
"""
GAINED = "judge(summit, table) - judge(coins, table)"
PL_GRADIENT = """
def my_pl_gradient(model, data):
    surprise = data - np.tanh(model.field(data) / model.temperature)
    d_weights = (surprise.T @ data + data.T @ surprise) / len(data)
    np.fill_diagonal(d_weights, 0)
    return d_weights / model.temperature, surprise.mean(axis=0) / model.temperature
"""
COUPLING = """
def my_coupling(a, b, T):
    return T / 2 * np.log(np.cosh((a + b) / T) / np.cosh((a - b) / T))
"""
VISIBLE_OUT = """
fields = np.array([[1, -0.5], [-0.5, 1]]) @ h_own + [0.5, 0]
visible_out = -0.5 * h_own[1] / T_own + np.log(2 * np.cosh(fields / T_own)).sum()
"""
LAYERS_AIS = """
def my_layers_ais(model, v, steps, chains, rng):
    def at(beta):
        share = np.where(np.arange(model.n) < v, 1, beta)
        return bmlab.BoltzmannMachine(beta * model.weights, share * model.biases, model.temperature)
    T, b, m, betas = model.temperature, model.biases[:v], model.n - v, np.linspace(0, 1, steps + 1)
    s = np.where(rng.random((chains, v)) < 1 / (1 + np.exp(-2 * b / T)), 1.0, -1.0)
    log_w = np.full(chains, np.logaddexp(b / T, -b / T).sum() + m * np.log(2))
    for old, new in zip(betas, betas[1:]):
        log_w += log_weight(at(new), s) - log_weight(at(old), s)
        s = np.hstack([np.ones((chains, m)), s])
        s = bmlab.sweep(turned(at(new), v), s, rng.random(s.shape))[:, m:]
    w = np.exp(log_w - log_w.max())
    return log_w.max() + np.log(w.mean()), w.std() / w.mean() / np.sqrt(chains)
"""
V_FIRST = """
        h = 2.0 * (rng.random((chains, m)) < 0.5) - 1
        s = bmlab.sweep(at(new), np.hstack([s, h]), rng.random((chains, v + m)))[:, :v]
"""
H_FIRST = """
        s = np.hstack([np.ones((chains, m)), s])
        s = bmlab.sweep(turned(at(new), v), s, rng.random(s.shape))[:, m:]
"""

WRONG = {
    "00_start": {
        "made_up": [
            (MADE_UP.replace("-(", "("), "MINUS the sum"),
            (MADE_UP.replace("w02 *", "-0.5 *"), "before they made up"),
            (MADE_UP.replace(" + a / 2", ""), "the bias counts"),
            (MADE_UP.replace("a * b + ", ""), "w01 s0 s1"),
            ("made_up = 1.25", "multiple of 1/2"),
        ],
        "my_group": [
            ("my_group = bmlab.toy()", "four friends"),
            ("my_group = bmlab.BoltzmannMachine(2 - 2 * np.eye(4), np.ones(4))", "no frustration"),
            (GROUP.replace("WISHES", "0.1"), "make a gap"),
            (GROUP.replace("WISHES", "2") + ".at(0.1)", "at T = 1"),
            (GROUP.replace("WISHES", "2 * (1 - np.eye(4)[::-1])"), "a weight between every two"),
        ],
    },
    "01_theory": {
        "field_and_chance": [
            ("field_1, up_1 = 1.5 * s0, 1 / (1 + np.exp(-3 * s0 / T))", "pulls against unit 0"),
            ("field_1, up_1 = s0, 1 / (1 + np.exp(-2 * s0 / T))", "two units pull"),
            ("field_1, up_1 = s0 / 2, 1 / (1 + np.exp(-s0))", "chance at T = 1"),
            ("field_1, up_1 = s0 / 2, 1 / (1 + np.exp(-s0 / 2 / T))", "the factor 2 is lost"),
            ("field_1, up_1 = s0 / 2, 1 / (1 + np.exp(s0 / T))", "a unit follows its field"),
            ("field_1, up_1 = s0 / 2, 0.5 + 0.4 * s0", "with T ="),
        ],
        "my_mean_slope": [
            (SLOPE.replace("2e-5", "1e-5"), "two steps apart"),
            ("my_mean_slope = lambda machine, i, j: bmlab.exact(machine).corr[i, j]", "a unit alone"),
            (SLOPE.replace(", machine.temperature", ""), "at T = 3 the mean is"),
            (SLOPE.replace("2e-5", "2e-5 * machine.temperature"), "at T = 3 the mean is"),
        ],
        "my_formula": [
            ("my_formula = lambda mean, corr, T, i, j: corr[i, j] / T", "1/Z depends on b_j too"),
            ("my_formula = lambda mean, corr, T, i, j: corr[i, j] - mean[i] * mean[j]", "wrong at T = 0.6"),
            ("my_formula = lambda mean, corr, T, i, j: (corr - np.outer(mean, mean)) / T", "one number for one pair"),
            ("my_formula = lambda mean, corr, T, i, j: (corr[i, j] + mean[i] * mean[j]) / T", "wrong at T = 1.0"),
        ],
    },
    "02_exact_z": {
        "z_chain": [
            (f"z_chain = {TRIANGLE}", "that is the triangle"),
            ("z_chain = np.cosh(w01) * np.cosh(w12) * np.cosh(b0)", "each unit brings a factor 2 cosh"),
            ("z_chain = 8 * np.cosh(w01) * np.cosh(w12)", "the bias of unit 0 is missing"),
            ("z_chain = 8 * np.cosh(w01) * np.cosh(b0) ** 2", "unit 0 2 cosh(b0)"),
            ("z_chain = 8 * np.exp(w01 + w12 + b0)", "no energy is below"),
        ],
        "my_ring_log_z": [
            (RING.replace("np.logaddexp(*halves)", "sum(halves)"), "join halves with np.logaddexp"),
            (RING.replace("b[0] * s + ", ""), "unit 0's own b[0] s0"),
            (RING.replace("        rest[-1] += w[-1] * s\n", ""), "at the last by w[-1]"),
            (RING_TABLE, "states() would list 2^1000 states"),
        ],
    },
    "03_gibbs_sampling": {
        "my_tosses": [
            (TOSSES.replace("h / 2)", "h)"), "T is 2, the chance"),
            (TOSSES.replace("-2 * h / 2", "-h / 2"), "of 10 turns are right"),
            (TOSSES.replace("u < 1", "u > 1"), "0 of 10 turns are right"),
            (TOSSES.replace("toy.field(state)", "(toy.weights @ state)"), "Look again at turn"),
            (TOSSES.replace("u < 1 / (1 + np.exp(-2 * h / 2))", "u < 0.5"), "of 10 turns are right"),
            (TOSSES + "my_tosses = my_tosses[:9]", "ten signs between quotes"),
        ],
        "cheat": [
            (CHEAT.replace("toy), 1000", "toy), 1"), "after one sweep only"),
            (CHEAT + "cheat_misplaces = 2 * cheat_misplaces", "half: each excess"),
            (CHEAT + "cheat_misplaces = cheat_misplaces / 4", "a high power"),
            (CHEAT.replace("toy)", "toy.at(2))"), "a high power"),
            (CHEAT + "cheat_misplaces = -cheat_misplaces", "a high power"),
            (
                CHEAT.replace("max(", "min(") + "cheat_misplaces = max(misplaced(x[0], p) for x in powers.values())",
                "keeps p",
            ),
            (CHEAT + "cheat = 'D'", "one letter in quotes"),
        ],
        "my_cheat": [
            ("my_cheat = bmlab.sweep", "hardly wrong"),
            (
                "my_cheat = lambda model, s, u: np.where(u < 1 / (1 + np.exp(-2 * model.field(s))), 1, -1)",
                "a mean is off by",
            ),
            ("my_cheat = lambda model, s, u: bmlab.sweep(model.at(2), s, u)", "a mean is off by"),
            ("my_cheat = lambda model, s, u: np.asarray(s)", "depends on the start"),
            (MEANS.replace("1.0, -1.0", "1, 0"), "a state of -1 and +1"),
            (MEANS.replace("(1 + bmlab.exact(model).mean) / 2", "bmlab.exact(model).mean"), "a mean is off by"),
            (MEANS.replace("u <", "0.5 <"), "a mean is off by"),
            (MEANS.replace("u <", "1 - u <"), "a mean is off by"),
        ],
        "my_together_law": [
            ("my_together_law = bmlab.probabilities", "nobody goes with"),
            (TOGETHER_LAW.replace("s @ model.biases / T + ", ""), "are the biases in"),
            (TOGETHER_LAW.replace(" / T", ""), "over T"),
            (TOGETHER_LAW.replace(" / np.exp(log_q).sum()", ""), "add up to 1"),
            (TOGETHER_LAW.replace("cosh(model.field(s) / T)", "cosh(model.field(s))"), "nobody goes with"),
            (TOGETHER_LAW.replace(".sum(axis=1)", ".mean(axis=1)"), "nobody goes with"),
            (TOGETHER_LAW.replace("s @ model", "-s @ model"), "are the biases in"),
        ],
    },
    "03b_long_enough": {
        "draws_worth": [
            ("draws_worth = 1000 * (1 - kept)", "the 2 before each power is lost"),
            ("draws_worth = 1000 / (1 + 2 * kept)", "the sum goes on"),
            ("draws_worth = 1000 * np.sqrt((1 - kept) / (1 + kept))", "no root"),
            ("draws_worth = 1000 * (1 + kept) / (1 - kept)", "not more"),
            ("draws_worth = 500", "it should be close to"),
            ("draws_worth = -1000 * (1 - kept) / (1 + kept)", "it should be close to"),
            ("draws_worth = 1000 * (1 - kept) / (1 + 2 * kept)", "it should be close to"),
        ],
        "my_block_error": [
            (BLOCK_ERROR.replace(" / np.sqrt(blocks)", ""), "the root of the number of blocks"),
            ("my_block_error = lambda x, blocks: np.std(x) / np.sqrt(len(x))", "are worth four numbers"),
            (BLOCK_ERROR.replace("axis=1", "axis=0"), "are worth four numbers"),
            (BLOCK_ERROR.replace("ddof=1", "ddof=0"), "4 - 1 (ddof=1)"),
            (BLOCK_ERROR.replace("x[:length * blocks]", "x[-length * blocks:]"), "the last is over"),
            (BLOCK_ERROR.replace("averages.std(ddof=1) / np", "averages.var(ddof=1) / np"), "0.577"),
            (BLOCK_ERROR.replace("averages.std(ddof=1) / np.sqrt(blocks)", "averages / np.sqrt(blocks)"), "one number"),
        ],
        "my_trap": [
            ("my_trap = bmlab.toy()", "where chains change sides nothing holds them"),
            ("my_trap = bmlab.ising((4, 4), field=0.05)", "at most 12 units"),
            ("my_trap = bmlab.ising((3, 4))", "where chains change sides nothing holds them"),
            ("my_trap = bmlab.medium()", "where chains change sides nothing holds them"),
            ("my_trap = np.ones((10, 10)) - np.eye(10)", "a machine"),
        ],
    },
    "03c_z_from_samples": {
        "z_jump": [
            (Z_JUMP.replace("(1 - 1 / 4)", "1"), "the old factor e^(-E/4)"),
            (Z_JUMP.replace("-energies", "energies"), "the sign"),
            (Z_JUMP.replace("(1 - 1 / 4)", "(4 - 1)"), "1/1 - 1/4"),
            (Z_JUMP.replace("Z4 * ", ""), "Z over the Z at T = 4"),
            (Z_JUMP.replace(" / 400", ""), "the mean of the weights"),
            ("z_jump = Z4", "the Z at T = 4"),
            (Z_JUMP.replace("400", "800"), "it should be close to"),
            (Z_JUMP.replace("times @ ", "sum(").replace("))) / 400", ")))) / 5"), "it should be close to"),
        ],
        "my_weight_ess": [
            (ESS.replace(" - np.max(log_w)", ""), "overflow"),
            (ESS.replace("(w**2).sum()", "w.sum()"), "36 over 1 + 4 + 9"),
            (ESS.replace("np.exp(log_w - np.max(log_w))", "log_w - np.min(log_w) + 1"), "worth one"),
            (ESS.replace("w.sum() ** 2 / (w**2).sum()", "w.mean() ** 2 / (w**2).mean()"), "seven equal weights"),
            (ESS.replace("w.sum() ** 2", "w.sum()"), "seven equal weights"),
            ("my_weight_ess = len", "worth one"),
        ],
        "my_jump_error": [
            (JUMP.replace(" - 1)", ")"), "every weight is 1"),
            (JUMP.replace("b / T", "b"), "only b/T"),
            (JUMP.replace(" / N)", ") / N"), "half the error"),
            (JUMP.replace("(1 + np.tanh(b / T) ** 2) ** n - 1", "n * np.tanh(b / T) ** 2"), "list the 4 states"),
            (JUMP.replace("np.tanh(b / T) ** 2", "np.tanh(2 * b / T) ** 2"), "one unit"),
            (JUMP.replace("np.sqrt(", "("), "half the error"),
        ],
    },
    "04_mean_field": {
        "bias_lets_go": [
            (
                "bias_lets_go = lambda T: T * np.arctanh(np.sqrt(1 - T)) - np.sqrt(1 - T)",
                "the wrong valley is at negative m",
            ),
            ("bias_lets_go = lambda T: 0.266", "the colder, the deeper"),
            (f"bias_lets_go = lambda T: {TOUCH.replace('T *', 'T**2 *')}", "is too large"),
            (f"bias_lets_go = lambda T: {TOUCH.replace('T *', '0.5 *')}", "T = 0.8"),
            (f"bias_lets_go = lambda T: 2 * ({TOUCH})", "is too large"),
            (f"bias_lets_go = lambda T: {TOUCH.replace('(1 - T)', '(1 - T**2)')}", "is too small"),
            ("bias_lets_go = lambda T: 0.532 * (1 - T)", "T = 0.8"),
            ("bias_lets_go = lambda T: np.sqrt(1 - T)", "is too large"),
        ],
        "fooled": [
            ("fooled = bmlab.toy()", "four to twelve units"),
            ("fooled = np.ones((5, 5))", "make it: bmlab.BoltzmannMachine"),
            (FOOLED + ".at(2)", "at T = 1"),
            (FOOLED.replace("-0.2", "0.2"), "which way do the biases send it first"),
            (FOOLED.replace("[2.4] + 7 * [-0.2]", "8 * [0]"), "from its usual start it should converge"),
            (FOOLED.replace("0.4", "0.04"), "which way do the biases send it first"),
            ("fooled = bmlab.medium()", "which way do the biases send it first"),
            (FOOLED.replace("[2.4]", "[4.2]"), "have the wrong sign, and all should"),
        ],
    },
    "04b_can_it_be_proved": {
        "my_interval": [
            ("def my_interval(yes, no):\n    return 1 / (1 + np.exp(no - yes))", "return two ends"),
            (INTERVAL.replace("yes.lower)", "yes.upper)"), "the lower end first"),
            (INTERVAL.replace("no.upper", "no.lower"), "the other way round it is"),
            (INTERVAL.replace("no.upper - yes.lower", "yes.upper - no.lower"), "the lower end first"),
            (
                "def my_interval(yes, no):\n    return np.exp(yes.lower - no.upper), np.exp(yes.upper - no.lower)",
                "alike",
            ),
            ("def my_interval(yes, no):\n    return yes.lower / no.upper, yes.upper / no.lower", "alike"),
            (INTERVAL.replace("1 + np.exp", "1 + 2 * np.exp"), "alike"),
            (INTERVAL.replace("return ", "return 1 - ", 1).replace(", 1 /", ", 1 - 1 /"), "the lower end first"),
        ],
        "pair_corr": [
            (PAIR.replace("t0 * t1) /", "t0) /"), "the two are equals"),
            (PAIR.replace("w / T", "w"), "all is over T"),
            (PAIR.replace(" / (1 + t * t0 * t1)", ""), "is it normalised"),
            (PAIR.replace("(t + t0 * t1) / (1 + t * t0 * t1)", "np.tanh((w + h0 * h1 / T) / T)"), "should be"),
            (PAIR.replace("1 + t *", "1 - t *"), "is it normalised"),
            (PAIR.replace("(t + t0 * t1) / (1 + t * t0 * t1)", "t"), "is it normalised"),
        ],
    },
    "07_hidden_units": {
        "small_start": [
            (
                PLATEAU + "small_start, large_start = large_start, small_start",
                "from a smaller start the plateau is longer",
            ),
            (PLATEAU + "small_start = 0", "too short never exceeds"),
            (PLATEAU + "small_start, large_start = 3 * small_start, 3 * large_start", "not the crossing"),  # rate 0.1
            (PLATEAU.replace("-1.7", "-2"), "not the crossing"),
            (PLATEAU + "small_start, large_start = small_start + 1, large_start + 1", "not the crossing"),
            (PLATEAU + "small_start = [small_start, large_start]", "two numbers"),
        ],
        "my_triplet": [
            (TRIPLET.replace("3 * left_behind(1)", "left_behind(1)"), "hears nothing"),
            (TRIPLET.replace("(b + w * total) / T", "b + w * total"), "only w/T and b/T count"),
            (TRIPLET.replace("np.log(2 * np.cosh(", "((").replace(" / T))", " / T) ** 2)"), "by the table"),
            (TRIPLET.replace("/ 8", "/ 4"), "by the table"),
            (TRIPLET.replace("return (", "return -("), "by the table"),
            (TRIPLET.replace("(b + w * total) / T", "(w * total) / T"), "by the table"),
        ],
        "my_parity": [
            (PARITY.replace("-=", "+="), "it is paid for: the sign"),
            (PARITY.replace("bmlab.from_bits", "bmlab.BoltzmannMachine"), "is it made from_bits?"),
            (PARITY.replace("b[wrong_sum] -=", "b[wrong_sum] = -"), "u is in both sums"),
            (PARITY.replace("-1, -2]", "-1, -1]"), "a carry counts twice"),
            (PARITY.replace("[4, 2, 3, 6]", "[4, 3, 2, 6]"), "are right sums"),
        ],
    },
    "10_after_1985": {
        "critical": [
            ("critical = differ", "too large"),
            ("critical = 1 / length", "too small"),
            ("critical = 2 / differ", "too large"),
            ("critical = 1 / (2 * differ)", "too small"),
            ("critical = 0.5", "too large"),
            ("critical = -1 / differ", "too small"),
            ("critical = 1 / (length - differ)", "too"),
            ("critical = 0", "too small"),
        ],
        "my_recall": [
            (
                RECALL.replace(
                    "np.where(seen, cue, my_attention(patterns, s, beta))", "my_attention(patterns, s, beta)"
                ),
                "comes back as it was",
            ),
            (RECALL.replace("np.where(seen, cue, 0)", "np.array(cue)"), "count for nothing"),
            (
                RECALL.replace(
                    "my_attention(patterns, s, beta)", "my_attention(patterns, np.where(seen, cue, 0), beta)"
                ),
                "go on from the last",
            ),
            (RECALL.replace("patterns, s, beta", "patterns, s, 2 * beta"), "0.731 and 0.269"),
            (RECALL.replace("patterns, s, beta", "patterns, s, 1 / beta"), "0.731 and 0.269"),
            (RECALL.replace("patterns, s, beta", "patterns, s, -beta"), "0.731 and 0.269"),
            (
                RECALL.replace("my_attention(patterns, s, beta)", "patterns.mean(axis=0) + 0 * s + beta / rounds"),
                "0.731",
            ),
            (RECALL.replace("return s", "return cue"), "count for nothing"),
            (RECALL.replace("return s", "return np.sign(s)"), "go on from the last"),
            (
                RECALL.replace("np.where(seen, cue, my_attention", "np.where(seen, 0.5, my_attention"),
                "comes back as it was",
            ),
        ],
        "my_score_matching": [
            (SCORE.replace("K @ mean, K", "mean, K"), "another b is better"),
            (
                SCORE.replace(
                    "np.linalg.inv((x - mean).T @ (x - mean) / len(x))", "(x - mean).T @ (x - mean) / len(x)"
                ),
                "K",
            ),
            (SCORE.replace("(x - mean) / len(x)", "(x - mean) / (len(x) - 1)"), "not N - 1"),
            (SCORE.replace("(x - mean).T @ (x - mean)", "x.T @ x"), "are better"),
            (SCORE.replace("(x - mean) / len(x)", "(x - mean)"), "are better"),
            (SCORE.replace("@ mean, K", "@ mean, -K"), "another b is better"),
            (SCORE.replace("@ mean, K", "@ mean, 2 * K"), "another b is better"),
            (SCORE.replace("return K @ mean", "return 0 * mean"), "another b is better"),
            (SCORE + "my_score_matching = lambda x: (x, x)", "one row a unit"),
            (SCORE.replace("@ mean, K", "@ mean, np.tril(K)"), "K is symmetric"),
        ],
    },
    "09_handwritten_digits": {
        "p_b": [
            ("p_b = 1 / (1 + np.exp(-1.386 - (4 - 4.129)))", "if both were as common"),
            ("p_b = often / (often + np.exp(-1.386 - (4 - 4.129)))", "A is common"),
            ("p_b = np.exp(4) / (often + np.exp(4))", "take its log Z off"),
            ("p_b = 1 - 1 / (1 + often * np.exp(-1.386 - (4 - 4.129)))", "the probability of A"),
            ("p_b = np.exp(4 - 4.129)", "times how common k is, normalised"),
            ("p_b = 1 / 2", "times how common k is, normalised"),
            ("p_b = np.array([1 - 1 / (1 + often), 1 / (1 + often)])", "one number"),
        ],
        "my_completion": [
            (COMPLETION.replace(VOTES, "votes = np.full(len(machines), 1 / len(machines))"), "the same say"),
            (COMPLETION.replace(VOTES, "votes = logs == logs.max()"), "the likeliest machine alone"),
            (COMPLETION.replace(" - bmlab.exact(machine).log_z.value", ""), "take each machine's own log Z off"),
            (COMPLETION.replace("return whole", "return whole[~seen]"), "return all pixels"),
            (OVERFLOW, "overflow"),
            (COMPLETION.replace("logs = np", "logs = -np"), "not the mean of what they draw"),
            ("my_completion = lambda machines, seen, image: image", "return all pixels"),
        ],
        "my_image": [
            (OWN_DIGIT + "my_image = my_image.reshape(8, 8)", "in one row"),
            (OWN_DIGIT + "my_image = (my_image + 1) / 2", "-1 for paper"),
            (OWN_DIGIT + "my_image = -my_image", "it is no digit"),
            (OWN_DIGIT + "my_digit = 8", "it reads a 3"),
            (OWN_DIGIT + "before = np.log(before)", "not log p"),
            (OWN_DIGIT.replace("log_p(machines, log_z, ", "log_p(machines, np.zeros(10), "), "is log_z off"),
            (OWN_DIGIT.replace("axis=1).ravel", "axis=0).ravel"), "axis=1"),
            (OWN_DIGIT + "after = before", "axis=1"),
            (OWN_DIGIT.replace("), 1, axis=1", "), -1, axis=1"), "axis=1"),
        ],
    },
    "05_full_learning": {
        "advice": [
            (ADVICE + "radii = [np.abs(np.linalg.eigvalsh(m.weights)).max() for m in (ann, ben, eve)]", "and T ="),
            (
                ADVICE.replace(
                    "np.abs(np.linalg.eigvalsh(friend.weights)).max()", "np.linalg.eigvalsh(friend.weights)[-1]"
                ),
                "SIZE",
            ),
            (
                ADVICE + "radii = [np.abs(m.weights).max() / m.temperature for m in (ann, ben, eve)]",
                "of the largest SIZE",
            ),
            (ADVICE + "radii = [2 * radius for radius in radii]", "of the largest SIZE"),
            (ADVICE + "radii = [0.5, 0.5, 0.5]", "of the largest SIZE"),
            (ADVICE + "radii[2] *= T_eve", "Eve has T"),
            (ADVICE + "radii = radii[1:]", "three radii"),
            (ADVICE.replace('"gibbs"', '"CD-1"'), "the words are"),
            (ADVICE.replace('"exact"', '"gibbs"'), "how many states is that"),
            (ADVICE.replace("> 0.3", "< 0.3"), "on which side of 0.3"),
        ],
        "my_pl_gradient": [
            (PL_GRADIENT.replace("surprise.T @ data + data.T @ surprise", "surprise.T @ data"), "half the slope"),
            (PL_GRADIENT.replace("data - np.tanh", "-data + np.tanh"), "downhill"),
            (PL_GRADIENT.replace("    np.fill_diagonal(d_weights, 0)\n", ""), "the diagonal must be 0"),
            (PL_GRADIENT.replace("model.field(data) / model.temperature", "model.field(data)"), "tanh(h/T)"),
            (PL_GRADIENT.replace("d_weights / model.temperature", "d_weights"), "all over T"),
            (PL_GRADIENT.replace("axis=0) / model.temperature", "axis=0)"), "all over T"),
            (PL_GRADIENT.replace("surprise.T @ data + data.T @ surprise", "2 * surprise.T @ data"), "nudged, w01 has"),
            (PL_GRADIENT.replace(" / len(data)", ""), "a mean"),
            (PL_GRADIENT.replace("surprise.mean(axis=0)", "surprise.sum(axis=0)"), "nudged, w01 has"),
            (PL_GRADIENT.replace("model.field(data)", "(data @ model.weights)"), "nudged, w01 has"),
        ],
        "my_gain": [
            (GAIN.replace("np.arctanh(table.mean(axis=0))", "np.zeros(table.shape[1])"), "the best BIASES"),
            (GAIN.replace("np.arctanh(table.mean(axis=0))", "table.mean(axis=0)"), "the best BIASES"),
            (GAIN.replace(GAINED, "judge(coins, table) - judge(summit, table)"), "18 of 20 rows agree"),
            (GAIN.replace(GAINED, "judge(summit, table)"), "the best BIASES"),
            (GAIN.replace(GAINED, "0.5"), "the best BIASES"),
            (GAIN.replace(GAINED, f"len(table) * ({GAINED})"), "a mean"),
            (GAIN.replace(GAINED, f"np.log2(np.e) * ({GAINED})"), "natural logarithms"),
            (GAIN.replace(", penalty=0.03", ""), "penalty 0.03"),
            (GAIN + "my_gain = lambda table: table", "(one number)"),
            (GAIN + "my_table = my_table[:4]", "eight rows or more"),
            (GAIN + "my_table = (1 + my_table) / 2", "no is -1"),
            (GAIN + "my_table = np.abs(my_table)", "an infinite bias"),
        ],
    },
    "08_restricted_machines": {
        "visible_out": [
            (VISIBLE_OUT.replace("T_own", "1"), "that is at T = 1"),
            (VISIBLE_OUT.replace("-0.5 * h_own[1] / T_own + ", ""), "own biases are missing"),
            (VISIBLE_OUT.replace("2 * np.cosh", "np.cosh"), "has each visible unit both its values"),
            (
                VISIBLE_OUT.replace("-0.5 * h_own[1]", "0.5 * h_own[0]").replace("[0.5, 0]", "[0, -0.5]"),
                "sums the HIDDEN units out",
            ),
            (VISIBLE_OUT.replace("-0.5 * h_own[1]", "0.5 * h_own[1]"), "with f_0 ="),
            ("visible_out = np.full(2, 4.0)", "one number"),
        ],
        "my_coupling": [
            (COUPLING.replace("T / 2 * ", ""), "wrong at T = 1"),
            (COUPLING.replace("T / 2 * ", "1 / 2 * "), "wrong at T = 0.5"),
            (COUPLING.replace("(a - b)", "(a + b)"), "they should differ"),
            (COUPLING.replace("T / 2", "T"), "wrong at T = 1"),
            (COUPLING.replace(") / T)", "))"), "wrong at T = 0.5"),
            (COUPLING.replace("np.cosh((a + b) / T) / np.cosh((a - b) / T)", "np.cosh(a + b)"), "couples nothing"),
        ],
        "my_layers_ais": [
            (LAYERS_AIS.replace(" + m * np.log(2)", ""), "4 log 2"),
            (LAYERS_AIS.replace("logaddexp(b / T, -b / T)", "logaddexp(b, -b)"), "8 log(2 cosh(b/T))"),
            (LAYERS_AIS.replace("log_w.max() + np.log(w.mean())", "log_w.mean()"), "not log_w"),
            (LAYERS_AIS.replace(" / np.sqrt(chains)", ""), "std / sqrt(chains)"),
            (LAYERS_AIS.replace("np.exp(-2 * b / T)", "np.exp(-2 * b)"), "draw the start at T"),
            (LAYERS_AIS.replace(H_FIRST, "\n"), "move at the new beta"),
            (LAYERS_AIS.replace("turned(at(new)", "turned(at(old)"), "move at the new beta"),
            (LAYERS_AIS.replace(H_FIRST, V_FIRST), "h first"),
        ],
    },
    "06_your_own_data": {
        "p_freeze": [
            ("p_freeze = 1 / (1 + np.exp(2 * size * cast))", "a missing vote is not a vote of 0"),
            ("p_freeze = 1 / (1 + np.exp(4 * size * cast))", "the budget held, too"),
            ("p_freeze = 0.5", "what share of their weight"),
            ("p_freeze = 1 / (1 + np.exp(-2 * size * cast))", "what share of their weight"),
            ("p_freeze = 2", "it is a probability"),
        ],
        "my_slope": [
            (ROW_SLOPE.replace(ASKED, "pass"), "what is missing has a mean, too"),
            (
                ROW_SLOPE.replace(
                    "return (clamped - bmlab.exact(machine).mean)", "return (bmlab.exact(machine).mean - clamped)"
                ),
                "pulls its own bias to its own side",
            ),
            (ROW_SLOPE.replace(" / machine.temperature", ""), "clamped minus free, over T?"),
            (ROW_SLOPE.replace(ASKED, "clamped[~known] = 0"), "nudged biases climb by"),
            (ROW_SLOPE.replace(ASKED, "clamped[~known] = bmlab.exact(machine).mean[~known]"), "nudged biases climb by"),
            (
                ROW_SLOPE.replace("return (clamped", "return (clamped[known]").replace(
                    "(machine).mean)", "(machine).mean[known])"
                ),
                "one number for each bias",
            ),
        ],
        "absent_say": letter("absent_say", "BC", "how do the 104 vote on the rest"),
    },
}
