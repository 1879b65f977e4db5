"""NumPy's and Python's errors in words of the course: a student's slip in shapes, axes and kinds of numbers.

in_plain_words(error)    its kind, and the sentence of PLAIN whose pattern its message has, or else its message

A sentence names kinds of values in the words of KINDS: <int> is a number, <list> a list and what is to be done with it.
"""

import re
from difflib import get_close_matches
from traceback import walk_tb

NUMBER, CALL, ARRAY = ("a number", ""), ("a function", "call it, with ()"), "make it an array, np.array(...)"
KINDS = {  # the name of a type -> its words, and what a formula needs of it, "" if it may be there
    **dict.fromkeys(("int", "float", "bool", "complex", "numpy.float64", "numpy.int64", "numpy.ndarray"), NUMBER),
    **dict.fromkeys(("function", "method", "builtin_function_or_method", "numpy.ufunc", "type", "lambda"), CALL),
    **{kind: (f"a {kind}", ARRAY) for kind in ("list", "tuple", "range")},
    **{kind: (f"a {kind}", "make it a list, and that an array") for kind in ("set", "dict", "map", "zip", "generator")},
    "str": ("a text", "take its quotes off"),
    "NoneType": ("None", "a function without return gives it"),
    "BoltzmannMachine": ("a machine", "take its numbers, such as .weights"),
    "Estimate": ("an Estimate", "take its numbers, such as .mean"),
}
WHOLE = "a place or a count is a whole number: // divides without a rest"
OF_ARRAYS = "mean|sum|std|var|min|max|prod|argmin|argmax|shape|size|ndim|T|dot|reshape|ravel|round|astype|any|all"
PLAIN = {
    r"(?:unsupported operand type\(s\) for|bad operand type for) \^: .*|ufunc 'bitwise_xor' not supported.*": (
        "^ is no power: write **, as in x**2"
    ),
    r"unsupported operand type\(s\) for (\S+)(?: or pow\(\))?: '([\w.]+)' and '([\w.]+)'": r"\1 is given <\2|\3>",
    r"'([<>]=?)' not supported between instances of '([\w.]+)' and '([\w.]+)'": r"\1 is given <\2|\3>",
    r"bad operand type for (?:unary )?(\S+): '([\w.]+)'": r"\1 is given <\2>",
    r"can only concatenate (\w+) \(not \"[\w.]+\"\) to \w+": r"+ is given <\1>",
    r"can't multiply sequence by non-int of type '[\w.]+'": rf"* is given a list or a text: {ARRAY}",
    r"must be real number, not ([\w.]+)": r"a function of math takes one number and is given <\1>",
    rf"'(list|tuple|range|set|dict|map|zip)' object has no attribute '({OF_ARRAYS})'": r"there is no .\2 of <\1>",
    r"'(list|tuple|range|set|dict|map|zip)' object has no attribute '(\w+)'": (
        r"there is no .\2 of a \1; ask each of its parts, as in [x.\2 for x in ...]"
    ),
    r"'(str|NoneType|function|method|int|float)' object has no attribute '(\w+)'": r"there is no .\2 of <\1>",
    r"'([\w.]+)' object is not subscriptable": r"[ ] stands behind <\1>, which has no parts",
    r"invalid index to scalar variable\.": "[ ] stands behind a number, which has no parts",
    r"'(list|tuple)' object is not callable": r"( ) behind a \1 call it: [ ] takes a part of it",
    r"'(?:str|NoneType|BoltzmannMachine|Estimate)' object is not callable": "( ) behind what is no function call it",
    r"(?:(?:argument|object) of type )?'([\w.]+)'(?: object)? (?:is not .*iterable|has no len\(\))": (
        r"<\1> stands where a list or an array is asked for"
    ),
    r"cannot unpack non-iterable ([\w.]+) object": r"<\1> is to be taken apart, as if it were several",
    r"(?:not enough|too many) values to unpack \(expected (\d+).*\)": (
        r"\1 names stand before the =, and what is behind it has not as many parts"
    ),
    r"index (-?\d+) is out of bounds for axis \d+ with size (\d+)": (
        r"there is no place \1 among \2: the first is 0, the last is -1"
    ),
    r"(?:list|tuple) index out of range": "there is no such place in a list: the first is 0, the last is -1",
    r"too many indices for array: array is (\d)-dimensional, but (\d) were indexed": (
        r"[ ] holds \2 places, and the array has dimensions: \1; x[..., i] takes the last of however many"
    ),
    r"only integers, slices .* are valid indices": WHOLE,
    r"slice indices must be integers.*": WHOLE,
    r"(?:list|tuple) indices must be integers or slices, not float": WHOLE,
    r"(?:list|tuple) indices must be integers or slices, not (?!float)(\w+)": (
        r"a list has one place at a time, x[i][j]; np.array(...) has x[i, j]"
    ),
    r"'float' object cannot be interpreted as an integer|expected a sequence of integers .*": WHOLE,
    r"math domain error|expected a (?:nonnegative|positive) input.*": (
        "a function of math has no value there, as a root or log of what is negative"
    ),
    r"cannot assign to field '(\w+)'": r"a machine keeps its \1: make another, BoltzmannMachine(weights, biases)",
    r"division by zero|float (?:division by zero|modulo)": "it divides by 0",
    r"could not convert string to float: .*|invalid literal for int\(\).*": "a text stands where a number is asked for",
    r"cannot convert float NaN to integer": "nan is no whole number",
    r"zero-size array to reduction operation (\w+) which has no identity": r"the \1 of an empty array is asked for",
    r"(max|min)\(\) (?:arg is an empty sequence|iterable argument is empty)": r"the \1 of an empty list is asked for",
    r"all input arrays must have the same shape": "rows of several lengths do not make one array",
    r"Cannot interpret '\d+' as a data type": "lengths stand in ( ) of their own: np.zeros((n, n))",
    r"only integer scalar arrays can be converted to a scalar index": (
        "several arrays stand in [ ] of their own: np.concatenate([x, y])"
    ),
    r"operands could not be broadcast together with (?:remapped )?shapes (?:\[.*?\]: )?(.*)": (
        r"arrays of shapes \1 do not fit: from the last on, lengths must be equal, or one of them 1; "
        "x[:, None] has a length of 1 more, and x.T is turned over"
    ),
    r"non-broadcastable output operand with shape (\(.*?\)) doesn't match the broadcast shape (\(.*?\))": (
        r"an array of shape \2 is added to or taken off a place of shape \1, by += or the like"
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
    r"matmul: Input operand \d does not have enough dimensions.*": (
        "one side of @ is no row and no matrix: * multiplies by a number, and a machine has .weights"
    ),
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
    r"loop of ufunc does not support argument \d of type (\w+) .*": r"a formula for numbers is given <\1>",
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
    r"0-dimensional array given\. Array must be at least two-dimensional": (
        "what is no array stands where a matrix is asked for: a machine has .weights"
    ),
    r"([1-9])-dimensional array given\. Array must be at least two-dimensional": (
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
    r"int too large to convert to float|math range error|\(34, .*\)": (
        "a number is too large for a float: add up logarithms"
    ),
    r"'numpy\.ndarray' object has no attribute '(\w+)'": r"an array has no .\1",
    r"'numpy\.ndarray' object is not callable": "( ) behind an array call it: [ ] takes a part of it",
    r"'(?:int|float|numpy\.float64)' object is not callable": "( ) behind a number call it: is a * missing?",
    r"Axis must be specified when shapes of a and weights differ\.": "to weigh rows, np.average needs axis=0",
    r"Shape of weights must be consistent with shape of a along specified axis\.": (
        "np.average takes one row of weights; for a row of results each, weights @ values"
    ),
    r"float\(\) argument must be .* not '(\w+)'": r"<\1> stands where a number is asked for",
    r"only 0-dimensional arrays can be converted to Python scalars": "an array stands where one number is asked for",
    r"(\w+)\(\) missing \d+ required positional arguments?: (.*)": r"\1() was not given \2",
    r"(\w+)\(\) takes (?:from \d+ to )?\d+ positional arguments? but (\d+) (?:was|were) given": (
        r"\1() was given another number of arguments than it takes, \2"
    ),
}
OF_KINDS = re.compile(r"<([\w.]+)(?:\|([\w.]+))?>([^<]*)")
FITS = [(re.compile(pattern), words) for pattern, words in PLAIN.items()]


def in_plain_words(error: BaseException) -> str:
    """Return an error's kind and its plain_message()."""
    message = plain_message(error)
    return f"{type(error).__name__}{': ' * bool(message)}{message}"


def plain_message(error: BaseException) -> str:
    """Return an error's message, in plain words if they are known."""
    message = f"{error}".strip()
    if type(error) is NameError and (known := name_like(error)):
        return f"{message}; {known} is"
    fits = ((words, pattern.fullmatch(message)) for pattern, words in FITS)
    return next((OF_KINDS.sub(of_kinds, found.expand(words)) for words, found in fits if found), message)


def of_kinds(found: re.Match[str]) -> str:
    """Return the words for the kind of a value, or for that one of two which is no number; last, what it needs."""
    kinds = [KINDS.get(kind, (f"a {kind}", "take its numbers")) for kind in (found[1], found[2]) if kind]
    words, need = next((one for one in kinds if one[1]), kinds[0])
    return words + found[3] + f": {need}" * bool(need)


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
