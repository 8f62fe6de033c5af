"""NumPy's whole signatures: each parameter of a function of NumPy is honoured, or refused by a ``TypeError`` that names it.

A function of ours takes NumPy's required parameters by position, and those optional ones that it honours under NumPy's names
and in NumPy's order. All others are handled here.
"""

import functools
import inspect
import math

import numpy as np

# Parameters that change no value here, so that a function of ours need not take them, and the values that are taken for them.
# None stands for every value. Those of one function have its name before them.
INERT = {
    "assume_unique": (True, False),
    "casting": ("same_kind",),
    "copy": (True, False, None),
    "dtype": (None,),
    "isin.kind": ("sort", "table"),
    "kind": (None, "quicksort", "mergesort", "heapsort", "stable"),
    "max_work": None,
    "optimize": None,
    "order": ("K", "C", "A", "F", None),
    "overwrite_input": (True, False),
    # The fields to sort by, and a selection.
    **{f"{name}.order": () for name in ("sort", "argsort", "partition", "argpartition")},
    **{f"{name}.kind": () for name in ("partition", "argpartition")},
    "sorted": (True, False),
    "stable": (True, False, None),
    "subok": (True, False),
    "where": (True,),
}


@functools.cache
def _taken(ours):
    """How many arguments a function takes by position, and which optional ones by name."""
    parameters = inspect.signature(ours).parameters.values()
    count = sum(each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD) for each in parameters)
    count = math.inf if any(each.kind is each.VAR_POSITIONAL for each in parameters) else count
    return count, frozenset(each.name for each in parameters if each.default is not each.empty)


@functools.lru_cache(1024)
def _plan(theirs, ours, count, names):
    """Where the arguments of a call stand: those that ours takes by position, and by name or not at all.

    A place is a number among `count` arguments by position, or one of `names`. An optional parameter has its name, its place
    and the values that ours need not take, or None for all values.
    """
    try:
        signature = inspect.signature(theirs)
    except ValueError:
        # NumPy before 2.4 publishes none for its functions in C. Ours are whole.
        signature = inspect.signature(ours)
    own = inspect.signature(ours).parameters
    bound = signature.bind(*range(count), **{name: name for name in names}).arguments
    required, optional = [], []
    for name, place in bound.items():
        parameter = signature.parameters[name]
        if parameter.kind is parameter.VAR_POSITIONAL:
            required += place
        elif parameter.kind is parameter.VAR_KEYWORD:
            optional += [(each, each, INERT.get(each, ())) for each in place]
        elif parameter.default is parameter.empty or name in own and own[name].default is parameter.empty:
            required.append(place)
        else:
            inert = INERT.get(f"{theirs.__name__}.{name}", INERT.get(name, ()))
            optional.append((name, place, None if inert is None else (parameter.default, np._NoValue, *inert)))
    return required, optional


def _is_one_of(value, values):
    return any(value is each or (isinstance(value, (bool, int, float, str)) and value == each) for each in values)


def called(theirs, ours, arguments, options):
    """A function of NumPy, computed by `ours`."""
    count, names = _taken(ours)
    if len(arguments) <= count and options.keys() <= names:
        # The usual call, without a look at NumPy's signature.
        return ours(*arguments, **options)
    function = f"{theirs.__module__ or 'numpy'}.{theirs.__name__}"
    try:
        required, optional = _plan(theirs, ours, len(arguments), tuple(options))
    except TypeError as error:
        raise TypeError(f"{function}: {error}") from None
    found = lambda place: options[place] if isinstance(place, str) else arguments[place]  # noqa: E731
    given = {}
    for name, place, inert in optional:
        if name in names:
            given[name] = found(place)
        elif inert is not None and not _is_one_of(found(place), inert):
            remedy = "leave it out, or pass numpy.asarray(x), which copies its elements to the host"
            raise TypeError(f"{function} of zerostride takes no {name}: {remedy}")
    return ours(*map(found, required), **given)
