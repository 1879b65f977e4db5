"""NumPy's and Python's errors in words of the course: a student's slip in shapes, axes and kinds of numbers.

in_plain_words(error)    the sentence of PLAIN whose pattern its message has, and otherwise its message
"""

import re
from difflib import get_close_matches
from traceback import walk_tb

PLAIN = {
    r"operands could not be broadcast together with (?:remapped )?shapes (?:\[.*?\]: )?(.*)": (
        r"arrays of shapes \1 do not fit: from the last on, lengths must be equal, or one of them 1; "
        "x[:, None] has a length of 1 more, and x.T is turned over"
    ),
    r"could not broadcast input array from shape (\(.*?\)) into shape (\(.*?\))": (
        r"an array of shape \1 is written into a place of shape \2"
    ),
    r"matmul: Input operand .*\(size (\d+) is different from (\d+)\)": (
        r"@ multiplies rows of \2 numbers with columns of \1: turn one side over, x.T, or take other rows"
    ),
    r"shapes .* not aligned: (\d+) .* != (\d+) .*": (
        r"dot multiplies rows of \1 numbers with columns of \2: turn one over, x.T"
    ),
    r"matmul: Input operand \d does not have enough dimensions.*": "one side of @ is a number: multiply it by *",
    r"\w+: Input operand .*gufunc.*\(size (\d+) is different from (\d+)\)": (
        r"an array has \1 numbers where the other asks for \2: look at the .shape of both"
    ),
    r"cannot reshape array of size (\d+) into shape \((\d+),newaxis\)": (
        r"\1 numbers do not make \2 equal rows: leave out what is over, x[:n], and then reshape"
    ),
    r"array split does not result in an equal division": (
        "np.split cuts into equal parts alone: leave out what is over, x[:n], and then split"
    ),
    r"cannot reshape array of size (\d+) into shape (\(.*\))": (
        r"\1 numbers do not fill the shape \2: its lengths, multiplied, are to be \1"
    ),
    r"Cannot cast ufunc '\w+' output from dtype\('float64'\) to dtype\('int\d+'\).*": (
        "numbers with a point do not go into an array of whole numbers: make it np.array(..., dtype=float)"
    ),
    r"ufunc '\w+' (?:did not contain a loop|not supported).*": (
        "a formula for numbers was given something else, as a text: print what you give it, print(repr(x))"
    ),
    r"loop of ufunc does not support argument \d of type (\w+) .*": (
        r"an array holds \1, or things of several kinds, where a formula takes numbers"
    ),
    r"NumPy boolean array indexing assignment cannot assign (\d+) input values to the (\d+) output values.*": (
        r"\1 numbers are written into \2 places"
    ),
    r"boolean index did not match .* axis is (\d+) but .* is (\d+)": r"a mask of \2 is used on an array of \1",
    r"axis (-?\d+) is out of bounds for array of dimension 0": r"one number has no axis \1",
    r"axis (-?\d+) is out of bounds for array of dimension 1": r"there is no axis \1: a row of numbers has axis 0 only",
    r"axis (-?\d+) is out of bounds for array of dimension (\d+)": (
        r"there is no axis \1 in an array of \2 dimensions: the first is axis 0"
    ),
    r"The truth value of an array with more than one element is ambiguous.*": (
        "if, not, and, or take one truth value, and here are many: np.where(condition, yes, no) takes each"
    ),
    r"Last 2 dimensions of the array must be square": "a matrix is not square: this needs as many rows as columns",
    r"(\d)-dimensional array given\. Array must be at least two-dimensional": (
        r"an array of \1 dimensions stands where a matrix is asked for, of two"
    ),
    r"Singular matrix": "a matrix has no inverse",
    r"numpy boolean (?:subtract|negative), .*": "a minus stands before truth values, True and False: ~ turns them over",
    r"The numpy boolean negative, .*": "a minus stands before truth values, True and False: ~ turns them over",
    r"all the input array dimensions .* index \d+ has size (\d+) and .* index \d+ has size (\d+)": (
        r"arrays of \1 and of \2 numbers along the other axis do not fit side by side"
    ),
    r"setting an array element with a sequence\..*": (
        "things of several shapes do not make one array: a pair has two, x[0] and x[1]; rows are to be equally long"
    ),
    r"not all arguments converted during string formatting": "a text stands before %: take its quotes off",
    r"int too large to convert to float|math range error": "a number is too large for a float: add up logarithms",
    r"'numpy\.ndarray' object has no attribute '(\w+)'": r"an array has no .\1",
    r"'numpy\.ndarray' object is not callable": "( ) behind an array call it: [ ] takes a part of it",
    r"'(?:int|float|numpy\.float64)' object is not callable": "( ) behind a number call it: is a * missing?",
    r"Axis must be specified when shapes of a and weights differ\.": "to weigh rows, np.average needs axis=0",
    r"Shape of weights must be consistent with shape of a along specified axis\.": (
        "np.average takes one row of weights; for a row of results each, weights @ values"
    ),
    r"unsupported operand type\(s\) for .*'(?:\w*function\w*|method|numpy\.ufunc)'.*": (
        "a function stands where a number is asked for: call it, with ()"
    ),
    r"unsupported operand type\(s\) for (\S+): '([\w.]+)' and '([\w.]+)'": (
        r"a \2 \1 a \3 is no formula: take their numbers, such as .mean or .weights"
    ),
    r"float\(\) argument must be .* not '(\w+)'": r"a \1 stands where a number is asked for: take a number of it",
    r"only 0-dimensional arrays can be converted to Python scalars": "an array stands where one number is asked for",
    r"(\w+)\(\) takes from \d+ to \d+ positional arguments but (\d+) (?:was|were) given": (
        r"\1() was given another number of arguments than it takes, \2"
    ),
}
FITS = [(re.compile(pattern), words) for pattern, words in PLAIN.items()]


def in_plain_words(error: BaseException) -> str:
    """Return an error's kind and its message, in plain words if they are known."""
    message = f"{error}".strip()
    if type(error) is NameError and (known := name_like(error)):
        return f"NameError: {message}; {known} is"
    for pattern, words in FITS:
        if found := pattern.fullmatch(message):
            message = found.expand(words)
            break
    return f"{type(error).__name__}{': ' * bool(message)}{message}"


def name_like(error: NameError) -> str:
    """Return the name that is most like an unknown one and known in its place, "" if none is like it."""
    frames = [frame for frame, _ in walk_tb(error.__traceback__)]
    if type(error.name) is not str or not frames:
        return ""
    for names in frames[-1].f_locals, frames[-1].f_globals:
        known = {one.casefold(): one for one in names if type(one) is str}
        if like := get_close_matches(error.name.casefold(), known, 1, 0.8):
            return known[like[0]]
    return ""
