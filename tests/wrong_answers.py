"""Typical wrong answers: notebook -> name of the answer cell -> what a student writes, and a part of the hint.

Most are slips in the answer of the notebook: (what stands there, what is written instead, hint), or twice the first
two. Others are written out: (what is written, hint), where "..." is the answer of the notebook. Each must score less
than full, with a hint that teaches.
"""

from pathlib import Path

import nbformat

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
RING_TABLE = """
def my_ring_log_z(w, b):
    W = np.roll(np.diag(w), 1, axis=1)
    return np.log(np.exp(-bmlab.BoltzmannMachine(W + W.T, b).energy(bmlab.states(len(b)))).sum())
"""
GAINED = "judge(summit, table) - judge(coins, table)"
OTHERWISE = {  # where slips need more than the notebook writes
    "my_tosses": """
state, my_tosses, otherwise = -np.ones(3), "", 0
for k, u in enumerate(coins):
    h = toy.field(state)[k % 3]
    colder = my_update(toy, state, k % 3, u)
    state[k % 3] = 1 if u < 1 / (1 + np.exp(-2 * h / 2)) else -1
    my_tosses += "+" if state[k % 3] > 0 else "-"
    otherwise = k + 1 if (colder != state).any() else otherwise
"""
}

SLIPS = {
    "00_start": {
        "made_up": [
            ("...\nmade_up = [line for line in diary if line != made_up][0]", "a unit of energy divides the counts by"),
            ("...\nmade_up = [line for line in diary if line != made_up][2]", "a unit of energy divides the counts by"),
            ("...\nT_diary = 1 / T_diary", "T units by e"),
            ("np.log(", "np.log10(", "T units by e"),
            ("...\nT_diary = 1", "T units by e"),
            ("1 / np.log(fall(a, b))", "fall(a, b)", "T units by e"),
            ("...\nreally = diary[made_up]", "stands in the diary"),
            ("E[a] - E[line]", "E[line] - E[a]", "go on from there"),
            ("diary[a] * fall", "diary[c] * fall", "go on from there"),
            ("...\nT_diary = -T_diary", "are above 0"),
            ("...\nmade_up = 'Ada'", "one of the four lines"),
            ("...\nmade_up = 1", "one of the four lines"),
        ],
        "my_group": [
            ("my_group = bmlab.toy()", "four friends"),
            ("my_group = bmlab.BoltzmannMachine(2 - 2 * np.eye(4), np.ones(4))", "no frustration"),
            ("my_group = bmlab.BoltzmannMachine(0.1 * (1 - np.eye(4)), [1, 0, 0, -0.5])", "make a gap"),
            ("...\nmy_group = my_group.at(0.1)", "at T = 1"),
            ("(wishes", "(wishes * (1 - np.eye(4)[::-1])", "a weight between every two"),
        ],
    },
    "01_theory": {
        "field_and_heat": [
            ("-w01 - w12", "w01 + w12", "-2 * field_1", "2 * field_1", "both are -1"),
            ("-w01 - w12", "-abs(w01) - abs(w12)", "pull against each other"),
            ("-w01 - w12", "-abs(w01)", "two pull"),
            ("-w01 - w12", "-abs(w12)", "two pull"),
            ("-w01 - w12", "-w01 - w12 - 0.25", "h1 = w01 s0"),
            ("-2 * field_1", "-field_1", "differ by -2 h"),
            ("np.log(3)", "np.log(4)", "three times as often, not four"),
            ("np.log(3)", "3", "he goes on"),
            ("...\nT_ben = 1 / T_ben", "he goes on"),
            ("-2 * field_1", "2 * field_1", "a temperature is above 0"),
        ],
        "averages_first": [
            ("2e-5", "1e-5", "one of the three is right"),
            ("-1e-5", "1e-5", "one of the three is right"),
            ("(subject,", "(subject.at(1),", "the largest of ten distances"),
            ("abs(d_weights + np.diag(d_biases) - slopes)", "slopes - d_weights - np.diag(d_biases)", "the largest of"),
            ("errors = [off[x].max()", "errors = [off[x].mean()", "the largest of ten distances"),
            ("errors = [off[x].max()", "errors = [off[x].diagonal().max()", "the largest of ten distances"),
            ("errors = [off[x].max()", "errors = [off[x][:3, :3].max()", "the largest of ten distances"),
            ("errors = [off[x].max()", "errors = [-off[x].max()", "not below 0"),
            ("[off[x].max() for x", "[off[x] for x", "three numbers in brackets"),
            ("...\naverages_first = 'ABC'[int(np.argmin(errors))]", "errs by 0.000 at most"),
            ("off[x].max() / (", "off[x].max() * (", "between the visible units"),
            ("...\naverages_first = 'D'", "one letter in quotes"),
        ],
        "my_formula": [
            ("my_formula = lambda mean, corr, T, i, j: corr[i, j] / T", "1/Z depends on b_j too"),
            (
                "my_formula = lambda mean, corr, T, i, j: corr[i, j] - mean[i] * mean[j]",
                "right at T = 1: where does T enter?",
            ),
            ("my_formula = lambda mean, corr, T, i, j: (corr - np.outer(mean, mean)) / T", "one number for one pair"),
            ("my_formula = lambda mean, corr, T, i, j: (corr[i, j] + mean[i] * mean[j]) / T", "wrong at T = 1.0"),
        ],
    },
    "02_exact_z": {
        "order": [
            ("order = list(range(10))", "its message is over"),
            ("order = list(range(10))[::-1]", "its message is over"),
            ("order = sorted(range(10), key=lambda i: sum(i in pair for pair in pairs))", "its message is over"),
            ("min(", "max(", "its message is over"),
            ("...\norder = order[:9]", "each of the ten units once"),
            ("...\norder = ', '.join(map(str, order))", "without quotes"),
            ("...\norder = [unit + 1 for unit in order]", "each of the ten units once"),
            ("...\norder = 5 * order[:2]", "each of the ten units once"),
        ],
        "my_ring_log_z": [
            ("np.logaddexp(*halves)", "sum(halves)", "two halves of 2.079 make 2.773"),
            ("b[0] * s + ", "", "an open chain"),
            ("w[1:-1]", "w[1:]", "make 2.773, not 3.466"),
            ("rest = np.array(b[1:], dtype=float)", "rest = b[1:]", "writes into what it is given"),
            ("        rest[-1] += w[-1] * s\n", "", "at the last by w[-1]"),
            ("w[0] * s", "w[-1] * s", "rest[-1] += w[-1] * s", "rest[-1] += w[0] * s", "an open chain"),
            (RING_TABLE, "states() would list 2^1000 states"),
        ],
    },
    "03_gibbs_sampling": {
        "my_tosses": [
            ("h / 2)", "h)", "T is 2, p "),
            ("-2 * h / 2", "-h / 2", "of 10 turns are right"),
            ("u < 1", "u > 1", "0 of 10 turns are right"),
            ("toy.field(state)", "(toy.weights @ state)", "Look again at turn"),
            ("u < 1 / (1 + np.exp(-2 * h / 2))", "u < 0.5", "of 10 turns are right"),
            ("-np.ones(3)", "np.ones(3)", "of 10 turns are right"),
            ("...\nmy_tosses = my_tosses[:9]", "ten signs between quotes"),
            ("...\notherwise = otherwise % 10 + 1", "u is between p at T = 2 and p at T = 1"),
            ("...\notherwise = 0", "u is between p at T = 2 and p at T = 1"),
            ("...\nmy_tosses = -1", "put it between quotes"),
        ],
        "cheat": [
            ("toy), 1000", "toy), 1", "after one sweep only"),
            ("...\ncheat_misplaces = 2 * cheat_misplaces", "count it once"),
            ("toy)", "toy.at(2))", "a high power"),
            ("...\ncheat = min((misplaced(power[0], p), x) for x, power in powers.items())[1]", "keeps p"),
            ("...\ncheat_misplaces = 100 * cheat_misplaces", "percent"),
            ("...\ncheat = 'D'", "one letter in quotes"),
        ],
        "my_cheat": [
            ("my_cheat = bmlab.sweep", "hardly wrong"),
            ("(1 + bmlab.exact(model).mean) / 2", "1 / (1 + np.exp(-2 * model.field(s)))", "a mean is off by"),
            ("my_cheat = lambda model, s, u: bmlab.sweep(model.at(2), s, u)", "a mean is off by"),
            ("my_cheat = lambda model, s, u: np.asarray(s)", "u[i] alone decide"),
            ("my_cheat = lambda model, s, u: -bmlab.sweep(model, s, u)", "u[i] alone decide"),
            ("1.0, -1.0", "1, 0", "a state of -1 and +1"),
            ("(1 + bmlab.exact(model).mean) / 2", "bmlab.exact(model).mean", "a mean is off by"),
            ("u <", "0.5 <", "u[i] alone decide"),
            ("u <", "np.random.random(3) <", "gives another answer where the same is asked again"),
            ("u <", "u[0] <", "u[i] alone decide"),
            ("u <", "1 - u <", "u[i] alone decide"),
        ],
        "my_together_law": [
            ("my_together_law = bmlab.probabilities", "its own law"),
            ("s @ model.biases / T + ", "", "no weights: it begins with"),
            (" / q.sum()", "", "add up to 1"),
            ("return q / q.sum()", "return [q / q.sum()]", "four in a row"),
            ("cosh(model.field(s) / T)", "cosh(model.field(s))", "nobody goes with"),
        ],
    },
    "03b_long_enough": {
        "draws_worth": [
            ("...\ndraws_worth = 1000 * (1 - kept)", "the 2 before each power is lost"),
            ("...\ndraws_worth = 1000 * np.exp(-2 * kept)", "a geometric series"),  # at 0.8 nearly 1000 * (1 - kept)
            ("...\ndraws_worth = 1000 / (1 + 2 * kept)", "the sum goes on"),
            ("...\ndraws_worth = 1000 * np.sqrt((1 - kept) / (1 + kept))", "no root"),
            ("...\ndraws_worth = 1000 * (1 + kept) / (1 - kept)", "not more"),
            ("...\ndraws_worth = 1000 * (1 - kept) / (1 + 2 * kept)", "a geometric series"),
            ("...\ndraws_worth = -500 * np.log(kept)", "near: that is an integral"),
            ("...\nkeep_every = 1", "it is still"),
            ("...\nkeep_every -= 1", "it is still"),
            ("...\nkeep_every += 1", "too little"),
            ("...\nkeep_every = round(np.log(0.1) / np.log(kept))", "too little"),
            ("...\nkeep_every = 1 / keep_every", "a whole number"),
        ],
        "my_block_error": [
            (" / np.sqrt(blocks)", "", "the root of the number of blocks"),
            ("my_block_error = lambda x, blocks: np.std(x) / np.sqrt(len(x))", "four blocks of one value each"),
            ("ddof=1", "ddof=0", "4 - 1 (ddof=1)"),
            ("x[:length * blocks]", "x[-length * blocks:]", "the last is over"),
            ("averages.std(ddof=1) / np", "averages.var(ddof=1) / np", "0.577"),
            ("averages.std(ddof=1) / np.sqrt(blocks)", "averages / np.sqrt(blocks)", "one number"),
        ],
        "my_trap": [
            ("my_trap = bmlab.toy()", "six to twelve units"),
            ("my_trap = bmlab.ising((4, 4), field=0.05)", "six to twelve units"),
            ("my_trap = bmlab.BoltzmannMachine([[0, 8], [8, 0]], [0.3, 0.3])", "six to twelve units"),
            ("my_trap = bmlab.ising((3, 4))", "of both signs"),
            ("my_trap = bmlab.medium()", "of both signs"),
            ("my_trap = bmlab.medium().at(0.2)", "of both signs"),
            ("my_trap = bmlab.ising((3, 4), field=0.05)", "of both signs"),
            ("np.repeat([-2, 2.2], 5)", "np.full(10, 0.1)", "of both signs"),
            ("np.ones((10, 10)) - np.eye(10)", "np.zeros((10, 10))", "too many change sides, or start well"),
            ("np.repeat([-2, 2.2], 5)", "np.r_[-0.01, np.full(9, 0.1)]", "whom does a sweep set first?"),
            ("my_trap = np.ones((10, 10)) - np.eye(10)", "a machine"),
        ],
    },
    "03c_z_from_samples": {
        "z_jump": [
            ("(1 - 1 / 4)", "1", "the old factor e^(-E/4)"),
            ("-energies", "energies", "the sign"),
            ("(1 - 1 / 4)", "(4 - 1)", "1/1 - 1/4"),
            ("Z4 * ", "", "Z over the Z at T = 4"),
            (" / 400", "", "the mean of the weights"),
            ("400", "399", "over 400"),
            ("z_jump = Z4", "the Z at T = 4"),
            ("400", "800", "a mean of 400 weights"),
        ],
        "my_weight_ess": [
            (" - np.max(log_w)", "", "overflow"),
            ("(w**2).sum()", "w.sum()", "36 over 1 + 4 + 9"),
            ("np.exp(log_w - np.max(log_w))", "log_w - np.min(log_w) + 1", "worth one"),
            ("w.sum() ** 2 / (w**2).sum()", "w.mean() ** 2 / (w**2).mean()", "seven equal weights"),
        ],
        "my_jump_error": [
            (" - 1)", ")", "every weight is 1"),
            ("b / T", "b", "only b/T"),
            (" / N)", ") / N", "half the error"),
            ("(1 + np.tanh(b / T) ** 2) ** n - 1", "n * np.tanh(b / T) ** 2", "list the 4 states"),
            ("np.tanh(b / T) ** 2", "np.tanh(2 * b / T) ** 2", "one unit"),
            (" / error**2", " / error", "100 walks"),
            (" / error**2", " * error**2", "100 walks"),
            (" / error**2", " / error**2 / 100", "100 walks"),
            ("...\nmy_jump_error = lambda n, b, T, N: N * np.nan", "an overflow, and so fails its test (without"),
        ],
    },
    "04_mean_field": {
        "bias_lets_go": [
            ("-np.sqrt", "np.sqrt", "the wrong valley is at negative m"),
            ("bias_lets_go = lambda T: 0.266", "the colder, the deeper"),
            ("T *", "T**2 *", "is too large"),
            ("T *", "0.5 *", "T = 0.8"),
            ("T * np.arctanh(m) - m", "2 * (T * np.arctanh(m) - m)", "is too large"),
            ("sqrt(1 - T)", "sqrt(1 - T**2)", "is too small"),
            ("bias_lets_go = lambda T: 0.532 * (1 - T)", "T = 0.8"),
            ("bias_lets_go = lambda T: np.sqrt(1 - T)", "is too large"),
        ],
        "fooled": [
            ("fooled = bmlab.toy()", "four to twelve units"),
            ("fooled = np.ones((5, 5))", "make it: bmlab.BoltzmannMachine"),
            ("...\nfooled = fooled.at(2)", "at T = 1"),
            ("-0.2", "0.2", "which way do the biases send it first"),
            ("[2.4] + 7 * [-0.2]", "8 * [0]", "from its usual start it should converge"),
            ("0.4", "0.04", "which way do the biases send it first"),
            ("fooled = bmlab.medium()", "it should converge"),
            ("[2.4]", "[4.2]", "have the wrong sign, and all should"),
        ],
        "held_error": [
            ("animal[:known]", "np.ones(known)", "0.301"),
            ("animal[:known]", "-animal[:known]", "0.301"),
            ("np.arange(known)", "np.arange(15 - known, 15)", "0.301"),
            ("bmlab.exact(rest))", "bmlab.bethe(rest))", "0.301"),
            ("not fields", "fields", "fields=True: 0.358 should be 0.301"),
            ("animals.biases[known:]", "rest.biases", "fields=False: 0.064 should be 0.051"),
            ("animals.biases[known:]", "np.zeros(rest.n)", "fields=False: 0.306 should be 0.051"),
            (", starts=5", "", "fields=True: 0.675 should be 0.301"),
            ("rest.weights, animals", "0 * rest.weights, animals", "should be 0.051"),
            ("...\nheld_error = lambda animal, known, fields: 0.301", "fields=False: 0.301"),
            ("...\nheld_error = 0.301", "a function is asked for"),
            ("held_error(animal, known, fields) for", "held_error(animal, 5, fields) for", "has another average"),
            ("return np.mean(", "return np.median(", "has another average"),
            ("zoo.data])", "zoo.data[:50]])", "has another average"),
        ],
    },
    "04b_can_it_be_proved": {
        "known": [
            ('"toothed"]', '"eggs"]', "20 animals of the zoo have feathers and eggs"),
            ('"toothed"]', '"teeth"]', "feathers, teeth, backbone: two names in known"),
            ('"toothed"]', '"feathers"]', "feathers, feathers, backbone: two names in known"),
            ('["feathers", "toothed"]', '["feathers"]', "feathers, backbone: two names in known"),
            ('"backbone"', '"fins"', "at least: not likely"),
            ('"backbone"', '"breathes"', "at least, below 0.9"),
            ("...\nknown = [2, 3]", "2, 3, backbone: two names in known"),
        ],
        "ring_bound": [
            ("w * n / (n - 1)", "w", "is not above log Z, 3.747"),
            (" / T", "", "what counts is w/T"),
            ("np.log(2) + (n - 1) *", "(n - 1) *", "the two states of the last unit"),
            ("np.log(2) + (n - 1) *", "n *", "is not what n chains"),
            ("n / (n - 1)", "(n + 1) / n", "raise what stays"),
            ("n / (n - 1)", "(n - 1) / n", "raise what stays"),
            ("np.log(2) +", "n * np.log(2) +", "is not what n chains"),
        ],
        "by_cases": [
            ("np.logaddexp(yes.lower, no.lower)", "yes.lower + no.lower", "2.693, not [4."),
            ("np.logaddexp(", "np.maximum(", "2.693, not [2. 2.]"),
            ("...\nby_cases = lambda yes, no: np.logaddexp(yes, no)", "return two ends"),
            (
                "yes.lower, no.lower), np.logaddexp(yes.upper",
                "yes.upper, no.upper), np.logaddexp(yes.lower",
                "the lower",
            ),
            (
                "yes.lower, no.lower), np.logaddexp(yes.upper, no",
                "yes.lower, no.upper), np.logaddexp(yes.upper, no",
                "1 to 3",
            ),
            ('question = "toothed"', 'question = "hair"', "at most 0.311"),
            ('question = "toothed"', 'question = "aquatic"', "at most 0.386"),
            ('question = "toothed"', 'question = "milk"', "milk is none of"),
            ("...\nodds = 1 / odds", "odds 3.728?"),
            ("...\nodds = np.log(odds)", "odds -1.316?"),
            ('cases["toothed", -1])[0]', 'cases["toothed", -1])[1]', "lower end without"),
        ],
    },
    "07_hidden_units": {
        "clamped_xh": [
            ("...\nclamped_xh, free_xh = free_xh, clamped_xh", "the phases are exchanged"),
            ("...\nclamped_xh = 0", "clamps the average pattern"),
            ("- 0.5) / 2", "- 0.5)", "that is at T = 1"),
            ("(own / 2)", "(own)", "that is at T = 1"),
            ("one - three_others", "one + 3 * three_others", "of each pattern times its x"),  # the mean of h
            ("(own / 2)", "((own - 0.5) / 2)", "given h the mean of x"),
            ("...\nfree_xh = 0", "given h the mean of x"),
            ("...\nclamped_xh = [clamped_xh, free_xh]", "three numbers"),
            ("...\nslope = -slope", "the way down"),
            ("...\nslope = 2 * slope", "has the factor 1/T"),
        ],
        "my_triplet": [
            ("-3, 3", "-1, 3", "hears nothing"),
            (") / T))", ")))", "only w/T and b/T count"),
            ("np.log(2 * np.cosh(", "(", " / T))", " / T) ** 2", "by the table"),
            ("/ 8", "/ 4", "by the table"),
            ("return left", "return -left", "by the table"),
            ("b + w *", "w *", "by the table"),
        ],
        "my_parity": [
            ("-=", "+=", "it is paid for: the sign"),
            ("bmlab.from_bits", "bmlab.BoltzmannMachine", "without from_bits"),
            ("b[wrong_sum] -=", "b[wrong_sum] = -", "u is in both sums"),
            ("-1, -2]", "-1, -1]", "a carry counts twice"),
            ("[4, 2, 3, 6]", "[4, 3, 2, 6]", "are right sums"),
            ("[4, 2, 3, 6]", "[0, 2, 3, 6]", "costs 2.0 K"),
        ],
    },
    "10_attention_and_diffusion": {
        "critical": [
            ("critical = differ", "too large"),
            ("critical = 1 / length", "too small"),
            ("critical = 2 / differ", "too large"),
            ("critical = 0.5", "too large"),
            ("critical = 1.02 / differ", "too large"),
            ("critical = 0.98 / differ", "too small"),
            ("critical = -1 / differ", "a beta above 0"),
        ],
        "my_score": [
            (" / sigma**2", "", "that is D(y) - y"),
            ("sigma**2", "sigma", "at (8, -1)"),
            ("sigma**2", "(2 * sigma)", "at (8, -1)"),
            ("clean - noisy", "noisy - clean", "at (8, -1)"),
            ("clean - noisy", "clean", "log p is flat"),
            ("features(noisy), clean - noisy", "features(clean), clean - noisy", "at (8, -1)"),
            ("np.column_stack([np.ones(len(y)), y])", "y", "log p is flat"),
            ("features(y) @ W", "features(noisy) @ W", "two rows of two numbers"),
            (
                "W = np",
                "V = np",
                "    return features",
                "    W = np.vstack([V[0], V[1:].T])\n    return features",
                "9 random points",
            ),
            (
                "def my_score(clean, noisy, sigma, y):  # the Gaussian like the noisy points, never asked about clean\n"
                "    return (noisy.mean(axis=0) - y) @ np.linalg.inv(np.cov(noisy.T, bias=True))",
                "9 random points",
            ),
        ],
        "my_shrink": [
            ("l / np.sqrt(l**2 + noise**2)", "l**2 / (l**2 + noise**2)", "one step from 3 to 0"),
            ("l / np.sqrt(l**2 + noise**2)", "l / noise", "a share between 0 and 1"),
            ("l / np.sqrt(l**2 + noise**2)", "min(l / noise, 0.99)", "only if the noise is much larger"),
            ("np.sqrt(l**2 + noise**2)", "(l + noise)", "noise 1: 1 ends at 0.8"),
            ("l / np.sqrt", "noise / np.sqrt", "noise 1: 1 ends at 0.8"),
            ("l / np.sqrt(l**2 + noise**2)", "np.sqrt(l**2 + noise**2) / l", "a share between 0 and 1"),
            (
                "l / np.sqrt(l**2 + noise**2)",
                "np.sqrt(l / (l + noise**2))",
                "noise 1: 1 ends at 0.8",
            ),  # l as a variance
            ("l / np.sqrt(l**2 + noise**2)", "np.exp(-noise / l)", "noise 1: 1 ends at 0.8"),
            ("l / np.sqrt(l**2 + noise**2)", "0", "a share between 0 and 1"),
        ],
    },
    "09_handwritten_digits": {
        "best": [
            ("...\nbest, forgetful = (0.25 + 0.1213) / 2, (0.5 + 0.0025) / 2", "if both come as often"),
            ("...\nbest, forgetful = 0.25 + 0.1213, 0.5 + 0.0025", "counts by how often"),
            ("...\nbest, forgetful = 1 - best, 1 - forgetful", "read rightly"),
            ("...\nbest = 1 / (1 + often)", "who says A to all four"),
            ("...\nbest, forgetful = forgetful, best", "nobody misreads less"),
            ("...\nbest = forgetful", "nobody misreads less"),
            ("...\nforgetful = often / (1 + often)", "who has more"),
            ("...\nforgetful = (0.75 * often + 0.0003) / (1 + often)", "who has more"),
            ("often * 0.25 + 0.1213", "0.25 + often * 0.1213", "called A's"),
            ("...\nbest = [best, forgetful]", "two shares"),
        ],
        "my_completion": [
            (
                "np.exp(logs - np.logaddexp.reduce(logs))",
                "np.full(len(machines), 1 / len(machines))",
                "as by equal votes",
            ),
            ("np.exp(logs - np.logaddexp.reduce(logs))", "logs == logs.max()", "as by the likeliest one"),
            (" - bmlab.exact(machine).log_z.value", "", "as by votes without log Z"),
            ("return whole", "return whole[~seen]", "return all pixels"),
            (
                "np.array([",
                "np.log([np.exp(",
                "value -",
                "value) /",
                " bmlab.exact(machine).log_z.value",
                " np.exp(bmlab.exact(machine).log_z.value)",
                "overflow",
            ),
            ("    votes =", "    logs /= machines[0].temperature\n    votes =", "[nan nan -1.] at T = 0.6"),
            ("    votes =", "    logs /= machines[-1].temperature\n    votes =", "[nan nan -1.] at T = 0.6"),
            ("logs = np", "logs = -np", "T = 1.0: [ 1.    -0.563  0.81 ] should be [1.    0.456 0.022]"),
            ("whole[~seen]", "whole[seen] = 1\n    whole[~seen]", "[nan nan -1.] at T = 0.6"),
            ("my_completion = lambda machines, seen, image: image", "return all pixels"),
            (
                "votes @ [answer.mean for answer in inside]",
                "np.sign(votes @ [answer.mean for answer in inside])",
                "T = 1.0: [1. 1. 1.] should be [1.    0.456 0.022]",
            ),
            (
                "votes = np.exp(logs - np.logaddexp.reduce(logs))",
                "votes = logs / logs.sum()",
                "T = 1.0: [ 1.    -0.58   0.823] should be",
            ),
            ("whole[~seen] = votes", "whole[~seen] = votes[::-1]", "T = 1.0: [ 1.    -0.563  0.81 ] should be"),
            (
                "whole[~seen] = votes @ [answer.mean for answer in inside]",
                "whole[~seen] = votes @ [answer.mean[::-1] for answer in inside]",
                "T = 1.0: [1.    0.022 0.456] should be",
            ),
        ],
        "my_image": [
            ("...\nmy_image = my_image.reshape(8, 8)", "in one row"),
            ("...\nmy_image = (my_image + 1) / 2", "-1 for paper"),
            ("...\nmy_image = -my_image", "more ink than paper"),
            ("...\nmy_digit = 8", "not what the reader gives to your digit"),
            ("...\nbefore = np.log(before)", "not log p"),
            ("...\nbefore, after = 100 * before, 100 * after", "not percent"),
            ("log_p(machines, log_z, ", "log_p(machines, np.zeros(10), ", "log_z off"),
            ("axis=1).ravel", "axis=0).ravel", "axis=1"),
            ("...\nafter = before", "axis=1"),
            ("), 1, axis=1", "), -1, axis=1", "axis=1"),
            ("my_digit = 3", "my_image[:8] = 1\nmy_digit = 3", "below line"),
            ("logs[1].max() >= line", "logs[0].max() >= line", "of the moved one"),
            ("logs[1].max() >= line", "logs[1].max() < line", "of the moved one"),
            ("logs[1].max() >= line", "logs[1].max()", "of the moved one"),
        ],
    },
    "05_full_learning": {
        "my_bias": [
            (".matrix_power(sweep_matrix(model), k)", ".matrix_power(sweep_matrix(model), k + 1)", "fresh, 0 sweeps"),
            ("np.linalg.matrix_power(sweep_matrix(model), k)", "sweep_matrix(model)", "fresh, 0 sweeps"),
            ("-off.flat[worst] if right.flat[worst] < 0 else ", "", "fresh, 0 sweeps"),
            ("if right.flat[worst] < 0 else off.flat[worst]", "", "fresh, 4 sweeps"),
            ("return -off.flat[worst] if right.flat[worst] < 0 else off", "return np.abs(off)", "fresh, 0 sweeps"),
            ("right.flat[worst] < 0", "right.flat[worst] > 0", "fresh, 0 sweeps"),
            ("np.abs(off).argmax()", "off.argmax()", "fresh, 4 sweeps"),
            (" - right\n", "\n", "forgets all"),
            (
                "start @ np.linalg.matrix_power(sweep_matrix(model), k)",
                "np.linalg.matrix_power(sweep_matrix(model), k) @ start",
                "forgets all",
            ),
            ("abs(my_bias(model, start, k)) <= near", "my_bias(model, start, k) <= near", "two, which leave"),
            ("abs(my_bias(model, start, k)) <= near", "abs(my_bias(model, start, k)) >= near", "two, which leave"),
            ("range(100)", "range(2)", "two, which leave"),
            ("near), 100)", "near), 99)", "no size is below 0"),
        ],
        "my_pl_gradient": [
            ("surprise.T @ data + data.T @ surprise", "surprise.T @ data", "half the slope"),
            ("data - np.tanh", "-data + np.tanh", "yours is -1.6"),
            ("d_weights / T", "0 * d_weights", "yours is 0.0"),
            ("    np.fill_diagonal(d_weights, 0)\n", "", "the diagonal must be 0"),
            ("model.field(data) / T", "model.field(data)", "tanh(h/T)"),
            (" / len(data)", "", "a mean"),
            ("model.field(data)", "(data @ model.weights)", "nudged, w01 has"),
        ],
        "my_gain": [
            ("np.arctanh(table.mean(axis=0))", "np.zeros(table.shape[1])", "the best BIASES"),
            ("np.arctanh(table.mean(axis=0))", "table.mean(axis=0)", "the best BIASES"),
            (GAINED, "judge(coins, table) - judge(summit, table)", "18 of 20 rows agree"),
            (GAINED, "judge(summit, table)", "the best BIASES"),
            (GAINED, "0.5", "the best BIASES"),
            (GAINED, f"len(table) * ({GAINED})", "yours is 7.3"),
            (GAINED, f"np.log2(np.e) * ({GAINED})", "yours is 0.5293"),
            (", penalty=0.03", "", "penalty 0.03"),
            ("...\nmy_gain = lambda table: table", "(one number)"),
            ("...\nmy_table = my_table[:4]", "eight rows or more"),
            ("...\nmy_table = (1 + my_table) / 2", "no is -1"),
            ("...\nmy_table = np.abs(my_table)", "an infinite bias"),
        ],
    },
    "05b_which_method": {
        "my_machine": [
            ("np.eye(20) - 1", "1 - np.eye(20)", "a second valley"),
            ("0.12", "0.1", "above 2"),
            ("...\nmy_machine = my_machine.at(2)", "above 2"),
            ("np.zeros(20)", "np.ones(20)", "all biases 0"),
            ("my_machine = bmlab.BoltzmannMachine(0.8 * (np.eye(4) - 1), np.zeros(4))", "20 units"),
            (
                "...\nW = 2 * bmlab.sherrington_kirkpatrick(20, rng=1).weights\n"
                "my_machine = bmlab.BoltzmannMachine(W, np.zeros(20))",
                "a second valley",
            ),
            (
                "...\nW = np.zeros((20, 20))\nW[:4, :4] = 0.7 * (np.eye(4) - 1)\n"
                "my_machine = bmlab.BoltzmannMachine(W, np.zeros(20))",
                "no unit may depend",
            ),
            ("...\nmy_machine = my_machine.weights", "a machine"),
        ],
        "my_probability": [
            ("| np.isnan(animal)", "", "all agree"),
            ("bmlab.probabilities(model)", "bmlab.probabilities(model.at(1))", "3 of 4 agree"),
            ("(states == animal) | np.isnan(animal)", "states == np.nan_to_num(animal, nan=1)", "all agree"),
            ("[agrees].sum()", "[agrees].max()", "all agree"),
            ("return bmlab.probabilities(model)[agrees].sum()", "return agrees.mean()", "3 of 4 agree"),
            ("...\nmy_order = my_order[::-1]", "the least of the three"),
            ("...\nmy_order = ['loop', 'one inverse', 'summit']", "the least of the three"),
            ("...\nmy_order = ['platypus']", "a list of three names"),
            ("...\nmy_order = 'loop'", "a list of three names"),
            ("...\nmy_probability = 0.1", "a function is asked for"),
        ],
        "my_ties_log_z": [
            ("energy / T", "energy", "at T = 2"),
            ("ways - energy", "ways + energy", "three units"),
            ("ways - energy", "-energy", "two states agree"),
            (" - n) / 2 ", ") / 2 ", "two states agree"),
            (" - n) / 2 ", " - n) ", "two states agree"),
            (
                "return np.logaddexp.reduce(ways - energy / T)",
                "return np.log(np.exp(ways - energy / T).sum())",
                "overflow",
            ),
            ("np.logaddexp.reduce(ways - energy / T)", "np.exp(np.logaddexp.reduce(ways - energy / T))", "two states"),
            ("...\nmy_ties_log_z = 138.2", "a function is asked for"),
        ],
    },
    "08_restricted_machines": {
        "visible_out": [
            ("T_own", "1", "that is at T = 1"),
            ("-0.5 * h_own[1] / T_own + ", "", "own biases are missing"),
            ("2 * np.cosh", "np.cosh", "each visible unit takes both its values"),
            ("...\nvisible_out = visible_out / np.log(10)", "the fields are f ="),
            (
                "-0.5 * h_own[1]",
                "0.5 * h_own[0]",
                "[0.5, 0]",
                "[0, -0.5]",
                "@ h_own",
                ".T @ h_own",
                "sums the HIDDEN units out",
            ),
            ("-0.5 * h_own[1]", "0.5 * h_own[1]", "the fields are f ="),
            ("visible_out = np.full(2, 4.0)", "one number"),
        ],
        "my_coupling": [
            ("T / 2 * ", "", "wrong at T = 1"),
            ("T / 2 * ", "1 / 2 * ", "wrong at T = 0.5"),
            ("(w - u)", "(w + u)", "they should differ"),
            ("np.cosh((w + u) / T) / np.cosh((w - u) / T)", "np.cosh(w + u)", "couples nothing"),
        ],
        "my_cd": [
            ("model.weights + rate", "model.weights - rate", "model.biases + rate", "model.biases - rate", "downhill"),
            ("rate / model.temperature", "rate", "the slope has a factor 1 / T"),
            (
                "rows = my",
                "new = my",
                "(model, rows)",
                "(model, new)",
                "n:], rows",
                "n:], chains",
                "no unit has turned",
            ),
            ("bmlab.clamped(model, rows)", "bmlab.exact(model, pairs='all')", "T = 1: b is -0.186 ± 0.000"),
            (
                "turned(model, n), s, rng.random(s.shape), m)[:, m:]",
                "model, s[:, ::-1], rng.random(s.shape), n)[:, :n]",
                "T = 1: a new row is 0.938",
            ),
            ("rng.random(s.shape)", "rng.random(model.n)", "T = 1: W is -0.680 ± 0.03"),
            ("model.biases + rate * (clamped.mean - free.mean)", "model.biases", "T = 1: b is -0.704"),
            (
                "rows = my_layers_sweep(turned(model, n), s, rng.random(s.shape), m)[:, m:]",
                "s = my_layers_sweep(turned(model, n), s, rng.random(s.shape), m)\n    rows = s[:, m:]",
                "free.corr)",
                "np.roll(s.T @ s / len(s), n, (0, 1)))",
                "T = 1: W is 0.308",
            ),
            ("m)), chains])", "m)), v[: len(chains)]])", "T = 2: c is 0.329"),
            (
                "rows = my_layers_sweep(turned(model, n), s, rng.random(s.shape), m)[:, m:]",
                "h = np.tanh((chains @ model.weights[:n, n:] + model.biases[n:]) / model.temperature)\n"
                "    f = (h @ model.weights[n:, :n] + model.biases[:n]) / model.temperature\n"
                "    rows = np.where(rng.random(f.shape) < 1 / (1 + np.exp(-2 * f)), 1, -1)",
                "from an h that is drawn, too",
            ),
            ("n:], rows", "n:], rows[0]", "yours: [(15, 6), (15,), (6,), (15,)]"),
            ("n:], rows", "n:], np.tanh(rows)", "each unit is -1 or +1"),
        ],
    },
    "06_your_own_data": {
        "p_freeze": [
            ("p_freeze = 1 / (1 + np.exp(2 * size * cast))", "a missing vote is not a vote of 0"),
            ("p_freeze = 1 / (1 + np.exp(4 * size * cast))", "the budget held, too"),
            ("p_freeze = 0.5", "what share of their weight"),
            ("p_freeze = 1 / (1 + np.exp(-2 * size * cast))", "what share of their weight"),
            ("p_freeze = 2", "it is a probability"),
            ("...\np_freeze = round(p_freeze, 1)", "three are asked for"),
        ],
        "my_slope": [
            ("return (clamped - p @ both)", "return (p @ both - clamped)", "the way down"),
            (" / machine.temperature", "", "without the factor 1/T"),
            (" / p[agree].sum()", "", "a nudge says"),
            ("clamped - p @ both", "clamped", "a nudge says"),
            ("p[agree] @ both[agree]", "(p[agree] @ s[agree])[[i, j]].prod() / p[agree].sum()", "a nudge says"),
            ("p @ both", "(p @ s)[[i, j]].prod()", "a nudge says"),
            (
                "return (clamped - p @ both) / machine.temperature",
                "def up(e):\n"
                "        W = np.array(machine.weights)\n"
                "        W[[i, j], [j, i]] += e\n"
                "        model = bmlab.BoltzmannMachine(W, machine.biases, machine.temperature)\n"
                "        return bmlab.log_prob(model, [row])[0]\n"
                "    return (up(1e-5) - up(-1e-5)) / 2e-5",
                "as near as a nudge",
            ),
        ],
        "absent_yes": [
            ("...\nabsent_yes, cast_yes = cast_yes, absent_yes", "who DID vote"),
            ("...\nabsent_yes = 2 * absent_yes - 1", "the share is (1 + m) / 2"),
            ("...\ncast_yes = house[missed].mean()", "the share is (1 + m) / 2"),
            ("...\nmix_yes = 100 * mix_yes", "are from 0 to 1"),
            ("...\nabsent_yes = 0.35 + absent_yes / 2", "average the guesses for the absent"),
            ("...\ncast_yes = 1 - cast_yes / 3", "count yes among the votes on it"),
            ("party[absent].map", "party.map", "over the absent alone"),
            ("party[absent].map(of_party).mean()", "of_party.mean()", "over the absent alone"),
            ("...\nmix_yes = 2 * mix_yes - 1", "the share is (1 + m) / 2"),
            ("...\nexplained = 1 - explained", "0 at cast_yes, 1 at absent"),
            ("...\nabsent_yes = yes", "three numbers"),
        ],
    },
}


def answers(notebook):
    """Name of the answer cell -> the notebook's own answer."""
    cells = nbformat.read(NOTEBOOKS / f"{notebook}.ipynb", 4).cells
    return {cell.metadata.nbgrader.grade_id: cell.source for cell in cells if "nbgrader" in cell.metadata} | OTHERWISE


def written(right, slip):
    """What a student writes, and the hint."""
    *changes, hint = slip
    if len(changes) == 1:
        return changes[0].replace("...", right, 1) if changes[0].startswith("...") else changes[0], hint
    for old, new in zip(changes[::2], changes[1::2], strict=True):
        assert old in right, f"no slip in {right}: {old}"
        right = right.replace(old, new)
    return right, hint


WRONG = {
    notebook: {name: [written(right[name], slip) for slip in some] for name, some in slips.items()}
    for notebook, slips in SLIPS.items()
    for right in [answers(notebook)]
}
