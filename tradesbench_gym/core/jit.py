"""The decorators `kernel` and `rule`: how every function of the rules is compiled, and the one line
a person reads while that happens. The compiled code is kept by `codecache`. With
``NUMBA_DISABLE_JIT=1`` both give the plain function. This module knows nothing of the rules."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, ParamSpec, TypeVar, cast

import numba
from numba.core.compiler_lock import global_compiler_lock
from numba.extending import overload, register_jitable

from tradesbench_gym.core import codecache

P = ParamSpec("P")
R = TypeVar("R")

COMPILED = not numba.config.DISABLE_JIT
"""Whether kernels are machine code: only that leaves other threads free to play."""

__all__ = [
    "COMPILED",
    "announce",
    "compiled_as",
    "inlined",
    "kernel",
    "rule",
    "settled",
    "warm_needed",
]


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function of the rules on first use and keep the machine code for later starts.

    The function must be a plain module-level function: a closure would give two functions one name
    in the cache. Division follows NumPy (an integer by zero is 0, a float by zero inf or nan), so
    that the compiled and the plain function agree; with Numba's default the compiled one raises
    where NumPy goes on. No fastmath: the same bits on every machine. The GIL is released, so that
    one thread a core can play slices of a batch.
    """
    if function.__closure__:
        raise TypeError(f"kernel {function.__qualname__} must not be a closure")
    if numba.config.DISABLE_JIT:
        return function
    dispatcher = numba.njit(nogil=True, error_model="numpy", no_cfunc_wrapper=True)(function)
    cache = codecache.CodeCache(function) if codecache.covers(function) else None
    _compile_in_turn(dispatcher, cache)
    return cast("Callable[P, R]", dispatcher)


def settled(function: Callable[P, R], *examples: Any) -> Callable[..., R]:
    """A kernel's machine code for arguments like the examples, compiled now.

    Calling it skips the search for the signature, which costs a microsecond with a dozen arrays. It
    checks nothing: arguments of other types, or arrays of other layouts, are read as if they were
    like the examples.
    """
    if numba.config.DISABLE_JIT:
        return function
    dispatcher = cast("Any", function)
    signature = tuple(dispatcher.typeof_pyval(example) for example in examples)
    dispatcher.compile(signature)
    return cast("Callable[..., R]", dispatcher.get_overload(signature))


def rule(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function that only kernels call.

    It becomes part of each kernel's code and is not kept by itself. Called from Python it is the
    plain function: nothing outside a kernel compiles, and no way in from Python has to be built.
    """
    if numba.config.DISABLE_JIT:
        return function
    return cast(
        "Callable[P, R]", register_jitable(error_model="numpy", no_cfunc_wrapper=True)(function)
    )


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """A `rule` whose code is put in place of every call of it.

    For what every step does: a record's arrays are then addressed once, where each function would
    do it again, which makes a step a fifth faster. Elsewhere it would only take longer to compile.
    """
    if numba.config.DISABLE_JIT:
        return function
    settings = {"error_model": "numpy", "no_cfunc_wrapper": True, "forceinline": True}
    return cast("Callable[P, R]", register_jitable(**settings)(function))


def compiled_as(plain: Callable[P, R]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let kernels use the decorated function in place of a plain one, which says what it computes.

    For arithmetic that a processor does in one instruction and NumPy's scalars in ten lines. The
    tests hold the two against each other.
    """

    def enter(swift: Callable[P, R]) -> Callable[P, R]:
        if not numba.config.DISABLE_JIT:
            settings = {"error_model": "numpy", "no_cfunc_wrapper": True}
            overload(plain, jit_options=settings, strict=False)(lambda *_: swift)
        return swift

    return enter


def warm_needed() -> bool:
    """Whether the first call of a kernel will compile: nothing is kept for these sources yet."""
    return not numba.config.DISABLE_JIT and codecache.is_cold()


def announce() -> None:
    """Say on stderr that compiling starts, once a process and only if it does.

    A kernel that is missing from the cache says so by itself; call this to have the line out
    before other work whose silence would puzzle. ``TRADESBENCH_QUIET=1`` silences it.
    """
    if warm_needed():
        codecache.say_compiling()


def _compile_in_turn(dispatcher: Any, cache: codecache.CodeCache | None) -> None:
    if cache is not None:
        # `cache=True` would use Numba's own cache, whose folder is one setting for the whole
        # process (it would move the user's own functions too), which trusts any folder it finds,
        # and which does not see a change in an imported module.
        dispatcher._cache = cache
    compile_now = dispatcher.compile

    def compile_in_turn(sig: Any) -> Any:
        turn = nullcontext() if cache is None else cache.turn(sig)
        # Numba's lock first, the other processes second, always in this order: two threads of one
        # process then never wait for each other.
        with global_compiler_lock, turn, codecache.names_of_its_own():
            return compile_now(sig)

    dispatcher.compile = compile_in_turn
